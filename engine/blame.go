package engine

import (
	"context"
	"slices"
	"sort"
	"sync"

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

// BlameRun is lines that stand together and came with the same step.
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
	b.versions = newVersions(p, func(dst []byte, id oid.ID) ([]byte, error) { return b.get(dst, id) })
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
	versions *versions
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
		ao.Now = &attribution.Present{Time: b.p.Env.Time(), Root: root, Load: b.now.Tx.Load, Windows: window.Pending(b.p)}
		if newest != nil {
			if ao.Now.At, err = b.now.Written(newest.Root); err != nil {
				return nil, err
			}
		}
	}
	e, err := entryAt(b.load, root, b.o.Path)
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
	o := checkpoint.CaptureOptions{}
	if newest != nil {
		if e, err := entryAt(b.p.LoadDir, newest.Root, b.o.Path); err == nil && e != nil && e.Kind != manifest.Subdir {
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
			if e, err := entryAt(b.p.LoadDir, c.Root, b.o.Path); err == nil && e != nil {
				return &project.Listed{Checkpoint: c, N: db.Position(c.Seq)}, nil
			}
		}
	}
	for c, err := range db.Checkpoints(manifest.Query{All: true, Before: seq, Limit: 1}) {
		if err != nil {
			return nil, err
		}
		return &project.Listed{Checkpoint: c, N: db.Position(c.Seq)}, nil
	}
	return nil, nil
}

// nameSpan is a path's history under one name: its steps, oldest first.
type nameSpan struct {
	path  string
	steps []attribution.Step
}

// history follows the path backwards through renames; the newest name is last.
func (b *blaming) history(newest *manifest.Checkpoint) ([]nameSpan, error) {
	var chain []nameSpan
	path, before := b.o.Path, b.to
	for {
		steps, err := b.who.Steps(path)
		if err != nil {
			return nil, err
		}
		steps = b.sinceOldest(slices.DeleteFunc(steps, func(s attribution.Step) bool { return s.To.Seq > before }))
		from, at := "", uint64(0)
		if !b.o.NoFollow {
			if from, at, err = b.renamed(newest, path, before); err != nil {
				return nil, err
			}
		}
		if from != "" {
			// What the path was before it came from another is another file.
			came := slices.IndexFunc(steps, func(s attribution.Step) bool { return s.To.Seq >= at })
			came = max(came, 0)
			for came > 0 && steps[came].From.Entry != nil && steps[came-1].To.Seq > b.previous(at) {
				came-- // a touch saw it before the checkpoint
			}
			steps = steps[came:]
		}
		chain = append(chain, nameSpan{path, steps})
		if from == "" {
			break
		}
		path, before = from, at-1
	}
	slices.Reverse(chain)
	for i := range chain[:len(chain)-1] { // that it went, and came under another name
		n := &chain[i]
		for k := len(n.steps) - 1; k >= 0 && n.steps[k].To.Entry == nil; k-- {
			n.steps = n.steps[:k]
		}
	}
	return chain, nil
}

// sinceOldest makes one step of all up to the oldest checkpoint, where those before it were removed: what it held was there,
// and calls that are known of from before it may have made a part of that alone.
func (b *blaming) sinceOldest(steps []attribution.Step) []attribution.Step {
	oldest := b.who.Oldest()
	if oldest == nil || oldest.Parent == (manifest.CheckpointID{}) {
		return steps
	}
	n := sort.Search(len(steps), func(i int) bool { return steps[i].To.Seq > oldest.Seq })
	if n == 0 {
		return steps
	}
	first := attribution.Step{Path: steps[n-1].Path, To: steps[n-1].To, Owner: attribution.Owner{Class: attribution.Outside}}
	first.To.Seq, first.To.Checkpoint, first.To.Time = oldest.Seq, oldest.ID, oldest.Time
	return append([]attribution.Step{first}, steps[n:]...)
}

// previous is the sequence number of the checkpoint before another; 0 for none.
func (b *blaming) previous(seq uint64) (before uint64) {
	if seq == attribution.ThenNow {
		if c, err := b.p.NewestCheckpoint(); err == nil && c != nil {
			return c.Seq
		}
		return 0
	}
	_ = b.p.Query(b.ctx, func(db *manifest.DB) error {
		c, err := db.Previous(seq)
		if err == nil && c != nil {
			before = c.Seq
		}
		return err
	})
	return before
}

// operation is what brought the tree to where the next checkpoint, of a sequence number, found it; nil where that was no
// operation.
func (b *blaming) operation(seq uint64) (found *manifest.Operation, err error) {
	before := b.previous(seq)
	if b.ops == nil {
		b.ops = []manifest.Operation{}
		all, err := Operations(b.ctx, b.p, 0)
		if err != nil {
			return nil, err
		}
		for _, op := range all {
			if op.Kind.Moves() && op.After != (oid.ID{}) {
				b.ops = append(b.ops, op)
			}
		}
	}
	for i := range b.ops { // newest first
		if op := &b.ops[i]; op.Seq < seq && op.Seq > before {
			return op, nil
		}
	}
	return nil, nil
}

