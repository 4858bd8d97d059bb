package restore

import (
	"errors"
	"slices"
	"sync"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/oplog"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/rules"
	"github.com/rewind-cli/rewind/engine/treeio"
	"github.com/rewind-cli/rewind/manifest"
)

// past is what an undo goes back through: checkpoints and operations, the newest first. What an undo has gone back over
// is not in it, unless it was done again. What was imported comes last: in the log it is where it was
// imported, but it is older.
type past struct {
	r        *Run
	log      []manifest.Operation  // all operations, the newest first
	ops      []manifest.Operation  // those that are left
	page     []manifest.Checkpoint // found and not yet given
	before   uint64                // sequence number below which more checkpoints are; 0: all of them
	imported bool                  // what was saved here is at its end
	given    *manifest.Operation   // given last, and not yet passed
	at       *manifest.Checkpoint  // given last, or where an undo led that was passed; nil: an operation came since
	talk     *manifest.Transcript  // where the last undo brought the conversation
	nested   string                // a repository below the root that a plan left alone; "" for none
	held     map[string]held       // by path, what an undo of some paths brought back already; see selected
}

func newPast(r *Run, newestFirst []manifest.Operation) *past {
	w := &past{r: r, log: newestFirst, held: map[string]held{}}
	for _, o := range newestFirst {
		if origin := oplog.OriginOf(newestFirst, o); o.Kind.Moves() && !origin.ChangesNothing() && !o.PutsBack() {
			w.ops = append(w.ops, o)
		}
	}
	return w
}

// next is the next checkpoint or operation; neither at the end. Errors: *ForgottenStepError.
func (w *past) next() (*manifest.Checkpoint, *manifest.Operation, error) {
	if err := w.fill(); err != nil {
		return nil, nil, err
	}
	if len(w.ops) > 0 && (len(w.page) == 0 || w.imported || w.ops[0].Seq > w.page[0].Seq) {
		w.given = &w.ops[0]
		w.ops, w.at = w.ops[1:], nil
		return nil, w.given, nil
	}
	if len(w.page) == 0 {
		return nil, nil, nil
	}
	c := w.page[0]
	w.page = w.page[1:]
	if err := w.forgotten(c); err != nil {
		return nil, nil, err
	}
	w.at = &c
	return &c, nil, nil
}

// fill passes what was given last, and makes sure that the next checkpoint is there, if any is.
func (w *past) fill() (err error) {
	if op := w.given; op != nil {
		w.given = nil
		if err := w.pass(*op); err != nil {
			return err
		}
	}
	if len(w.page) == 0 {
		w.page, err = w.older()
	}
	return err
}

// follows reports whether the next checkpoint has a tree.
func (w *past) follows(root oid.ID) (bool, error) {
	err := w.fill()
	return err == nil && len(w.page) > 0 && w.page[0].Root == root, err
}

// pass goes to what was before an operation. An undo led to a place in the past, and what is between there and
// the undo is passed over.
func (w *past) pass(op manifest.Operation) error {
	origin := oplog.OriginOf(w.log, op)
	switch {
	case (op.Kind == manifest.OpUndoRestore || origin.Kind == manifest.OpUndo) && !w.r.hasAsked(op):
		return nil // it went back with the other half alone
	case oplog.TakenBackWhole(w.log, op): // before it is what was there
		return nil
	case op.Kind == manifest.OpUndoRestore, op.Kind == manifest.OpRedoRestore && origin.Kind == manifest.OpUndo:
		w.cut(op.Undoes)
	case len(oplog.DidAgain(w.log, op)) > 0: // each of them is a step
		again := oplog.DidAgain(w.log, op)
		w.cut(again[len(again)-1].Seq + 1)
	case origin.Kind == manifest.OpUndo && origin.OfSome():
		return w.hold(op, origin)
	case origin.Kind != manifest.OpUndo: // done again: before it is what was before it at first
		w.cut(origin.Seq)
	case origin.Below > 0:
		return w.passTo(origin.Below)
	default:
		c, ok, err := w.r.byID(origin.Checkpoint)
		if err != nil || !ok {
			return err
		}
		if w.talk == nil {
			w.talk = c.Transcript
		}
		seq := c.Seq
		if some, err := w.leftSome(op, c); err != nil {
			return err
		} else if some || w.r.Options.Git == GitExact || w.r.Options.Git != GitStays && op.GitAfter.IsZero() {
			seq++ // the checkpoint itself is next
		}
		if c.Kind == inspect.ImportedKind {
			err = w.passTo(0)
			w.page, w.before, w.imported = nil, seq, true
			return err
		}
		err = w.passTo(seq)
		w.at = &c
		return err
	}
	return nil
}

