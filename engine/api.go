package engine

import (
	"context"
	"io"
	"time"

	"rewind/manifest"
)

// Env is what a process brings along. Tests set it; Environment reads it from the operating system.
type Env struct {
	Home   string // home directory, "" when unknown
	Dir    string // working directory, "" when gone
	Getenv func(string) string
	Now    func() time.Time // nil: time.Now
}

// Mode says where a store lies.
type Mode string

const (
	ProjectMode Mode = "project" // .agent/rewind below the root
	GlobalMode  Mode = "global"  // ~/.rewind/storage/<hash of the root's real path>
)

// OpenOptions selects a project.
type OpenOptions struct {
	Env      Env
	Root     string        // --root; "": found by $REWIND_PROJECT_ROOT, then walking up
	LockWait time.Duration // how long to wait for a lock; 0: 30 s
	Progress Progress      // may be nil
}

// Progress is told how long work goes on.
type Progress func(p ProgressInfo)

type ProgressInfo struct {
	Phase                  string // "scan", "write", "restore", "export", "gc", "verify"
	Files, Bytes           int64
	TotalFiles, TotalBytes int64 // 0: unknown
}

// Project is an open project with its store.
type Project struct{ _ int }

// Open finds and opens a project. Errors: *NotInitializedError, *RefusedRootError, *ForeignStoreError, *FutureFormatError, *DamagedStoreError.
func Open(ctx context.Context, o OpenOptions) (*Project, error) { panic("stub") }
func (p *Project) Close() error                                 { panic("stub") }
func (p *Project) Root() string                                 { panic("stub") }
func (p *Project) StoreDir() string                             { panic("stub") }
func (p *Project) Mode() Mode                                   { panic("stub") }

// InitOptions are those of rewind init.
type InitOptions struct {
	OpenOptions
	Mode   Mode // "": as configured
	Tier   string
	NoSave bool
	Adopt  string // --adopt STORE: path of a global store
	Trust  bool
	Force  bool
}

// Init makes the store and, unless NoSave, the first checkpoint. created is
// false where a store was already: then nothing is changed.
func Init(ctx context.Context, o InitOptions) (p *Project, saved *Saved, created bool, err error) {
	panic("stub")
}

// SaveOptions of one save.
type SaveOptions struct {
	Kind          manifest.CheckpointKind // "": Manual
	Description   string
	Name          string
	Pin           bool
	NoIgnore      bool
	Rehash        bool
	OnlyIfChanged bool // no record when the tree is as in the newest checkpoint
}

// Saved is what a save did.
type Saved struct {
	Checkpoint manifest.Checkpoint
	Unchanged  bool // same tree as the checkpoint before
	Skipped    bool // OnlyIfChanged and nothing changed: no record
	Partial    []Problem
	Elapsed    time.Duration
}

// Problem is a path that a checkpoint did not capture, and why. Failed marks those that should have been.
type Problem struct {
	Path   string
	Reason string
	Failed bool
}

func (p *Project) Save(ctx context.Context, o SaveOptions) (*Saved, error) { panic("stub") }

// ListOptions of rewind list.
type ListOptions struct {
	All     bool
	Session string
	Limit   int // 0: no limit
}

// Listed is a checkpoint with its position: N is 1 for the newest, 0 for safety checkpoints.
type Listed struct {
	manifest.Checkpoint
	N int
}

func (p *Project) List(ctx context.Context, o ListOptions) ([]Listed, error) { panic("stub") }

// Resolve finds the checkpoint that spec names (CLI.md, "Naming a checkpoint"). Errors: *NoCheckpointError, *AmbiguousError.
func (p *Project) Resolve(ctx context.Context, spec string) (Listed, error) { panic("stub") }

// Changes of a checkpoint against the one before.
func (p *Project) Changes(ctx context.Context, c manifest.Checkpoint) ([]manifest.Change, error) {
	panic("stub")
}

// Coverage is what the checkpoint did not capture.
func (p *Project) Coverage(ctx context.Context, c manifest.Checkpoint) ([]Problem, error) {
	panic("stub")
}

// TreeEntry is one path of a tree.
type TreeEntry struct {
	Path string
	manifest.Entry
}

// Tree visits all entries at and below path ("" is the root), in path order. Error: *NoPathError.
func (p *Project) Tree(ctx context.Context, c manifest.Checkpoint, path string, visit func(TreeEntry) error) error {
	panic("stub")
}

// Content opens a file of a checkpoint for reading; every byte is verified.
func (p *Project) Content(ctx context.Context, e manifest.Entry) (io.ReadCloser, error) {
	panic("stub")
}

// DiffOptions: B nil means the working tree.
type DiffOptions struct {
	A     manifest.Checkpoint
	B     *manifest.Checkpoint
	Paths []string // paths and globs relative to the root; empty: all
	Patch bool
}

// FileDiff is one differing path. Patch is a unified diff, "" for binary content (Binary is set) or without DiffOptions.Patch.
type FileDiff struct {
	manifest.Change
	Patch          string
	Binary         bool
	Added, Deleted int // lines, with Patch
}

