package picker

import (
	"math"

	"github.com/rewind-cli/rewind/engine/graph"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// Graph is the graph of the rows.
func Graph(rows []*timeline.Row, sessions []graph.Session, ops []manifest.Operation) *graph.Graph {
	places := make([]graph.Row, len(rows))
	of := map[manifest.CheckpointID]string{} // sessions of checkpoints
	shown := map[uint64]bool{}               // operations that have a row: those that were taken back at once have none
	for i, r := range rows {
		places[i] = graph.Row{Session: r.Session, Seq: r.Seq}
		if r.Kind == timeline.Now {
			places[i].Seq = math.MaxInt64
		}
		if r.Operation != nil && r.Kind == timeline.Operation {
			shown[r.Seq] = true
		}
		if c := r.Checkpoint; c != nil {
			places[i].Key = c.ID.String()
			of[c.ID] = c.Session
		}
	}
	var moves []graph.Operation
	kinds := map[manifest.OperationKind]graph.Kind{manifest.OpRestore: graph.Restore, manifest.OpUndo: graph.Undo, manifest.OpRevert: graph.Undo,
		manifest.OpUndoRestore: graph.TakeBack, manifest.OpRedoRestore: graph.Again}
	at := map[string]graph.Session{} // forks that restores made
	for _, op := range ops {
		kind, ok := kinds[op.Kind]
		if !ok {
			continue
		}
		if shown[op.Seq] {
			moves = append(moves, graph.Operation{Seq: op.Seq, Kind: kind, Target: op.Checkpoint.String(), Undoes: op.Undoes})
		}
		if op.Fork != "" && of[op.Checkpoint] != "" {
			id := transcript.SessionOf(transcript.AgentOf(op.Fork), op.Fork)
			at[id] = graph.Session{ID: id, Parent: of[op.Checkpoint], At: op.Checkpoint.String()}
		}
	}
	for i, s := range sessions {
		if fork, ok := at[s.ID]; ok {
			sessions[i] = fork
			delete(at, s.ID)
		}
	}
	for _, fork := range at {
		sessions = append(sessions, fork)
	}
	return graph.Of(places, sessions, moves)
}
