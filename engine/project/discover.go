package project

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"rewind/cas/oid"
)

// StoreName is where a project's own store lies below its root.
const StoreName = ".agent/rewind"

// place is a root and where its store is, or would be.
type place struct {
	root  string // real path
	store string // "" when there is none
	mode  Mode
	lost  *KnownStore // known by this account, but its store is gone
	named bool        // the root was named, not found
	link  string      // where the store is, if its path leads through a link

	parent   *place // of a worktree without a store: the project that it lies in, if this account knows that
	anothers bool   // store is a global one of another directory, which was at this path
	older    *Older // what the older program has left, once a store is made beside it
}

// discover finds the root for o: the one that is named, else the nearest
// ancestor of the working directory with a store (its own, a global one, or one
// that this account knows of and that has vanished) that does not leave it out, else the
// worktree that it is in, else the nearest that the older program was initialised in, else the
// nearest with a .git, else the working directory.
func discover(o OpenOptions, known []KnownStore) (place, error) {
	named := o.Root
	if named == "" {
		named = exportedRoot(o.Env)
	}
	if named != "" {
		root, err := realDir(o.Env, named)
		if err != nil {
			return place{}, err
		}
		at, err := placeOf(o.Env, root, known)
		at.named = true
		return at, err
	}
	if o.Env.Dir == "" {
		return place{}, &RefusedRootError{Root: ".", Reason: "a working directory that no longer exists"}
	}
	start, err := realDir(o.Env, o.Env.Dir)
	if err != nil {
		return place{}, &RefusedRootError{Root: o.Env.Dir, Reason: "a working directory that no longer exists"}
	}
	var out leftOut
	older := ""
	for dir := start; ; dir = filepath.Dir(dir) {
		at, err := placeOf(o.Env, dir, known)
		if err != nil || at.store != "" || at.lost != nil {
			if out.root == "" {
				return at, err
			}
			mine := place{root: out.root, mode: ProjectMode}
			if err == nil && out.worktree && slices.ContainsFunc(known, func(k KnownStore) bool { return k.Root == at.root }) {
				mine.parent = &at
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
	return place{root: start, mode: ProjectMode}, nil
}

// exportedRoot is $REWIND_PROJECT_ROOT where the working directory is inside it: a
// shell keeps the variable when it goes to another project, and hands it on to an
// agent that is started there.
func exportedRoot(env Env) string {
	root := env.Variable("REWIND_PROJECT_ROOT")
	if root == "" {
		return ""
	}
	real, err := realDir(env, root)
	if err != nil || env.Dir == "" {
		return ""
	}
	dir, err := realDir(env, env.Dir)
	if err != nil || !within(dir, real) || isLeftOut(dir, real) {
		return ""
	}
	return real
}

// within reports whether dir is root or below it. Both are real paths.
func within(dir, root string) bool {
	rel, err := filepath.Rel(root, dir)
	return err == nil && filepath.IsLocal(rel)
}

// realDir is the real path of a directory that a person or a variable named.
func realDir(env Env, dir string) (string, error) {
	if !filepath.IsAbs(dir) {
		if env.Dir == "" {
			return "", &RefusedRootError{Root: dir, Reason: "relative to a working directory that no longer exists"}
		}
		dir = filepath.Join(env.Dir, dir)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
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

// placeOf looks for the store of one directory. One that has vanished is known by
// the directory's identity, wherever it is now.
func placeOf(env Env, root string, known []KnownStore) (place, error) {
	at := place{root: root, mode: ProjectMode}
	own := filepath.Join(root, filepath.FromSlash(StoreName))
	// ~/.agent/rewind would be a store of the home directory itself, which only a named root may be.
	if isStore(own) {
		at.store = own
		return at, nil
	}
	if global := GlobalStore(env, root); global != "" && isStore(global) && !takenAlong(env, known, root, global) {
		at.store, at.mode = global, GlobalMode
	}
	if len(known) == 0 {
		return at, nil
	}
	dir, _, err := identity(root)
	if err != nil {
		return at, err
	}
	if at.store != "" {
		if at.anothers = isAnothers(env, known, at.store, root, dir); !at.anothers {
			return at, nil
		}
	}
	for i := len(known) - 1; i >= 0; i-- { // the last was registered last
		k := &known[i]
		if !k.IsOf(env, root, dir) || k.unfinished(env) || k.Root != root && k.livesApart(dir) {
			continue
		}
		if k.Mode == GlobalMode && isStore(k.store(env)) {
			at.store, at.mode, at.anothers = k.store(env), GlobalMode, false // the directory was moved
			return at, nil
		}
		if at.lost == nil || !isDir(MirrorDir(env, at.lost.ID)) && isDir(MirrorDir(env, k.ID)) {
			at.lost, at.mode = k, k.Mode
		}
	}
	if at.lost != nil {
		at.store, at.anothers = "", false
	}
	return at, nil
}

// takenAlong reports whether the global store that root's path leads to is that of a directory
// which has another path now.
func takenAlong(env Env, known []KnownStore, root, global string) bool {
	for _, k := range known {
		if k.storage == global && k.Root != root {
			return true
		}
	}
	return false
}

// livesApart reports whether the directory that k was registered for is still at its path,
// on another device than the one of this identity: a snapshot of a file system has both.
func (k KnownStore) livesApart(now DirID) bool {
	there, _, err := identity(k.Root)
	return err == nil && there.same(now) && there.Device != now.Device
}

// history lists the stores that other directories had, or have, at the path of at, and
// that are still to be had.
func (at *place) history(env Env, known []KnownStore) []History {
	dir, _, err := identity(at.root)
	if err != nil {
		return nil
	}
	var out []History
	for i := len(known) - 1; i >= 0; i-- {
		k := known[i]
		if k.Root != at.root || k.IsOf(env, at.root, dir) {
			continue
		}
		if packs := k.packs(env); packs != "" {
			out = append(out, History{ID: k.ID.String(), LastSave: newestChange(packs)})
		}
	}
	return out
}

// isStore reports whether dir has something of a store. A directory that has
// lost its format file still counts: it must be diagnosed, not made anew. One
// without packs as well is what is left of an init that was killed.
func isStore(dir string) bool {
	missing := func(err error) bool { return errors.Is(err, fs.ErrNotExist) || IsNotDir(err) }
	if _, err := os.Lstat(filepath.Join(dir, formatName)); !missing(err) {
		return true
	}
	if _, err := os.Lstat(filepath.Join(dir, rebuildingName)); err == nil {
		return false // it is being brought back, or was when the process died
	}
	names, err := os.ReadDir(filepath.Join(dir, ObjectsName))
	return len(names) > 0 || err != nil && !missing(err)
}

// GlobalStore is the directory of the global store of root, "" without a home.
func GlobalStore(env Env, root string) string {
	account := env.AccountDir()
	if account == "" {
		return ""
	}
	id := oid.Sum([]byte(root))
	return filepath.Join(account, "storage", hex.EncodeToString(id[:16]))
}

// refuseRoot says why a root that nobody named is not captured.
func refuseRoot(env Env, root string) error {
	reason := ""
	home := env.Home
	if real, err := filepath.EvalSymlinks(home); home != "" && err == nil {
		home = real
	}
	temp := os.TempDir()
	if real, err := filepath.EvalSymlinks(temp); err == nil {
		temp = real
	}
	switch {
	case root == filepath.Dir(root):
		reason = "the root of the file system"
	case root == home:
		reason = "the home directory"
	case root == temp || root == "/tmp" || root == "/var/tmp":
		reason = "the temporary directory"
	case isMountTop(root):
		reason = "the top of a mounted file system"
	}
	if reason == "" {
		return nil
	}
	return &RefusedRootError{Root: root, Reason: reason}
}
