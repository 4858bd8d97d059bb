package inspect

import (
	"context"
	"errors"
	"math"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// StepKind is what a checkpoint did to a path.
type StepKind string

const (
	Created     StepKind = "created"
	Changed     StepKind = "changed"
	Deleted     StepKind = "deleted"
	Renamed     StepKind = "renamed"      // Step.From says from what
	ModeChanged StepKind = "mode"         // nothing but the mode
	KindChanged StepKind = "kind"         // a file is a link now, or a directory
	NotCaptured StepKind = "not-captured" // it was there, and could not be read or was ignored
)

// Step is what one checkpoint did to a path, against the checkpoint before it.
type Step struct {
	project.Listed // of the working tree: zero but for the time
	What           StepKind
	Path           string // as it was called after the step
	From           string // of Renamed: as it was called before
	To             string // of Deleted: what the same checkpoint made of it; "" for nothing

	// Change has the entries before and after; of Renamed, Old is what From was.
	Change manifest.Change
	// Below counts the files and links below a directory that changed.
	Below manifest.Counts
}

// HistoryOptions of History.
type HistoryOptions struct {
	Path     string // relative to the root; "": the root itself
	Limit    int    // steps of checkpoints; 0: all
	NoFollow bool   // renames end the history
	// WithPrecious shows the content of files that are marked as precious too.
	WithPrecious bool
}

// PathHistory is what happened to a path.
type PathHistory struct {
	Now   *FileDiff // what the working tree differs in from the newest checkpoint; nil: in nothing
	Step  *Step     // the same as a step, without a checkpoint; nil where Now is
	Steps []Step    // newest first
	More  bool      // there are older ones, beyond the limit
}

var errEnough = errors.New("enough")

// History finds the checkpoints that changed a path, newest first, safety ones too, and follows renames
// backwards. Of a directory it finds those that changed something below. Error: *NoPathError for a path that
// neither a checkpoint nor the working tree has.
func History(ctx context.Context, p *project.Project, o HistoryOptions) (*PathHistory, error) {
	release, err := p.Use(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	h := &historian{ctx: ctx, p: p, o: o, out: &PathHistory{}}
	err = p.Query(ctx, func(db *manifest.DB) error {
		h.db = db
		return h.all()
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	if h.out.Step == nil && len(h.out.Steps) == 0 {
		return nil, &project.NoPathError{Path: o.Path}
	}
	return h.out, nil
}

type historian struct {
	ctx context.Context
	p   *project.Project
	db  *manifest.DB
	o   HistoryOptions
	out *PathHistory
}

func (h *historian) all() error {
	path, before := h.o.Path, uint64(0)
	newest, err := h.db.Previous(math.MaxUint64)
	if err != nil {
		return err
	}
	dir := path == ""
	if newest != nil {
		from, isDir, err := h.now(newest)
		if err != nil {
			return err
		}
		dir = dir || isDir
		if from != "" {
			path = from
		}
	}
	if !dir {
		// A path that is gone was what its last entry was.
		for v, err := range h.db.History(path) {
			if err != nil {
				return err
			}
			dir = v.Old != nil && v.Old.Kind == manifest.Subdir || v.New != nil && v.New.Kind == manifest.Subdir
			break
		}
	}
	if dir {
		return h.directory(path)
	}
	for {
		from, seq, err := h.file(path, before)
		if err != nil || from == "" {
			return err
		}
		path, before = from, seq
	}
}

// now compares the working tree with the newest checkpoint. It looks at the directories of the path
// alone where that is enough, and the stat cache has that checkpoint.
func (h *historian) now(newest *manifest.Checkpoint) (from string, dir bool, err error) {
	path := h.o.Path
	old, err := EntryAt(h.p.LoadDir, newest.Root, path)
	if err != nil {
		return "", false, err
	}
	dir = old != nil && old.Kind == manifest.Subdir
	whole := dir // anything below may have changed
	for {
		o := checkpoint.CaptureOptions{Look: true}
		if !whole {
			o.Changed, o.From = []string{path}, newest.Root
		}
		c, err := checkpoint.CaptureTree(h.ctx, h.p, o)
		if err != nil {
			return "", dir, err
		}
		new, err := EntryAt(c.Tx.Load, c.Root(), path)
		if err == nil && !whole && (old == nil) != (new == nil) {
			whole = true // what was moved shows in the whole tree only
			if err := c.Discard(); err != nil {
				return "", dir, err
			}
			continue
		}
		if err == nil {
			dir = dir || old == nil && new != nil && new.Kind == manifest.Subdir
			from, err = h.compareNow(c, newest, manifest.Change{Path: path, Old: old, New: new})
		}
		return from, dir, errors.Join(err, c.Discard())
	}
}

func (h *historian) compareNow(c *checkpoint.Captured, newest *manifest.Checkpoint, change manifest.Change) (from string, err error) {
	unread := func() (problem.Unread, error) {
		before, err := h.p.Coverage(newest.Coverage)
		return problem.UnreadOf(c.Problems, before), err
	}
	step, err := h.step(c.Tx.Get, change, unread, func(visit func(manifest.Change) error) error {
		return manifest.Diff(c.Tx.Load, newest.Root, c.Root(), visit)
	}, func() (manifest.Counts, error) { return countBelow(c.Tx.Load, change.Old, change.New) })
	if err != nil || step == nil {
		return "", err
	}
	d := step.diff()
	if !step.IsDir() {
		d.Hidden = !h.o.WithPrecious && hides(d.Change)
		if err := d.compare(c.Tx.Get); err != nil {
			return "", err
		}
	}
	h.out.Step, h.out.Now = step, &d
	return step.From, nil
}

// file finds the steps of a file before a sequence number (0: all). Where it was renamed from something,
// that is from, before seq.
func (h *historian) file(path string, before uint64) (from string, seq uint64, err error) {
	for v, err := range h.db.History(path) {
		switch {
		case err != nil:
			return "", 0, err
		case before != 0 && v.Seq >= before:
			continue
		case h.ctx.Err() != nil:
			return "", 0, h.ctx.Err()
		}
		c, err := h.listed(v.Seq)
		if err != nil {
			return "", 0, err
		}
		older, err := h.db.Previous(v.Seq)
		if err != nil {
			return "", 0, err
		}
		var others func(func(manifest.Change) error) error
		if older != nil { // the first checkpoint has nothing that a file could have been before
			others = func(visit func(manifest.Change) error) error { return manifest.Each(h.db.Changes(v.Seq), visit) }
		}
		change := manifest.Change{Path: path, Old: v.Old, New: v.New}
		below := func() (manifest.Counts, error) { return countBelow(h.p.LoadDir, v.Old, v.New) }
		step, err := h.step(h.p.Store.Get, change, h.unread(&c.Checkpoint), others, below)
		if err != nil {
			return "", 0, err
		}
		if step == nil {
			continue
		}
		step.Listed = *c
		if err := h.add(*step); err != nil {
			return "", 0, err
		}
		if step.From != "" {
			return step.From, v.Seq, nil
		}
	}
	return "", 0, nil
}

// unread says what a checkpoint did not capture, when it is asked.
func (h *historian) unread(c *manifest.Checkpoint) func() (problem.Unread, error) {
	return func() (problem.Unread, error) { return unreadAt(h.p, h.db, c) }
}

// unreadAt is what a checkpoint did not capture, against the one before it.
func unreadAt(p *project.Project, db *manifest.DB, c *manifest.Checkpoint) (problem.Unread, error) {
	var was oid.ID
	before, err := db.Previous(c.Seq)
	if err != nil {
		return nil, err
	}
	if before != nil {
		was = before.Coverage
	}
	return p.Unread(c.Coverage, was)
}

func (h *historian) add(s Step) error {
	if h.o.Limit > 0 && len(h.out.Steps) == h.o.Limit {
		h.out.More = true
		return errEnough
	}
	h.out.Steps = append(h.out.Steps, s)
	return nil
}

func (h *historian) listed(seq uint64) (*project.Listed, error) {
	c, err := project.NewestUpTo(h.db, seq)
	if err == nil && c == nil {
		err = &project.NoCheckpointError{}
	}
	return c, err
}

// step says what a change of the path is; nil for none. others gives all changes of the same checkpoint, nil where renames are not
// looked for; below counts what changed in a directory.
func (h *historian) step(get getter, c manifest.Change, unread func() (problem.Unread, error),
	others func(func(manifest.Change) error) error, below func() (manifest.Counts, error)) (*Step, error) {
	s := &Step{What: Changed, Path: c.Path, Change: c}
	isDir := func(e *manifest.Entry) bool { return e == nil || e.Kind == manifest.Subdir }
	if isDir(c.Old) && isDir(c.New) {
		var err error
		s.Below, err = below()
		if err != nil {
			return nil, err
		}
	}
	switch {
	case c.Old == nil && c.New == nil:
		return nil, nil
	case c.New == nil:
		s.What = Deleted
		left, err := unread()
		if err != nil {
			return nil, err
		}
		if left.Has(c.Path) {
			s.What = NotCaptured
			return s, nil
		}
		if others == nil || h.o.NoFollow || isDir(c.Old) {
			return s, nil
		}
		to, err := counterpart(h.ctx, get, c, others)
		if to != nil {
			s.To = to.Path
		}
		return s, err
	case c.Old == nil:
		s.What = Created
		if others == nil || h.o.NoFollow || isDir(c.New) {
			return s, nil
		}
		from, err := counterpart(h.ctx, get, c, others)
		if from != nil {
			s.What, s.From, s.Change.Old = Renamed, from.Path, from.Old
		}
		return s, err
	case KindWord(c.Old) != KindWord(c.New):
		s.What = KindChanged
	case c.Old.Kind == manifest.Subdir && c.Old.ID == c.New.ID && c.Old.Mode == c.New.Mode:
		return nil, nil
	case c.Old.Kind != manifest.Subdir && c.Old.Alike(*c.New):
		return nil, nil
	case c.Old.Kind == manifest.Subdir && c.Old.ID == c.New.ID, c.Old.Kind != manifest.Subdir && manifest.SameContent(c.Old, c.New):
		s.What = ModeChanged
	}
	return s, nil
}

// diff is the step as a diff, without its lines yet. A rename's is that of the two files.
func (s *Step) diff() FileDiff { return FileDiff{Change: s.Change, From: s.From} }

// IsDir reports whether the step is one of a directory, of which there are no lines.
func (s *Step) IsDir() bool {
	e := s.Change.New
	if e == nil {
		e = s.Change.Old
	}
	return e != nil && e.Kind == manifest.Subdir
}

// StepDiff compares a step's two sides line by line. The caller holds the project (Hold).
func StepDiff(p *project.Project, s *Step, withPrecious bool) (FileDiff, error) {
	d := s.diff()
	if s.IsDir() {
		return d, nil
	}
	d.Hidden = !withPrecious && hides(d.Change)
	err := d.compare(p.Store.Get)
	return d, p.Classify(err)
}

// ChangeDiff is a change of a file with its lines, but not those of precious files. get appends an object, as cas.Store.Get
// does: it may be one that is not stored yet.
func ChangeDiff(get func(dst []byte, id oid.ID) ([]byte, error), c manifest.Change) (FileDiff, error) {
	d := FileDiff{Change: c, Hidden: hides(c)}
	return d, d.compare(get)
}

// EntryAt finds one path of a tree, nil for none; "" is the tree itself.
func EntryAt(load func(oid.ID) (manifest.Dir, error), root oid.ID, path string) (*manifest.Entry, error) {
	if path == "" {
		return &manifest.Entry{Kind: manifest.Subdir, ID: root}, nil
	}
	e, ok, err := manifest.Find(load, root, path)
	if err != nil || !ok {
		return nil, err
	}
	return &e, nil
}
