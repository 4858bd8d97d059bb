package project

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rewind/cas"
	"rewind/cas/vfs"
)

// adoptSource is the store whose history a directory is to get.
type adoptSource struct {
	known  KnownStore // of the registry; where it has no line, only the id
	listed bool
	store  string // its directory, "" where only its mirror is left
	packs  string // directory of its packs
	alive  bool   // its own directory has it, or gets it back at the next command there
}

// adopt gives the history of another store to the directory of at. Where that store has a
// directory of its own, or may have one that this account has lost sight of, the packs are
// copied and the store gets an id of its own; else it is taken over. Two directories
// never add to one log.
func adopt(ctx context.Context, o InitOptions, at place, known []KnownStore) (p *Project, created bool, err error) {
	src, err := findSource(o, known)
	if err != nil {
		return nil, false, err
	}
	dir, _, err := identity(at.root)
	if err != nil {
		return nil, false, err
	}
	if src.listed && src.known.IsOf(o.Env, at.root, dir) {
		p, err := reopen(ctx, o.OpenOptions, at) // its own: it is there, or comes back
		return p, false, err
	}
	if err := refuseRoot(o.Env, at.root); err != nil && !at.named {
		return nil, false, err
	}
	if at.lost != nil || at.store != "" && at.store != src.store {
		p, err := reopen(ctx, o.OpenOptions, at)
		if err != nil {
			return nil, false, err
		}
		p.Close()
		return nil, false, &RefusedError{What: fmt.Sprintf("%s has a store of its own already", at.root), Adopting: true}
	}
	if err := at.checkLinks(o.Env, known, o.Force); err != nil {
		return nil, false, err
	}
	release, err := lockAccount(ctx, o.Env)
	if err != nil {
		return nil, false, err
	}
	defer release()
	now := KnownStore{ID: src.known.ID, DirID: dir, Root: at.root, Mode: src.mode(o), link: at.link}
	switch {
	case now.Mode == GlobalMode && src.known.Mode == GlobalMode && !src.alive:
		at.store = src.store
		err = takeOver(ctx, o.Env, at, now)
	case now.Mode == ProjectMode && src.known.Mode == ProjectMode && !src.alive && src.store == "" && !sharedPacks(src.packs):
		// From here on it is this directory's store, and has vanished.
		if err = Register(ctx, o.Env, now, false); err == nil {
			at.store = now.store(o.Env)
			err = fillStore(o.Env, at.store, now)
		}
	default:
		at.store, err = copyStore(ctx, o, src, now, known)
	}
	if err != nil {
		return nil, false, fmt.Errorf("adopt the store %s: %w", src.known.ID, err)
	}
	at.mode, at.lost = now.Mode, nil
	if p, err = reopen(ctx, o.OpenOptions, at); err != nil {
		return nil, false, err
	}
	return p, true, errors.Join(p.Store.RefreshIndexes(), p.Store.Mirror(), p.MirrorSettings())
}

func (s *adoptSource) mode(o InitOptions) Mode {
	if o.Mode != "" {
		return o.Mode
	}
	return s.known.Mode
}

// findSource finds the store that --adopt names: by the path of a global store, or
// by an id or a prefix of one.
func findSource(o InitOptions, known []KnownStore) (*adoptSource, error) {
	s := &adoptSource{}
	if store := o.Adopt; strings.ContainsRune(store, filepath.Separator) {
		if !filepath.IsAbs(store) {
			store = filepath.Join(o.Env.Dir, store)
		}
		if id := storeOfProject(o.Env, known, store); id != "" && !isStore(store) {
			o.Adopt = id
			return findSource(o, known)
		}
		if !isStore(store) {
			return nil, &NoStoreError{ID: o.Adopt}
		}
		if err := ownStore(store); err != nil {
			return nil, err
		}
		f, err := readFormat(store)
		if err != nil {
			return nil, err
		}
		s.known.Mode, s.store, s.packs = GlobalMode, store, filepath.Join(store, ObjectsName)
		s.known.ID, _ = ParseStoreID(f.ID)
		for _, k := range known {
			if k.ID == s.known.ID {
				s.known, s.listed = k, true
			}
		}
		if !s.listed && filepath.Dir(store) != filepath.Dir(GlobalStore(o.Env, store)) {
			s.alive = true // it lies where others put it: it is copied
		}
	} else {
		id, err := FindStore(o.Env, store)
		if err != nil {
			return nil, err
		}
		s.known.Mode = ProjectMode
		s.known.ID, _ = ParseStoreID(id)
		for _, k := range known {
			if k.ID == s.known.ID {
				s.known, s.listed = k, true
			}
		}
		if s.listed && isStore(s.known.store(o.Env)) {
			if f, err := readFormat(s.known.store(o.Env)); err == nil && f.ID == id {
				s.store = s.known.store(o.Env)
				s.packs = filepath.Join(s.store, ObjectsName)
			}
		}
		if s.packs == "" {
			s.packs = MirrorDir(o.Env, s.known.ID)
			if !isDir(s.packs) {
				return nil, &VanishedError{Root: s.known.Root, Reason: "nothing of it is left on this account"}
			}
		}
	}
	if s.listed {
		switch s.known.state(o.Env) {
		case StoreLive, StoreLost, StoreUnreachable:
			s.alive = true
		default:
			s.alive = s.known.Mode == GlobalMode && s.known.whereabouts(o.Env, known) != ""
		}
	}
	return s, nil
}

