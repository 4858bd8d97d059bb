package engine

import (
	"context"
	"time"

	"rewind/manifest"
)

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

// Recover reports a restore that crashed; finish it or put it back with Restore family calls (they do it first). nil: none.
func (p *Project) Crashed(ctx context.Context) (*CrashedRestore, error) { panic("stub") }

// CrashedRestore describes a restore that did not finish.
type CrashedRestore struct {
	Time       time.Time
	Checkpoint manifest.CheckpointID
	Paths      int
}

