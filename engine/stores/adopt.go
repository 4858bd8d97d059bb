package stores

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
)

// adoptSource is the store whose history a directory is to get.
type adoptSource struct {
	known  account.KnownStore // of the registry; where it has no line, only the id
	listed bool
	store  string // its directory, "" where only its mirror is left
	packs  string // directory of its packs
	alive  bool   // its own directory has it, or gets it back at the next command there
}

// adopt gives the history of another store to the directory of at. Where that store has a
// directory of its own, or may have one that this account has lost sight of, the packs are
// copied and the store gets an id of its own; else it is taken over. Two directories
// never add to one log.
func adopt(ctx context.Context, o InitOptions, at project.Location, known []account.KnownStore) (p *project.Project, created bool, err error) {
	src, err := findSource(o, known)
	if err != nil {
		return nil, false, err
	}
	dir, _, err := account.Identity(at.Root)
	if err != nil {
		return nil, false, err
	}
	if src.listed && src.known.IsOf(o.Env, at.Root, dir) {
		p, err := reopen(ctx, o.OpenOptions, at) // its own: it is there, or comes back
		return p, false, err
	}
	if err := project.RefuseRoot(o.Env, at.Root); err != nil && !at.Named {
		return nil, false, err
	}
	if at.Lost != nil || at.Store != "" && at.Store != src.store {
		p, err := reopen(ctx, o.OpenOptions, at)
		if err != nil {
			return nil, false, err
		}
		p.Close()
		return nil, false, &project.RefusedError{What: fmt.Sprintf("%s has a store of its own already", at.Root), Adopting: true}
	}
	if err := at.CheckLinks(o.Env, known, o.Force); err != nil {
		return nil, false, err
	}
	release, err := account.Lock(ctx, o.Env)
	if err != nil {
		return nil, false, err
	}
	defer release()
	now := account.KnownStore{ID: src.known.ID, DirID: dir, Root: at.Root, Mode: src.mode(o), Link: at.Link}
	switch {
	case now.Mode == account.GlobalMode && src.known.Mode == account.GlobalMode && !src.alive:
		at.Store = src.store
		err = takeOver(ctx, o.Env, at, now)
	case now.Mode == account.ProjectMode && src.known.Mode == account.ProjectMode && !src.alive && src.store == "" && !sharedPacks(src.packs):
		// From here on it is this directory's store, and has vanished.
		if err = account.Register(ctx, o.Env, now, false); err == nil {
			at.Store = now.Store(o.Env)
			err = account.FillStore(o.Env, at.Store, now)
		}
	default:
		at.Store, err = copyStore(ctx, o, src, now, known)
	}
	if err != nil {
		return nil, false, fmt.Errorf("adopt the store %s: %w", src.known.ID, err)
	}
	at.Mode, at.Lost = now.Mode, nil
	if p, err = reopen(ctx, o.OpenOptions, at); err != nil {
		return nil, false, err
	}
	return p, true, errors.Join(p.NoteUnswept(ctx), p.Store.RefreshIndexes(), p.Store.Mirror(), p.MirrorSettings())
}

// find takes over the line of the registry that has the store's id.
func (s *adoptSource) find(known []account.KnownStore) {
	for _, k := range known {
		if k.ID == s.known.ID {
			s.known, s.listed = k, true
		}
	}
}

func (s *adoptSource) mode(o InitOptions) account.Mode {
	if o.Mode != "" {
		return o.Mode
	}
	return s.known.Mode
}

