package project

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/scan"
	"github.com/rewind-cli/rewind/manifest"
)

// checkKnown decides whose store this is: made or trusted on this account, and
// of this very directory. It registers nothing: what is due is done by the first
// write, so that reading changes no registration.
func (p *Project) checkKnown(known []account.KnownStore) error {
	dir, _, err := account.Identity(p.at.Root)
	if err != nil {
		return err
	}
	isThis := func(k account.KnownStore) bool { return k.ID == p.ID }
	i := slices.IndexFunc(known, isThis)
	if i < 0 {
		// Another process may have registered the store after the registry was read and before its id was.
		if known, err = account.KnownStores(p.Env); err != nil {
			return err
		}
		i = slices.IndexFunc(known, isThis)
	}
	if i < 0 && account.IsGoing(p.Env, p.ID) {
		return &account.ForeignStoreError{Store: p.at.Store, Reason: "is being removed", Going: true}
	}
	if i < 0 || !known[i].OfDirectory(p.Env, p.at.Root, dir) {
		if own, err := p.copiedOver(known, dir); own || err != nil {
			return err
		}
	}
	if i < 0 {
		return account.NotOurs(p.Env, p.at.Store)
	}
	old := known[i]
	switch {
	case old.OfDirectory(p.Env, p.at.Root, dir):
		now := old
		now.DirID, now.Root = old.DirID.Refined(dir), p.at.Root
		if p.at.Mode == account.GlobalMode && p.at.Store != account.GlobalStore(p.Env, p.at.Root) {
			now.Storage = p.at.Store
		}
		if now != old {
			p.due = &now
		}
	case p.at.Mode == account.GlobalMode:
		// The same path may be another project now: another container, a new clone.
		return &MovedError{Store: p.at.Store, Root: p.at.Root, Registered: old.Root, ID: p.ID.String()}
	case p.at.Link != "" || old.Link == p.at.Store:
		return &LinkError{Path: filepath.Join(p.at.Root, filepath.FromSlash(account.StoreName)), Other: old.Root}
	default:
		p.Copied, p.putBack = true, old.Root == p.at.Root
	}
	return nil
}

// beforeWrite does what is due before the first write: a moved project is registered
// anew, and a copy becomes a project of its own.
func (p *Project) beforeWrite(ctx context.Context) error {
	if p.due != nil {
		if err := account.Register(ctx, p.Env, *p.due, false); err != nil {
			return err
		}
		p.due = nil
	}
	if !p.Copied {
		return nil
	}
	forgot := p.forgotSince()
	if err := p.becomeOwn(ctx); err != nil {
		return fmt.Errorf("make the copied store one of its own: %w", err)
	}
	p.Copied = false
	notice := "this store is a copy: it is a project of its own now"
	if p.putBack {
		notice = "this project was put back from a copy of it: its store is one of its own now"
		if account.Exists(filepath.Join(p.at.Store, account.RemotesFile)) {
			notice += "; rewind pull brings what was pushed from here since"
		}
	}
	if forgot {
		notice += "; it has what was removed by rewind forget after it was copied: run rewind forget here, too"
		n := readReturned(filepath.Join(p.at.Store, ReturnedName))
		n.Copied, p.keptNotice = notice, true
		_ = p.writeReturned(n) // a hook shows it to nobody; what cannot be written is only shown by a command
	}
	p.notices = append(p.notices, notice)
	return nil
}

// forgotSince reports whether something was forgotten in the store of which this one is a copy, after it was copied: the mirror of
// that store, which stays when its project is deleted, has a record of it. What cannot be read says nothing.
func (p *Project) forgotSince() bool {
	known := map[time.Time]bool{}
	forgets := func(log manifest.Source, each func(time.Time) bool) bool {
		for r, err := range log.Records(1) {
			if err != nil {
				return false
			}
			if o := r.Record.Operation; o != nil && o.Kind == manifest.OpForget && each(o.Time) {
				return true
			}
		}
		return false
	}
	forgets(p.Log(), func(at time.Time) bool { known[at] = true; return false })
	origin, err := account.ParseStoreID(p.Format.Origin)
	if err != nil {
		return false
	}
	mirror, err := cas.Open(cas.Options{Dir: account.MirrorDir(p.Env, p.ID), StoreID: origin, ReadOnly: true})
	if err != nil {
		return false
	}
	defer mirror.Close()
	return forgets(LogOf(mirror), func(at time.Time) bool { return !known[at] })
}

