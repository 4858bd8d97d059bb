package conversation

import (
	"context"
	"slices"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// PrepareMovesBack prepares to take back what operations, the newest last, did to
// conversations: as one move, which ends at the conversation from before the oldest. before are the operations
// that hold then. The move is nil where none of them moved one. Errors: as PrepareMoveBack;
// *project.RefusedError where two of them moved the same file.
func PrepareMovesBack(ctx context.Context, p *project.Project, ops, before []manifest.Operation, o MoveOptions) (whole *Move, err error) {
	defer func() {
		if err != nil {
			whole.Close()
			whole = nil
		}
	}()
	for i, op := range slices.Backward(ops) {
		m, err := PrepareMoveBack(ctx, p, op, slices.Concat(before, ops[:i]), o)
		if err != nil {
			return whole, err
		}
		if m == nil {
			continue
		}
		if whole == nil {
			whole = m
			continue
		}
		for _, f := range m.line.Files {
			if slices.ContainsFunc(whole.line.Files, func(other movedFile) bool { return other.File == f.File }) {
				m.Close()
				return whole, &project.RefusedError{What: "several of these restores moved the same conversation", Paths: []string{f.File},
					Next: "rewind undo takes them back one by one"}
			}
		}
		// The oldest says where the conversation is; the file that it is about is the last.
		m.line.Files, m.staged = slices.Concat(whole.line.Files, m.line.Files), slices.Concat(whole.staged, m.staged)
		m.answer.Notes = slices.Concat(whole.answer.Notes, m.answer.Notes)
		whole = m
	}
	return whole, nil
}
