package stores

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
)

// Removal is a store that is to be taken away for good: what goes, and what speaks
// against it.
type Removal struct {
	Info
	// Refused says why only force may go on: the store is alive. "" where nothing is lost
	// but history.
	Refused string
	Kept    []string // what stays of it, and why: a sentence each
	Curable string   // what is wrong with a store that repair would bring back; "": nothing
	Note    string   // what is not known here, "" if nothing

	known account.KnownStore
	env   account.Env
	Copy  bool // the store of a copied project: id, registration and mirror are another's
	place string
}

// RemovalError: a removal that has begun did not finish. The store is none any more; the
// next removal or init continues it.
type RemovalError struct {
	ID  string
	Err error
}

func (e *RemovalError) Error() string {
	return fmt.Sprintf("the store %s was only partly removed: %v", e.ID[:min(8, len(e.ID))], e.Err)
}
func (e *RemovalError) Unwrap() error { return e.Err }

// goingSuffix marks what is being removed: it is not a store any more.
const goingSuffix = ".going"

// PlanRemoval looks at the store that id names, by its beginning. It changes nothing.
// Errors: *NoStoreError.
func PlanRemoval(ctx context.Context, env account.Env, id string) (*Removal, error) {
	k, err := Find(env, id)
	if err != nil {
		return nil, err
	}
	r := removalOf(ctx, env, k)
	switch r.State {
	case account.Live:
		r.Refused = fmt.Sprintf("the store belongs to the project %s, which still exists", k.Root)
		r.noteLinked()
	case account.Lost:
		r.Refused = fmt.Sprintf("the project %s still exists, and the next command in it rebuilds its store", k.Root)
	case account.Moved:
		r.Refused = "the packs of the store are in use elsewhere: its project was moved, or copied with hard links"
		if r.MovedTo != "" {
			r.Refused = fmt.Sprintf("the store belongs to the project %s, which was moved there from %s", r.MovedTo, r.Root)
		}
	case account.Gone, account.Replaced, account.Unregistered:
		if r.Mode == account.GlobalMode {
			r.Note = "its project was not found: if it was moved rather than deleted, its history will be lost"
		}
	case account.Unreachable:
		r.Refused = fmt.Sprintf("%s cannot be accessed: its disk may not be mounted, or this is a container without it", k.Root)
	case account.Unfinished:
		r.Store = r.place
	case account.Foreign:
		return nil, &account.ForeignStoreError{Store: r.Store, Reason: "belongs to another user, or cannot be read", OtherUser: true}
	}
	return r, nil
}

// noteLinked notes that packs have names elsewhere, which the removal leaves.
func (r *Removal) noteLinked() {
	if r.Store == "" || r.Copy || r.Note != "" {
		return
	}
	if cas.LinkedElsewhere(vfs.OS, filepath.Join(r.Store, account.ObjectsName), r.Mirror) > 0 {
		r.Note = "its packs are also linked outside of it and its mirror: if that is the mirror of another account, that account's next command in the project makes the store again, with all checkpoints, until rewind stores rm . is run there, too; or it is a copy made with hard links"
	}
}

// removalOf is the removal of a store of the registry, wherever an earlier one has come to.
func removalOf(ctx context.Context, env account.Env, k account.KnownStore) *Removal {
	known, _ := all(env) // what cannot be listed is not looked at
	r := &Removal{Info: storeInfo(ctx, env, k, known), known: k, env: env}
	if r.place = k.PlaceIn(env); r.place != "" && k.Going {
		if f, err := account.ReadFormat(r.place); err == nil && f.ID == r.ID {
			r.Store = r.place // it was not renamed yet
		}
	}
	return r
}

