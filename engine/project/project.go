package project

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/settings"
	"github.com/rewind-cli/rewind/manifest"
)

// OpenOptions selects a project.
type OpenOptions struct {
	Env      account.Env
	Root     string        // --root; "": $REWIND_PROJECT_ROOT, then found by walking up
	LockWait time.Duration // how long to wait for a lock; 0: 30 s
	Progress Progress      // may be nil
	// Waiting is called, from another goroutine, when a lock has been waited for longer than
	// cas.WaitNotice, with the process that holds it, 0 where that is not known. May be nil.
	Waiting func(pid int)
	// Cloning opens a store also where a clone has not filled it yet.
	Cloning bool
}

// Progress is called during long work, from one goroutine at a time.
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
	Env      account.Env
	at       Location
	Format   account.Format
	ID       account.StoreID
	settings *settings.Settings
	warnings []settings.Warning
	Store    *cas.Store
	Owner    func(string) error
	ReadOnly error // why nothing can be written, nil if it can
	lockWait time.Duration
	waiting  func(pid int) // as OpenOptions.Waiting
	Progress Progress
	notices  []string

	keptNotice bool // for the next command, too: see NoticesTold

	// What the first write has to do: see beforeWrite.
	due     *account.KnownStore // the registry's line of this store, where it has to change
	Copied  bool                // the store's id is of another directory
	putBack bool                // that was at this very path

	open open

	// Of a View; nil of a project.
	commits *cas.Store // in place of the store's own log
	pulled  *PulledLog
	own     *Project
	views   views // that were opened

	mirrorErr error // why settings have no copy beside the mirror

	// Of one that has just been made: what another directory at its path has left, and the older program in it.
	History []History
	Older   *Older

	Committed atomic.Bool // records were written for what was asked of this Project
	Abandoned atomic.Bool // a save of a hook hangs in a system call: see unlessHung in package hook
}

// Open finds and opens a project. It reads a few small files, opens no index
// and not Badger. Errors: *NotInitializedError, *RefusedRootError,
// *ForeignStoreError, *MovedError, *VanishedError, *FutureFormatError,
// *DamagedStoreError, *UnfinishedCloneError.
func Open(ctx context.Context, o OpenOptions) (*Project, error) {
	for first := true; ; first = false {
		known, err := account.KnownStores(o.Env)
		if err != nil {
			return nil, err
		}
		at, err := Discover(o, known)
		if err != nil {
			return nil, err
		}
		p, err := OpenAt(ctx, o, at, known)
		if err != nil && first && at.Store != "" && !account.IsDir(at.Store) {
			continue // it was removed while it was opened
		}
		return p, err
	}
}