// becomeOwn gives a copied store its own id, files and mirror:
//
//  1. The format file notes the id that it is going to have, so that the next process
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
	known, err := account.KnownStores(p.Env)
	if err != nil {
		return err
	}
	f, err := account.ReadFormat(p.at.Store)
	if err != nil {
		return err
	}
	dir, _, err := account.Identity(p.at.Root)
	if err != nil {
		return err
	}
	if f.ID != p.Format.ID { // another process was faster
		p.Format = f
		p.ID, _ = account.ParseStoreID(f.ID)
		if err := p.checkOwn(known, dir); err != nil {
			return err
		}
		_ = p.Store.Reset(account.MirrorDir(p.Env, p.ID)) // status tells why there is no mirror
		return nil
	}
	id := account.NewStoreID()
	if next, err := account.ParseStoreID(f.Next); err == nil && next != p.ID {
		i := slices.IndexFunc(known, func(k account.KnownStore) bool { return k.ID == next })
		if i < 0 && !account.Exists(account.MirrorDir(p.Env, next)) || i >= 0 && known[i].IsOf(p.Env, p.at.Root, dir) {
			id = next
		}
	}
	file := filepath.Join(p.at.Store, account.FormatName)
	if f.Next != id.String() {
		f.Next = id.String()
		if err := account.WriteFile(file, f.Bytes(), p.Owner); err != nil {
			return err
		}
	}
	k := account.KnownStore{ID: id, DirID: dir, Mode: p.at.Mode, Root: p.at.Root}
	if err := account.Register(ctx, p.Env, k, false); err != nil {
		return err
	}
	if err := p.unshare(ctx); err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(p.at.Store, account.HomesName)); err != nil { // they have mirrors of the other store
		return err
	}
	f.Own(k)
	if err := account.WriteFile(file, f.Bytes(), p.Owner); err != nil {
		return err
	}
	p.Format, p.ID, p.Copied = f, id, false
	// That there is no mirror is no reason to refuse: status tells.
	_ = p.Store.Reset(account.MirrorDir(p.Env, id))
	p.RefreshMirror()
	return nil
}

// checkOwn makes sure that the store that another process made its own is this directory's.
func (p *Project) checkOwn(known []account.KnownStore, dir account.DirID) error {
	for _, k := range known {
		if k.ID == p.ID && k.IsOf(p.Env, p.at.Root, dir) {
			return nil
		}
	}
	return &account.ForeignStoreError{Store: p.at.Store, Reason: "changed in the meantime"}
}

// unshare makes every file of the store that could be written in place one that has no
// other name. A stat cache of a commit that the log does not have goes: earlier versions wrote into that of a hard-linked backup.
func (p *Project) unshare(ctx context.Context) error {
	if cache, err := scan.LoadCache(p.StatCacheFile()); err == nil && cache != nil {
		if holds, err := p.Store.Holds(ReadStamp(cache.Stamp()).At); err == nil && !holds {
			if err := account.RemoveIfThere(p.StatCacheFile()); err != nil {
				return err
			}
		}
	}
	if err := p.Store.Unshare(ctx, Copying(p.Progress)); err != nil {
		return err
	}
	store := p.at.Store
	remotes, err := os.ReadDir(filepath.Join(store, account.RemotesName))
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	var dirs []string
	for _, e := range remotes {
		dirs = append(dirs, filepath.Join(store, account.RemotesName, e.Name()))
	}
	for _, name := range []string{"", account.RestoreName, account.LockName, account.TmpName, account.ManifestsName} {
		dirs = append(dirs, filepath.Join(store, name))
	}
	for _, dir := range dirs {
		if err := p.unshareDir(dir); err != nil {
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
		if _, shared := account.LinkKey(info); !shared {
			continue
		}
		file := filepath.Join(dir, e.Name())
		if e.Name() == account.StatCacheName {
			// It is made anew: it may be of a later commit of the other store, which this log does not have.
			if err := account.RemoveIfThere(file); err != nil {
				return err
			}
			continue
		}
		data, err := vfs.ReadSmall(file, maxUnshared, vfs.NoFollow)
		switch {
		case os.IsNotExist(err):
		case err == nil:
			err = account.WriteFile(file, data, p.Owner)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// maxUnshared bounds the small files of a store.
const maxUnshared = 64 << 20

// lockAccount makes sure that one process at a time gives stores to directories.
func (p *Project) lockAccount(ctx context.Context) (release func(), err error) {
	ctx, cancel := p.Wait(ctx)
	defer cancel()
	return account.Lock(ctx, p.Env)
}

// RefreshMirror keeps copies of the store's settings and of its .gitignore beside the
// mirror of its packs. Status names what cannot be copied.
func (p *Project) RefreshMirror() {
	if !p.Copied && p.ReadOnly == nil {
		if ignore := filepath.Join(p.at.Store, account.IgnoreName); !account.Exists(ignore) {
			// git must not see the store: it would track it, and take it away with a branch.
			if p.mirrorErr = account.WriteFile(ignore, []byte("*\n"), p.Owner); p.mirrorErr != nil {
				return
			}
		}
		p.mirrorErr = account.MirrorSettings(p.at.Store, account.MirrorDir(p.Env, p.ID), account.OwnerOf(p.Env.Home))
	}
}

// MirrorSettings is for whoever has changed the settings file of the project: a store that
// has to be rebuilt gets it back.
func (p *Project) MirrorSettings() error {
	p.RefreshMirror()
	return p.mirrorErr
}
