package project

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"rewind/engine/settings"
)

// checkKnown decides whose store this is: made or trusted on this account, and
// of this very directory. It registers nothing: what is due is done by the first
// write, so that reading changes nobody's registration.
func (p *Project) checkKnown(known []KnownStore) error {
	dir, _, err := identity(p.place.root)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(known, func(k KnownStore) bool { return k.ID == p.ID })
	if i < 0 && going(p.Env, p.ID) {
		return &ForeignStoreError{Store: p.place.store, Reason: "is being removed", Going: true}
	}
	if i < 0 {
		return &ForeignStoreError{Store: p.place.store, Reason: "was not made on this account"}
	}
	old := known[i]
	switch {
	case old.ofDirectory(p.Env, p.place.root, dir):
		now := old
		now.DirID, now.Root = old.DirID.refined(dir), p.place.root
		if p.place.mode == GlobalMode && p.place.store != GlobalStore(p.Env, p.place.root) {
			now.storage = p.place.store
		}
		if now != old {
			p.due = &now
		}
	case p.place.mode == GlobalMode:
		// The same path may be another project now: another container, a new clone.
		return &MovedError{Store: p.place.store, Root: p.place.root, Registered: old.Root, ID: p.ID.String()}
	case p.place.link != "" || old.link == p.place.store:
		return &LinkError{Path: filepath.Join(p.place.root, filepath.FromSlash(StoreName)), Other: old.Root}
	default:
		p.Copied = true
	}
	return nil
}

// beforeWrite does what is due before the first write: a moved project is registered
// anew, and a copy becomes a project of its own.
func (p *Project) beforeWrite(ctx context.Context) error {
	if p.due != nil {
		if err := Register(ctx, p.Env, *p.due, false); err != nil {
			return err
		}
		p.due = nil
	}
	if !p.Copied {
		return nil
	}
	if err := p.becomeOwn(ctx); err != nil {
		return fmt.Errorf("make the copied store one of its own: %w", err)
	}
	p.Copied = false
	p.notices = append(p.notices, "this store is a copy: it is a project of its own now")
	return nil
}

// becomeOwn gives a copied store its own id, files and mirror:
//
//  1. The format file notes the id that it is going to have, so that whoever goes on
//     after a crash takes the same.
//  2. The id is registered for this directory. Files that have names elsewhere (cp -al) are replaced by copies of them.
//  3. The format file gets the id. Until then the store is a copy of the other's.
//  4. The packs are mirrored. What a crash leaves without, the next write mends.
func (p *Project) becomeOwn(ctx context.Context) error {
	release, err := p.lockAccount(ctx)
	if err != nil {
		return err
	}
	defer release()
	known, err := KnownStores(p.Env)
	if err != nil {
		return err
	}
	f, err := readFormat(p.place.store)
	if err != nil {
		return err
	}
	dir, _, err := identity(p.place.root)
	if err != nil {
		return err
	}
	if f.ID != p.Format.ID { // another process was faster
		p.Format = f
		p.ID, _ = ParseStoreID(f.ID)
		if err := p.checkOwn(known, dir); err != nil {
			return err
		}
		_ = p.Store.Reset(MirrorDir(p.Env, p.ID)) // status tells why there is no mirror
		return nil
	}
	id := newStoreID()
	if next, err := ParseStoreID(f.Next); err == nil && next != p.ID {
		i := slices.IndexFunc(known, func(k KnownStore) bool { return k.ID == next })
		if i < 0 && !Exists(MirrorDir(p.Env, next)) || i >= 0 && known[i].IsOf(p.Env, p.place.root, dir) {
			id = next
		}
	}
	file := filepath.Join(p.place.store, formatName)
	if f.Next != id.String() {
		f.Next = id.String()
		if err := WriteFile(file, f.bytes(), p.Owner); err != nil {
			return err
		}
	}
	k := KnownStore{ID: id, DirID: dir, Mode: p.place.mode, Root: p.place.root}
	if err := Register(ctx, p.Env, k, false); err != nil {
		return err
	}
	if err := p.unshare(); err != nil {
		return err
	}
	f.own(k)
	if err := WriteFile(file, f.bytes(), p.Owner); err != nil {
		return err
	}
	p.Format, p.ID, p.Copied = f, id, false
	// That there is no mirror is no reason to refuse: status tells.
	_ = p.Store.Reset(MirrorDir(p.Env, id))
	p.RefreshMirror()
	return nil
}

// checkOwn makes sure that the store that another process made its own is this directory's.
func (p *Project) checkOwn(known []KnownStore, dir DirID) error {
	for _, k := range known {
		if k.ID == p.ID && k.IsOf(p.Env, p.place.root, dir) {
			return nil
		}
	}
	return &ForeignStoreError{Store: p.place.store, Reason: "changed in the meantime"}
}

