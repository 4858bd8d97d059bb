package conversation

import (
	"slices"
	"time"

	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// firstCall is for prompts that no hook reported. It reports whether a checkpoint was taken right before the first call of the
// prompt's turn that could change files: such a checkpoint has what the person did before the prompt, and nothing of the agent.
func (w *promptSearch) firstCall(db *manifest.DB, c manifest.Checkpoint) (bool, error) {
	if c.Kind != manifest.PreTool || c.Transcript == nil || c.Session != w.session || c.Time.Before(w.restore) {
		return false, nil
	}
	i, ok := w.x.Number(c.Transcript.EventID)
	if !ok || i < w.at || slices.ContainsFunc(w.x.Lines[w.at+1:i+1], func(l transcript.Line) bool { return l.Prompt && !l.Side }) {
		return false, nil
	}
	clock := !w.x.Lines[i].Time.After(c.Time.Add(clockTick)) // else the lines have the times of another clock
	var calls []manifest.Window                              // that began or ended since the prompt, each once
	started := false                                         // the session began no earlier than what was looked at
	for l, err := range db.Checkpoints(manifest.Query{Before: c.Seq + 1, All: true}) {
		if err != nil {
			return false, err
		}
		if l.Session == c.Session && l.Agent == c.Agent {
			if n := held(w.x, &l, sameFile(&l, w.file)); n >= 0 && n <= w.at {
				return len(calls) == 1, nil // its own
			}
		}
		windows, _ := manifest.ParseWindows(l.Windows) // verify reports what is damaged
		for _, v := range slices.Backward(windows) {
			if v.Session != c.Session || v.Agent != c.Agent {
				continue
			}
			started = started || v.Edge == manifest.WindowStart
			if v.Edge != manifest.WindowOpen && v.Edge != manifest.WindowClose {
				continue
			}
			switch before := w.callBefore(&v, clock); {
			case before && v.Edge == manifest.WindowOpen:
				return len(calls) == 1, nil // and so is what came earlier
			case !before && !slices.ContainsFunc(calls, func(o manifest.Window) bool { return sameEvent(&v, &o) }):
				calls = append(calls, v)
			}
		}
		if len(calls) > 1 {
			return false, nil
		}
	}
	return started && len(calls) == 1, nil
}

// callBefore reports whether an event is known to be of a call that began before the prompt: by the call's place in the
// transcript, by the id of an earlier prompt, or by the clock, where that is the one of the transcript.
func (w *promptSearch) callBefore(v *manifest.Window, clock bool) bool {
	if i, ok := w.x.Call(v.Call); ok && v.Call != "" {
		return i < w.at
	}
	if v.PromptID != "" && w.line.PromptID != "" {
		return v.PromptID != w.line.PromptID && slices.ContainsFunc(w.x.Lines[:w.at], func(l transcript.Line) bool { return l.PromptID == v.PromptID })
	}
	return clock && v.Time.Before(w.line.Time)
}

const (
	// clockTick is how far a file system's time, which a checkpoint has, may lie behind the clock's.
	clockTick = 10 * time.Millisecond
	// heardTwice is how far apart the two hooks of one event begin at most, where hooks are registered twice.
	heardTwice = time.Second
)

// sameEvent reports whether two lines are of one event of a call, which two hooks reported.
func sameEvent(a, b *manifest.Window) bool {
	return a.Edge == b.Edge && a.Call == b.Call && a.Tool == b.Tool && a.Subagent == b.Subagent &&
		(a.Call != "" || a.Summary == b.Summary && a.Time.Sub(b.Time).Abs() <= heardTwice)
}