// storeOfProject is the id of the store of the project at dir, "" if this account knows of none.
func storeOfProject(env Env, known []KnownStore, dir string) string {
	real, err := realDir(env, dir)
	if err != nil {
		return ""
	}
	at, err := placeOf(env, real, known)
	switch {
	case err != nil || at.anothers:
		return ""
	case at.lost != nil:
		return at.lost.ID.String()
	}
	f, err := readFormat(at.store)
	if err != nil || !slices.ContainsFunc(known, func(k KnownStore) bool { return k.ID.String() == f.ID }) {
		return ""
	}
	return f.ID
}

// FindStore finds a store of the account by its id or the beginning of one. Errors: *NoStoreError.
func FindStore(env Env, prefix string) (id string, err error) {
	known, err := KnownStores(env)
	if err != nil {
		return "", err
	}
	seen := map[string]bool{}
	for _, k := range known {
		seen[k.ID.String()] = true
	}
	if account := env.AccountDir(); account != "" {
		names, err := os.ReadDir(filepath.Join(account, "vault")) // a line may have been lost
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		for _, d := range names {
			if _, err := ParseStoreID(d.Name()); err == nil {
				seen[d.Name()] = true
			}
		}
	}
	var matches []string
	for id := range seen {
		if prefix != "" && strings.HasPrefix(id, prefix) {
			matches = append(matches, id)
		}
	}
	if len(matches) != 1 {
		return "", &NoStoreError{ID: prefix, Matches: matches}
	}
	return matches[0], nil
}

// takeOver makes a global store whose directory is gone the store of another one.
func takeOver(ctx context.Context, env Env, at place, now KnownStore) error {
	if at.store != GlobalStore(env, at.root) {
		now.storage = at.store
	}
	f, err := readFormat(at.store)
	if err != nil {
		return err
	}
	if err := dropDerived(at.store); err != nil {
		return err
	}
	if err := Register(ctx, env, now, false); err != nil {
		return err
	}
	f.own(now)
	return WriteFile(filepath.Join(at.store, formatName), f.bytes(), OwnerOf(at.store))
}

// copyStore makes a store for now with copies of the packs of src, and an id of its own. Until
// its format file is there, it is one that was never finished.
func copyStore(ctx context.Context, o InitOptions, src *adoptSource, now KnownStore, known []KnownStore) (string, error) {
	now.ID = freshID(o.Env, known, now)
	store := newPlace(o.Env, &now, known)
	if store == "" {
		return "", errNoHome
	}
	owner := OwnerOf(existingParent(store))
	if err := makeStoreDirs(store, owner); err != nil {
		return "", err
	}
	if err := clearUnfinished(store); err != nil {
		return "", err
	}
	mark := filepath.Join(store, rebuildingName)
	if err := WriteFile(mark, nil, owner); err != nil {
		return "", err
	}
	if err := Register(ctx, o.Env, now, false); err != nil {
		return "", err
	}
	if src.store != "" {
		// Nothing is collected there meanwhile.
		lock, err := LockFile(ctx, filepath.Join(src.store, LockName, "users"), "users", false)
		if err == nil {
			defer lock.Release()
		} else if Exists(filepath.Join(src.store, LockName)) {
			return "", err
		}
	}
	settingsDir := src.packs
	if src.store != "" {
		settingsDir = src.store
	}
	if err := restoreSettings(settingsDir, store, owner); err != nil {
		return "", err
	}
	var origin [16]byte
	for try := 0; ; try++ {
		var err error
		origin, err = cas.CopyPacks(vfs.OS, src.packs, filepath.Join(store, ObjectsName), owner)
		if err == nil {
			break
		}
		// A store that this account has lost sight of may be collected meanwhile.
		if !errors.Is(err, fs.ErrNotExist) || try == 2 {
			return "", err
		}
		if err := errors.Join(clearUnfinished(store), WriteFile(mark, nil, owner)); err != nil {
			return "", err
		}
	}
	return store, finishStore(store, newFormat(now.ID, StoreID(origin), now), owner)
}

// sharedPacks reports whether a pack of a mirror has another name: then a store has it,
// wherever it is now.
func sharedPacks(mirror string) bool {
	entries, err := os.ReadDir(mirror)
	if err != nil {
		return true
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return true
		}
		if _, shared := linkKey(info); shared && filepath.Ext(e.Name()) == ".pack" {
			return true
		}
	}
	return false
}

// clearUnfinished removes what a copy or rebuild that was killed has left in a store that
// has no format file: all of it is elsewhere too.
func clearUnfinished(store string) error {
	if !Exists(filepath.Join(store, rebuildingName)) || Exists(filepath.Join(store, formatName)) {
		return nil
	}
	objects := filepath.Join(store, ObjectsName)
	entries, err := os.ReadDir(objects)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := RemoveIfThere(filepath.Join(objects, e.Name())); err != nil {
			return err
		}
	}
	return RemoveIfThere(filepath.Join(store, rebuildingName))
}
