package project

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"rewind/cas"
	"rewind/cas/vfs"
	"rewind/engine/settings"
)

// InitOptions are those of rewind init.
type InitOptions struct {
	OpenOptions
	Mode   Mode   // "": as configured
	Tier   string // "": as configured
	NoSave bool
	Adopt  string // store whose history this root gets: an id, a prefix of one, or the path of a global store
	Trust  bool   // take a store that this account did not make
	Force  bool   // even on a remote file system, or through a link
}

// Init makes the store. created is false where there was one already: then nothing is
// changed. The caller closes the project.
func Init(ctx context.Context, o InitOptions) (p *Project, created bool, err error) {
	if err := Supported(o.Env); err != nil {
		return nil, false, err
	}
	known, err := KnownStores(o.Env)
	if err != nil {
		return nil, false, err
	}
	at, err := discover(o.OpenOptions, known)
	if err != nil {
		return nil, false, err
	}
	if at.anothers && !o.Trust {
		at.store, at.mode = "", ProjectMode
	}
	switch {
	case o.Adopt != "":
		return adopt(ctx, o, at, known)
	case at.store != "" && o.Trust:
		if p, err = trust(ctx, o, at); err != nil {
			return nil, false, err
		}
		return p, false, nil
	case at.store != "" || at.lost != nil:
		if o.Force {
			if known, err = allowLink(ctx, o.Env, at, known); err != nil {
				return nil, false, err
			}
		}
		p, err = open(ctx, o.OpenOptions, at, known)
		var vanished *VanishedError
		if !errors.As(err, &vanished) || !o.Force {
			return p, false, err
		}
		// Both names are gone, and the person wants to begin anew.
		if err := Register(ctx, o.Env, *at.lost, true); err != nil {
			return nil, false, err
		}
		at.lost = nil
	}
	if !at.named {
		if err := refuseRoot(o.Env, at.root); err != nil {
			return nil, false, err
		}
	}
	if err := at.checkLinks(o.Env, known, o.Force); err != nil {
		return nil, false, err
	}
	history := at.history(o.Env, known)
	if at, err = create(ctx, o, at); err != nil {
		return nil, false, err
	}
	if known, err = KnownStores(o.Env); err != nil {
		return nil, false, err
	}
	if p, err = open(ctx, o.OpenOptions, at, known); err != nil {
		return nil, false, err
	}
	p.history, p.older = history, at.older
	if o.Tier != "" {
		if err := settings.Set(filepath.Join(at.store, ConfigName), "tier", o.Tier); err != nil {
			p.Close()
			return nil, false, err
		}
		p.loadSettings()
	}
	return p, true, nil
}

