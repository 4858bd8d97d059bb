package project

import (
	"fmt"
	"path"
	"path/filepath"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/gitrepo"
)

// rebuiltNotice tells the person that a store was gone and is back, and, where
// git's stash has taken it, what git stash pop will do: it puts down everything
// but the files that are there again, and then keeps the entry.
func rebuiltNotice(root string) string {
	text := fmt.Sprintf("the store of %s was missing and has been rebuilt from its mirror, with its settings", root)
	repo, ok := gitrepo.Find(root)
	if !ok {
		return text
	}
	if n, ok := repo.StashHolding(path.Join(filepath.ToSlash(repo.Prefix), account.StoreName)); ok {
		text += fmt.Sprintf("; git's stash@{%d} holds its old files: git stash pop will restore everything else, report these as existing, and keep the entry; then run git stash drop", n)
	}
	return text
}
