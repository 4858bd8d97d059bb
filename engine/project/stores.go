package project

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rewind/manifest"
)

// States of a store, beside those that the registry alone tells.
const (
	StoreMoved        StoreState = "moved"        // nothing, or another directory, is at its path, and its packs are in use elsewhere, or its directory was found
	StoreForeign      StoreState = "foreign"      // it belongs to another user, or cannot be read
	StoreUnregistered StoreState = "unregistered" // a mirror without a line in the registry
	StoreGoing        StoreState = "going"        // its removal did not finish
)

// Dead reports whether no directory has the store, nor gets it back by itself: what is
// left of it is its mirror.
func (s StoreState) Dead() bool {
	switch s {
	case StoreGone, StoreReplaced, StoreUnfinished, StoreUnregistered, StoreGoing:
		return true
	}
	return false
}

// StoreInfo is what rewind stores tells of one store of the account.
type StoreInfo struct {
	RegisteredStore
	Bytes       int64     // on disk, files with several names counted once
	Checkpoints int       // safety checkpoints included; -1: not known without its directory
	Safety      int       // of these
	LastSave    time.Time // zero: unknown
	InUse       bool      // a process holds one of its locks
	MovedTo     string    // where its directory was found, if it was moved; "": not known
}

// Stores lists all stores of the account, the one that was saved to last first. It
// changes nothing.
func Stores(ctx context.Context, env Env) ([]StoreInfo, error) {
	known, err := registry(env)
	if err != nil {
		return nil, err
	}
	if known, err = withMirrors(env, known); err != nil {
		return nil, err
	}
	out := make([]StoreInfo, 0, len(known))
	for _, k := range known {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out = append(out, storeInfo(ctx, env, k, known))
	}
	slices.SortStableFunc(out, func(a, b StoreInfo) int { return b.LastSave.Compare(a.LastSave) })
	return out, nil
}

// withMirrors adds the stores that the registry does not know: global ones, and those of which
// only a mirror is left.
func withMirrors(env Env, known []KnownStore) ([]KnownStore, error) {
	account := env.AccountDir()
	if account == "" {
		return known, nil
	}
	known = slices.Concat(known, unknownStorage(account, known))
	entries, err := os.ReadDir(filepath.Join(account, "vault"))
	if errors.Is(err, fs.ErrNotExist) || IsNotDir(err) {
		return known, nil
	}
	for _, e := range entries {
		name, going := strings.CutSuffix(e.Name(), goingSuffix)
		id, err := ParseStoreID(name)
		if err != nil || !e.IsDir() || slices.ContainsFunc(known, func(k KnownStore) bool { return k.ID == id }) {
			continue
		}
		known = append(known, KnownStore{ID: id, Mode: ProjectMode, Going: going})
	}
	return known, err
}

// unknownStorage lists the global stores that the registry has no line of.
func unknownStorage(account string, known []KnownStore) (out []KnownStore) {
	dir := filepath.Join(account, "storage")
	entries, _ := os.ReadDir(dir) // none is there, or none can be listed
	for _, e := range entries {
		if !e.IsDir() || strings.Contains(e.Name(), goingSuffix) {
			continue
		}
		f, err := readFormat(filepath.Join(dir, e.Name()))
		if err != nil {
			continue
		}
		id, _ := ParseStoreID(f.ID) // checked by readFormat
		if !slices.ContainsFunc(known, func(k KnownStore) bool { return k.ID == id }) {
			out = append(out, KnownStore{ID: id, Mode: GlobalMode, storage: filepath.Join(dir, e.Name())})
		}
	}
	return out
}

// storeInfo looks at one store. k has no root where the registry has no line of it.
func storeInfo(ctx context.Context, env Env, k KnownStore, known []KnownStore) StoreInfo {
	s := StoreInfo{Checkpoints: -1}
	s.ID, s.Root, s.Mode = k.ID.String(), k.Root, k.Mode
	s.State, s.MovedTo = k.fate(env, known)
	for _, mirror := range []string{MirrorDir(env, k.ID), MirrorDir(env, k.ID) + goingSuffix} {
		if isDir(mirror) {
			s.Mirror = mirror
		}
	}
	switch s.State {
	case StoreLive, StoreForeign:
		s.Store = k.store(env)
	case StoreGoing:
	default:
		s.Store = k.storageOf(env, known) // a global store outlives its project
	}
	if dir := k.packs(env); k.Root != "" && dir != "" {
		s.LastSave = newestChange(dir)
	} else if s.Mirror != "" {
		s.LastSave = newestChange(s.Mirror)
	} else if s.Store != "" {
		s.LastSave = newestChange(filepath.Join(s.Store, ObjectsName))
	}
	s.Bytes = DiskBytes(s.Store, s.Mirror)
	if s.State == StoreLive {
		s.InUse = inUse(s.Store)
		s.count(ctx, env)
	}
	return s
}

