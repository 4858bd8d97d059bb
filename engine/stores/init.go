package stores

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/settings"
)

// InitOptions are those of rewind init.
type InitOptions struct {
	project.OpenOptions
	Mode   account.Mode // "": as configured
	Tier   string       // "": as configured
	NoSave bool
	Adopt  string // store whose history this root gets: an id, a prefix of one, or the path of a global store
	Trust  bool   // take a store that this account did not make
	Force  bool   // even on a remote file system, or through a link
}

// Init makes the store. created is false where there was one already: then nothing is
// changed. The caller closes the project.
func Init(ctx context.Context, o InitOptions) (p *project.Project, created bool, err error) {
	if err := account.Supported(o.Env); err != nil {
		return nil, false, err
	}
	known, err := account.KnownStores(o.Env)
	if err != nil {
		return nil, false, err
	}
	at, err := project.Discover(o.OpenOptions, known)
	if err != nil {
		return nil, false, err
	}
	if at.Anothers && !o.Trust {
		at.Store, at.Mode = "", account.ProjectMode
	}
	var gone *account.KnownStore // by which nothing can be found any more
	switch {
	case o.Adopt != "":
		return adopt(ctx, o, at, known)
	case at.Store != "" && o.Trust:
		if p, err = trust(ctx, o, at); err != nil {
			return nil, false, err
		}
		return p, false, nil
	case at.Store != "" || at.Lost != nil:
		if o.Force {
			if known, err = allowLink(ctx, o.Env, at, known); err != nil {
				return nil, false, err
			}
		}
		p, err = project.OpenAt(ctx, o.OpenOptions, at, known)
		var vanished *project.VanishedError
		if !errors.As(err, &vanished) || !o.Force {
			return p, false, err
		}
		// The person wants to begin anew, in a directory that they chose before. The line of the store that is gone stays
		// as long as there is a mirror: init --adopt finds its history by it.
		if !account.IsDir(account.MirrorDir(o.Env, at.Lost.ID)) {
			gone = at.Lost
		}
		at.Lost, at.Named = nil, true
	}
	if !at.Named {
		if err := project.RefuseRoot(o.Env, at.Root); err != nil {
			return nil, false, err
		}
	}
	if err := at.CheckLinks(o.Env, known, o.Force); err != nil {
		return nil, false, err
	}
	history := at.History(o.Env, known)
	if at, err = create(ctx, o, at); err != nil {
		return nil, false, err
	}
	if gone != nil {
		if err := account.Register(ctx, o.Env, *gone, true); err != nil {
			return nil, false, err
		}
	}
	if known, err = account.KnownStores(o.Env); err != nil {
		return nil, false, err
	}
	if p, err = project.OpenAt(ctx, o.OpenOptions, at, known); err != nil {
		return nil, false, err
	}
	p.History, p.Older = history, at.Older
	if o.Tier != "" {
		if err := settings.Set(filepath.Join(at.Store, account.ConfigName), "tier", o.Tier); err != nil {
			p.Close()
			return nil, false, err
		}
		p.ReloadSettings()
	}
	return p, true, nil
}

// create makes the directories and the format file of a new store, the format
// file last: until it is there, there is no store.
func create(ctx context.Context, o InitOptions, at project.Location) (project.Location, error) {
	if err := account.CheckWritable(o.Env); err != nil {
		return at, err
	}
	if _, err := FinishRemovals(ctx, o.Env, at.Root); err != nil {
		return at, err
	}
	defaults, _ := project.LoadSettings(o.Env, "")
	at.Mode = o.Mode
	config := []byte("{}\n")
	if at.Parent != nil {
		if at.Mode == "" {
			at.Mode = at.Parent.Mode
		}
		config = at.Parent.Config(config)
	}
	if at.Mode == "" {
		at.Mode = account.Mode(defaults.StorageMode)
	}
	if kind, remote := remoteFileSystem(at.Root); remote && at.Mode == account.ProjectMode {
		if o.Mode == account.ProjectMode && !o.Force {
			return at, &project.RemoteError{Root: at.Root, FileSystem: kind}
		}
		if o.Mode == "" {
			at.Mode = account.GlobalMode // locks, inodes and change times there cannot be trusted
		}
	}
	if at.Mode != account.ProjectMode && at.Mode != account.GlobalMode {
		return at, fmt.Errorf("storage mode %q is neither project nor global", at.Mode)
	}
	account.SettleIdentity(at.Root)
	dir, _, err := account.Identity(at.Root)
	if err != nil {
		return at, err
	}
	known, err := account.KnownStores(o.Env)
	if err != nil {
		return at, err
	}
	k := account.KnownStore{DirID: dir, Mode: at.Mode, Root: at.Root, Link: at.Link}
	k.ID = freshID(o.Env, known, k)
	if at.Store = newPlace(o.Env, &k, known); at.Store == "" {
		return at, &project.RefusedRootError{Root: at.Root, Reason: "without a home directory, which global mode needs"}
	}
	if at.Mode == account.GlobalMode {
		if kind, remote := remoteFileSystem(account.ExistingParent(at.Store)); remote && !o.Force {
			return at, &project.RemoteError{Root: at.Store, FileSystem: kind}
		}
	}
	// A store without its first checkpoint is worse than none.
	if free, err := account.FreeDisk(account.ExistingParent(at.Store)); err == nil && !o.NoSave && free < defaults.MinFreeDisk {
		return at, &project.DiskFullError{Free: free, Floor: defaults.MinFreeDisk}
	}
	owner := account.OwnerOf(account.ExistingParent(at.Store))
	if config, err = keepOlder(&at, config); err != nil {
		return at, fmt.Errorf("keep the files of the older rewind: %w", err)
	}
	if err := account.MakeStoreDirs(at.Store, owner); err != nil {
		return at, fmt.Errorf("make the store: %w", err)
	}
	lock, err := account.LockFile(ctx, filepath.Join(at.Store, account.LockName, "init"), "init", true)
	if err != nil {
		return at, err
	}
	defer lock.Release()
	if account.Exists(filepath.Join(at.Store, account.FormatName)) {
		return at, nil // another process was faster: its store is as good
	}
	if err := clearUnfinished(at.Store); err != nil {
		return at, err
	}
	for name, content := range map[string][]byte{account.IgnoreName: []byte("*\n"), account.ConfigName: config} {
		if err := account.WriteFile(filepath.Join(at.Store, name), content, owner); err != nil {
			return at, err
		}
	}
	if err := account.Register(ctx, o.Env, k, false); err != nil {
		return at, err
	}
	format := account.NewFormat(k.ID, k.ID, k)
	format.Cloning = o.Cloning
	return at, account.WriteFile(filepath.Join(at.Store, account.FormatName), format.Bytes(), owner)
}

