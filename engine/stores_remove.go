package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rewind/cas/vfs"
	"rewind/engine/rootfs"
)

// Removal is a store that is to be taken away for good: what goes, and what speaks
// against it.
type Removal struct {
	StoreInfo
	// Refused says why only force may go on: the store is alive. "" where nothing is lost
	// but history.
	Refused string
	Kept    []string // what stays of it, and why: a sentence each

	known knownStore
	env   Env
	copy  bool // the store of a copied project: id, registration and second names are another's
	place string
}

// RemovalError: a removal that has begun did not finish. The store is none any more; the
// next removal or init goes on.
type RemovalError struct {
	ID  string
	Err error
}

func (e *RemovalError) Error() string {
	return fmt.Sprintf("the store %s is removed in part: %v", shortStoreID(e.ID), e.Err)
}
func (e *RemovalError) Unwrap() error { return e.Err }

// goingSuffix marks what is being removed: nobody takes it for a store any more.
const goingSuffix = ".going"

// PlanRemoval looks at the store that id names, by its beginning. It changes nothing.
// Errors: *NoStoreError.
func PlanRemoval(ctx context.Context, env Env, id string) (*Removal, error) {
	k, err := findKnown(env, id)
	if err != nil {
		return nil, err
	}
	r := removalOf(ctx, env, k)
	switch r.State {
	case StoreLive:
		r.Refused = fmt.Sprintf("the store belongs to the project %s, which is there", k.root)
	case StoreLost:
		r.Refused = fmt.Sprintf("the project %s is there, and the next command in it brings its store back", k.root)
	case StoreMoved:
		r.Refused = "the packs of the store are in use elsewhere: its project was moved, or copied by links"
	case StoreUnreachable:
		r.Refused = fmt.Sprintf("%s cannot be looked at", k.root)
	case StoreUnfinished:
		r.Store = r.place
	case StoreForeign:
		return nil, &ForeignStoreError{Store: r.Store, Reason: "belongs to another user, or cannot be read", OtherUser: true}
	}
	return r, nil
}

// removalOf is the removal of a store of the registry, wherever an earlier one has come to.
func removalOf(ctx context.Context, env Env, k knownStore) *Removal {
	r := &Removal{StoreInfo: storeInfo(ctx, env, k), known: k, env: env}
	if r.place = k.placeIn(env); r.place != "" && k.going {
		if f, err := readFormat(r.place); err == nil && f.ID == r.ID {
			r.Store = r.place // it was not renamed yet
		}
	}
	return r
}

// PlanDeinit looks at the store of a project. It changes nothing. Errors: as Open;
// a store that is damaged can be removed, one of a newer format not.
func PlanDeinit(ctx context.Context, o OpenOptions) (*Removal, error) {
	known, err := knownStores(o.Env)
	if err != nil {
		return nil, err
	}
	at, err := discover(o, known)
	if err != nil {
		return nil, err
	}
	if err := at.checkLinks(o.Env, known, false); err != nil {
		return nil, err
	}
	if at.store == "" {
		if at.lost == nil && leftAside(at.root) {
			return &Removal{StoreInfo: StoreInfo{RegisteredStore: RegisteredStore{Root: at.root, Mode: ProjectMode, State: StoreGoing}, Checkpoints: -1},
				env: o.Env, copy: true, place: filepath.Join(at.root, filepath.FromSlash(storeName))}, nil
		}
		if at.lost == nil {
			return nil, &NotInitializedError{Root: at.root, History: at.history(o.Env, known)}
		}
		r := &Removal{StoreInfo: storeInfo(ctx, o.Env, *at.lost), known: *at.lost, env: o.Env}
		r.known.root, r.Root = at.root, at.root
		r.place = r.known.placeIn(o.Env)
		return r, nil
	}
	if err := ownStore(at.store); err != nil {
		return nil, err
	}
	dir, _, err := identity(at.root)
	if err != nil {
		return nil, err
	}
	f, err := readFormat(at.store)
	var damaged *DamagedStoreError
	if err != nil && !errors.As(err, &damaged) {
		return nil, err
	}
	k, mine, ok := ownerOfStore(o.Env, known, &at, f, dir)
	switch {
	case !ok && err != nil:
		return nil, err
	case !ok:
		return nil, &ForeignStoreError{Store: at.store, Reason: "was not made on this account"}
	}
	r := &Removal{env: o.Env, known: k, place: at.store}
	if mine {
		k.root = at.root // moved, and not registered anew yet
		r.StoreInfo = storeInfo(ctx, o.Env, k)
	} else {
		r.copy, r.ID, r.Checkpoints = true, k.id.String(), -1
		r.LastSave = newestChange(filepath.Join(at.store, objectsName))
		r.Kept = append(r.Kept, fmt.Sprintf("second names and registration stay: they are those of %s, which this project was copied from", k.root))
	}
	r.Root, r.Mode, r.State, r.Store = at.root, at.mode, StoreLive, at.store
	r.Bytes, r.InUse = diskBytes(r.Store, r.Vault), inUse(r.Store)
	if crashedIn(ctx, o) {
		r.Refused = "a restore of this project did not finish: without the store it cannot be put back"
	}
	if at.link != "" {
		r.Kept = append(r.Kept, "the link that leads to the store stays")
	}
	return r, nil
}

