package inspect

import (
	"context"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/weave"
	"github.com/rewind-cli/rewind/engine/window"
	"github.com/rewind-cli/rewind/manifest"
)

// BlameOptions of Blame.
type BlameOptions struct {
	Path string               // relative to the root
	At   *manifest.Checkpoint // nil: the working tree
	// NoFollow ends at a rename, WithPrecious shows the content of files that are marked as precious.
	NoFollow     bool
	WithPrecious bool
}

// Blamed is a file line by line, and who brought each.
type Blamed struct {
	Path  string
	Lines []string // with their line ends
	Runs  []BlameRun
}

// BlameRun is adjacent lines that came with the same step.
type BlameRun struct {
	Start, Count int // the first line's index, from 0, and how many
	// Step is what brought them; nil: they were there in the oldest version that is known.
	Step *attribution.Step
	// Seen is the checkpoint in which they are seen first; nil: in none yet, or collected.
	Seen *project.Listed
	// Turn is a checkpoint of the turn that brought them, which Seen may not be: another session's hook may have looked
	// first. nil: none is known.
	Turn *project.Listed
	Path string // what the file was called then
	// Forgotten: they are seen first behind what was forgotten of the file, so that Step is nil.
	Forgotten bool
}

// BlameReason says why a path has no lines.
type BlameReason string

const (
	BlameGone      BlameReason = "gone"      // it is not there now, and checkpoints had it
	BlameDirectory BlameReason = "directory" //
	BlameLink      BlameReason = "link"
	BlameBinary    BlameReason = "binary"
	BlameLarge     BlameReason = "large"
	BlamePrecious  BlameReason = "precious"
)

// NotBlamedError: what is at a path has no lines that could be shown.
type NotBlamedError struct {
	Path   string
	Reason BlameReason
	Last   *project.Listed // of Gone: the newest checkpoint that has it; nil: that is gone as well
}

func (e *NotBlamedError) Error() string { return e.Path + ": " + string(e.Reason) }

// Blame says who brought each line of a file: the step of its history that it came with, through renames. A line that came
// back with a restore is as old as it was. Errors: *NotBlamedError, *NoPathError.
func Blame(ctx context.Context, p *project.Project, o BlameOptions) (*Blamed, error) {
	release, err := p.Use(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	b := &blaming{ctx: ctx, p: p, o: o, load: p.LoadDir, get: p.Store.Get, to: attribution.ThenNow}
	b.versions = NewVersions(p, func(dst []byte, id oid.ID) ([]byte, error) { return b.get(dst, id) })
	out, err := b.run()
	return out, p.Classify(err)
}

type blaming struct {
	ctx      context.Context
	p        *project.Project
	o        BlameOptions
	load     func(oid.ID) (manifest.Dir, error)
	get      getter
	now      *checkpoint.Captured // nil with At
	to       uint64               // the last sequence number that is asked about
	who      *attribution.Attribution
	versions *Versions
	ops      []manifest.Operation // that moved the tree, newest first; nil: not read yet
}

func (b *blaming) run() (*Blamed, error) {
	ao := attribution.Options{}
	var newest *manifest.Checkpoint
	root := oid.ID{}
	if b.o.At != nil {
		at, err := b.p.Current(b.ctx, *b.o.At)
		if err != nil {
			return nil, err
		}
		root, b.to, ao.To = at.Root, at.Seq, at.Seq
	} else {
		var err error
		if newest, err = b.p.NewestCheckpoint(); err != nil {
			return nil, err
		}
		if err := b.capture(newest); err != nil {
			return nil, err
		}
		defer func() { b.now.Discard() }()
		root, b.load, b.get = b.now.Root(), b.now.Tx.Load, b.now.Tx.Get
		if ao.Now, err = presentOf(b.p, b.now, newest); err != nil {
			return nil, err
		}
	}
	e, err := EntryAt(b.load, root, b.o.Path)
	if err != nil {
		return nil, err
	}
	if err := b.refuse(e); err != nil {
		return nil, err
	}
	if b.who, err = attribution.New(b.ctx, b.p, ao); err != nil {
		return nil, err
	}
	chain, err := b.history(newest)
	if err != nil {
		return nil, err
	}
	return b.weave(chain, e)
}

// capture looks at the working tree: at the directories of the path alone, where the newest checkpoint has it, too.
func (b *blaming) capture(newest *manifest.Checkpoint) error {
	o := checkpoint.CaptureOptions{Look: true}
	if newest != nil {
		if e, err := EntryAt(b.p.LoadDir, newest.Root, b.o.Path); err == nil && e != nil && e.Kind != manifest.Subdir {
			o.Changed, o.From = []string{b.o.Path}, newest.Root
		}
	}
	c, err := checkpoint.CaptureTree(b.ctx, b.p, o)
	b.now = c
	return err
}

// refuse says why there are no lines.
func (b *blaming) refuse(e *manifest.Entry) error {
	no := func(r BlameReason) error { return &NotBlamedError{Path: b.o.Path, Reason: r} }
	switch {
	case e == nil:
		return b.gone()
	case e.Kind == manifest.Subdir:
		return no(BlameDirectory)
	case e.Kind == manifest.Symlink:
		return no(BlameLink)
	case e.Precious && !b.o.WithPrecious:
		return no(BlamePrecious)
	case e.Size > weave.MaxText:
		return no(BlameLarge)
	}
	return nil
}

// gone is the error for a path that is not there.
func (b *blaming) gone() error {
	found := &NotBlamedError{Path: b.o.Path, Reason: BlameGone}
	ever := false
	err := b.p.Query(b.ctx, func(db *manifest.DB) error {
		for v, err := range db.History(b.o.Path) {
			if err != nil {
				return err
			}
			ever = true
			if v.Seq > b.to {
				continue
			}
			seq := v.Seq
			if v.New != nil {
				seq = b.to // it went since the newest checkpoint
			}
			var err error
			found.Last, err = b.before(db, seq)
			return err
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case !ever:
		return &project.NoPathError{Path: b.o.Path}
	}
	return found
}

// before is the checkpoint that had the tree as the next one, of a sequence number, found it first; nil for none.
func (b *blaming) before(db *manifest.DB, seq uint64) (*project.Listed, error) {
	op, err := b.operation(seq)
	if err != nil {
		return nil, err
	}
	if op != nil {
		c, ok, err := db.ByID(op.Checkpoint)
		if err != nil {
			return nil, err
		}
		if ok {
			if e, err := EntryAt(b.p.LoadDir, c.Root, b.o.Path); err == nil && e != nil {
				return &project.Listed{Checkpoint: c, N: db.Position(c.Seq)}, nil
			}
		}
	}
	return project.NewestUpTo(db, seq-1)
}

// presentOf is the working tree as it was captured, in the form that package attribution takes.
func presentOf(p *project.Project, now *checkpoint.Captured, newest *manifest.Checkpoint) (*attribution.Present, error) {
	present := &attribution.Present{Time: p.Env.Time(), Root: now.Root(), Load: now.Tx.Load, Windows: window.Pending(p)}
	var err error
	if newest != nil {
		present.At, err = now.Written(newest.Root)
	}
	return present, err
}