// freshID is the id for a store that is about to be made for k: a new one, or that of an
// init in this directory that was killed.
func freshID(env account.Env, known []account.KnownStore, k account.KnownStore) account.StoreID {
	for _, old := range known {
		if old.Root == k.Root && old.Mode == k.Mode && old.IsOf(env, k.Root, k.DirID) && old.Unfinished(env) {
			return old.ID
		}
	}
	return account.NewStoreID()
}

// newPlace says where the new store of k is to lie. In global mode another directory,
// which was at this path earlier, may have the place: then k notes one of its own.
func newPlace(env account.Env, k *account.KnownStore, known []account.KnownStore) string {
	if k.Mode != account.GlobalMode {
		return k.Store(env)
	}
	store := account.GlobalStore(env, k.Root)
	for _, old := range known {
		if old.ID != k.ID && old.Mode == account.GlobalMode && old.Store(env) == store && account.IsStore(store) {
			store = filepath.Join(filepath.Dir(store), k.ID.String())
			k.Storage = store
			break
		}
	}
	return store
}

// allowLink notes in the registry that the person wants the store of at behind the link
// that leads to it: only if it is this directory's.
func allowLink(ctx context.Context, env account.Env, at project.Location, known []account.KnownStore) ([]account.KnownStore, error) {
	real, link, err := project.FindLink(at.Root)
	if err != nil || link == "" || at.Mode != account.ProjectMode || project.LinkAllowed(env, known, at.Root, real) {
		return known, err
	}
	dir, _, err := account.Identity(at.Root)
	if err != nil {
		return known, err
	}
	id := ""
	if at.Store == "" {
		id = at.Lost.ID.String()
	} else {
		f, err := account.ReadFormat(at.Store)
		if err != nil {
			return known, err
		}
		id = f.ID
	}
	for _, k := range known {
		if k.ID.String() != id {
			continue
		}
		if !k.IsOf(env, at.Root, dir) {
			return known, &project.LinkError{Path: link, Other: k.Root}
		}
		k.Link, k.Root = real, at.Root
		if err := account.Register(ctx, env, k, false); err != nil {
			return known, err
		}
		return account.KnownStores(env)
	}
	return known, nil // not of this account: that is reported next
}

// trust registers a store that this account did not make: the person says that it is theirs.
func trust(ctx context.Context, o InitOptions, at project.Location) (*project.Project, error) {
	known, err := account.KnownStores(o.Env)
	if err != nil {
		return nil, err
	}
	if err := at.CheckLinks(o.Env, known, o.Force); err != nil {
		return nil, err
	}
	f, err := account.ReadFormat(at.Store)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(known, func(k account.KnownStore) bool { return k.ID.String() == f.ID }); i >= 0 {
		// It is of this account: a copy, which becomes a project of its own at its first write.
		return reopen(ctx, o.OpenOptions, at)
	}
	if err := dropDerived(at.Store); err != nil {
		return nil, err
	}
	id, _ := account.ParseStoreID(f.ID)
	dir, _, err := account.Identity(at.Root)
	if err != nil {
		return nil, err
	}
	if err := account.Register(ctx, o.Env, account.KnownStore{ID: id, DirID: dir, Mode: at.Mode, Root: at.Root, Link: at.Link}, false); err != nil {
		return nil, err
	}
	p, err := reopen(ctx, o.OpenOptions, at)
	if err != nil {
		return nil, err
	}
	// Its packs get a mirror on this account, and new indexes: without them every
	// command would walk the whole store.
	if err := p.Store.SetMirror(account.MirrorDir(o.Env, id)); err != nil {
		return p, err
	}
	return p, p.Store.RefreshIndexes()
}

// dropDerived removes what is made anew from the packs. What others derived is
// not believed: the packs' own bytes are checked, a table of a database less so.
func dropDerived(store string) error {
	if err := os.RemoveAll(filepath.Join(store, account.ManifestsName)); err != nil {
		return err
	}
	objects := filepath.Join(store, account.ObjectsName)
	names, err := os.ReadDir(objects)
	if err != nil {
		return err
	}
	derived := []string{filepath.Join(store, account.StatCacheName), filepath.Join(store, account.IndexStateName)}
	for _, d := range names {
		if filepath.Ext(d.Name()) == ".idx" {
			derived = append(derived, filepath.Join(objects, d.Name()))
		}
	}
	for _, file := range derived {
		if err := account.RemoveIfThere(file); err != nil {
			return err
		}
	}
	return nil
}

// reopen opens a store that has just been made or registered.
func reopen(ctx context.Context, o project.OpenOptions, at project.Location) (*project.Project, error) {
	known, err := account.KnownStores(o.Env)
	if err != nil {
		return nil, err
	}
	return project.OpenAt(ctx, o, at, known)
}
