package timeline

import (
	"slices"
	"time"

	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

type sessionKey struct{ agent, id string }

// turn is where the turn ends that an older checkpoint of the session begins.
type turn struct {
	end     *State
	then    *Row
	known   bool                 // a checkpoint of the session was seen
	cut     bool                 // by a newer prompt
	part    *State               // where the part of it ends that an older message of it begins; nil: at its end
	busy    bool                 // it made calls behind what older ends there are
	stopped bool                 // by a stop of the session: an older one is not its end
	alone   *manifest.Checkpoint // that stop, where it is the row of its prompt, which has none: an older stop is another turn's end
}

// turnOf is a session's; one of which nothing was seen yet is made.
func (t *Timeline) turnOf(agent, session string) *turn {
	key := sessionKey{agent, session}
	if t.turns[key] == nil {
		t.turns[key] = &turn{}
	}
	return t.turns[key]
}

// ofTurn gives a prompt the end of its turn, and remembers ends.
func (t *Timeline) ofTurn(db *manifest.DB, r *Row, state *State) error {
	if r.Agent == "" && r.Session == "" {
		return nil
	}
	of := t.turnOf(r.Agent, r.Session)
	if !of.known && !of.stopped {
		of.end = t.newer // its newest: what followed, of whomever, is where its last turn ends
	}
	of.known = true
	if r.Kind == Tool {
		of.busy = true
	}
	if r.Subagent != "" {
		return nil // its turns are a part of one
	}
	switch r.Kind {
	case Prompt:
		r.To, r.Then, r.Cut = of.end, of.then, of.cut && !of.stopped
		*of = turn{end: state, known: true, cut: true}
	case Message:
		if r.To = of.part; r.To == nil {
			r.To = of.end
		}
		of.part = state
	case Stop:
		c := &r.Checkpoint.Checkpoint
		if of.alone != nil && (of.alone.PromptID != c.PromptID || of.alone.Prompt != c.Prompt) {
			*of = turn{known: true}
		}
		if !of.stopped {
			if of.end, of.stopped = state, true; c.Prompt != "" {
				of.alone = c
			}
		} else if of.alone == nil && of.end.Seq > state.Seq {
			began, err := t.beganTurn(db, sessionKey{r.Agent, r.Session}, state.Seq)
			if began {
				r.To = state // the turn continued: the row of its prompt tells of what came behind this stop
			}
			return err
		}
	case SessionEnd:
		if !of.stopped {
			of.end = state
		}
	}
	return nil
}

// A turn's end takes no checkpoint where nothing changed since the one before it: then its window line alone says
// when it was, and that checkpoint has the state it left. What came after it is the person's, or others', and
// is a part of its own.

// dueEnd is a turn that ends with the state in front of the checkpoint taken in last.
type dueEnd struct {
	of   *turn
	key  sessionKey
	next *project.Listed // that checkpoint; nil for now
	late bool            // its session ended: the turn may have stopped long before that
}

// endingsOf looks for the ends of turns among the lines that a checkpoint brought.
func (t *Timeline) endingsOf(l *project.Listed) {
	if l.Windows == "" {
		return
	}
	windows, err := manifest.ParseWindows(l.Windows)
	if err != nil {
		return // damaged, or of a newer program's form
	}
	var at map[string]time.Time
	if slices.ContainsFunc(windows, ending) {
		list, _ := manifest.ParseChanged(l.Changed) // what is damaged is not known
		at = make(map[string]time.Time, len(list))
		for _, c := range list {
			at[c.Path] = c.At
		}
	}
	t.endings(windows, l, at)
}

func ending(w manifest.Window) bool {
	return w.Subagent == "" && w.Session != "" && (w.Edge == manifest.WindowStop || w.Edge == manifest.WindowEnd)
}

// endings is endingsOf for lines in front of a checkpoint, nil for now; at is when was written what differs there
// from the one before.
func (t *Timeline) endings(windows []manifest.Window, next *project.Listed, at map[string]time.Time) {
	for _, w := range slices.Backward(windows) {
		switch {
		case next != nil && w.Time.After(next.Time):
		case w.Edge == manifest.WindowOpen, w.Edge == manifest.WindowClose:
			if w.Class != manifest.WindowNone {
				t.turnOf(w.Agent, w.Session).busy = true
			}
		case !ending(w), next != nil && next.Kind == manifest.SessionEnd && w.Edge == manifest.WindowEnd && next.Session == w.Session:
		default:
			if of := t.turnOf(w.Agent, w.Session); !of.stopped && !of.busy && !writtenBefore(at, w.Time) {
				late := w.Edge == manifest.WindowEnd
				of.stopped = !late
				t.due = append(t.due, dueEnd{of, sessionKey{w.Agent, w.Session}, next, late})
			}
		}
	}
}

// early is how far a change time may lie before what made it: file systems take the time of the last tick.
const early = 10 * time.Millisecond

// writtenBefore reports whether something was written before a time: then the tree was not looked at at that time.
func writtenBefore(at map[string]time.Time, end time.Time) bool {
	for _, written := range at {
		if !written.IsZero() && written.Before(end.Add(-early)) {
			return true
		}
	}
	return false
}

// settle ends the turns that are due with the state in front of the checkpoint taken in before, and reports whether
// the row of one of them, the one that ended last, tells what came after that state.
func (t *Timeline) settle(db *manifest.DB, state *State) (told bool, err error) {
	var due []dueEnd
	for _, d := range t.due {
		if d.late {
			if d.of.stopped {
				continue
			} else if stopped, err := stoppedBefore(db, d.key, state.Seq); err != nil {
				return false, err
			} else if stopped {
				continue
			}
		}
		d.of.end, d.of.then, d.of.stopped = state, nil, true
		due = append(due, d)
	}
	t.due = nil
	for _, d := range due {
		n := d.next
		if n == nil || n.Parent != state.ID || t.last.tellsBefore() {
			continue
		}
		if n.Counts.None() {
			return false, nil
		}
		if told, err = t.beganTurn(db, d.key, state.Seq); err != nil {
			return false, err
		}
		if !told {
			continue
		}
		if running, err := t.running(db, t.last, state.Seq); err != nil || running {
			return false, err
		}
		d.of.then = &Row{Kind: Stop, Side: After, Time: n.Time, From: state, To: stateOf(&n.Checkpoint), counts: &n.Counts}
		return true, nil
	}
	return false, nil
}

// stopFar is how many checkpoints are looked through for the stop of a session that has ended.
const stopFar = 512

// stoppedBefore reports whether the last that a session did, up to a place in the log, was to stop: what came until it ended is
// not its turn's.
func stoppedBefore(db *manifest.DB, of sessionKey, seq uint64) (bool, error) {
	for c, err := range db.Checkpoints(manifest.Query{Before: seq + 1, All: true, Limit: stopFar}) {
		if err != nil {
			return false, err
		}
		if c.Agent == of.agent && c.Session == of.id && c.Subagent == "" && c.Kind != manifest.SessionEnd && c.Kind != manifest.Safety {
			return c.Kind == manifest.Stop, nil
		}
		windows, _ := manifest.ParseWindows(c.Windows) // what is damaged is not known
		for _, w := range slices.Backward(windows) {
			if w.Agent == of.agent && w.Session == of.id && w.Subagent == "" && w.Edge != manifest.WindowEnd && (w.Class != manifest.WindowNone || w.Edge != manifest.WindowOpen && w.Edge != manifest.WindowClose) {
				return w.Edge == manifest.WindowStop, nil
			}
		}
	}
	return false, nil
}

// beganTurn reports whether a turn of a session began before a place in the log, after the operations there: a row
// tells of it.
func (t *Timeline) beganTurn(db *manifest.DB, of sessionKey, seq uint64) (bool, error) {
	q := manifest.Query{Session: of.id, Before: seq + 1, Kinds: []manifest.CheckpointKind{manifest.Prompt, manifest.SessionStart}}
	for before, err := range db.Checkpoints(q) {
		switch {
		case err != nil:
			return false, err
		case before.Agent != of.agent || before.Subagent != "":
			continue
		case t.movedSince(before.Seq):
			return false, nil
		case before.Kind == manifest.Prompt:
			if begins, err := conversation.BeginsTurn(db, &before); begins || err != nil {
				return begins, err
			}
		case before.Prompt != "":
			return true, nil
		}
	}
	return false, nil
}

// movedSince reports whether an operation that is not taken in yet moved the tree after a place in the log.
func (t *Timeline) movedSince(seq uint64) bool {
	for i := t.op; i < len(t.ops) && t.ops[i].Seq > seq; i++ {
		if movedTree(&t.ops[i]) {
			return true
		}
	}
	return false
}

// ends finds the prompt whose turn a row ends. An agent without a hook for prompts has
// no other row of such a turn: then this one has the turn's changes.
func ends(db *manifest.DB, r *Row) (err error) {
	c := r.Checkpoint
	if c.Subagent != "" || c.Session == "" {
		return nil
	}
	answers := c.Kind == manifest.Stop && transcript.StopsAtAnswers(transcript.Agent(c.Agent))
	if answers {
		if r.within, err = goesOn(db, &c.Checkpoint); r.within || err != nil {
			return err
		}
	}
	inTurn, looked := false, 0
	q := manifest.Query{Session: c.Session, Before: c.Seq, Kinds: []manifest.CheckpointKind{manifest.Prompt, manifest.Stop, manifest.SessionStart}}
	for before, err := range db.Checkpoints(q) {
		switch {
		case err != nil:
			return err
		case before.Agent != c.Agent || before.Subagent != "":
			continue
		case before.Kind == manifest.Prompt:
			// What came into the running turn is no prompt: the one that began it is older.
			if begins, err := conversation.BeginsTurn(db, &before); err != nil {
				return err
			} else if !begins {
				inTurn = true
				continue
			}
			if inTurn || before.PromptID == c.PromptID || c.PromptID == "" || before.PromptID == "" && c.Prompt == "" {
				r.Ends = before.Prompt
				return nil
			}
		case inTurn, answers && before.Kind == manifest.Stop:
			continue
		}
		if looked++; c.Prompt == "" && c.PromptID != "" && looked < nearCall {
			continue // another client has the session open, too: the prompt with the id may be older
		}
		if r.Ends = c.Prompt; c.Prompt != "" && c.Description == "" && before.Kind == manifest.Stop && r.Kind == Stop &&
			(before.PromptID != c.PromptID || before.Prompt != c.Prompt) {
			r.Side, r.From, r.To = Since, stateOf(&before), stateOf(&c.Checkpoint)
		}
		return nil
	}
	r.Ends = c.Prompt
	return nil
}

// soon is in how many events after an answer the turn of it has to show that it continues.
const soon = 16

// goesOn reports whether the turn of a stop went on behind it: the next that its session did was no prompt.
func goesOn(db *manifest.DB, c *manifest.Checkpoint) (bool, error) {
	stretch, _, err := after(db, c.Seq, soon)
	for _, next := range slices.Backward(stretch) {
		if next.Session != c.Session || next.Agent != c.Agent {
			continue
		}
		switch next.Kind {
		case manifest.Stop, manifest.PreTool, manifest.PostTool:
			return true, err
		case manifest.Prompt, manifest.SessionStart, manifest.SessionEnd:
			return false, err
		}
	}
	return false, err
}

// targetEnds finds the prompt whose turn a row's target ends: a stop says nothing of its own.
func targetEnds(db *manifest.DB, r *Row) error {
	if r.Target == nil || r.Target.Kind != manifest.Stop && r.Target.Kind != manifest.SessionEnd {
		return nil
	}
	of := newRow(r.Target)
	err := ends(db, of)
	r.Ends = of.Ends
	return err
}