// findSource finds the store that --adopt names: by the path of a global store, or
// by an id or a prefix of one.
func findSource(o InitOptions, known []account.KnownStore) (*adoptSource, error) {
	s := &adoptSource{}
	if store := o.Adopt; store == "." || store == ".." || strings.ContainsRune(store, filepath.Separator) {
		if !filepath.IsAbs(store) {
			store = filepath.Join(o.Env.Dir, store)
		}
		if id := storeOfProject(o.Env, known, store); id != "" && !account.IsStore(store) {
			o.Adopt = id
			return findSource(o, known)
		}
		if !account.IsStore(store) {
			return nil, &project.NoStoreError{ID: o.Adopt}
		}
		if err := account.OwnStore(store); err != nil {
			return nil, err
		}
		f, err := account.ReadFormat(store)
		if err != nil {
			return nil, err
		}
		s.known.Mode, s.store, s.packs = account.GlobalMode, store, filepath.Join(store, account.ObjectsName)
		s.known.ID, _ = account.ParseStoreID(f.ID)
		s.find(known)
		if !s.listed && filepath.Dir(store) != filepath.Dir(account.GlobalStore(o.Env, store)) {
			s.alive = true // it lies where others put it: it is copied
		}
	} else {
		id, err := FindStore(o.Env, store)
		if err != nil {
			return nil, err
		}
		s.known.Mode = account.ProjectMode
		s.known.ID, _ = account.ParseStoreID(id)
		s.find(known)
		if s.listed && account.IsStore(s.known.Store(o.Env)) {
			if f, err := account.ReadFormat(s.known.Store(o.Env)); err == nil && f.ID == id {
				s.store = s.known.Store(o.Env)
				s.packs = filepath.Join(s.store, account.ObjectsName)
			}
		}
		if s.packs == "" {
			s.packs = account.MirrorDir(o.Env, s.known.ID)
			if !account.IsDir(s.packs) {
				return nil, &project.VanishedError{Root: s.known.Root, Reason: "nothing of it is left on this account"}
			}
		}
	}
	if s.listed {
		switch s.known.State(o.Env) {
		case account.Live, account.Lost, account.Unreachable:
			s.alive = true
		default:
			s.alive = s.known.Mode == account.GlobalMode && whereabouts(s.known, o.Env, known) != ""
		}
	}
	return s, nil
}

// storeOfProject is the id of the store of the project at dir, or of the newest one that was there and of which something
// is left; "" if this account knows of none.
func storeOfProject(env account.Env, known []account.KnownStore, dir string) string {
	if id := storeNowOf(env, known, dir); id != "" {
		return id
	}
	dir = filepath.Clean(dir)
	if parent, err := filepath.EvalSymlinks(filepath.Dir(dir)); err == nil {
		dir = filepath.Join(parent, filepath.Base(dir))
	}
	for _, k := range slices.Backward(known) { // the last was registered last
		if k.Root == dir && k.Packs(env) != "" {
			return k.ID.String()
		}
	}
	return ""
}

func storeNowOf(env account.Env, known []account.KnownStore, dir string) string {
	real, err := project.RealDir(env, dir)
	if err != nil {
		return ""
	}
	at, err := project.Locate(env, real, known)
	switch {
	case err != nil || at.Anothers:
		return ""
	case at.Lost != nil:
		return at.Lost.ID.String()
	}
	f, err := account.ReadFormat(at.Store)
	if err != nil || !slices.ContainsFunc(known, func(k account.KnownStore) bool { return k.ID.String() == f.ID }) {
		return ""
	}
	return f.ID
}

