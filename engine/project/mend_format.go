package project

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/problem"
)

// mendFormat makes the format file of a store anew: whose store it is says the registry, by
// the identity of the directory; what its packs carry, their headers. Both must agree:
// a repository can bring packs too. Written at once and the same each time, so that a
// process that dies leaves nothing to mend.
func mendFormat(ctx context.Context, env account.Env, at Location, lost *account.FormatError) (f account.Format, notice string, err error) {
	release, err := account.Lock(ctx, env)
	if err != nil {
		return f, "", because(lost, problem.Text(err))
	}
	defer release()
	if f, err = account.ReadFormat(at.Store); err == nil { // another process was faster
		return f, "", nil
	}
	known, err := account.KnownStores(env)
	if err != nil {
		return f, "", because(lost, problem.Text(err))
	}
	dir, _, err := account.Identity(at.Root)
	if err != nil {
		return f, "", err
	}
	origin, found, err := originOf(filepath.Join(at.Store, account.ObjectsName))
	if err != nil {
		return f, "", because(lost, problem.Text(err))
	}
	for i := len(known) - 1; i >= 0; i-- { // the last was registered last
		k := known[i]
		if k.Mode != at.Mode || !k.OfDirectory(env, at.Root, dir) {
			continue
		}
		second, mirrored, err := originOf(account.MirrorDir(env, k.ID))
		if err != nil {
			continue // packs of two stores: the id is not known
		}
		switch {
		case !found && mirrored:
			origin, found = second, true // the packs come back from there
		case mirrored && second != origin, !mirrored && found && origin != k.ID:
			continue
		case !found:
			origin = k.ID // an init that did not get far
		}
		k.Root = at.Root
		f = account.NewFormat(k.ID, origin, k)
		if err := account.WriteFile(filepath.Join(at.Store, account.FormatName), f.Bytes(), account.OwnerOf(filepath.Dir(at.Store))); err != nil {
			return f, "", err
		}
		return f, fmt.Sprintf("the format file of the store %s was missing or damaged and has been rebuilt", at.Store), nil
	}
	return f, "", because(lost, "no store that was made on this account in this directory has these packs")
}

// copiedOver takes the store for that of this directory although the format file names another one, where only that file and some
// packs are of another one: a backup from before the project was put back, or a copy, was copied over it. The registry knows the
// directory, and its mirror has packs of the same origin.
func (p *Project) copiedOver(known []account.KnownStore, dir account.DirID) (own bool, err error) {
	if p.at.Mode != account.ProjectMode || p.at.Link != "" {
		return false, nil
	}
	for i := len(known) - 1; i >= 0; i-- {
		k := known[i]
		if k.Mode != p.at.Mode || k.Link != "" || !k.OfDirectory(p.Env, p.at.Root, dir) {
			continue
		}
		origin, found, err := originOf(account.MirrorDir(p.Env, k.ID))
		if err != nil || !found {
			continue
		}
		if origin.String() != p.Format.Origin {
			if _, _, err := originOf(filepath.Join(p.at.Store, account.ObjectsName)); errors.As(err, new(*cas.DamagedError)) {
				return false, &MixedStoreError{p.at.Store, k.ID.String()}
			}
			continue
		}
		k.Root = p.at.Root
		p.Format, p.ID = account.NewFormat(k.ID, origin, k), k.ID
		if account.CanWrite(p.at.Store) != nil {
			return true, nil
		}
		return true, account.WriteFile(filepath.Join(p.at.Store, account.FormatName), p.Format.Bytes(), account.OwnerOf(filepath.Dir(p.at.Store)))
	}
	return false, nil
}

func because(e *account.FormatError, reason string) error {
	return &account.FormatError{What: e.What, Err: e.Err, Lost: reason}
}

// originOf is the store id that the packs of a directory carry; found is false where there are none.
func originOf(dir string) (origin account.StoreID, found bool, err error) {
	id, err := cas.PackOrigin(vfs.OS, dir)
	if vfs.IsMissing(err) {
		return origin, false, nil
	}
	return account.StoreID(id), err == nil, err
}
