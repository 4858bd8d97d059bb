package oplog

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// Logged is an operation with its place in the log and what the log knows of it besides.
type Logged struct {
	manifest.Operation                 // with the counts of its paths, also where its record has none
	N                  int             // 1 for the newest; undo-restore --to takes it
	Target             *project.Listed // the checkpoint that it went to; nil where none, or collected
	TakesBack          []uint64        // sequence numbers, the newest first
	TakenBackBy        uint64          // sequence number, 0 for none
}

// OperationLog gives the log with its details, newest first; limit 0 is all of it.
func OperationLog(ctx context.Context, p *project.Project, limit int) (list []Logged, err error) {
	ops, err := Operations(ctx, p, 0)
	if err != nil {
		return nil, err
	}
	release, err := p.Use(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	takenBackBy := TakenBackBy(ops)
	takesBack := takesBack(ops)
	if limit > 0 && len(ops) > limit {
		ops = ops[:limit]
	}
	err = p.Query(ctx, func(db *manifest.DB) error {
		for i, op := range ops {
			l := Logged{Operation: op, N: i + 1, TakesBack: takesBack[op.Seq], TakenBackBy: takenBackBy[op.Seq]}
			if op.Checkpoint != (manifest.CheckpointID{}) {
				c, ok, err := db.ByID(op.Checkpoint)
				if err != nil {
					return err
				}
				if ok {
					l.Target = &project.Listed{Checkpoint: c}
					if c.Kind != manifest.Safety {
						l.Target.N = db.Position(c.Seq)
					}
				}
			}
			list = append(list, l)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		countPaths(p, &list[i].Operation)
	}
	return list, nil
}

// countPaths counts what an operation changed, where its record does not say it: all but directories that it created or
// deleted, as everywhere.
func countPaths(p *project.Project, op *manifest.Operation) {
	if op.Created+op.Replaced+op.Deleted > 0 || op.Paths == (oid.ID{}) {
		return
	}
	data, err := p.ReadObject(op.Paths)
	if err != nil {
		return // verify says so; the log is for a person who looks for the way back
	}
	dirs := map[oid.ID]manifest.Dir{} // those that were read
	load := func(id oid.ID) (manifest.Dir, error) {
		if d, ok := dirs[id]; ok {
			return d, nil
		}
		d, err := p.LoadDir(id)
		if err == nil {
			dirs[id] = d
		}
		return d, err
	}
	isDir := func(root oid.ID, l project.PathLine) bool {
		e, ok, err := manifest.Find(load, root, PathOfLine(l))
		return err == nil && ok && e.Kind == manifest.Subdir
	}
	for line := range bytes.Lines(data) {
		var l project.PathLine
		if json.Unmarshal(line, &l) != nil || l.Action == project.MovedAction {
			continue
		}
		switch {
		case l.Action == "create" && isDir(op.After, l), l.Action == "delete" && isDir(op.Before, l):
		case l.Action == "create":
			op.Created++
		case l.Action == "delete":
			op.Deleted++
		default:
			op.Replaced++
		}
	}
}

// TakenBackBy says which operations are taken back now, and by which: sequence numbers.
func TakenBackBy(newestFirst []manifest.Operation) map[uint64]uint64 {
	by := map[uint64]uint64{}
	walkStacks(newestFirst, func(op manifest.Operation, gone, again []manifest.Operation) {
		for _, g := range gone {
			by[g.Seq] = op.Seq
		}
		for _, a := range again {
			delete(by, a.Seq)
		}
	})
	return by
}

// takesBack says which operations each took back, the newest first.
func takesBack(newestFirst []manifest.Operation) map[uint64][]uint64 {
	back := map[uint64][]uint64{}
	walkStacks(newestFirst, func(op manifest.Operation, gone, _ []manifest.Operation) {
		for _, g := range slices.Backward(gone) {
			back[op.Seq] = append(back[op.Seq], g.Seq)
		}
	})
	return back
}

// walkStacks visits each operation that takes others back, oldest first, with those, and with the ones that can be taken back
// again by it.
func walkStacks(newestFirst []manifest.Operation, took func(op manifest.Operation, gone, again []manifest.Operation)) {
	var s stacks
	for _, op := range slices.Backward(newestFirst) {
		if gone, again := s.push(op); len(gone) > 0 {
			took(op, gone, again)
		}
	}
}