// FindStore finds a store of the account by its id or the beginning of one. Errors: *NoStoreError.
func FindStore(env account.Env, prefix string) (id string, err error) {
	known, err := account.KnownStores(env)
	if err != nil {
		return "", err
	}
	seen := map[string]bool{}
	for _, k := range known {
		seen[k.ID.String()] = true
	}
	if accountDir := env.AccountDir(); accountDir != "" {
		names, err := os.ReadDir(filepath.Join(accountDir, account.MirrorsName)) // a line may have been lost
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		for _, d := range names {
			if _, err := account.ParseStoreID(d.Name()); err == nil {
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
		return "", &project.NoStoreError{ID: prefix, Matches: matches}
	}
	return matches[0], nil
}

// takeOver makes a global store whose directory is gone the store of another one.
func takeOver(ctx context.Context, env account.Env, at project.Location, now account.KnownStore) error {
	if at.Store != account.GlobalStore(env, at.Root) {
		now.Storage = at.Store
	}
	f, err := account.ReadFormat(at.Store)
	if err != nil {
		return err
	}
	if err := dropDerived(at.Store); err != nil {
		return err
	}
	if err := account.Register(ctx, env, now, false); err != nil {
		return err
	}
	f.Own(now)
	return account.WriteFile(filepath.Join(at.Store, account.FormatName), f.Bytes(), account.OwnerOf(at.Store))
}

// copyStore makes a store for now with copies of the packs of src, and an id of its own. Until
// its format file is there, it is one that was never finished.
func copyStore(ctx context.Context, o InitOptions, src *adoptSource, now account.KnownStore, known []account.KnownStore) (string, error) {
	now.ID = freshID(o.Env, known, now)
	store := newPlace(o.Env, &now, known)
	if store == "" {
		return "", account.ErrNoHome
	}
	owner := account.OwnerOf(account.ExistingParent(store))
	if err := account.MakeStoreDirs(store, owner); err != nil {
		return "", err
	}
	if err := clearUnfinished(store); err != nil {
		return "", err
	}
	mark := filepath.Join(store, account.RebuildingName)
	if err := account.WriteFile(mark, nil, owner); err != nil {
		return "", err
	}
	if err := account.Register(ctx, o.Env, now, false); err != nil {
		return "", err
	}
	if src.store != "" {
		// Nothing is collected there meanwhile.
		lock, err := account.LockFile(ctx, filepath.Join(src.store, account.LockName, "users"), "users", false)
		if err == nil {
			defer lock.Release()
		} else if account.Exists(filepath.Join(src.store, account.LockName)) {
			return "", err
		}
	}
	settingsDir := src.packs
	if src.store != "" {
		settingsDir = src.store
	}
	if err := account.RestoreSettings(settingsDir, store, owner); err != nil {
		return "", err
	}
	var origin [16]byte
	for try := 0; ; try++ {
		var err error
		origin, err = cas.CopyPacks(ctx, vfs.OS, src.packs, filepath.Join(store, account.ObjectsName), owner, project.Copying(o.Progress))
		if err == nil {
			break
		}
		// A store that this account has lost sight of may be collected meanwhile.
		if !errors.Is(err, fs.ErrNotExist) || try == 2 {
			return "", err
		}
		if err := errors.Join(clearUnfinished(store), account.WriteFile(mark, nil, owner)); err != nil {
			return "", err
		}
	}
	// What is forgotten there, and not yet gone, was copied too.
	for _, dir := range []string{account.MirrorDir(o.Env, src.known.ID), src.store} {
		if dir == "" {
			continue
		}
		note, err := vfs.ReadSmall(filepath.Join(dir, project.ForgettingName), 1<<16, vfs.NoFollow)
		if err == nil {
			err = account.WriteFile(filepath.Join(store, project.ForgettingName), note, owner)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return store, account.FinishStore(store, account.NewFormat(now.ID, account.StoreID(origin), now), owner)
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
		if _, shared := account.LinkKey(info); shared && filepath.Ext(e.Name()) == ".pack" {
			return true
		}
	}
	return false
}

// clearUnfinished removes what a copy or rebuild that was killed has left in a store that
// has no format file: all of it is elsewhere too.
func clearUnfinished(store string) error {
	if !account.Exists(filepath.Join(store, account.RebuildingName)) || account.Exists(filepath.Join(store, account.FormatName)) {
		return nil
	}
	objects := filepath.Join(store, account.ObjectsName)
	entries, err := os.ReadDir(objects)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := account.RemoveIfThere(filepath.Join(objects, e.Name())); err != nil {
			return err
		}
	}
	return account.RemoveIfThere(filepath.Join(store, account.RebuildingName))
}
