package engine

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"rewind/cas"
)

// storeName is where a project's own store lies below its root.
const storeName = ".agent/rewind"

// place is a root and where its store is, or would be.
type place struct {
	root  string // real path
	store string // "" when there is none
	mode  Mode
	lost  *knownStore // known by this account, but its store is gone
	named bool        // the root was named, not found
}

// discover finds the root for o: the one that is named, else the nearest
// ancestor of the working directory with a store (its own, a global one, or one
// that this account knows of and that has vanished), else the nearest with a
// .git, else the working directory.
func discover(o OpenOptions, known []knownStore) (place, error) {
	named := o.Root
	if named == "" {
		named = o.Env.getenv("REWIND_PROJECT_ROOT")
	}
	if named != "" {
		root, err := realDir(o.Env, named)
		if err != nil {
			return place{}, err
		}
		at := placeOf(o.Env, root, known)
		at.named = true
		return at, nil
	}
	if o.Env.Dir == "" {
		return place{}, &RefusedRootError{Root: ".", Reason: "a working directory that no longer exists"}
	}
	start, err := realDir(o.Env, o.Env.Dir)
	if err != nil {
		return place{}, &RefusedRootError{Root: o.Env.Dir, Reason: "a working directory that no longer exists"}
	}
	git := ""
	for dir := start; ; dir = filepath.Dir(dir) {
		at := placeOf(o.Env, dir, known)
		if at.store != "" || at.lost != nil {
			return at, nil
		}
		if git == "" {
			if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
				git = dir
			}
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	if git != "" {
		start = git
	}
	return place{root: start, mode: ProjectMode}, nil
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

// placeOf looks for the store of one directory.
func placeOf(env Env, root string, known []knownStore) place {
	at := place{root: root, mode: ProjectMode}
	own := filepath.Join(root, filepath.FromSlash(storeName))
	// ~/.agent/rewind would be a store of the home directory itself, which only a named root may be.
	if isStore(own) {
		at.store = own
		return at
	}
	if global := globalStore(env, root); global != "" && isStore(global) {
		at.store, at.mode = global, GlobalMode
		return at
	}
	for i := range known {
		if known[i].root == root && !known[i].unfinished(env) {
			at.lost, at.mode = &known[i], known[i].mode
			return at
		}
	}
	return at
}

// isStore reports whether dir has something of a store. A directory that has
// lost its format file still counts: it must be diagnosed, not made anew. One
// without packs as well is what is left of an init that was killed.
func isStore(dir string) bool {
	missing := func(err error) bool { return errors.Is(err, fs.ErrNotExist) || isNotDir(err) }
	if _, err := os.Lstat(filepath.Join(dir, formatName)); !missing(err) {
		return true
	}
	names, err := os.ReadDir(filepath.Join(dir, objectsName))
	return len(names) > 0 || err != nil && !missing(err)
}

// globalStore is the directory of the global store of root, "" without a home.
func globalStore(env Env, root string) string {
	account := env.accountDir()
	if account == "" {
		return ""
	}
	id := cas.Sum([]byte(root))
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
