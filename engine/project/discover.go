package project

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
)

// Location is a root and where its store is, or would be.
type Location struct {
	Root  string // real path
	Store string // "" when there is none
	Mode  account.Mode
	Lost  *account.KnownStore // known by this account, but its store is gone
	Named bool                // the root was named, not found
	Link  string              // where the store is, if its path leads through a link

	Parent   *Location // of a worktree without a store: the project that it lies in, if this account knows that
	Anothers bool      // store is a global one of another directory, which was at this path
	Older    *Older    // what the older program has left, once a store is made beside it
}

// Discover finds the root for o: the one that is named, else the nearest
// ancestor of the working directory with a store (its own, a global one, or one
// that this account knows of and that has vanished) that does not leave it out, else the
// worktree that it is in, else the nearest that the older program was initialised in, else the
// nearest with a .git, else the working directory.
func Discover(o OpenOptions, known []account.KnownStore) (Location, error) {
	named := o.Root
	if named == "" {
		named = exportedRoot(o.Env)
	}
	if named != "" {
		root, err := RealDir(o.Env, named)
		if err != nil {
			return Location{}, err
		}
		at, err := Locate(o.Env, root, known)
		at.Named = true
		return at, err
	}
	if o.Env.Dir == "" {
		return Location{}, &RefusedRootError{Root: ".", Reason: "a working directory that no longer exists"}
	}
	start, err := RealDir(o.Env, o.Env.Dir)
	if err != nil {
		if _, statErr := os.Stat(o.Env.Dir); errors.Is(statErr, fs.ErrNotExist) {
			err = &RefusedRootError{Root: o.Env.Dir, Reason: "a working directory that no longer exists"}
		}
		return Location{}, err
	}
	var out leftOut
	older := ""
	for dir := start; ; dir = filepath.Dir(dir) {
		at, err := Locate(o.Env, dir, known)
		if err == nil && at.Store != "" && planted(at, known) {
			at.Store = ""
		}
		if err != nil || at.Store != "" || at.Lost != nil {
			if out.root == "" {
				return at, err
			}
			mine := Location{Root: out.root, Mode: account.ProjectMode}
			if err == nil && out.worktree && slices.ContainsFunc(known, func(k account.KnownStore) bool { return k.Root == at.Root }) {
				mine.Parent = &at
			}
			return mine, nil
		}
		out.pass(dir)
		older = nearestOlder(o.Env, older, dir)
		if dir == filepath.Dir(dir) {
			break
		}
	}
	switch {
	case out.root != "":
		start = out.root
	case older != "":
		start = older
	case out.git != "":
		start = out.git
	}
	return Location{Root: start, Mode: account.ProjectMode}, nil
}

// planted reports whether the store at hand lies where anybody may put one and is none of this
// account's: it must not decide for what lies below, which would be refused from then on.
func planted(at Location, known []account.KnownStore) bool {
	if at.Root != filepath.Dir(at.Root) && !isTemporary(at.Root) {
		return false
	}
	f, err := account.ReadFormat(at.Store)
	return err != nil || !slices.ContainsFunc(known, func(k account.KnownStore) bool { return k.ID.String() == f.ID })
}

// exportedRoot is $REWIND_PROJECT_ROOT where the working directory is inside it: a
// shell keeps the variable when it goes to another project, and hands it on to an
// agent that is started there.
func exportedRoot(env account.Env) string {
	root := env.Variable("REWIND_PROJECT_ROOT")
	if root == "" {
		return ""
	}
	real, err := RealDir(env, root)
	if err != nil || env.Dir == "" {
		return ""
	}
	dir, err := RealDir(env, env.Dir)
	if err != nil || !vfs.Within(real, dir) || isLeftOut(dir, real) {
		return ""
	}
	return real
}

// RealDir is the real path of a directory that a person or a variable named.
func RealDir(env account.Env, dir string) (string, error) {
	if !filepath.IsAbs(dir) {
		if env.Dir == "" {
			return "", &RefusedRootError{Root: dir, Reason: "relative to a working directory that no longer exists"}
		}
		dir = filepath.Join(env.Dir, dir)
	}
	real, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, fs.ErrPermission) {
		return "", &RefusedRootError{Root: dir, Reason: "not readable: permission denied"}
	} else if err != nil {
		return "", &RefusedRootError{Root: dir, Reason: "not there"}
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", &RefusedRootError{Root: dir, Reason: "not readable"}
	}
	if !info.IsDir() {
		return "", &RefusedRootError{Root: dir, Reason: "not a directory"}
	}
	return real, nil
}

