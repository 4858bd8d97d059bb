package engine

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"rewind/cas"
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
	env      Env
	place    place
	format   format
	id       storeID
	settings *settings.Settings
	warnings []settings.Warning
	store    *cas.Store
	owner    func(string) error
	readOnly error // why nothing can be written, nil if it can
	lockWait time.Duration
	progress Progress
	notices  []string

	// What the first write has to do: see settle.
	due    *knownStore // the registry's line of this store, where it has to change
	copied bool        // the store's id is of another directory

	history   []History // what another directory at the root's path has left, for Init to tell
	mirrorErr error     // why settings have no copy beside the second names

	abandoned atomic.Bool // a save of a hook hangs in a system call: see saveInTime
}

// Open finds and opens a project. It reads a few small files, opens no index
// and not Badger. Errors: *NotInitializedError, *RefusedRootError,
// *ForeignStoreError, *MovedError, *VanishedError, *FutureFormatError,
// *DamagedStoreError.
func Open(ctx context.Context, o OpenOptions) (*Project, error) {
	known, err := knownStores(o.Env)
	if err != nil {
		return nil, err
	}
	at, err := discover(o, known)
	if err != nil {
		return nil, err
	}
	return open(ctx, o, at, known)
}

func open(ctx context.Context, o OpenOptions, at place, known []knownStore) (*Project, error) {
	var notices []string
	if err := at.checkLinks(o.Env, known, false); err != nil {
		return nil, err
	}
	if at.store == "" && at.lost != nil {
		if err := rebuildStore(ctx, o.Env, &at); err != nil {
			return nil, err
		}
		notices = append(notices, rebuiltNotice(at.root))
		var err error
		if known, err = knownStores(o.Env); err != nil {
			return nil, err
		}
	}
	if at.store == "" {
		if err := refuseRoot(o.Env, at.root); err != nil && !at.named {
			return nil, err
		}
		return nil, &NotInitializedError{Root: at.root, History: at.history(o.Env, known)}
	}
	p := &Project{env: o.Env.of(at.root), place: at, lockWait: o.LockWait, progress: o.Progress, notices: notices}
	info, err := os.Stat(at.store)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &DamagedStoreError{What: at.store, Err: errors.New("it is not a directory")}
	}
	if p.format, err = readFormat(at.store); err != nil {
		return nil, err
	}
	p.id, _ = parseStoreID(p.format.ID) // checked by readFormat
	if err := p.checkKnown(known); err != nil {
		return nil, err
	}
	p.owner = ownerOf(filepath.Dir(at.store))
	if err := writable(at.store); err != nil {
		p.readOnly = &ReadOnlyError{Store: at.store, Err: err}
	}
	p.loadSettings()
	origin, _ := parseStoreID(p.format.Origin)
	vault := vaultDir(o.Env, p.id)
	if p.copied {
		vault = "" // that is the original's
	}
	p.store, err = cas.Open(cas.Options{
		Dir:      filepath.Join(at.store, objectsName),
		Vault:    vault,
		LockDir:  filepath.Join(at.store, lockName),
		StoreID:  origin,
		Owner:    p.owner,
		NoSync:   p.settings.Durability == "fast",
		ReadOnly: p.readOnly != nil,
		Now:      o.Env.now,
	})
	if err != nil {
		return nil, &DamagedStoreError{What: "its packs cannot be opened", Err: err}
	}
	return p, nil
}

// Close releases what Open opened.
func (p *Project) Close() error {
	if p.abandoned.Load() {
		return nil // a save hangs in it: the process's end closes it
	}
	return p.store.Close()
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
	p.settings, p.warnings = LoadSettings(p.env, p.place.store)
}

// LoadSettings reads the account's settings and those of the store ("": the account's only).
func LoadSettings(env Env, store string) (*settings.Settings, []settings.Warning) {
	o := settings.Options{Getenv: env.Getenv}
	if account := env.accountDir(); account != "" {
		o.AccountFile = filepath.Join(account, configName)
		o.TiersDir = filepath.Join(account, "tiers")
	}
	if store != "" {
		o.ProjectFile = filepath.Join(store, configName)
	}
	return settings.Load(o)
}

// writing is called before anything is written: it refuses where that is not
// possible, and makes a copied store one of its own.
func (p *Project) writing(ctx context.Context) error {
	if p.readOnly != nil {
		return p.readOnly
	}
	for _, name := range []string{lockName, tmpName} {
		if err := makeDir(filepath.Join(p.place.store, name), p.owner); err != nil {
			return err
		}
	}
	if free, err := freeDisk(p.place.store); err == nil && free < p.settings.MinFreeDisk {
		return &DiskFullError{Free: free, Floor: p.settings.MinFreeDisk}
	}
	return p.settle(ctx)
}

// loadDir reads a directory manifest from the store. A zero id is the empty directory.
func (p *Project) loadDir(id manifest.ID) (manifest.Dir, error) {
	if id == (manifest.ID{}) {
		return manifest.Dir{}, nil
	}
	data, err := p.store.Get(nil, cas.ID(id))
	if err != nil {
		return manifest.Dir{}, err
	}
	return manifest.ParseDir(data)
}

// readObject reads one object whole; a zero id is empty.
func (p *Project) readObject(id manifest.ID) ([]byte, error) {
	if id == (manifest.ID{}) {
		return nil, nil
	}
	return p.store.Get(nil, cas.ID(id))
}

func exists(file string) bool {
	_, err := os.Lstat(file)
	return err == nil || !errors.Is(err, fs.ErrNotExist)
}
