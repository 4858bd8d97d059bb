package restore

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/gitrepo"
	"github.com/rewind-cli/rewind/engine/gitrestore"
	"github.com/rewind-cli/rewind/engine/gitstate"
)

// planBelow plans the way of a submodule, or of a repository below the root, to a state. That it cannot be brought back is no
// reason to leave the others.
func (r *Run) planBelow(g *gitMove, state *gitstate.State) error {
	target := gitrestore.Target{WorkTree: state.WorkTree, GitDir: state.GitDir, CommonDir: state.Common}
	name := state.Name(r.Root())
	reason := r.notOurs(g, target)
	if reason == "" {
		for _, p := range g.plans {
			target.Anew = target.Anew || p.Builds() && vfs.IsBelow(p.target.CommonDir, target.CommonDir)
		}
		target.Anew = target.Anew || !account.Exists(filepath.Dir(target.CommonDir))
		refusals, err := r.planRepository(g, state, target, name)
		if err != nil {
			return err
		}
		reason = strings.Join(refusals, " ")
	}
	if reason != "" {
		g.left = true
		if !g.quiet {
			r.Notify(fmt.Sprintf("git's own state of %s is not brought back: %s", name, reason))
		}
		return nil
	}
	if rel, err := filepath.Rel(r.Root(), target.WorkTree); err == nil && target.WorkTree != "" && filepath.IsLocal(rel) {
		g.below = append(g.below, filepath.ToSlash(filepath.Join(rel, ".git")))
	}
	return nil
}

// notOurs says why the place of a repository is not one to write to, "" for none: a store can come from anywhere, and says itself
// where its repositories are. They lie below the root, or in the git directory around it, and no symbolic link leads there.
func (r *Run) notOurs(g *gitMove, t gitrestore.Target) string {
	around := gitrepo.Repo{WorkTree: r.Root()}
	if found, ok := gitrepo.Find(r.Root()); ok {
		around = found
	} else if g.around && len(g.plans) > 0 {
		first := g.plans[0].target
		around = gitrepo.Repo{WorkTree: first.WorkTree, CommonDir: first.CommonDir}
	}
	switch {
	case !gitstate.Below(r.Root(), around.CommonDir, t.CommonDir), vfs.IsBelow(r.StoreDir(), t.CommonDir),
		t.GitDir != t.CommonDir && !vfs.IsBelow(t.CommonDir, t.GitDir),
		t.WorkTree != "" && !vfs.IsBelow(r.Root(), t.WorkTree) && !vfs.IsBelow(around.WorkTree, t.WorkTree):
		return "its git directory was " + t.CommonDir + ", which is none of this project"
	case isMount(t.CommonDir) && !gitrepo.IsGitDir(t.CommonDir):
		return t.CommonDir + " is a mount point without a git repository"
	case gitstate.HasStore(r.Root(), t.WorkTree):
		return "it has a store of its own, with rewind --root " + t.WorkTree
	}
	for _, place := range []string{t.CommonDir, t.WorkTree} {
		if place != "" && !isReal(place) {
			return place + " is reached by a symbolic link"
		}
	}
	return ""
}

// isReal reports whether no symbolic link is on the way to a path, as far as it is there.
func isReal(path string) bool {
	for ; !account.Exists(path); path = filepath.Dir(path) {
		if path == filepath.Dir(path) {
			return false
		}
	}
	real, err := filepath.EvalSymlinks(path)
	return err == nil && real == path
}