func (p *Project) Diff(ctx context.Context, o DiffOptions) ([]FileDiff, error) { panic("stub") }

// RestoreOptions of restore, undo, undo-restore, redo-restore.
type RestoreOptions struct {
	Checkpoint manifest.Checkpoint // restore only
	Paths      []string
	DryRun     bool
	Force      bool
	// Confirm, if set, is asked before anything is touched when many files would be deleted.
	Confirm func(*Restored) (bool, error)
}

// Restored is what a restore did, or would do.
type Restored struct {
	Checkpoint                    manifest.Checkpoint  // the target
	Safety                        *manifest.Checkpoint // nil on a dry run or when nothing differed
	Create, Replace, Delete, Mode []string
	Skip                          []Problem
	DryRun                        bool
	Operation                     uint64 // sequence number, 0 on a dry run
}

func (p *Project) Restore(ctx context.Context, o RestoreOptions) (*Restored, error) { panic("stub") }
func (p *Project) Undo(ctx context.Context, o RestoreOptions) (*Restored, error)    { panic("stub") }
func (p *Project) UndoRestore(ctx context.Context, o RestoreOptions) (*Restored, error) {
	panic("stub")
}
func (p *Project) RedoRestore(ctx context.Context, o RestoreOptions) (*Restored, error) {
	panic("stub")
}

// Operations newest first.
func (p *Project) Operations(ctx context.Context, limit int) ([]manifest.Operation, error) {
	panic("stub")
}

// Recover reports a restore that crashed; finish it or put it back with Restore family calls (they do it first). nil: none.
func (p *Project) Crashed(ctx context.Context) (*CrashedRestore, error) { panic("stub") }

// CrashedRestore describes a restore that did not finish.
type CrashedRestore struct {
	Time       time.Time
	Checkpoint manifest.CheckpointID
	Paths      int
}

// ExportOptions of rewind export. Format: "tar.gz", "tar.zst", "tar".
type ExportOptions struct {
	Checkpoint manifest.Checkpoint
	Format     string
	Paths      []string
}

// Export streams an archive; same checkpoint and options, same bytes.
func (p *Project) Export(ctx context.Context, w io.Writer, o ExportOptions) error { panic("stub") }

// GCOptions override the retention settings; zero values mean "as configured".
type GCOptions struct {
	Keep    int
	MaxAge  time.Duration
	MaxSize int64
	DryRun  bool
}

type Collected struct {
	Removed []manifest.CheckpointID
	Kept    int
	Freed   int64 // bytes, estimated on a dry run
	DryRun  bool
}

func (p *Project) GC(ctx context.Context, o GCOptions) (*Collected, error)           { panic("stub") }
func (p *Project) Pin(ctx context.Context, c manifest.Checkpoint, pinned bool) error { panic("stub") }

// Rename gives a name; "" takes it away. Errors: *BadNameError, *NameTakenError.
func (p *Project) Rename(ctx context.Context, c manifest.Checkpoint, name string) error {
	panic("stub")
}

type Forgotten struct {
	Paths       []string // that were in some checkpoint
	Checkpoints int      // rewritten
	Freed       int64
}

func (p *Project) Forget(ctx context.Context, paths []string) (*Forgotten, error) { panic("stub") }

type Verified struct {
	Checkpoints, Chunks int
	Damaged             []Damage
	Repaired            []string // what Repair did, one line each
}

func (v *Verified) OK() bool { panic("stub") }

// Damage names a path of a checkpoint that cannot be restored. Path "" means the whole checkpoint; a zero Checkpoint, the store.
type Damage struct {
	Path       string
	Checkpoint manifest.CheckpointID
	Reason     string
}

func (p *Project) Verify(ctx context.Context, readData bool) (*Verified, error) { panic("stub") }
func (p *Project) Repair(ctx context.Context) (*Verified, error)                { panic("stub") }

// Status of a project, for rewind status.
type Status struct {
	Root, Store           string
	Mode                  Mode
	Last                  *Listed
	Checkpoints           int
	Bytes                 int64 // allocated on disk by the store
	SecondName            bool  // the packs have their second names
	SecondNameReason      string
	NotCovered            []Problem
	Crashed               *CrashedRestore
	FreeDisk, MinFreeDisk int64
	MaxSize               int64
	Orphans               []string // stores of this account whose project is gone
	ReadOnly              bool
	LastHookError         string
}

func (p *Project) Status(ctx context.Context) (*Status, error) { panic("stub") }

// Stats are numbers about the store.
type Stats struct {
	Checkpoints, Objects  int64
	Bytes                 map[string]int64 // on disk by kind: "packs", "indexes", "manifests", "head", "other"
	RawBytes, StoredBytes int64            // of all objects: decoded, stored
	PerCheckpoint         []CheckpointBytes
	Largest               []PathBytes
}
type CheckpointBytes struct {
	Checkpoint     manifest.CheckpointID
	Unique, Shared int64 // stored bytes
}
type PathBytes struct {
	Path     string
	Bytes    int64
	Versions int
}

func (p *Project) Stats(ctx context.Context) (*Stats, error) { panic("stub") }
