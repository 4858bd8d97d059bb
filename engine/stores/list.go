package stores

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// Info is what rewind stores tells of one store of the account.
type Info struct {
	Registered
	Bytes       int64     // on disk, files with several names counted once
	Checkpoints int       // safety checkpoints included; -1: not known without its directory
	Safety      int       // of these
	LastSave    time.Time // zero: unknown
	InUse       bool      // a process holds one of its locks
	MovedTo     string    // where its directory was found, if it was moved; "": not known
}

// List lists all stores of the account, the one that was saved to last first. It
// changes nothing.
func List(ctx context.Context, env account.Env) ([]Info, error) {
	known, err := all(env)
	if err != nil {
		return nil, err
	}
	out := make([]Info, 0, len(known))
	for _, k := range known {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out = append(out, storeInfo(ctx, env, k, known))
	}
	slices.SortStableFunc(out, func(a, b Info) int { return b.LastSave.Compare(a.LastSave) })
	return out, nil
}

// all are the stores of the registry, and those that it does not know: global ones, and those of which
// only a mirror is left. With an error it has those that could be found.
func all(env account.Env) ([]account.KnownStore, error) {
	known, err := account.Registry(env)
	accountDir := env.AccountDir()
	if err != nil || accountDir == "" {
		return known, err
	}
	known = slices.Concat(known, unknownStorage(accountDir, known))
	entries, err := os.ReadDir(filepath.Join(accountDir, account.MirrorsName))
	if vfs.IsMissing(err) {
		return known, nil
	}
	for _, e := range entries {
		name, going := strings.CutSuffix(e.Name(), goingSuffix)
		id, err := account.ParseStoreID(name)
		if err == nil && e.IsDir() && !hasStore(known, id) {
			known = append(known, account.KnownStore{ID: id, Mode: account.ProjectMode, Going: going})
		}
	}
	return known, err
}

func hasStore(known []account.KnownStore, id account.StoreID) bool {
	return slices.ContainsFunc(known, func(k account.KnownStore) bool { return k.ID == id })
}

// unknownStorage lists the global stores that the registry has no line of.
func unknownStorage(accountDir string, known []account.KnownStore) (out []account.KnownStore) {
	dir := filepath.Join(accountDir, account.StorageName)
	entries, _ := os.ReadDir(dir) // none is there, or none can be listed
	for _, e := range entries {
		if !e.IsDir() || strings.Contains(e.Name(), goingSuffix) {
			continue
		}
		f, err := account.ReadFormat(filepath.Join(dir, e.Name()))
		if err != nil {
			continue
		}
		id, _ := account.ParseStoreID(f.ID) // checked when the format was read
		if !hasStore(known, id) {
			out = append(out, account.KnownStore{ID: id, Mode: account.GlobalMode, Storage: filepath.Join(dir, e.Name())})
		}
	}
	return out
}

// storeInfo looks at one store. k has no root where the registry has no line of it.
func storeInfo(ctx context.Context, env account.Env, k account.KnownStore, known []account.KnownStore) Info {
	s := Info{Checkpoints: -1}
	s.ID, s.Root, s.Mode = k.ID.String(), k.Root, k.Mode
	s.State, s.MovedTo = fate(k, env, known)
	for _, mirror := range []string{account.MirrorDir(env, k.ID), account.MirrorDir(env, k.ID) + goingSuffix} {
		if account.IsDir(mirror) {
			s.Mirror = mirror
		}
	}
	switch s.State {
	case account.Live, account.Foreign:
		s.Store = k.Store(env)
	case account.Going:
	default:
		s.Store = storageOf(k, env, known) // a global store outlives its project
	}
	if dir := k.Packs(env); k.Root != "" && dir != "" {
		s.LastSave = account.NewestChange(dir)
	} else if s.Mirror != "" {
		s.LastSave = account.NewestChange(s.Mirror)
	} else if s.Store != "" {
		s.LastSave = account.NewestChange(filepath.Join(s.Store, account.ObjectsName))
	}
	s.Bytes = DiskBytes(s.Store, s.Mirror)
	if s.State == account.Live {
		s.InUse = inUse(s.Store)
		s.count(ctx, env)
	}
	return s
}

