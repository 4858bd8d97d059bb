package notice

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// errUnknown says that the log does not have an operation any more.
var errUnknown = errors.New("the operation is not in the log")

// net leaves of what waits for a session, the oldest first, what is otherwise now than the conversation knows: each path once, with
// the newest operation that changed it. Where the log does not tell any more, only what was done and taken back is left out.
func net(ctx context.Context, p *project.Project, session string, all []queued) []Notice {
	slices.SortFunc(all, func(a, b queued) int { return cmp.Compare(a.Operation, b.Operation) })
	d := difference{load: p.LoadDir, root: p.Root(), session: session, dirs: map[oid.ID]manifest.Dir{}}
	if len(all) == 0 {
		return nil
	}
	var out []Notice
	err := p.Query(ctx, func(db *manifest.DB) (err error) {
		if err = d.read(db, all); err == nil {
			out, err = d.of(all)
		}
		return err
	})
	if err == nil {
		return out
	}
	out = nil
	for _, q := range withoutPairs(all) {
		out = append(out, q.Notice)
	}
	return out
}

// withoutPairs leaves out operations that another one of them took back, and that one where it took back no others.
func withoutPairs(all []queued) []queued {
	gone := map[uint64]bool{}
	for _, q := range slices.Backward(all) {
		if gone[q.Operation] || len(q.Undid) == 0 {
			continue
		}
		waited := 0
		for _, op := range q.Undid {
			if !gone[op] && slices.ContainsFunc(all, func(o queued) bool { return o.Operation == op }) {
				gone[op] = true
				waited++
			}
		}
		gone[q.Operation] = waited == len(q.Undid)
	}
	return slices.DeleteFunc(slices.Clone(all), func(q queued) bool { return gone[q.Operation] })
}

// difference is that between what a conversation knows and what is there.
type difference struct {
	load    func(oid.ID) (manifest.Dir, error)
	root    string // the project's
	session string
	dirs    map[oid.ID]manifest.Dir
	ops     []manifest.Operation // those that the session has yet to learn of, the oldest first
	moves   []manifest.Operation // all that changed files since the first of them, also those that its queue has not kept
	newest  manifest.Checkpoint  // behind that; none: no root
	own     []uint64             // the session's own checkpoints since the first of ops
}

// last is the newest operation that changed files.
func (d *difference) last() *manifest.Operation { return &d.moves[len(d.moves)-1] }

func (d *difference) read(db *manifest.DB, all []queued) error {
	first := all[0].Operation
	for op, err := range db.Operations() {
		if err != nil {
			return err
		}
		if op.Seq < first {
			break
		}
		if op.Kind.Moves() && !op.After.IsZero() {
			d.moves = append(d.moves, op)
		}
		if slices.ContainsFunc(all, func(q queued) bool { return q.Operation == op.Seq }) {
			d.ops = append(d.ops, op)
		}
	}
	if len(d.moves) == 0 || len(d.ops) != len(all) || slices.ContainsFunc(d.ops, func(o manifest.Operation) bool { return o.After.IsZero() }) {
		return errUnknown
	}
	slices.Reverse(d.ops)
	slices.Reverse(d.moves)
	for c, err := range db.Checkpoints(manifest.Query{}) {
		if err != nil {
			return err
		}
		if c.Seq < first {
			break
		}
		if c.Session == d.session {
			d.own = append(d.own, c.Seq)
		}
		if d.newest.Seq == 0 && c.Seq > d.last().Seq && c.Kind != manifest.Imported {
			d.newest = c
		}
	}
	return nil
}

func (d *difference) dir(id oid.ID) (manifest.Dir, error) {
	if dir, ok := d.dirs[id]; ok {
		return dir, nil
	}
	dir, err := d.load(id)
	if err == nil {
		d.dirs[id] = dir
	}
	return dir, err
}

func (d *difference) at(root oid.ID, path string) (*manifest.Entry, error) {
	e, ok, err := manifest.Find(d.dir, root, path)
	if err != nil || !ok {
		return nil, err
	}
	return &e, nil
}

// now is what a path is: as the newest checkpoint found it, or the newest operation left it. What neither has but is there is
// ignored by now.
func (d *difference) now(path string) (*manifest.Entry, error) {
	if _, err := os.Lstat(filepath.Join(d.root, filepath.FromSlash(path))); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	roots := []oid.ID{d.last().After}
	if d.newest.Seq != 0 {
		roots = []oid.ID{d.newest.Root, d.last().After}
	}
	for _, op := range slices.Backward(d.ops) {
		roots = append(roots, op.After)
	}
	for _, root := range roots {
		if e, err := d.at(root, path); err != nil || e != nil {
			return e, err
		}
	}
	return nil, nil
}

func same(a, b *manifest.Entry) bool {
	return manifest.SameEntries(a, b) || manifest.SameKindDir(a, b) && a.Mode == b.Mode
}

// action says what became of a path, and false where it is as the conversation knows it: as it was before the first operation, and
// as the session left it itself between two of them.
func (d *difference) action(path string) (Action, bool, error) {
	is, err := d.now(path)
	if err != nil {
		return "", false, err
	}
	for i, op := range d.moves {
		was, err := d.at(op.Before, path)
		if err != nil {
			return "", false, err
		}
		if i > 0 {
			left, err := d.at(d.moves[i-1].After, path)
			if err != nil {
				return "", false, err
			}
			worked := slices.ContainsFunc(d.own, func(seq uint64) bool { return seq > d.moves[i-1].Seq && seq < op.Seq })
			if !worked || same(left, was) {
				continue
			}
		}
		switch {
		case same(was, is):
		case was == nil:
			return Created, true, nil
		case is == nil:
			return Deleted, true, nil
		default:
			return Changed, true, nil
		}
	}
	return "", false, nil
}

func (d *difference) of(all []queued) (out []Notice, err error) {
	now := d.last().After
	if d.newest.Seq != 0 {
		now = d.newest.Root
	}
	var differ map[string]bool // read where an operation has more paths than it names
	named := map[string]bool{}
	for i, q := range slices.Backward(all) {
		n := q.Notice
		n.Paths, n.Count = nil, 0
		for _, path := range q.Paths {
			if named[path.Path] {
				continue
			}
			var differs bool
			if path.Action, differs, err = d.action(path.Path); err != nil {
				return nil, err
			}
			if named[path.Path] = true; differs {
				n.Paths = append(n.Paths, path)
			}
		}
		if n.Count = len(n.Paths); q.Count > len(q.Paths) {
			if differ == nil {
				differ = map[string]bool{}
				if err := d.changes(d.ops[0].Before, now, func(path string) { differ[path] = true }); err != nil {
					return nil, err
				}
			}
			err := d.changes(d.ops[i].Before, d.ops[i].After, func(path string) {
				if differ[path] && !named[path] {
					named[path] = true
					n.Count++
				}
			})
			if err != nil {
				return nil, err
			}
		}
		if n.Count > 0 {
			out = append(out, n)
		}
	}
	slices.Reverse(out)
	return out, nil
}

// changes visits the files and links that differ between two trees.
func (d *difference) changes(from, to oid.ID, visit func(path string)) error {
	return manifest.Diff(d.dir, from, to, func(c manifest.Change) error {
		if manifest.HasContent(c.Old) || manifest.HasContent(c.New) {
			visit(c.Path)
		}
		return nil
	})
}