// leftSome reports whether an undo to a checkpoint did not restore all of it: a path is not as there, or should have gone. What
// came into sight since a rule file went is none of that.
func (w *past) leftSome(op manifest.Operation, c manifest.Checkpoint) (some bool, err error) {
	if op.After == (oid.ID{}) {
		return false, nil
	}
	load := w.r.Tx.Load
	err = manifest.Diff(load, c.Root, op.After, func(d manifest.Change) error {
		if some || d.Old != nil {
			some = true
			return nil
		}
		was, err := inspect.EntryAt(load, op.Before, d.Path)
		some = was != nil
		return err
	})
	if project.IsDamage(err) {
		return false, nil // collected meanwhile
	}
	return some, err
}

// hasAsked reports whether an operation moved something of the only half that is asked for.
func (r *Run) hasAsked(op manifest.Operation) bool {
	switch r.Options.Half {
	case conversation.CodeOnly:
		return op.After != (oid.ID{})
	case conversation.ConversationOnly:
		return op.Fork != "" || op.TranscriptBackup != ""
	}
	return true
}

// talksThere reports whether the conversation is already where a checkpoint has it.
func (w *past) talksThere(c manifest.Checkpoint) (bool, error) {
	if a, b := w.talk, c.Transcript; a != nil && a.Session == b.Session && a.EventID == b.EventID && (a.EventID != "" || a.Offset == b.Offset) {
		return true, nil
	}
	o := w.r.moveOptions(c, nil)
	o.DryRun, o.InPlace, o.Shorter = true, false, true
	m, err := conversation.PrepareMove(w.r.Ctx, w.r.Project, o)
	if errors.As(err, new(*conversation.NoConversationError)) {
		return false, nil // the move itself reports it
	}
	m.Close()
	return m == nil && err == nil, err
}

// passTo goes to a sequence number, through the operations that an undo to there went through: paths that one of
// them brought further back stay where they are.
func (w *past) passTo(seq uint64) error {
	for len(w.ops) > 0 && w.ops[0].Seq >= seq {
		op := w.ops[0]
		w.ops = w.ops[1:]
		if err := w.pass(op); err != nil {
			return err
		}
	}
	w.cut(seq)
	return nil
}

// held is the stretch of the past in which a path stays unchanged: from a place up to another.
type held struct{ from, to uint64 }

// savedHere is added to the sequence number of a checkpoint that was saved here: imported checkpoints are older than all of
// these, wherever they are in the log.
const savedHere = 1 << 63

func placeOf(c manifest.Checkpoint) uint64 {
	if c.Kind == inspect.ImportedKind {
		return c.Seq
	}
	return savedHere + c.Seq
}

// hold remembers that an undo, or what did it again, brought some paths into the past: up to there, nothing else is undone
// of them.
func (w *past) hold(op, origin manifest.Operation) error {
	h := held{0, savedHere + op.Seq}
	if c, ok, err := w.r.byID(op.Safety); err != nil {
		return err
	} else if ok {
		h.to = placeOf(c) // it is the checkpoint of what the operation left, see stepsOf
	}
	if origin.Below > 0 {
		h.from = savedHere + origin.Below
	} else if c, ok, err := w.r.byID(origin.Checkpoint); err != nil || !ok {
		return err
	} else {
		h.from = placeOf(c)
	}
	return manifest.Diff(w.r.Tx.Load, op.Before, op.After, func(c manifest.Change) error {
		now, ok := w.held[c.Path]
		if !ok {
			now = h
		}
		now.from = min(now.from, h.from)
		w.held[c.Path] = now
		return nil
	})
}

