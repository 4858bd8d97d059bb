package timeline

import (
	"context"
	"testing"

	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// The row of a call that is not there is that of its turn. Rows in front of the turn are not read for it.
func TestMakersReadOneTurn(t *testing.T) {
	row := func(kind Kind, side Side, session string, from, to uint64) *Row {
		r := &Row{Kind: kind, Side: side, Seq: from, Agent: "claude", Session: session, From: &State{Seq: from}, To: &State{Seq: to}}
		r.Checkpoint = &project.Listed{Checkpoint: manifest.Checkpoint{Seq: from, PromptID: "p"}}
		return r
	}
	m := &Makers{rows: []*Row{ // and it has no timeline to read more from
		row(Stop, After, "s1", 9, 9),
		row(Prompt, Did, "s1", 7, 9),
		row(Stop, After, "s2", 6, 7),
		row(Prompt, Did, "s2", 4, 6),
	}}
	by := &attribution.Work{Agent: "claude", Session: "s1", PromptID: "p"}
	got, err := m.rowOf(context.Background(), by, 7, 9)
	if err != nil || got != m.rows[1] {
		t.Errorf("made by %+v, %v", got, err)
	}
}
