package project

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"rewind/cas"
	"rewind/cas/oid"
	"rewind/engine/settings"
	"rewind/manifest"
)

// Mode says where a store lies.
type Mode string

const (
	ProjectMode Mode = "project" // .agent/rewind below the root
	GlobalMode  Mode = "global"  // ~/.rewind/storage/<hash of the root's real path>
)

// OpenOptions selects a project.
type OpenOptions struct {
	Env      Env
	Root     string        // --root; "": $REWIND_PROJECT_ROOT, then found by walking up
	LockWait time.Duration // how long to wait for a lock; 0: 30 s
	Progress Progress      // may be nil
	Mend     bool          // make a format file anew that is gone: for repair
	// Waiting is called, from another goroutine, when a lock has been waited for longer than
	// cas.WaitNotice, with the process that holds it, 0 where that is not known. May be nil.
	Waiting func(pid int)
}

// Progress is told how long work goes on. It is called from one goroutine at a time.
type Progress func(ProgressInfo)

// ProgressInfo is how far one phase has come. Totals are 0 where unknown, and never
// less than what is done.
type ProgressInfo struct {
	Phase                  string // "scan", "restore", "export", "gc", "verify"
	Unit                   string // what Files counts, in the singular; "": files
	Files, Bytes           int64
	TotalFiles, TotalBytes int64
}

// Project is an open project with its store. It holds no lock between calls.
type Project struct {
	Env      Env
	place    place
	Format   format
	ID       StoreID
	settings *settings.Settings
	warnings []settings.Warning
	Store    *cas.Store
	Owner    func(string) error
	ReadOnly error // why nothing can be written, nil if it can
	lockWait time.Duration
	waiting  func(pid int) // as OpenOptions.Waiting
	Progress Progress
	notices  []string

	// What the first write has to do: see beforeWrite.
	due    *KnownStore // the registry's line of this store, where it has to change
	Copied bool        // the store's id is of another directory

	history   []History // what another directory at the root's path has left, for Init to tell
	older     *Older    // what the older program has left in the project, for Init to tell
	mirrorErr error     // why settings have no copy beside the mirror

	Abandoned atomic.Bool // a save of a hook hangs in a system call: see saveInTime
}

// Open finds and opens a project. It reads a few small files, opens no index
// and not Badger. Errors: *NotInitializedError, *RefusedRootError,
// *ForeignStoreError, *MovedError, *VanishedError, *FutureFormatError,
// *DamagedStoreError.
func Open(ctx context.Context, o OpenOptions) (*Project, error) {
	known, err := KnownStores(o.Env)
	if err != nil {
		return nil, err
	}
	at, err := discover(o, known)
	if err != nil {
		return nil, err
	}
	return open(ctx, o, at, known)
}

func open(ctx context.Context, o OpenOptions, at place, known []KnownStore) (*Project, error) {
	var notices []string
	if err := at.checkLinks(o.Env, known, false); err != nil {
		return nil, err
	}
	rebuilt := at.store == "" && at.lost != nil
	if rebuilt {
		if err := rebuildStore(ctx, o.Env, &at); err != nil {
			return nil, err
		}
		notices = append(notices, rebuiltNotice(at.root))
		var err error
		if known, err = KnownStores(o.Env); err != nil {
			return nil, err
		}
	}
	if at.store == "" {
		if err := refuseRoot(o.Env, at.root); err != nil && !at.named {
			return nil, err
		}
		missing := &NotInitializedError{Root: at.root, History: at.history(o.Env, known), Older: olderIn(at.root)}
		if at.parent != nil {
			missing.Parent = at.parent.root
		}
		return nil, missing
	}
	p := &Project{Env: o.Env.of(at.root), place: at, lockWait: o.LockWait, waiting: o.Waiting, Progress: o.Progress, notices: notices}
	info, err := os.Stat(at.store)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &DamagedStoreError{What: at.store, Err: errors.New("it is not a directory")}
	}
	p.Format, err = readFormat(at.store)
	if lost := (*FormatError)(nil); o.Mend && errors.As(err, &lost) {
		var notice string
		if p.Format, notice, err = mendFormat(ctx, o.Env, at, lost); err == nil && notice != "" {
			p.notices = append(p.notices, notice)
		}
	}
	if err != nil {
		return nil, err
	}
	p.ID, _ = ParseStoreID(p.Format.ID) // checked by readFormat
	if err := p.checkKnown(known); err != nil {
		return nil, err
	}
	p.Owner = OwnerOf(filepath.Dir(at.store))
	if err := writable(at.store); err != nil {
		p.ReadOnly = &ReadOnlyError{Store: at.store, Err: err}
	}
	p.loadSettings()
	origin, _ := ParseStoreID(p.Format.Origin)
	mirror := MirrorDir(o.Env, p.ID)
	if p.Copied {
		mirror = "" // that is the original's
	}
	p.Store, err = cas.Open(cas.Options{
		Dir:      filepath.Join(at.store, ObjectsName),
		Mirror:   mirror,
		LockDir:  filepath.Join(at.store, LockName),
		StoreID:  origin,
		Owner:    p.Owner,
		NoSync:   p.settings.Durability == "fast",
		ReadOnly: p.ReadOnly != nil,
		Now:      o.Env.Time,

		Waiting:   p.noteWaiting(),
		Returning: p.noteReturn,
		Purging:   func() bool { return Exists(filepath.Join(at.store, ForgettingName)) },
	})
	if err != nil {
		return nil, &DamagedStoreError{What: "its packs cannot be opened", Err: err}
	}
	if rebuilt {
		p.indexRebuilt()
	}
	return p, nil
}