// unshare makes every file of the store that could be written in place one that has no
// other name.
func (p *Project) unshare() error {
	if err := p.Store.Unshare(); err != nil {
		return err
	}
	store := p.place.store
	for _, name := range []string{"", restoreName, LockName, TmpName, ManifestsName} {
		if err := p.unshareDir(filepath.Join(store, name)); err != nil {
			return err
		}
	}
	return nil
}

// unshareDir replaces the files of one directory that have several names. Tables
// of generations, which lie deeper, are never written once they are there.
func (p *Project) unshareDir(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue // gone meanwhile, or no file
		}
		if _, shared := linkKey(info); !shared {
			continue
		}
		file := filepath.Join(dir, e.Name())
		data, err := ReadSmall(file, maxUnshared)
		switch {
		case os.IsNotExist(err):
		case err != nil && filepath.Base(file) == StatCacheName:
			err = RemoveIfThere(file) // it is made anew
		case err == nil:
			err = WriteFile(file, data, p.Owner)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// maxUnshared bounds the small files of a store; a stat cache may be larger, and
// is made anew.
const maxUnshared = 64 << 20

// lockAccount makes sure that one process at a time gives stores to directories.
func (p *Project) lockAccount(ctx context.Context) (release func(), err error) {
	ctx, cancel := p.Wait(ctx)
	defer cancel()
	return lockAccount(ctx, p.Env)
}

func lockAccount(ctx context.Context, env Env) (release func(), err error) {
	account := env.AccountDir()
	if account == "" {
		return nil, errNoHome
	}
	if err := MakeDir(account, OwnerOf(env.Home)); err != nil {
		return nil, err
	}
	lock, err := LockFile(ctx, filepath.Join(account, "stores.lock"), "stores", true)
	if err != nil {
		return nil, err
	}
	return lock.Release, nil
}

// RefreshMirror keeps copies of the store's settings and of its .gitignore beside the
// mirror of its packs. What cannot be copied is told by status.
func (p *Project) RefreshMirror() {
	if !p.Copied && p.ReadOnly == nil {
		if ignore := filepath.Join(p.place.store, ignoreName); !Exists(ignore) {
			// git must not see the store: it would track it, and take it away with a branch.
			if p.mirrorErr = WriteFile(ignore, []byte("*\n"), p.Owner); p.mirrorErr != nil {
				return
			}
		}
		p.mirrorErr = mirrorSettings(p.place.store, MirrorDir(p.Env, p.ID), OwnerOf(p.Env.Home))
	}
}

// MirrorSettings is for whoever has changed the settings file of the project: a store that
// has to be rebuilt gets it back.
func (p *Project) MirrorSettings() error {
	p.RefreshMirror()
	return p.mirrorErr
}

// mirrored are the files beside the packs that a rebuilt store gets back.
var mirrored = [...]string{ignoreName, ConfigName}

func mirrorSettings(store, mirror string, owner func(string) error) error {
	if !isDir(mirror) {
		return nil // there is no mirror: status says so
	}
	for _, name := range mirrored {
		data, err := ReadSmall(filepath.Join(store, name), 1<<20)
		if os.IsNotExist(err) {
			continue // a copy that is there is worth more than none
		}
		if err != nil {
			return err
		}
		if name == ConfigName && !settings.Readable(data) {
			continue // the last good ones are worth more
		}
		copied := filepath.Join(mirror, name)
		if old, err := ReadSmall(copied, 1<<20); err == nil && string(old) == string(data) {
			continue
		}
		if err := WriteFile(copied, data, owner); err != nil {
			return err
		}
	}
	return nil
}

// isDir reports whether there is a directory, and not a link to one.
func isDir(dir string) bool {
	info, err := os.Lstat(dir)
	return err == nil && info.IsDir()
}

// own writes whose store it is into the format.
func (f *format) own(k KnownStore) {
	f.ID, f.Next, f.Root = k.ID.String(), "", quoteRoot(k.Root)
	f.Device, f.Inode, f.Birth = k.Device, k.Inode, k.Birth
}

// refined is the identity as it is to be written down: what is certain does not change
// with the device numbers of a boot or a container, and a birth once known is kept.
func (d DirID) refined(now DirID) DirID {
	if d.certain() && (!now.certain() || d.Birth == now.Birth) {
		if !now.certain() {
			d.Device = now.Device
		}
		return d
	}
	return now
}

// staysAt reports whether a store that is there, at its own path, is k's although the
// device number has changed: where the file system knows no birth, that is what a boot does.
func (k KnownStore) staysAt(env Env, root string, now DirID) bool {
	return k.Root == root && k.Inode == now.Inode && !(k.certain() && now.certain()) && !k.olderThan(env, now)
}