// renamed finds what the path was called before, and with which checkpoint that ended; "" where it never had another
// name. It is what rewind history tells.
func (b *blaming) renamed(newest *manifest.Checkpoint, path string, before uint64) (from string, at uint64, err error) {
	if b.now != nil && before == attribution.ThenNow {
		var old *manifest.Entry
		var root oid.ID
		if newest != nil {
			root = newest.Root
		}
		op, err := b.operation(before)
		if err != nil {
			return "", 0, err
		} else if op != nil {
			root = op.After
		}
		if old, err = entryAt(b.p.LoadDir, root, path); err != nil {
			return "", 0, err
		}
		if old == nil {
			e, err := entryAt(b.load, b.now.Root(), path)
			if err != nil || e == nil {
				return "", 0, err
			}
			c, err := counterpart(b.ctx, b.get, manifest.Change{Path: path, New: e}, func(visit func(manifest.Change) error) error {
				return manifest.Diff(b.load, root, b.now.Root(), visit)
			})
			if err != nil || c == nil {
				return "", 0, err
			}
			return c.Path, attribution.ThenNow, nil
		}
		if op != nil {
			if from, err := b.movedBack(op, path); err != nil || from != "" {
				return from, op.Seq, err
			}
		}
	}
	err = b.p.Query(b.ctx, func(db *manifest.DB) error {
		for v, err := range db.History(path) {
			if err != nil {
				return err
			}
			if v.Seq > before || v.Old != nil || v.New == nil || v.New.Kind == manifest.Subdir {
				continue
			}
			op, err := b.operation(v.Seq)
			if err != nil {
				return err
			}
			if op != nil {
				if from, err = b.movedBack(op, path); err != nil || from != "" {
					at = op.Seq
					return err
				}
			}
			c, err := counterpart(b.ctx, b.p.Store.Get, manifest.Change{Path: path, New: v.New}, func(visit func(manifest.Change) error) error {
				if op != nil {
					for at, err := range db.Checkpoints(manifest.Query{All: true, Before: v.Seq + 1, Limit: 1}) {
						if err == nil {
							err = manifest.Diff(b.p.LoadDir, op.After, at.Root, visit)
						}
						return err
					}
				}
				for change, err := range db.Changes(v.Seq) {
					if err == nil {
						err = visit(change)
					}
					if err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
			if c != nil {
				from, at = c.Path, v.Seq
				return nil
			}
		}
		return nil
	})
	return from, at, err
}

// movedBack finds what a path was called before an operation that gave it its name back, with what it had become under the
// other; "" where it made it what it had been.
func (b *blaming) movedBack(op *manifest.Operation, path string) (from string, err error) {
	defer func() {
		if project.IsDamage(b.p.Classify(err)) {
			from, err = "", nil // what an operation left may have been removed
		}
	}()
	was, err := entryAt(b.p.LoadDir, op.Before, path)
	if err != nil || was != nil {
		return "", err
	}
	is, err := entryAt(b.p.LoadDir, op.After, path)
	if err != nil || is == nil || is.Kind == manifest.Subdir {
		return "", err
	}
	steps, err := b.who.Steps(path)
	if err != nil {
		return "", err
	}
	for _, s := range steps {
		if s.To.Seq < op.Seq && (sameEntries(s.From.Entry, is) || sameEntries(s.To.Entry, is)) {
			return "", nil
		}
	}
	c, err := counterpart(b.ctx, b.get, manifest.Change{Path: path, New: is}, func(visit func(manifest.Change) error) error {
		return manifest.Diff(b.p.LoadDir, op.Before, op.After, visit)
	})
	if err != nil || c == nil {
		return "", err
	}
	return c.Path, nil
}

// weave puts all versions together and asks each line where it came from.
func (b *blaming) weave(chain []nameSpan, newest *manifest.Entry) (*Blamed, error) {
	type origin struct {
		step *attribution.Step
		path string
	}
	var origins []origin
	var entries []*manifest.Entry
	add := func(e *manifest.Entry, step *attribution.Step, path string) {
		origins, entries = append(origins, origin{step, path}), append(entries, e)
	}
	for i, n := range chain {
		for k := range n.steps {
			s := &n.steps[k]
			if len(origins) == 0 {
				add(s.From.Entry, nil, n.path)
			}
			if i > 0 && k == 0 && s.To.Entry == nil {
				continue
			}
			add(s.To.Entry, s, n.path)
		}
	}
	if len(origins) == 0 {
		add(newest, nil, b.o.Path)
	}
	reverts, err := readReverts(b.ctx, b.p)
	if err != nil {
		return nil, err
	}
	links := make([]link, len(origins))
	for i, o := range origins {
		links[i] = link{entry: entries[i], step: o.step, path: o.path}
	}
	var f *weave.File
	err = b.read(entries, func(v weave.Version) {
		v.Taken = reverts.takenBy(links, v.Step)
		if f == nil {
			v.Step = weave.Oldest
			f = weave.NewFile(v)
		} else {
			f.Add(v)
		}
	})
	if err != nil {
		return nil, err
	}
	w, base := f.Weave()
	if w == nil {
		return nil, &NotBlamedError{Path: b.o.Path, Reason: BlameBinary}
	}
	out := &Blamed{Path: b.o.Path, Lines: w.Newest()}
	births := w.Birth(writtenAgain(links))
	for i := 0; i < len(births); {
		end := i + 1
		for end < len(births) && births[end] == births[i] {
			end++
		}
		at := births[i]
		if at == weave.Oldest {
			at = base
		}
		r := BlameRun{Start: i, Count: end - i, Path: origins[at].path}
		if s := origins[at].step; s != nil && !s.Found() {
			r.Step = s
		}
		if s := origins[at].step; s != nil {
			r.Seen = &project.Listed{}
			r.Seen.Seq = s.To.Seq
		}
		out.Runs = append(out.Runs, r)
		i = end
	}
	return out, b.see(out)
}

// before is how many checkpoints before the first that saw a line are looked at for the one of its turn.
const before = 256

// lineTurn is a prompt and what its agent did.
type lineTurn struct{ session, promptID string }

// turnOf is the turn that brought a run of lines; ok: somebody knows.
func (r *BlameRun) turnOf() (t lineTurn, ok bool) {
	if r.Step == nil || r.Step.By == nil || r.Step.By.Session == "" || r.Step.By.Operation != 0 {
		return lineTurn{}, false
	}
	return lineTurn{r.Step.By.Session, r.Step.By.PromptID}, true
}

// see finds the checkpoints that the lines are seen in first, and one of each line's turn, in one pass.
func (b *blaming) see(out *Blamed) error {
	return b.p.Query(b.ctx, func(db *manifest.DB) error {
		turns := map[lineTurn]*project.Listed{}
		least := uint64(attribution.ThenNow)
		for i := range out.Runs {
			r := &out.Runs[i]
			if r.Seen != nil {
				least = min(least, r.Seen.Seq)
			}
			if t, ok := r.turnOf(); ok && t.promptID != "" {
				turns[t] = nil
			}
		}
		missing, earlier := len(turns), 0
		var later []manifest.Checkpoint // newest first, of those that are asked for
		for c, err := range db.Checkpoints(manifest.Query{All: true}) {
			if err != nil {
				return err
			}
			if c.Seq < least {
				if missing == 0 || earlier == before {
					break
				}
				earlier++
			} else {
				later = append(later, c)
			}
			t := lineTurn{c.Session, c.PromptID}
			if at, ok := turns[t]; ok && at == nil && c.Kind != manifest.Safety {
				turns[t] = &project.Listed{Checkpoint: c, N: db.Position(c.Seq)}
				missing--
			}
		}
		known := map[uint64]*project.Listed{attribution.ThenNow: nil}
		for i := range out.Runs {
			r := &out.Runs[i]
			if r.Seen != nil {
				seq := r.Seen.Seq
				if _, ok := known[seq]; !ok {
					known[seq] = nil
					if n := sort.Search(len(later), func(i int) bool { return later[i].Seq < seq }); n > 0 {
						known[seq] = &project.Listed{Checkpoint: later[n-1], N: db.Position(later[n-1].Seq)}
					}
				}
				r.Seen = known[seq]
			}
			if t, ok := r.turnOf(); ok {
				if r.Turn = turns[t]; r.Seen != nil && r.Seen.Session == t.session && r.Seen.PromptID == t.promptID && r.Seen.Kind != manifest.Safety {
					r.Turn = r.Seen
				}
			}
		}
		return nil
	})
}

// read reads a path's versions in their order and calls add with each, while the next is read. What add gets is not to
// be kept.
func (b *blaming) read(entries []*manifest.Entry, add func(weave.Version)) error {
	type read struct {
		version weave.Version
		err     error
	}
	found, stop := make(chan read), make(chan struct{})
	var reader sync.WaitGroup
	reader.Go(func() {
		texts := b.versions.texts(1) // one is looked at, one waits
		for i, e := range entries {
			r := read{version: weave.Version{Step: i, Entry: e, Text: e == nil}}
			if e != nil && hasContent(e) && e.Kind != manifest.Symlink && e.Size <= weave.MaxText {
				if r.err = b.ctx.Err(); r.err == nil {
					r.version.Content, r.version.Text, r.err = texts.text(e, weave.IsText)
				}
			}
			select {
			case found <- r:
			case <-stop:
				return
			}
		}
	})
	defer reader.Wait()
	defer close(stop)
	for range entries {
		r := <-found
		if r.err != nil {
			return r.err
		}
		add(r.version)
	}
	return nil
}