// fate is what has become of k, as far as it shows from outside, and where its directory
// is now if it was moved and found.
func fate(k account.KnownStore, env account.Env, known []account.KnownStore) (state account.State, movedTo string) {
	state = account.Unregistered
	switch {
	case k.Going:
		return account.Going, ""
	case k.Root != "":
		state = k.State(env)
	}
	switch state {
	case account.Gone, account.Replaced, account.Unregistered, account.Unreachable:
		if k.Mode == account.GlobalMode { // its packs have two names, wherever its directory is
			if k.Root != "" {
				movedTo = whereabouts(k, env, known)
			}
			if movedTo != "" {
				return account.Moved, movedTo
			}
		} else if mirror := account.MirrorDir(env, k.ID); account.IsDir(mirror) && sharedPacks(mirror) {
			return account.Moved, ""
		}
	case account.Live:
		_, uid, err := account.Identity(k.Store(env))
		if err != nil || !account.Usable(uid) {
			return account.Foreign, ""
		}
	}
	return state, ""
}

// count adds what only the open store tells. One that will not open is listed without.
func (s *Info) count(ctx context.Context, env account.Env) {
	p, err := project.Open(ctx, project.OpenOptions{Env: env, Root: s.Root})
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
	if newest, err := p.List(ctx, project.ListOptions{Limit: 1}); err == nil && len(newest) > 0 {
		s.LastSave = newest[0].Time
	}
}

// inUse reports whether a process holds a lock of the store now.
func inUse(store string) bool {
	at, cancel := context.WithDeadline(context.Background(), time.Now().Add(-time.Second))
	defer cancel()
	for _, name := range account.StoreLocks {
		file := filepath.Join(store, account.LockName, name)
		if !account.Exists(file) {
			continue
		}
		lock, err := account.LockFile(at, file, name, true)
		var busy *account.BusyError
		if errors.As(err, &busy) {
			return true
		}
		if err == nil {
			lock.Release()
		}
	}
	return false
}

// DiskBytes is what directories take on disk, each file once, without objects of git that git still has, too. "" is none.
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
			key, shared := account.LinkKey(info)
			if shared && strings.HasPrefix(file, filepath.Join(dir, account.GitName)+string(filepath.Separator)) {
				return nil // a second name of an object of git
			}
			if !shared || !seen[key] {
				total += account.Allocated(info)
			}
			seen[key] = seen[key] || shared
			return nil
		})
	}
	return total
}

// Find finds a store of the account by its id or the beginning of one, those that
// are going too. Errors: *NoStoreError.
func Find(env account.Env, prefix string) (account.KnownStore, error) {
	known, err := all(env)
	if err != nil {
		return account.KnownStore{}, err
	}
	none := &project.NoStoreError{ID: prefix}
	var match account.KnownStore
	for _, k := range known {
		if len(prefix) >= 4 && strings.HasPrefix(k.ID.String(), prefix) {
			none.Matches = append(none.Matches, k.ID.String())
			match = k
		}
	}
	if len(none.Matches) != 1 {
		slices.Sort(none.Matches)
		return account.KnownStore{}, none
	}
	return match, nil
}

// Gone lists the stores whose project was deleted, as far as it shows from outside: nothing is at its path, and nothing uses its
// packs elsewhere. With older, only those that were saved to at least so long ago.
func Gone(ctx context.Context, env account.Env, older time.Duration) (out []Info, err error) {
	known, err := all(env)
	if err != nil {
		return nil, err
	}
	for _, k := range known {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if state, _ := fate(k, env, known); !ofDeleted(state) {
			continue
		}
		s := storeInfo(ctx, env, k, known)
		if older == 0 || !s.LastSave.IsZero() && env.Time().Sub(s.LastSave) >= older {
			out = append(out, s)
		}
	}
	return out, nil
}

// OfDeleted reports whether it is one of those that Gone lists.
func (s Info) OfDeleted() bool { return ofDeleted(s.State) }

// Whether the project of a mirror that is not in the registry is deleted is unknown: the registry may have been lost.
func ofDeleted(s account.State) bool {
	return s == account.Gone || s == account.Going
}

// Bytes is what stores take on disk.
func Bytes(all []Info) (total int64) {
	for _, s := range all {
		total += s.Bytes
	}
	return total
}