// create makes the directories and the format file of a new store, the format
// file last: until it is there, there is no store.
func create(ctx context.Context, o InitOptions, at place) (place, error) {
	if err := accountWritable(o.Env); err != nil {
		return at, err
	}
	if _, err := FinishRemovals(ctx, o.Env, at.root); err != nil {
		return at, err
	}
	account, _ := LoadSettings(o.Env, "")
	at.mode = o.Mode
	config := []byte("{}\n")
	if at.parent != nil {
		if at.mode == "" {
			at.mode = at.parent.mode
		}
		config = at.parent.config(config)
	}
	if at.mode == "" {
		at.mode = Mode(account.StorageMode)
	}
	if kind, remote := remoteFileSystem(at.root); remote && at.mode == ProjectMode {
		if o.Mode == ProjectMode && !o.Force {
			return at, &RemoteError{Root: at.root, FileSystem: kind}
		}
		if o.Mode == "" {
			at.mode = GlobalMode // locks, inodes and change times there cannot be trusted
		}
	}
	if at.mode != ProjectMode && at.mode != GlobalMode {
		return at, fmt.Errorf("storage mode %q is neither project nor global", at.mode)
	}
	dir, _, err := identity(at.root)
	if err != nil {
		return at, err
	}
	known, err := KnownStores(o.Env)
	if err != nil {
		return at, err
	}
	k := KnownStore{DirID: dir, Mode: at.mode, Root: at.root, link: at.link}
	k.ID = freshID(o.Env, known, k)
	if at.store = newPlace(o.Env, &k, known); at.store == "" {
		return at, &RefusedRootError{Root: at.root, Reason: "without a home directory, which global mode needs"}
	}
	if at.mode == GlobalMode {
		if kind, remote := remoteFileSystem(existingParent(at.store)); remote && !o.Force {
			return at, &RemoteError{Root: at.store, FileSystem: kind}
		}
	}
	// A store without its first checkpoint is worse than none.
	if free, err := FreeDisk(existingParent(at.store)); err == nil && !o.NoSave && free < account.MinFreeDisk {
		return at, &DiskFullError{Free: free, Floor: account.MinFreeDisk}
	}
	owner := OwnerOf(existingParent(at.store))
	if config, err = at.keepOlder(config); err != nil {
		return at, fmt.Errorf("keep the files of the older rewind: %w", err)
	}
	if err := makeStoreDirs(at.store, owner); err != nil {
		return at, fmt.Errorf("make the store: %w", err)
	}
	lock, err := LockFile(ctx, filepath.Join(at.store, LockName, "init"), "init", true)
	if err != nil {
		return at, err
	}
	defer lock.Release()
	if Exists(filepath.Join(at.store, formatName)) {
		return at, nil // another process was faster: its store is as good
	}
	if err := clearUnfinished(at.store); err != nil {
		return at, err
	}
	for name, content := range map[string][]byte{ignoreName: []byte("*\n"), ConfigName: config} {
		if err := WriteFile(filepath.Join(at.store, name), content, owner); err != nil {
			return at, err
		}
	}
	if err := Register(ctx, o.Env, k, false); err != nil {
		return at, err
	}
	return at, WriteFile(filepath.Join(at.store, formatName), newFormat(k.ID, k.ID, k).bytes(), owner)
}

// freshID is the id for a store that is about to be made for k: a new one, or that of an
// init in this directory that was killed.
func freshID(env Env, known []KnownStore, k KnownStore) StoreID {
	for _, old := range known {
		if old.Root == k.Root && old.Mode == k.Mode && old.IsOf(env, k.Root, k.DirID) && old.unfinished(env) {
			return old.ID
		}
	}
	return newStoreID()
}

// newPlace says where the new store of k is to lie. In global mode another directory,
// which was at this path earlier, may have the place: then k notes one of its own.
func newPlace(env Env, k *KnownStore, known []KnownStore) string {
	if k.Mode != GlobalMode {
		return k.store(env)
	}
	store := GlobalStore(env, k.Root)
	for _, old := range known {
		if old.ID != k.ID && old.Mode == GlobalMode && old.store(env) == store && isStore(store) {
			store = filepath.Join(filepath.Dir(store), k.ID.String())
			k.storage = store
			break
		}
	}
	return store
}

// allowLink notes in the registry that the person wants the store of at behind the link
// that leads to it: only if it is this directory's.
func allowLink(ctx context.Context, env Env, at place, known []KnownStore) ([]KnownStore, error) {
	real, link, err := findLink(at.root)
	if err != nil || link == "" || at.mode != ProjectMode || linkAllowed(env, known, at.root, real) {
		return known, err
	}
	dir, _, err := identity(at.root)
	if err != nil {
		return known, err
	}
	id := ""
	if at.store == "" {
		id = at.lost.ID.String()
	} else {
		f, err := readFormat(at.store)
		if err != nil {
			return known, err
		}
		id = f.ID
	}
	for _, k := range known {
		if k.ID.String() != id {
			continue
		}
		if !k.IsOf(env, at.root, dir) {
			return known, &LinkError{Path: link, Other: k.Root}
		}
		k.link, k.Root = real, at.root
		if err := Register(ctx, env, k, false); err != nil {
			return known, err
		}
		return KnownStores(env)
	}
	return known, nil // not of this account: that is said next
}

