package project

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
)

// FindLink says where the store of root really is, relative to root where it is below
// it, and which component of .agent/rewind is a link; both are "" where none is.
func FindLink(root string) (real, link string, err error) {
	path := root
	for _, name := range strings.Split(account.StoreName, "/") {
		path = filepath.Join(path, name)
		info, err := os.Lstat(path)
		switch {
		case vfs.IsMissing(err):
			return "", "", nil
		case err != nil:
			return "", "", err
		case info.Mode()&fs.ModeSymlink == 0:
			continue
		}
		target, err := filepath.EvalSymlinks(path)
		if err != nil {
			return "", path, &LinkError{Path: path} // dangling, or going in circles
		}
		rest, err := filepath.Rel(path, filepath.Join(root, filepath.FromSlash(account.StoreName)))
		if err != nil {
			return "", path, err
		}
		real = filepath.Join(target, rest)
		if inside, err := filepath.Rel(root, real); err == nil && filepath.IsLocal(inside) {
			real = inside // it moves with the project
		}
		return real, path, nil
	}
	return "", "", nil
}

// CheckLinks refuses a store whose path leads through a link that the person did not
// allow, or that has a link below it: a repository can ship both. So is one where something of another kind is in the place
// of what every command needs. One of another user is refused first (*ForeignStoreError).
func (at *Location) CheckLinks(env account.Env, known []account.KnownStore, force bool) error {
	if at.Store != "" { // one of another user cannot even be looked at
		if err := account.OwnStore(at.Store); err != nil {
			return err
		}
	}
	if at.Mode == account.ProjectMode {
		real, link, err := FindLink(at.Root)
		if err != nil {
			return err
		}
		if link != "" && !force && !LinkAllowed(env, known, at.Root, real) {
			return &LinkError{Path: link, Forcible: true}
		}
		at.Link = real
	}
	store := at.Store
	switch {
	case store == "" && at.Mode == account.GlobalMode:
		return nil
	case store == "": // one that is about to be made, in what may be there
		store = filepath.Join(at.Root, filepath.FromSlash(account.StoreName))
	}
	entries, err := os.ReadDir(store)
	if err != nil {
		if vfs.IsMissing(err) {
			return account.InPlace(store, true, nil)
		}
		return err
	}
	for _, e := range entries {
		switch t := e.Type(); {
		case t&fs.ModeSymlink != 0:
			return &LinkError{Path: filepath.Join(store, e.Name())}
		case t != 0 && t != fs.ModeDir:
			return &account.DamagedStoreError{What: filepath.Join(store, e.Name()), Err: errors.New("neither a file nor a directory")}
		case t == 0 && slices.Contains([]string{account.ObjectsName, account.LockName, account.TmpName, account.RestoreName}, e.Name()),
			t == fs.ModeDir && e.Name() == account.FormatName:
			return &account.InPlaceError{Path: filepath.Join(store, e.Name()), Dir: t == 0}
		}
	}
	locks := filepath.Join(store, account.LockName)
	if entries, err = os.ReadDir(locks); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if e.Type() != 0 && slices.Contains(account.StoreLocks, e.Name()) {
			return &account.InPlaceError{Path: filepath.Join(locks, e.Name())}
		}
	}
	return nil
}

// LinkAllowed reports whether the person has allowed root's store to be behind a link, at real.
func LinkAllowed(env account.Env, known []account.KnownStore, root, real string) bool {
	dir, _, err := account.Identity(root)
	if err != nil {
		return false
	}
	for _, k := range known {
		if k.Link == real && (k.IsOf(env, root, dir) || k.StaysAt(env, root, dir)) {
			return true
		}
	}
	return false
}