// ownerOfStore is the line of the registry that a store belongs to, and whether that line
// is of this directory. A store that has lost its format file is the directory's.
func ownerOfStore(env Env, known []knownStore, at *place, f format, dir dirID) (k knownStore, mine, ok bool) {
	for i := len(known) - 1; i >= 0; i-- {
		k := known[i]
		here := k.isOf(env, at.root, dir) && (k.root == at.root || !k.livesApart(dir)) || k.staysAt(env, at.root, dir)
		if k.id.String() == f.ID || f.ID == "" && here {
			return k, here, true
		}
	}
	return knownStore{}, false, false
}

// crashedIn reports whether a restore is to be finished or put back.
func crashedIn(ctx context.Context, o OpenOptions) bool {
	p, err := Open(ctx, o)
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
//  2. The registry notes that the store is going. From here on nobody believes it, and
//     what is left after a crash is removed by the next removal or init.
//  3. Store and second names are renamed, then removed. No link is followed.
//  4. Session states and an empty .agent go, and last the line of the registry.
func (r *Removal) Apply(ctx context.Context, wait time.Duration) error {
	if wait == 0 {
		wait = 30 * time.Second
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
	if !r.copy && r.known.root != "" {
		r.known.going = true
		if err := register(ctx, r.env, r.known, false); err != nil {
			return err
		}
	}
	if err := r.finish(ctx); err != nil {
		return &RemovalError{ID: r.ID, Err: err}
	}
	return nil
}

// lock takes the locks of the store, as far as it is there, and that of the account.
func (r *Removal) lock(ctx context.Context) (release func(), err error) {
	var held []func()
	all := func() {
		for i := len(held) - 1; i >= 0; i-- {
			held[i]()
		}
	}
	defer func() {
		if err != nil {
			all()
		}
	}()
	take := func(name string) error {
		if r.Store == "" || !isDir(filepath.Join(r.Store, lockName)) {
			return nil
		}
		l, err := lockFile(ctx, filepath.Join(r.Store, lockName, name), name, true)
		if err == nil {
			held = append(held, l.release)
		}
		return err
	}
	for _, name := range storeLocks[:2] {
		if err := take(name); err != nil {
			return nil, err
		}
	}
	account, err := lockAccount(ctx, r.env)
	if err != nil {
		return nil, err
	}
	held = append(held, account)
	for _, name := range storeLocks[2:] {
		if err := take(name); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// check looks again, under the locks, whether it is still the store that was shown.
func (r *Removal) check() error {
	changed := &RefusedError{What: "the store changed meanwhile: look at it again"}
	if r.Store != "" {
		f, err := readFormat(r.Store)
		if err == nil && f.ID != r.ID || err != nil && !isStore(r.Store) && r.State != StoreUnfinished {
			return changed
		}
	}
	if r.copy || r.known.root == "" {
		return nil
	}
	known, err := registry(r.env)
	if err != nil {
		return err
	}
	for _, k := range known {
		if k.id != r.known.id {
			continue
		}
		if r.Store == "" && k.fate(r.env) != r.State {
			return changed // it came to life, or another project has it now
		}
		return nil
	}
	return changed
}

// finish removes what is there of a store that is going. It can be repeated.
func (r *Removal) finish(ctx context.Context) error {
	var errs []error
	if r.Store != "" {
		errs = append(errs, removeAside(r.Root, r.Mode, r.Store, r.ID))
	} else if r.place != "" {
		errs = append(errs, removeLeftAside(r.Root, r.Mode, r.place))
	}
	if r.copy {
		return errors.Join(errs...)
	}
	if account := r.env.accountDir(); account != "" {
		errs = append(errs, removeVault(account, r.ID))
	}
	if r.Root != "" && len(errs) > 0 && errors.Join(errs...) == nil {
		errs = append(errs, removeSessionsOf(r.env, r.Root))
	}
	if err := errors.Join(errs...); err != nil || r.known.root == "" {
		return err
	}
	return register(ctx, r.env, r.known, true)
}

// storeBase opens the directory that a store lies in, and gives the store's name there. That
// of a project is reached from its root, without following a link.
func storeBase(root string, mode Mode, store string) (rootfs.FS, rootfs.Dir, string, error) {
	top, below := filepath.Dir(store), ""
	if own := filepath.Join(root, filepath.FromSlash(storeName)); mode == ProjectMode && store == own {
		if real, err := filepath.EvalSymlinks(store); err == nil && real != store {
			top = filepath.Dir(real) // behind a link that the person has allowed
			store = real
		} else {
			top, below = root, ".agent"
		}
	}
	f, err := rootfs.Open(top)
	if err != nil {
		return nil, nil, "", err
	}
	d, err := f.OpenDir(below)
	if err != nil {
		f.Close()
		return nil, nil, "", err
	}
	return f, d, filepath.Base(store), nil
}

// removeAside renames a store, so that it is none from one moment to the next, and removes it.
func removeAside(root string, mode Mode, store, id string) error {
	f, d, name, err := storeBase(root, mode, store)
	if err != nil {
		return err
	}
	defer f.Close()
	defer d.Close()
	aside := name + goingSuffix + "-" + id
	err = removeTree(d, aside) // of one that was killed
	if err == nil {
		err = d.Rename(name, aside)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil {
		err = vfs.OS.SyncDir(filepath.Dir(store))
	}
	if err != nil {
		return fmt.Errorf("remove the store: %w", err)
	}
	return removeRest(f, d, root, mode, store, aside)
}

// removeLeftAside removes what removals that were killed have left beside the place of a store.
func removeLeftAside(root string, mode Mode, store string) error {
	f, d, name, err := storeBase(root, mode, store)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, rootfs.ErrNotDir) || errors.Is(err, rootfs.ErrLink) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	defer d.Close()
	names, err := d.Names()
	if err != nil {
		return err
	}
	for _, aside := range names {
		if strings.HasPrefix(aside, name+goingSuffix+"-") {
			if err := removeTree(d, aside); err != nil {
				return fmt.Errorf("remove the store: %w", err)
			}
		}
	}
	return removeRest(f, d, root, mode, store, "")
}

// leftAside reports whether a removal that was killed has left something in a project.
func leftAside(root string) bool {
	store := filepath.Join(root, filepath.FromSlash(storeName))
	entries, err := os.ReadDir(filepath.Dir(store))
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return strings.HasPrefix(e.Name(), filepath.Base(store)+goingSuffix+"-")
	})
}

// removeRest removes what was renamed, if anything, and .agent if nothing else is in it.
func removeRest(f rootfs.FS, d rootfs.Dir, root string, mode Mode, store, aside string) error {
	if aside != "" {
		err := removeTree(d, aside)
		if err == nil {
			err = vfs.OS.SyncDir(filepath.Dir(store)) // or a power cut could bring the name back
		}
		if err != nil {
			return fmt.Errorf("remove the store: %w", err)
		}
	}
	if mode != ProjectMode || d.Path() != ".agent" {
		return nil
	}
	names, err := d.Names()
	if err != nil || len(names) > 0 {
		return err
	}
	top, err := f.OpenDir("")
	if err != nil {
		return err
	}
	defer top.Close()
	if err := top.Rmdir(".agent"); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return vfs.OS.SyncDir(root)
}

// removeVault removes the second names of a store.
func removeVault(account, id string) error {
	f, err := rootfs.Open(account)
	if err != nil {
		return err
	}
	defer f.Close()
	d, err := f.OpenDir("vault")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("remove the second names: %w", err)
	}
	defer d.Close()
	err = d.Rename(id, id+goingSuffix)
	if errors.Is(err, fs.ErrExist) { // of one that was killed before
		if err = removeTree(d, id+goingSuffix); err == nil {
			err = d.Rename(id, id+goingSuffix)
		}
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = removeTree(d, id+goingSuffix)
	}
	if err == nil {
		err = vfs.OS.SyncDir(filepath.Join(account, "vault"))
	}
	if err != nil {
		return fmt.Errorf("remove the second names: %w", err)
	}
	return nil
}

// removeTree removes a name and all below it, and follows no link.
func removeTree(d rootfs.Dir, name string) error {
	info, err := d.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Kind != rootfs.Directory {
		return gone(d.Unlink(name))
	}
	sub, err := d.Subdir(name)
	if err != nil {
		return gone(err)
	}
	defer sub.Close()
	names, err := sub.Names()
	if err != nil {
		return err
	}
	for _, below := range names {
		if err := removeTree(sub, below); err != nil {
			return err
		}
	}
	return gone(d.Rmdir(name))
}

// gone takes an error that says that there is nothing any more for success.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// removeSessionsOf removes what hooks remember of sessions that are certainly of this
// project: those whose root it is.
func removeSessionsOf(env Env, root string) error {
	dir := filepath.Join(env.accountDir(), "sessions")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return gone(err)
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".json" {
			continue
		}
		file := filepath.Join(dir, e.Name())
		if s := readSession(file); s.Exact && s.Dir == root {
			if err := removeIfThere(file); err != nil {
				return err
			}
		}
	}
	return nil
}

// FinishRemovals goes on with the removals that did not finish, all or only that of
// root's store, and gives what is gone now.
func FinishRemovals(ctx context.Context, env Env, root string) (done []Removal, err error) {
	known, err := registry(env)
	if err == nil {
		known, err = withVaults(env, known)
	}
	if err != nil {
		return nil, err
	}
	var errs []error
	if root != "" {
		errs = append(errs, removeLeftAside(root, ProjectMode, filepath.Join(root, filepath.FromSlash(storeName))))
	}
	for _, k := range known {
		if !k.going || root != "" && k.root != root {
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

func shortStoreID(id string) string { return id[:min(8, len(id))] }

// placeIn is where the store of k lies, or would; "" where that is not known.
func (k knownStore) placeIn(env Env) string {
	if k.root == "" {
		return ""
	}
	return k.store(env)
}
