package inspect

import (
	"maps"
	"slices"
	"sort"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/oplog"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/weave"
	"github.com/rewind-cli/rewind/manifest"
)

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
		if next := chain[i+1].steps; len(next) > 0 && manifest.HasContent(next[0].To.Entry) {
			// Another file may have its name since: what has the text that came is the last of it.
			for k, s := range slices.Backward(n.steps) {
				if manifest.HasContent(s.To.Entry) && manifest.SameContent(s.To.Entry, next[0].To.Entry) {
					n.steps = n.steps[:k+1]
					break
				}
			}
		}
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
		all, err := oplog.Operations(b.ctx, b.p, 0)
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
		if old, err = EntryAt(b.p.LoadDir, root, path); err != nil {
			return "", 0, err
		}
		if old == nil {
			e, err := EntryAt(b.load, b.now.Root(), path)
			if err != nil || e == nil {
				return "", 0, err
			}
			came := manifest.Change{Path: path, New: e}
			changes := func(visit func(manifest.Change) error) error { return manifest.Diff(b.load, root, b.now.Root(), visit) }
			if from, err = b.cameFrom(before, op, came, changes); from != "" {
				at = attribution.ThenNow
			}
			return from, at, err
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
			if first, err := b.first(db, op, v.Seq); err != nil {
				return err
			} else if first {
				continue
			}
			came := manifest.Change{Path: path, New: v.New}
			changes := func(visit func(manifest.Change) error) error {
				if op == nil {
					return manifest.Each(db.Changes(v.Seq), visit)
				}
				at, err := db.Previous(v.Seq + 1)
				if err != nil || at == nil {
					return err
				}
				return manifest.Diff(b.p.LoadDir, op.After, at.Root, visit)
			}
			if from, err = b.cameFrom(v.Seq, op, came, changes); err != nil || from != "" {
				at = v.Seq
				return err
			}
		}
		return nil
	})
	return from, at, err
}

// first reports whether nothing is known from before a checkpoint that a file could have been: no checkpoint, no operation
// (op), and no file that a hook saw.
func (b *blaming) first(db *manifest.DB, op *manifest.Operation, seq uint64) (bool, error) {
	before, err := db.Previous(seq)
	if err != nil || before != nil || op != nil {
		return false, err
	}
	for _, err := range db.Touches(manifest.TouchQuery{To: seq}) {
		return false, err
	}
	return true, nil
}

// cameFrom finds what a file that came was called before, among the changes that came with it; "" for nothing. op is what
// brought them, nil where that was no operation.
func (b *blaming) cameFrom(seq uint64, op *manifest.Operation, came manifest.Change, changes func(func(manifest.Change) error) error) (string, error) {
	c, err := counterpart(b.ctx, b.get, came, b.withTouched(seq, changes))
	if err == nil && c == nil && op == nil {
		c, err = b.replaced(came, changes)
	}
	if err != nil || c == nil {
		return "", err
	}
	return c.Path, nil
}

// withTouched gives the changes of a checkpoint with what its edits had made of the files that are gone: such a file may be
// in no checkpoint.
func (b *blaming) withTouched(seq uint64, changes func(func(manifest.Change) error) error) func(func(manifest.Change) error) error {
	return func(visit func(manifest.Change) error) error {
		steps, err := b.who.Changes(seq)
		if err != nil {
			return err
		}
		gone := map[string]*manifest.Entry{} // as it was last
		for _, s := range steps {
			if s.To.Entry == nil && s.From.Entry != nil {
				gone[s.Path] = s.From.Entry
			} else {
				delete(gone, s.Path)
			}
		}
		err = changes(func(c manifest.Change) error {
			if e := gone[c.Path]; e != nil && c.New == nil {
				c.Old = e
			}
			delete(gone, c.Path)
			return visit(c)
		})
		for _, path := range slices.Sorted(maps.Keys(gone)) {
			if err == nil {
				err = visit(manifest.Change{Path: path, Old: gone[path]})
			}
		}
		return err
	}
}

// replaced finds what a file that came was called before, where another file has that name since; nil for none. It has
// to be the same file to the byte.
func (b *blaming) replaced(c manifest.Change, others func(func(manifest.Change) error) error) (found *manifest.Change, err error) {
	if c.New.Kind != manifest.Symlink && c.New.Size == 0 {
		return nil, nil
	}
	had := 0
	err = others(func(o manifest.Change) error {
		if manifest.HasContent(o.New) && manifest.SameContent(o.Old, c.New) && !manifest.SameContent(o.New, c.New) {
			found = &o
			had++
		}
		return nil
	})
	if err != nil || had != 1 {
		return nil, err
	}
	if edited, err := b.alike(found); err != nil || edited {
		return nil, err // what came is a copy of it
	}
	return found, nil
}

// alike reports whether a change left most of the lines.
func (b *blaming) alike(c *manifest.Change) (bool, error) {
	var sides [2]weave.Moved
	for i, e := range []*manifest.Entry{c.Old, c.New} {
		sides[i] = weave.Moved{Path: c.Path, Entry: *e}
		if e.Kind == manifest.Symlink || e.Size > weave.MaxText {
			continue
		}
		lines, ok, err := b.versions.Lines(e, weave.IsText)
		if err != nil {
			return false, err
		}
		if ok {
			sides[i].Lines = lines
		}
	}
	return len(weave.Renames(sides[:1], sides[1:])) > 0, nil
}

// movedBack finds what a path was called before an operation that gave it its name back, with what it had become under the
// other; "" where it made it what it had been.
func (b *blaming) movedBack(op *manifest.Operation, path string) (from string, err error) {
	defer func() {
		if project.IsDamage(b.p.Classify(err)) {
			from, err = "", nil // what an operation left may have been removed
		}
	}()
	was, err := EntryAt(b.p.LoadDir, op.Before, path)
	if err != nil || was != nil {
		return "", err
	}
	is, err := EntryAt(b.p.LoadDir, op.After, path)
	if err != nil || is == nil || is.Kind == manifest.Subdir {
		return "", err
	}
	steps, err := b.who.Steps(path)
	if err != nil {
		return "", err
	}
	for _, s := range steps {
		if s.To.Seq < op.Seq && (manifest.SameEntries(s.From.Entry, is) || manifest.SameEntries(s.To.Entry, is)) {
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