// fate is what has become of k, as far as it can be told from outside, and where its directory
// is now if it was moved and found.
func (k KnownStore) fate(env Env, known []KnownStore) (state StoreState, movedTo string) {
	state = StoreUnregistered
	switch {
	case k.Going:
		return StoreGoing, ""
	case k.Root != "":
		state = k.state(env)
	}
	switch state {
	case StoreGone, StoreReplaced, StoreUnregistered:
		if k.Mode == GlobalMode { // its packs have two names, wherever its directory is
			if k.Root != "" {
				movedTo = k.whereabouts(env, known)
			}
			if movedTo != "" {
				return StoreMoved, movedTo
			}
		} else if mirror := MirrorDir(env, k.ID); isDir(mirror) && sharedPacks(mirror) {
			return StoreMoved, ""
		}
	case StoreLive:
		_, uid, err := identity(k.store(env))
		if err != nil || !usable(uid) {
			return StoreForeign, ""
		}
	}
	return state, ""
}

// count adds what only the open store tells. One that will not open is listed without.
func (s *StoreInfo) count(ctx context.Context, env Env) {
	p, err := Open(ctx, OpenOptions{Env: env, Root: s.Root})
	if err != nil {
		return
	}
	defer p.Close()
	if p.ID.String() != s.ID {
		return
	}
	err = p.Query(ctx, func(db *manifest.DB) error {
		n, safety, err := db.Count()
		s.Checkpoints, s.Safety = n+safety, safety
		return err
	})
	if err != nil {
		s.Checkpoints, s.Safety = -1, 0
	}
	if newest, err := p.List(ctx, ListOptions{Limit: 1}); err == nil && len(newest) > 0 {
		s.LastSave = newest[0].Time
	}
}

// inUse reports whether a process holds a lock of the store now.
func inUse(store string) bool {
	at, cancel := context.WithDeadline(context.Background(), time.Now().Add(-time.Second))
	defer cancel()
	for _, name := range StoreLocks {
		file := filepath.Join(store, LockName, name)
		if !Exists(file) {
			continue
		}
		lock, err := LockFile(at, file, name, true)
		var busy *BusyError
		if errors.As(err, &busy) {
			return true
		}
		if err == nil {
			lock.Release()
		}
	}
	return false
}

// StoreLocks are the locks of a store, in their order.
var StoreLocks = []string{"gc", "tree", "users", "append"}

// DiskBytes is what directories take on disk, each file once. "" is none.
func DiskBytes(dirs ...string) (total int64) {
	seen := map[[2]uint64]bool{}
	for _, dir := range dirs {
		if dir == "" {
			continue
		}
		// What cannot be looked at does not count.
		_ = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil
			}
			info, err := d.Info()
			if err != nil {
				return nil
			}
			key, shared := linkKey(info)
			if !shared || !seen[key] {
				total += Allocated(info)
			}
			seen[key] = seen[key] || shared
			return nil
		})
	}
	return total
}

// FindKnown finds a store of the account by its id or the beginning of one, those that
// are going too. Errors: *NoStoreError.
func FindKnown(env Env, prefix string) (KnownStore, error) {
	known, err := registry(env)
	if err == nil {
		known, err = withMirrors(env, known)
	}
	if err != nil {
		return KnownStore{}, err
	}
	none := &NoStoreError{ID: prefix}
	var match KnownStore
	for _, k := range known {
		if len(prefix) >= 4 && strings.HasPrefix(k.ID.String(), prefix) {
			none.Matches = append(none.Matches, k.ID.String())
			match = k
		}
	}
	if len(none.Matches) != 1 {
		slices.Sort(none.Matches)
		return KnownStore{}, none
	}
	return match, nil
}