// PlanDeinit looks at the store of a project. It changes nothing. Errors: as Open;
// a store that is damaged can be removed, one of a newer format not.
func PlanDeinit(ctx context.Context, o project.OpenOptions) (*Removal, error) {
	known, err := account.KnownStores(o.Env)
	if err != nil {
		return nil, err
	}
	at, err := project.Discover(o, known)
	if err != nil {
		return nil, err
	}
	if err := at.CheckLinks(o.Env, known, false); err != nil {
		return nil, err
	}
	if at.Store == "" {
		if at.Lost == nil && leftAside(at.Root) {
			return leftRemoval(o.Env, at.Root), nil
		}
		if at.Lost == nil {
			return nil, &project.NotInitializedError{Root: at.Root, History: at.History(o.Env, known)}
		}
		r := &Removal{Info: storeInfo(ctx, o.Env, *at.Lost, known), known: *at.Lost, env: o.Env}
		r.known.Root, r.Root = at.Root, at.Root
		r.place = r.known.PlaceIn(o.Env)
		return r, nil
	}
	dir, _, err := account.Identity(at.Root)
	if err != nil {
		return nil, err
	}
	f, err := account.ReadFormat(at.Store)
	var damaged *account.DamagedStoreError
	if err != nil && !errors.As(err, &damaged) {
		return nil, err
	}
	if at.Anothers {
		_, err := reopen(ctx, o, at)
		return nil, err
	}
	k, mine, ok := ownerOfStore(o.Env, known, &at, f, dir)
	switch {
	case !ok && err != nil:
		return nil, err
	case !ok:
		return nil, account.NotOurs(o.Env, at.Store)
	}
	if !mine && at.Link != "" {
		return nil, &project.LinkError{Path: at.Store, Other: k.Root}
	}
	r := &Removal{env: o.Env, known: k, place: at.Store}
	if mine {
		k.Root, k.DirID = at.Root, k.DirID.Refined(dir) // moved, and not registered anew yet
		if at.Mode == account.GlobalMode && at.Store != account.GlobalStore(o.Env, at.Root) {
			k.Storage = at.Store
		}
		r.known, r.Info = k, storeInfo(ctx, o.Env, k, known)
	} else {
		r.Copy, r.ID, r.Checkpoints = true, k.ID.String(), -1
		r.LastSave = account.NewestChange(filepath.Join(at.Store, account.ObjectsName))
		r.Kept = append(r.Kept, fmt.Sprintf("the mirror and the registration, which belong to %s, the project that this one was copied from", k.Root))
	}
	r.Root, r.Mode, r.State, r.Store = at.Root, at.Mode, account.Live, at.Store
	r.Bytes, r.InUse = DiskBytes(r.Store, r.Mirror), inUse(r.Store)
	if crashedIn(ctx, o) {
		r.Refused = "a restore of this project did not finish: without the store it cannot be reverted"
	}
	r.noteLinked()
	if damaged != nil {
		r.Curable = damaged.What
	}
	if at.Link != "" {
		r.Kept = append(r.Kept, "the link to the store")
	}
	if holdsOlders(at.Store) {
		r.Kept = append(r.Kept, "the older rewind's checkpoints and settings in "+at.Store)
	}
	return r, nil
}

// ownerOfStore is the line of the registry that a store belongs to, and whether that line
// is of this directory. A store that has lost its format file is the directory's.
func ownerOfStore(env account.Env, known []account.KnownStore, at *project.Location, f account.Format, dir account.DirID) (k account.KnownStore, mine, ok bool) {
	for _, k := range slices.Backward(known) {
		here := k.OfDirectory(env, at.Root, dir)
		if k.ID.String() == f.ID || f.ID == "" && here {
			return k, here, true
		}
	}
	return account.KnownStore{}, false, false
}

// crashedIn reports whether a restore is to be finished or put back.
func crashedIn(ctx context.Context, o project.OpenOptions) bool {
	p, err := project.Open(ctx, o)
	if err != nil {
		return false
	}
	defer p.Close()
	crash, err := p.Crashed(ctx)
	return err == nil && crash != nil
}

