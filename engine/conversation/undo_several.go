package conversation

import (
	"context"
	"slices"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// PrepareMovesBack prepares to take back what operations, the newest last, did to
// conversations: as one move, which ends at the conversation from before the oldest. before are the operations
// that hold then, and above those that came after all of them and hold now. The move is nil where none of them moved one. Errors: as PrepareMoveBack;
// *project.RefusedError where two of them moved the same file.
func PrepareMovesBack(ctx context.Context, p *project.Project, ops, before, above []manifest.Operation, o MoveOptions) (whole *Move, err error) {
	defer func() {
		if err != nil {
			whole.Close()
			whole = nil
		}
	}()
	fork := "" // of the newest
	for i, op := range slices.Backward(ops) {
		m, err := PrepareMoveBack(ctx, p, op, slices.Concat(before, ops[:i]), slices.Concat(ops[i+1:], above), o)
		if err != nil {
			return whole, err
		}
		if m == nil {
			continue
		}
		if whole == nil {
			whole, fork = m, o.Op.Fork
			continue
		}
		for _, f := range m.line.Files {
			if slices.ContainsFunc(whole.line.Files, func(other movedFile) bool { return other.File == f.File }) {
				m.Close()
				return whole, &project.RefusedError{What: "several of these restores moved the same conversation", Paths: []string{f.File},
					Next: "rewind undo takes them back one by one"}
			}
		}
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