// maxIndexed is how many bytes of packs are indexed while somebody waits: half a second's worth.
// Those of a larger store are indexed with its next fold.
const maxIndexed = 1 << 30

// indexRebuilt gives a rebuilt store's packs their indexes: without them what it
// holds is not known, and the next save stores it again.
func (p *Project) indexRebuilt() {
	if size, err := p.StoreSize(); err == nil && size <= maxIndexed && p.ReadOnly == nil {
		_ = p.Store.RefreshIndexes() // derived: at worst the next save stores something twice
	}
}

// Close releases what Open opened.
func (p *Project) Close() error {
	if p.Abandoned.Load() {
		return nil // a save hangs in it: the process's end closes it
	}
	return p.Store.Close()
}

// Root is the project's root: a real path.
func (p *Project) Root() string { return p.place.root }

// StoreDir is the directory of the store.
func (p *Project) StoreDir() string { return p.place.store }

// Mode says where the store lies.
func (p *Project) Mode() Mode { return p.place.mode }

// Settings are those in force.
func (p *Project) Settings() *settings.Settings { return p.settings }

// Warnings are what was wrong with the settings files.
func (p *Project) Warnings() []settings.Warning { return p.warnings }

// Notices are what Open found and mended; a command shows them to the person.
func (p *Project) Notices() []string { return p.notices }

// History is, for a project that Init has just made, what another directory has left
// that was at its path.
func (p *Project) History() []History { return p.history }

func (p *Project) loadSettings() {
	p.settings, p.warnings = LoadSettings(p.Env, p.place.store)
}

// LoadSettings reads the account's settings and those of the store ("": the account's only).
func LoadSettings(env Env, store string) (*settings.Settings, []settings.Warning) {
	o := settings.Options{Getenv: env.Getenv}
	if account := env.AccountDir(); account != "" {
		o.AccountFile = filepath.Join(account, ConfigName)
		o.TiersDir = filepath.Join(account, "tiers")
	}
	if store != "" {
		o.ProjectFile = filepath.Join(store, ConfigName)
	}
	return settings.Load(o)
}

// Writing is called before anything is written: it refuses where that is not
// possible, and makes a copied store one of its own.
func (p *Project) Writing(ctx context.Context) error {
	if p.ReadOnly != nil {
		return p.ReadOnly
	}
	for _, name := range []string{LockName, TmpName} {
		if err := MakeDir(filepath.Join(p.place.store, name), p.Owner); err != nil {
			return err
		}
	}
	if free, err := FreeDisk(p.place.store); err == nil && free < p.settings.MinFreeDisk {
		return &DiskFullError{Free: free, Floor: p.settings.MinFreeDisk}
	}
	return p.beforeWrite(ctx)
}

// LoadDir reads a directory manifest from the store. A zero id is the empty directory.
func (p *Project) LoadDir(id oid.ID) (manifest.Dir, error) {
	if id == (oid.ID{}) {
		return manifest.Dir{}, nil
	}
	data, err := p.Store.Get(nil, id)
	if err != nil {
		return manifest.Dir{}, err
	}
	return manifest.ParseDir(data)
}

// ReadObject reads one object whole; a zero id is empty.
func (p *Project) ReadObject(id oid.ID) ([]byte, error) {
	if id == (oid.ID{}) {
		return nil, nil
	}
	return p.Store.Get(nil, id)
}