// Apply removes the store:
//
//  1. All locks are taken, or it is busy (*BusyError); what was planned must still hold (*RefusedError).
//  2. The registry notes that the store is going, unless the disk is full. From here on it does not count, and
//     what is left after a crash is removed by the next removal or init.
//  3. Store and mirror are renamed, then removed. No link is followed.
//  4. Session states and an empty .agent go, and last the line of the registry.
func (r *Removal) Apply(ctx context.Context, wait time.Duration) error {
	if wait == 0 {
		wait = 30 * time.Second
	}
	if r.Store != "" {
		if err := r.reachable(); err != nil {
			return err
		}
		if err := account.CanWrite(r.Store); err != nil {
			return &project.ReadOnlyError{Store: r.Store, Err: err}
		}
	}
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	release, err := r.lock(waiting)
	if err != nil {
		return err
	}
	defer release()
	if err := r.check(); err != nil {
		return err
	}
	if !r.Copy && r.known.Root != "" {
		r.known.Going = true
		if err := account.Register(ctx, r.env, r.known, false); err != nil && !errors.Is(err, syscall.ENOSPC) {
			return err
		}
	}
	if err := r.finish(ctx); err != nil {
		return &RemovalError{ID: r.ID, Err: err}
	}
	return nil
}

// lock takes the locks of the store, if it is there, and that of the account.
func (r *Removal) lock(ctx context.Context) (release func(), err error) {
	var held []func()
	drop := func() {
		for _, release := range slices.Backward(held) {
			release()
		}
	}
	defer func() {
		if err != nil {
			drop()
		}
	}()
	take := func(name string) error {
		if r.Store == "" || !account.IsDir(filepath.Join(r.Store, account.LockName)) {
			return nil
		}
		l, err := account.LockFile(ctx, filepath.Join(r.Store, account.LockName, name), name, true)
		if err == nil {
			held = append(held, l.Release)
		}
		return err
	}
	for _, name := range account.StoreLocks[:2] {
		if err := take(name); err != nil {
			return nil, err
		}
	}
	stores, err := account.Lock(ctx, r.env)
	if err != nil {
		return nil, err
	}
	held = append(held, stores)
	for _, name := range account.StoreLocks[2:] {
		if err := take(name); err != nil {
			return nil, err
		}
	}
	return drop, nil
}

// check looks again, under the locks, whether it is still the store that was shown.
func (r *Removal) check() error {
	changed := &project.RefusedError{What: "the store changed in the meantime: check it again"}
	if r.Store != "" {
		if err := r.reachable(); err != nil {
			return err
		}
		f, err := account.ReadFormat(r.Store)
		if err == nil && f.ID != r.ID || err != nil && !account.IsStore(r.Store) && r.State != account.Unfinished {
			return changed
		}
	}
	if r.Copy || r.known.Root == "" {
		return nil
	}
	known, err := account.Registry(r.env)
	if err != nil {
		return err
	}
	for _, k := range known {
		if k.ID != r.known.ID {
			continue
		}
		if state, _ := fate(k, r.env, known); (r.Store == "" || r.State != account.Live) && state != r.State {
			return changed // it came to life, or another project has it now
		}
		return nil
	}
	return changed
}

// FinishRemovals continues the removals that did not finish, all or only that of
// root's store, and gives what is gone now.
func FinishRemovals(ctx context.Context, env account.Env, root string) (done []Removal, err error) {
	known, err := all(env)
	if err != nil {
		return nil, err
	}
	var errs []error
	if root != "" {
		errs = append(errs, leftRemoval(env, root).removeLeftAside())
	}
	for _, k := range known {
		if !k.Going || root != "" && k.Root != root {
			continue
		}
		r := removalOf(ctx, env, k)
		if err := r.resume(ctx); err != nil {
			errs = append(errs, &RemovalError{ID: r.ID, Err: err})
			continue
		}
		done = append(done, *r)
	}
	return done, errors.Join(errs...)
}

func (r *Removal) resume(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	release, err := r.lock(waiting)
	if err != nil {
		return err
	}
	defer release()
	return r.finish(ctx)
}