// holds reports whether a path stays unchanged on the way to a checkpoint, since an undo brought it further back.
func (w *past) holds(path string, to manifest.Checkpoint) bool {
	h, ok := w.held[path]
	return ok && h.from <= placeOf(to) && placeOf(to) < h.to
}

// heldFor is how many paths stay unchanged on the way to a checkpoint.
func (w *past) heldFor(to manifest.Checkpoint) (n int) {
	for path := range w.held {
		if w.holds(path, to) {
			n++
		}
	}
	return n
}

// selected is what is selected on the way to a checkpoint, without what an undo of some paths brought further back.
func (w *past) selected(c manifest.Checkpoint) treeio.Selection {
	asked := w.r.selected(c)
	if w.heldFor(c) > 0 {
		return unheld{w, asked, c}
	}
	return asked
}

type unheld struct {
	past  *past
	asked treeio.Selection // nil: everything
	to    manifest.Checkpoint
}

func (u unheld) Has(path string) bool {
	return (u.asked == nil || u.asked.Has(path)) && !u.past.holds(path, u.to)
}

func (u unheld) Below(dir string) bool { return u.asked == nil || u.asked.Below(dir) }

// cut leaves what is below a sequence number.
func (w *past) cut(seq uint64) {
	w.ops = slices.DeleteFunc(w.ops, func(o manifest.Operation) bool { return o.Seq >= seq })
	if w.imported {
		return
	}
	w.page = slices.DeleteFunc(w.page, func(c manifest.Checkpoint) bool { return c.Seq >= seq })
	if w.before == 0 || w.before > seq {
		w.before = seq
	}
}

// older lists the next checkpoints; none at the end.
func (w *past) older() (page []manifest.Checkpoint, err error) {
	const limit = 64
	err = w.r.Query(w.r.Ctx, func(db *manifest.DB) error {
		for {
			n := 0
			for c, err := range db.Checkpoints(manifest.Query{Before: w.before, Limit: limit}) {
				if err != nil {
					return err
				}
				n++
				w.before = c.Seq
				if (c.Kind == inspect.ImportedKind) == w.imported {
					page = append(page, c)
				}
			}
			switch {
			case len(page) > 0:
				return nil
			case n > 0:
			case w.imported:
				return nil
			default:
				w.before, w.imported = 0, true
			}
		}
	})
	return page, err
}

// editedSince reports whether a tree, of now or of then, is no longer as the operation left it.
// The scan does not have what is ignored today, or cannot be captured, the operation may; and what was
// ignored before the operation may be seen since it took a rule file away: that is no edit.
func (r *Run) editedSince(op manifest.Operation, now oid.ID) (bool, error) {
	today := r.Today()
	saw, unread := r.sightIn(now, r.Scan.Problems, today), problem.UnreadOf(r.Scan.Problems, r.Scan.Problems)
	before := sync.OnceValues(func() (*rules.Scopes, error) {
		c, ok, err := r.byID(op.Safety)
		if err != nil || !ok {
			return nil, err
		}
		return rules.Of(r.Project, r.Tx, c), nil
	})
	edited := false
	err := manifest.Diff(r.Tx.Load, op.After, now, func(c manifest.Change) error {
		if edited {
			return nil
		}
		if c.New == nil {
			dir := c.Old.Kind == manifest.Subdir
			edited = today.Captures(c.Path, dir) && (saw.Unseen(c.Path, dir).None() ||
				unread.Has(c.Path) && !r.Uncaptured(unread, c))
			return nil
		}
		if c.New.Kind == manifest.Subdir && (c.Old == nil || c.Old.Kind == manifest.Subdir) {
			// Directories go, and get their modes, after the operation is recorded: what failed of that is no edit.
			if was, err := inspect.EntryAt(r.Tx.Load, op.Before, c.Path); err != nil || treeio.Same(was, c.New) {
				return err
			}
		}
		if c.Old != nil {
			edited = true
			return nil
		}
		then, err := before()
		edited = then == nil || then.Captures(c.Path, c.New.Kind == manifest.Subdir)
		return err
	})
	return edited, err
}