// OpenAt is Open where the root was found already.
func OpenAt(ctx context.Context, o OpenOptions, at Location, known []account.KnownStore) (*Project, error) {
	var notices []string
	if err := at.CheckLinks(o.Env, known, false); err != nil {
		return nil, err
	}
	rebuilt := at.Store == "" && at.Lost != nil
	if rebuilt {
		if err := rebuildStore(ctx, o.Env, &at); err != nil {
			return nil, err
		}
		notices = append(notices, rebuiltNotice(at.Root))
		var err error
		if known, err = account.KnownStores(o.Env); err != nil {
			return nil, err
		}
	}
	if at.Store == "" {
		if err := RefuseRoot(o.Env, at.Root); err != nil && !at.Named {
			return nil, err
		}
		missing := &NotInitializedError{Root: at.Root, History: at.History(o.Env, known), Older: OlderIn(at.Root)}
		missing.NoList = len(known) == 0 && account.HasMirrors(o.Env)
		if at.Parent != nil {
			missing.Parent = at.Parent.Root
		}
		return nil, missing
	}
	p := &Project{Env: o.Env.In(at.Root), at: at, lockWait: o.LockWait, waiting: o.Waiting, Progress: o.Progress, notices: notices}
	info, err := os.Stat(at.Store)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &account.DamagedStoreError{What: at.Store, Err: errors.New("it is not a directory")}
	}
	p.Format, err = account.ReadFormat(at.Store)
	if lost := (*account.FormatError)(nil); errors.As(err, &lost) {
		var notice string
		if p.Format, notice, err = mendFormat(ctx, o.Env, at, lost); err == nil && notice != "" {
			p.notices = append(p.notices, notice)
		}
	}
	if err != nil {
		return nil, err
	}
	p.ID, _ = account.ParseStoreID(p.Format.ID) // checked when the format was read
	if root, history := at.lostBelow(o.Env, known); root != "" {
		p.notices = append(p.notices, fmt.Sprintf("%s was a project of its own until it was deleted, and this is the history of the project around it: rewind init --root . --adopt %s, run there, brings its own back",
			root, history[0].ID))
	}
	if err := p.checkKnown(known); err != nil {
		return nil, err
	}
	p.Owner = account.OwnerOf(filepath.Dir(at.Store))
	if err := account.CanWrite(at.Store); err != nil {
		p.ReadOnly = &ReadOnlyError{Store: at.Store, Err: err}
	}
	p.ReloadSettings()
	origin, _ := account.ParseStoreID(p.Format.Origin)
	mirror := account.MirrorDir(o.Env, p.ID)
	if p.Copied {
		mirror = "" // that is the original's
	}
	p.Store, err = cas.Open(cas.Options{
		Dir:      filepath.Join(at.Store, account.ObjectsName),
		Mirror:   mirror,
		LockDir:  filepath.Join(at.Store, account.LockName),
		StoreID:  origin,
		Owner:    p.Owner,
		NoSync:   p.settings.Durability == "fast",
		ReadOnly: p.ReadOnly != nil,
		Now:      o.Env.Time,

		Waiting:   p.noteWaiting(),
		Returning: p.noteReturn,
		Reached:   p.reached,
		Shorter:   p.noteShortened,
		Purging:   p.Purging,
		Mirroring: p.mirroring,
		Linked:    p.noteLinks,
	})
	if err != nil {
		return nil, &account.DamagedStoreError{What: "its packs cannot be opened", Err: err}
	}
	if p.Format.Cloning && !o.Cloning {
		if last, err := p.Store.Last(); err == nil && last.Seq == 0 {
			return nil, errors.Join(&UnfinishedCloneError{Root: at.Root}, p.Store.Close())
		}
	}
	if rebuilt {
		p.indexRebuilt()
		if err := p.NoteUnswept(ctx); err != nil {
			p.Store.Close()
			return nil, err
		}
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

// Cloned notes that a clone has filled the store.
func (p *Project) Cloned() error {
	p.Format.Cloning = false
	return account.WriteFile(filepath.Join(p.at.Store, account.FormatName), p.Format.Bytes(), p.Owner)
}

// Close releases what Open opened.
func (p *Project) Close() error {
	if p.Abandoned.Load() {
		return nil // a save hangs in it: the process's end closes it
	}
	return errors.Join(p.CloseViews(), p.Store.Close())
}

// Root is the project's root: a real path.
func (p *Project) Root() string { return p.at.Root }

// StoreDir is the directory of the store.
func (p *Project) StoreDir() string { return p.at.Store }

// Mode says where the store lies.
func (p *Project) Mode() account.Mode { return p.at.Mode }

// Settings are those in force.
func (p *Project) Settings() *settings.Settings { return p.settings }

// Uncaptured reports whether a difference of two trees that looks like a removal may be none: left names what the later one
// did not capture though it was there.
func (p *Project) Uncaptured(left problem.Unread, c manifest.Change) bool {
	return c.New == nil && left.Keeps(c.Path, c.Old.Size, p.settings.MaxFileSize)
}

// Warnings are what was wrong with the settings files.
func (p *Project) Warnings() []settings.Warning { return p.warnings }

// Notices are what Open found and mended; a command shows them to the person.
func (p *Project) Notices() []string { return p.notices }

// Notify adds to the notices.
func (p *Project) Notify(text string) { p.notices = append(p.notices, text) }

// ReloadSettings reads the settings again, after they were changed.
func (p *Project) ReloadSettings() {
	file, warning := p.settingsFile()
	p.settings, p.warnings = loadSettings(p.Env, file)
	if warning != nil {
		p.warnings = append([]settings.Warning{*warning}, p.warnings...)
	}
}

// LoadSettings reads the account's settings and those of the store ("": the account's only).
func LoadSettings(env account.Env, store string) (*settings.Settings, []settings.Warning) {
	if store == "" {
		return loadSettings(env, "")
	}
	return loadSettings(env, filepath.Join(store, account.ConfigName))
}

func loadSettings(env account.Env, file string) (*settings.Settings, []settings.Warning) {
	o := settings.Options{Getenv: env.Getenv}
	if accountDir := env.AccountDir(); accountDir != "" {
		o.AccountFile = filepath.Join(accountDir, account.ConfigName)
		o.TiersDir = filepath.Join(accountDir, "tiers")
	}
	o.ProjectFile = file
	return settings.Load(o)
}

// BeginWriting must precede the first write. It fails if the store is read only, was removed (*NotInitializedError) or free space is below
// the minimum (*DiskFullError), and gives a copied store an identity of its own.
func (p *Project) BeginWriting(ctx context.Context) error {
	if p.ReadOnly != nil {
		return p.ReadOnly
	}
	for _, name := range []string{account.LockName, account.TmpName} {
		if err := account.MakeDir(filepath.Join(p.at.Store, name), p.Owner); err != nil {
			return p.unlessGone(err)
		}
	}
	if free, err := account.FreeDisk(p.at.Store); err == nil && free < p.settings.MinFreeDisk {
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

// Coverage is what the object of a checkpoint's coverage lists: paths that are in none of its trees, and why.
func (p *Project) Coverage(id oid.ID) ([]problem.Problem, error) {
	data, err := p.ReadObject(id)
	if err != nil {
		return nil, p.Classify(err)
	}
	return problem.Decode(data)
}

// Unread are the paths that a coverage lists, where the tree with the coverage before is what it is compared with.
func (p *Project) Unread(coverage, before oid.ID) (problem.Unread, error) {
	problems, err := p.Coverage(coverage)
	was := problems
	if err == nil && before != coverage {
		if was, err = p.Coverage(before); IsDamage(err) {
			was, err = problems, nil // what was ignored then is not known
		}
	}
	return problem.UnreadOf(problems, was), err
}
