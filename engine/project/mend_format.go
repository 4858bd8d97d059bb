package project

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"rewind/cas"
	"rewind/cas/vfs"
)

// mendFormat makes the format file of a store anew: whose store it is says the registry, by
// the identity of the directory; what its packs carry, their headers. Both must agree:
// a repository can bring packs too. Written at once and the same each time, so that a
// process that dies leaves nothing to mend.
func mendFormat(ctx context.Context, env Env, at place, lost *FormatError) (f format, notice string, err error) {
	release, err := lockAccount(ctx, env)
	if err != nil {
		return f, "", lost.because(err.Error())
	}
	defer release()
	if f, err = readFormat(at.store); err == nil { // another process was faster
		return f, "", nil
	}
	known, err := KnownStores(env)
	if err != nil {
		return f, "", lost.because(err.Error())
	}
	dir, _, err := identity(at.root)
	if err != nil {
		return f, "", err
	}
	origin, found, err := originOf(filepath.Join(at.store, ObjectsName))
	if err != nil {
		return f, "", lost.because(err.Error())
	}
	for i := len(known) - 1; i >= 0; i-- { // the last was registered last
		k := known[i]
		if k.Mode != at.mode || !k.ofDirectory(env, at.root, dir) {
			continue
		}
		second, mirrored, err := originOf(MirrorDir(env, k.ID))
		if err != nil {
			continue // packs of two stores: nothing can be said of it
		}
		switch {
		case !found && mirrored:
			origin, found = second, true // the packs come back from there
		case mirrored && second != origin, !mirrored && found && origin != k.ID:
			continue
		case !found:
			origin = k.ID // an init that did not get far
		}
		k.Root = at.root
		f = newFormat(k.ID, origin, k)
		if err := WriteFile(filepath.Join(at.store, formatName), f.bytes(), OwnerOf(filepath.Dir(at.store))); err != nil {
			return f, "", err
		}
		return f, fmt.Sprintf("the format file of the store %s was missing or damaged and has been rebuilt", at.store), nil
	}
	return f, "", lost.because("no store that was made on this account in this directory has these packs")
}

func (e *FormatError) because(reason string) error {
	return &FormatError{What: e.What, Err: e.Err, Lost: reason}
}

// originOf is the store id that the packs of a directory carry; found is false where there are none.
func originOf(dir string) (origin StoreID, found bool, err error) {
	id, err := cas.PackOrigin(vfs.OS, dir)
	if errors.Is(err, fs.ErrNotExist) || IsNotDir(err) {
		return origin, false, nil
	}
	return StoreID(id), err == nil, err
}

// ofDirectory reports whether k is of the directory that is at root now.
func (k KnownStore) ofDirectory(env Env, root string, now DirID) bool {
	return k.IsOf(env, root, now) && (k.Root == root || !k.livesApart(now)) || k.staysAt(env, root, now)
}
