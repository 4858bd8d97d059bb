package project

import (
	"fmt"
	"path"
	"path/filepath"

	"rewind/engine/gitrepo"
)

// rebuiltNotice tells the person that a store was gone and is back, and, where
// git's stash has taken it, what git stash pop will do: it puts down everything
// but the files that are there again, and then keeps the entry.
func rebuiltNotice(root string) string {
	text := fmt.Sprintf("the store of %s had vanished and was rebuilt from its mirror, with its settings", root)
	repo, ok := gitrepo.Find(root)
	if !ok {
		return text
	}
	if n, ok := repo.StashHolding(path.Join(filepath.ToSlash(repo.Prefix), StoreName)); ok {
		text += fmt.Sprintf("; git's stash@{%d} holds its old files: git stash pop will put back all the rest, call these existing, and keep the entry: then git stash drop", n)
	}
	return text
}