// Locate looks for the store of one directory. One that has vanished is known by
// the directory's identity, wherever it is now.
func Locate(env account.Env, root string, known []account.KnownStore) (Location, error) {
	at := Location{Root: root, Mode: account.ProjectMode}
	own := filepath.Join(root, filepath.FromSlash(account.StoreName))
	// ~/.agent/rewind would be a store of the home directory itself, which only a named root may be.
	if account.IsStore(own) {
		at.Store = own
		return at, nil
	}
	if global := account.GlobalStore(env, root); global != "" && account.IsStore(global) && !takenAlong(env, known, root, global) {
		at.Store, at.Mode = global, account.GlobalMode
	}
	if len(known) == 0 {
		return at, nil
	}
	dir, _, err := account.Identity(root)
	if err != nil {
		return at, err
	}
	if at.Store != "" {
		if at.Anothers = account.IsAnothers(env, known, at.Store, root, dir); !at.Anothers {
			return at, nil
		}
	}
	for i := len(known) - 1; i >= 0; i-- { // the last was registered last
		k := &known[i]
		if !k.IsOf(env, root, dir) || k.Unfinished(env) || k.Root != root && k.LivesApart(dir) {
			continue
		}
		if k.Mode == account.GlobalMode && account.IsStore(k.Store(env)) {
			at.Store, at.Mode, at.Anothers = k.Store(env), account.GlobalMode, false // the directory was moved
			return at, nil
		}
		if at.Lost == nil || !account.IsDir(account.MirrorDir(env, at.Lost.ID)) && account.IsDir(account.MirrorDir(env, k.ID)) {
			at.Lost, at.Mode = k, k.Mode
		}
	}
	if at.Lost != nil {
		at.Store, at.Anothers = "", false
	}
	return at, nil
}

// takenAlong reports whether the global store that root's path leads to is that of a directory
// which has another path now.
func takenAlong(env account.Env, known []account.KnownStore, root, global string) bool {
	for _, k := range known {
		if k.Storage == global && k.Root != root {
			return true
		}
	}
	return false
}

// History lists the stores that other directories had, or have, at the path of at, and
// that are still to be had.
func (at *Location) History(env account.Env, known []account.KnownStore) []History {
	dir, _, err := account.Identity(at.Root)
	if err != nil {
		return nil
	}
	var out []History
	for i := len(known) - 1; i >= 0; i-- {
		k := known[i]
		if k.Root != at.Root || k.IsOf(env, at.Root, dir) {
			continue
		}
		if packs := k.Packs(env); packs != "" {
			out = append(out, History{ID: k.ID.String(), LastSave: account.NewestChange(packs)})
		}
	}
	return out
}

// lostBelow is a project between root and the working directory that was deleted with its store and is there again
// without it, as after a restore of the project around it: its directory, and what there is of its history. "" for none.
func (at *Location) lostBelow(env account.Env, known []account.KnownStore) (root string, history []History) {
	dir, err := filepath.EvalSymlinks(env.Dir)
	if env.Dir == "" || err != nil || !vfs.Within(at.Root, dir) {
		return "", nil
	}
	for ; dir != at.Root && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if !slices.ContainsFunc(known, func(k account.KnownStore) bool { return k.Root == dir }) {
			continue
		}
		if history = (&Location{Root: dir}).History(env, known); len(history) > 0 {
			return dir, history
		}
	}
	return "", nil
}

// RefuseRoot is the error for a root that was found and not named, and that is not captured.
func RefuseRoot(env account.Env, root string) error {
	reason := ""
	home := env.Home
	if real, err := filepath.EvalSymlinks(home); home != "" && err == nil {
		home = real
	}
	switch {
	case root == filepath.Dir(root):
		reason = "the root of the file system"
	case root == home:
		reason = "the home directory"
	case isTemporary(root):
		reason = "the temporary directory"
	case account.IsMountTop(root):
		reason = "the top of a mounted file system"
	}
	if reason == "" {
		return nil
	}
	return &RefusedRootError{Root: root, Reason: reason}
}

func isTemporary(root string) bool {
	temp := os.TempDir()
	if real, err := filepath.EvalSymlinks(temp); err == nil {
		temp = real
	}
	return root == temp || root == "/tmp" || root == "/var/tmp"
}
