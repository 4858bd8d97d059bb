package attribution

import (
	"fmt"
	"testing"
	"time"
)

// Calls whose ends nobody tells of stay known, and cost those that come later nothing: 200,000 of them are looked at once
// each, which takes a moment; each for each would take a minute.
func TestManyOpenCalls(t *testing.T) {
	const calls = 200_000
	b := newBuilder()
	at := time.Unix(1_700_000_000, 0)
	for i := range calls {
		b.add(line{Work: Work{Agent: "generic", Session: "s", Tool: "Bash", Call: fmt.Sprint("c", i), Start: at.Add(time.Duration(i) * time.Second)}, seq: uint64(i + 1), edge: opens, kind: shell})
	}
	for i, w := range b.windows[:calls-1] {
		if w.closed != uint64(i+2) || !w.End.Equal(b.windows[i+1].Start) {
			t.Fatalf("call %d ends at %d, %s", i, w.closed, w.End)
		}
	}
	last := b.windows[calls-1]
	if last.closed != 0 {
		t.Error("the last one has an end")
	}
	// An end that is told late is the call's own, however many came after it.
	b.add(line{Work: Work{Agent: "generic", Session: "s", Tool: "Bash", Call: "c7", Start: at.Add(calls * time.Second)}, seq: calls + 1, edge: closes, kind: shell})
	if w := b.windows[7]; w.closed != calls+1 {
		t.Errorf("an end that came late: %d", w.closed)
	}
	// And what ends with its session ends, once.
	b.add(line{Work: Work{Agent: "generic", Session: "s", Start: at.Add((calls + 1) * time.Second)}, seq: calls + 2, edge: ends})
	if last.closed != calls+2 || len(b.open)+len(b.running) != 0 {
		t.Errorf("the session's end: %d, %d sources still open", last.closed, len(b.open)+len(b.running))
	}
}
