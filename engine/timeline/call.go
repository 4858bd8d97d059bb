package timeline

import (
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

type callKey struct{ agent, session, subagent, call, tool, summary string }

// callOf names a call: by its id, else, where the client gives none, by what it runs. It reports whether that is known.
func callOf(c *manifest.Checkpoint) (key callKey, ok bool) {
	key = callKey{agent: c.Agent, session: c.Session, subagent: c.Subagent, call: c.ToolUseID}
	if key.call == "" {
		key.tool, key.summary = c.Tool, c.ToolSummary
	}
	return key, key.session != "" && key.call+key.tool != ""
}

// callEnd is the state that a call left, and what came after that where the row of its end is folded.
type callEnd struct {
	state *State
	then  *Row
}

// ofCall gives a call that has a checkpoint before it and one after it what came until that, in its first row.
func (t *Timeline) ofCall(r *Row, state *State) {
	if r.Kind != Tool {
		return
	}
	key, ok := callOf(&r.Checkpoint.Checkpoint)
	if !ok {
		return
	}
	if end, ok := t.ended[key]; r.Checkpoint.Kind == manifest.PostTool {
		t.ended[key] = callEnd{state: state}
	} else if ok {
		r.To, r.Then = end.state, end.then
		delete(t.ended, key)
	}
}

// foldEnd folds the row of the checkpoint after a call of which another row tells.
func (t *Timeline) foldEnd(db *manifest.DB, r *Row) error {
	c := r.Checkpoint
	if r.Folded != "" || c == nil || c.Kind != manifest.PostTool || r.marked() {
		return nil
	}
	told, err := t.begins(db, c)
	if told {
		r.Folded = CallEnd
		if call, ok := callOf(&c.Checkpoint); ok && r.Then != nil {
			t.ended[call] = callEnd{r.To, r.Then}
			r.Then = nil
		}
	}
	return err
}

// nearCall is how many checkpoints of a session are looked through for where a call began.
const nearCall = 32

// begins reports whether the checkpoint before a call has a row, which tells of all that the call did.
func (t *Timeline) begins(db *manifest.DB, c *project.Listed) (bool, error) {
	call, ok := callOf(&c.Checkpoint)
	if !ok {
		return false, nil
	}
	q := manifest.Query{Session: c.Session, Before: c.Seq, Limit: nearCall, Kinds: []manifest.CheckpointKind{manifest.PreTool, manifest.PostTool, manifest.Prompt}}
	for before, err := range db.Checkpoints(q) {
		switch {
		case err != nil:
			return false, err
		case before.Kind == manifest.Prompt && before.Subagent == "" && c.Subagent == "":
			return false, nil
		}
		if of, _ := callOf(&before); before.Kind == manifest.Prompt || of != call {
			continue
		}
		if before.Kind == manifest.PostTool {
			return false, nil // an earlier run of the same command line, which has no id
		}
		for i := range t.ops {
			if o := &t.ops[i]; o.Seq > before.Seq && o.Seq < c.Seq && movedTree(o) {
				return false, nil
			}
		}
		return t.o.Since.IsZero() || !before.Time.Before(t.o.Since), nil
	}
	return false, nil
}

// marked reports whether somebody made the row one of its own.
func (r *Row) marked() bool {
	c := r.Checkpoint
	return c.Pinned || c.Name != "" || c.Description != "" || c.Partial > 0 || c.Green
}
