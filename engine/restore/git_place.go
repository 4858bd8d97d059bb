package restore

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/gitrepo"
	"github.com/rewind-cli/rewind/engine/gitrestore"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/rootfs"
)

// isOurRepository refuses a place that is not that of the repository around the root: a store can come from anywhere, and
// says itself where its repository is.
func isOurRepository(root string, t gitrestore.Target) error {
	if repo, ok := gitrepo.Find(root); ok && repo.CommonDir == t.CommonDir && repo.GitDir == t.GitDir {
		return nil
	}
	around := t.WorkTree == root || vfs.IsBelow(t.WorkTree, root)
	dotGit := filepath.Join(t.WorkTree, ".git")
	switch {
	case around && isMount(dotGit) && !gitrepo.IsGitDir(dotGit):
		return &project.RefusedError{What: dotGit + " is a mount point without a git repository, in whose place none can be built", Next: "unmount it, or mount the one with the repository there"}
	case around && t.GitDir == t.CommonDir && t.CommonDir == dotGit && !gitrepo.IsGitDir(dotGit):
		return nil // the directory is gone, or what is left is no repository: it comes back in its place
	case around && t.GitDir != t.CommonDir && namesWorktree(t, dotGit):
		return nil
	}
	if around && t.GitDir != t.CommonDir && !account.Exists(t.GitDir) && !account.Exists(dotGit) && (gitrepo.IsGitDir(t.CommonDir) || !account.Exists(t.CommonDir)) {
		return &WorktreeRemovedError{WorkTree: t.WorkTree, GitDir: t.GitDir, CommonDir: t.CommonDir, Gone: !account.Exists(t.CommonDir)}
	}
	return &project.RefusedError{
		What: fmt.Sprintf("the git repository of that checkpoint was %s, and that is not the one around %s now", t.CommonDir, root),
		Next: "leave out --git, or move what is there now away",
	}
}

// isMount reports whether something is mounted at a path.
func isMount(path string) bool {
	fsys, err := rootfs.Open(filepath.Dir(path))
	if err != nil {
		return false
	}
	defer fsys.Close()
	dir, err := fsys.OpenDir("")
	if err != nil {
		return false
	}
	defer dir.Close()
	return dir.Mounted(filepath.Base(path))
}

// WorktreeRemovedError: the checkpoint is of a linked worktree that git has removed, from both sides, or of which both sides are gone. A store can come from
// anywhere, so it is the person who says that the repository is to have the worktree again.
type WorktreeRemovedError struct {
	WorkTree, GitDir, CommonDir string
	Gone                        bool // so is the repository
}

func (e *WorktreeRemovedError) Error() string {
	if e.Gone {
		return fmt.Sprintf("the git repository %s is gone, of which %s was a linked worktree", e.CommonDir, e.WorkTree)
	}
	return fmt.Sprintf("git has removed the linked worktree %s of %s", e.WorkTree, e.CommonDir)
}

// maxPath is more than a longest path, in bytes.
const maxPath = 64 << 10

// namesWorktree reports whether the repository of a linked worktree knows the one at dotGit, or did until git pruned it.
func namesWorktree(t gitrestore.Target, dotGit string) bool {
	text, err := vfs.ReadSmall(filepath.Join(t.GitDir, "gitdir"), maxPath, vfs.NoFollow)
	if errors.Is(err, fs.ErrNotExist) {
		to, ok := gitrepo.LinkTarget(dotGit)
		return ok && to == t.GitDir
	}
	return err == nil && strings.TrimRight(string(text), "\r\n") == dotGit
}
