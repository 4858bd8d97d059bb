package project

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/gitrepo"
)

// agentWorktrees is where agents make worktrees: every project leaves it out.
const agentWorktrees = "/.claude/worktrees/"

// AgentWorktree is the directory below .claude/worktrees that dir is, or lies in; "" where
// it is in none. It goes by the path alone.
func AgentWorktree(dir string) string {
	slashed := filepath.ToSlash(dir)
	i := strings.LastIndex(slashed, agentWorktrees)
	if i < 0 {
		return ""
	}
	i += len(agentWorktrees)
	name, _, _ := strings.Cut(slashed[i:], "/")
	if name == "" {
		return ""
	}
	return dir[:i+len(name)]
}

// isWorktree reports whether dir is a root of its own wherever it lies: a linked worktree
// of git, or what an agent keeps as one.
func isWorktree(dir string) bool {
	return AgentWorktree(dir) == dir || isLinkedWorktree(dir)
}

// isLinkedWorktree reports whether the .git of dir is the file of a linked worktree. That of a
// submodule leads to another place.
func isLinkedWorktree(dir string) bool {
	file := filepath.Join(dir, ".git")
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	to, ok := gitrepo.LinkTarget(file)
	return ok && filepath.Base(filepath.Dir(to)) == "worktrees"
}

// leftOut finds the root for a directory that the projects above it leave out, on the way up.
type leftOut struct {
	git      string // the nearest directory with a .git
	root     string // "": nothing leaves it out so far
	worktree bool   // it is a worktree, not another file system
}

// pass is called for each directory from the working directory upwards.
func (l *leftOut) pass(dir string) {
	if l.root != "" {
		return
	}
	// One that cannot be looked at says nothing: a directory above is not made the root on a guess.
	_, err := os.Lstat(filepath.Join(dir, ".git"))
	hasGit := err == nil
	if l.git == "" && hasGit {
		l.git = dir
	}
	switch {
	case isWorktree(dir):
		l.root, l.worktree = dir, true
		if !hasGit && l.git != "" {
			l.root = l.git
		}
	case l.git != "" && account.IsMountTop(dir) && dir != filepath.Dir(dir):
		l.root = l.git
	}
}

// isLeftOut reports whether dir lies in a worktree below root: what was exported for root does not
// count there.
func isLeftOut(dir, root string) bool {
	for ; dir != root && vfs.Within(root, dir); dir = filepath.Dir(dir) {
		if isWorktree(dir) {
			return true
		}
	}
	return false
}

// Config is the settings file of the store of p: a worktree's begins as a copy, so that what its
// project leaves out is left out there too. other is used for one that cannot be read.
func (p *Location) Config(other []byte) []byte {
	if p.Store == "" {
		return other
	}
	data, err := vfs.ReadSmall(filepath.Join(p.Store, account.ConfigName), 1<<20, vfs.NoFollow)
	if err != nil {
		return other
	}
	return data
}
