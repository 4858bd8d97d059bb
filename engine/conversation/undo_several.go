package conversation

import (
	"context"
	"slices"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// PrepareMovesBack prepares to take back what operations, the newest last, did to
// conversations: as one move, which ends at the conversation from before the oldest. before are the operations
// that hold then, and above those that came after all of them and hold now. The move is nil where none of them moved one.
// Errors: as prepareMoveBack.
func PrepareMovesBack(ctx context.Context, p *project.Project, ops, before, above []manifest.Operation, o MoveOptions) (whole *Move, err error) {
	defer func() {
		if err != nil {
			whole.Close()
			whole = nil
		}
	}()
	r := &mover{Project: p, ctx: ctx, MoveOptions: o, then: map[string]project.MovedFile{}}
	fork := "" // of the newest
	for i, op := range slices.Backward(ops) {
		m, err := r.prepareMoveBack(op, slices.Concat(before, ops[:i]), slices.Concat(ops[i+1:], above))
		if err != nil {
			return whole, err
		}
		if m == nil {
			continue
		}
		for _, f := range m.line.Files {
			r.then[f.File] = f
		}
		if whole == nil {
			whole, fork = m, o.Op.Fork
			continue
		}
		whole.leaveOut(m.line.Files)
		if !whole.line.InPlace && !m.line.InPlace {
			switch newest, oldest := &whole.line, &m.line; {
			case newest.Was != "" && oldest.Was != "": // from the newest's fork to what the oldest made one of
				oldest.Session, oldest.Resume, oldest.Was, o.Op.Fork = newest.Session, newest.Resume, newest.Was, fork
			case newest.Was == "" && oldest.Was == "": // and that again
				oldest.From, oldest.Origin = newest.From, newest.Origin
			case oldest.Was != "":
				oldest.Was = newest.From
			}
		}
		// The oldest says where the conversation is.
		m.line.Files, m.staged = slices.Concat(whole.line.Files, m.line.Files), slices.Concat(whole.staged, m.staged)
		m.answer.Notes = slices.Concat(whole.answer.Notes, m.answer.Notes)
		whole = m
	}
	return whole, nil
}

// sumThen is what a file holds when the newer operations are taken back.
func (r *mover) sumThen(file string) (*project.FileSum, error) {
	if f, ok := r.then[file]; ok {
		return f.After, nil
	}
	return SumFile(file)
}

// leaveOut drops what a move has prepared of files that another one brings further back.
func (m *Move) leaveOut(files []project.MovedFile) {
	for i := len(m.staged) - 1; i >= 0; i-- {
		if !slices.ContainsFunc(files, func(f project.MovedFile) bool { return f.File == m.line.Files[i].File }) {
			continue
		}
		if m.staged[i] != nil {
			m.staged[i].Discard()
		}
		m.line.Files, m.staged = slices.Delete(m.line.Files, i, i+1), slices.Delete(m.staged, i, i+1)
	}
}
