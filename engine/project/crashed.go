package project

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/treeio"
	"github.com/rewind-cli/rewind/manifest"
)

// CrashedRestore describes a restore that did not finish.
type CrashedRestore struct {
	Time       time.Time
	Kind       manifest.OperationKind
	Checkpoint manifest.CheckpointID // zero for a revert
	Some       bool                  // it was to restore some paths or hunks only
	Paths      int
	Git        bool // it had begun to move git's own state
	WithGit    bool // that was to move, too, or did
	// Done says that every path is in place and recorded, and that only temporary files are left: the next Save clears them.
	Done bool
}

// Crashed reports a restore that did not finish; the restore family finishes
// it or puts it back first. nil: none, or one that is still running.
func (p *Project) Crashed(ctx context.Context) (*CrashedRestore, error) {
	j, err := treeio.Open(p.RestoreDir())
	if err != nil {
		return nil, JournalError(err)
	}
	if j == nil || !j.Touched {
		return nil, nil // it had not begun: there is nothing to tell
	}
	if p.ReadOnly == nil {
		expired, cancel := context.WithDeadline(ctx, time.Unix(0, 0))
		defer cancel()
		lock, err := account.LockFile(expired, filepath.Join(p.at.Store, account.LockName, account.TreeLockName), account.TreeLockName, true)
		var busy *account.BusyError
		if errors.As(err, &busy) {
			return nil, nil // it is running
		}
		if err != nil {
			return nil, err
		}
		defer lock.Release()
		if j, err = treeio.Open(p.RestoreDir()); j == nil || err != nil {
			return nil, JournalError(err) // it has just finished
		}
	}
	c := Describe(j)
	if rec, err := manifest.ParseRecord(j.Note); !c.Done && err == nil && rec.Operation != nil {
		done, err := p.Recorded(ctx, *rec.Operation)
		c.Done = err == nil && done // what is wrong with the log, the command itself reports
	}
	return c, nil
}

// Recorded reports whether the log has the operation of a restore that did not finish.
func (p *Project) Recorded(ctx context.Context, op manifest.Operation) (found bool, err error) {
	err = p.Query(ctx, func(db *manifest.DB) error {
		for o, err := range db.Operations() {
			if err != nil || o.Safety == op.Safety {
				found = err == nil
				return err
			}
		}
		return nil
	})
	return found, err
}

func JournalError(err error) error {
	var bad *treeio.JournalError
	if errors.As(err, &bad) {
		return &account.DamagedStoreError{What: "the journal of a restore", Err: err}
	}
	return err
}

func Describe(j *treeio.Journal) *CrashedRestore {
	c := &CrashedRestore{Time: j.Time, Paths: j.Paths, Git: len(j.Later) > 0, Done: j.Committed}
	if rec, err := manifest.ParseRecord(j.Note); err == nil && rec.Operation != nil {
		c.Kind, c.Checkpoint = rec.Operation.Kind, rec.Operation.Checkpoint
		c.Some = rec.Operation.OfSome()
		c.WithGit = c.Git || !rec.Operation.GitAfter.IsZero()
	}
	return c
}

func (p *Project) RestoreDir() string { return filepath.Join(p.at.Store, account.RestoreName) }