func newFormat(id, origin StoreID, k KnownStore) format {
	return format{
		Version: FormatVersion, ID: id.String(), Origin: origin.String(),
		Hash: hashName, Chunker: cas.Chunker,
		Root: quoteRoot(k.Root), Device: k.Device, Inode: k.Inode, Birth: k.Birth,
	}
}

func quoteRoot(root string) string { return strconv.Quote(root) }

// makeStoreDirs makes the directories of a store; those above it that are
// missing too, all with the owner of the nearest one that is there.
func makeStoreDirs(store string, owner func(string) error) error {
	var missing []string
	for dir := store; !Exists(dir); dir = filepath.Dir(dir) {
		missing = append(missing, dir)
	}
	for i := len(missing) - 1; i >= 0; i-- {
		if err := MakeDir(missing[i], owner); err != nil {
			return err
		}
		if err := vfs.OS.SyncDir(filepath.Dir(missing[i])); err != nil {
			return err // or a power cut could take the store with all that is durable in it
		}
	}
	for _, name := range []string{ObjectsName, ManifestsName, LockName, TmpName, restoreName} {
		if err := MakeDir(filepath.Join(store, name), owner); err != nil {
			return err
		}
	}
	return nil
}

// existingParent is the nearest directory at or above dir that is there.
func existingParent(dir string) string {
	for !Exists(dir) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
	}
	return dir
}

// trust registers a store that this account did not make: the person says that it is theirs.
func trust(ctx context.Context, o InitOptions, at place) (*Project, error) {
	known, err := KnownStores(o.Env)
	if err != nil {
		return nil, err
	}
	if err := at.checkLinks(o.Env, known, o.Force); err != nil {
		return nil, err
	}
	f, err := readFormat(at.store)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(known, func(k KnownStore) bool { return k.ID.String() == f.ID }); i >= 0 {
		// It is of this account: a copy, which becomes a project of its own at its first write.
		return reopen(ctx, o.OpenOptions, at)
	}
	if err := dropDerived(at.store); err != nil {
		return nil, err
	}
	id, _ := ParseStoreID(f.ID)
	dir, _, err := identity(at.root)
	if err != nil {
		return nil, err
	}
	if err := Register(ctx, o.Env, KnownStore{ID: id, DirID: dir, Mode: at.mode, Root: at.root, link: at.link}, false); err != nil {
		return nil, err
	}
	p, err := reopen(ctx, o.OpenOptions, at)
	if err != nil {
		return nil, err
	}
	// Its packs get a mirror on this account, and new indexes: without them every
	// command would walk the whole store.
	if err := p.Store.SetMirror(MirrorDir(o.Env, id)); err != nil {
		return p, err
	}
	return p, p.Store.RefreshIndexes()
}

// dropDerived removes what is made anew from the packs. What others derived is
// not believed: the packs' own bytes are checked, a table of a database less so.
func dropDerived(store string) error {
	if err := os.RemoveAll(filepath.Join(store, ManifestsName)); err != nil {
		return err
	}
	objects := filepath.Join(store, ObjectsName)
	names, err := os.ReadDir(objects)
	if err != nil {
		return err
	}
	derived := []string{filepath.Join(store, StatCacheName), filepath.Join(store, IndexStateName)}
	for _, d := range names {
		if filepath.Ext(d.Name()) == ".idx" {
			derived = append(derived, filepath.Join(objects, d.Name()))
		}
	}
	for _, file := range derived {
		if err := RemoveIfThere(file); err != nil {
			return err
		}
	}
	return nil
}

func reopen(ctx context.Context, o OpenOptions, at place) (*Project, error) {
	known, err := KnownStores(o.Env)
	if err != nil {
		return nil, err
	}
	return open(ctx, o, at, known)
}
