package conversation

import (
	"slices"

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
	calls := 0 // that began or ended since the prompt, by the windows of hooks
	for l, err := range db.Checkpoints(manifest.Query{Before: c.Seq + 1, All: true}) {
		if err != nil {
			return false, err
		}
		if l.Transcript != nil && l.Session == c.Session && l.Agent == c.Agent {
			if i, ok := w.x.Number(l.Transcript.EventID); ok && i < w.at {
				return calls == 1, nil // its own
			}
		}
		windows, _ := manifest.ParseWindows(l.Windows) // verify reports what is damaged
		for _, l := range windows {
			if l.Session == c.Session && l.Agent == c.Agent && (l.Edge == manifest.WindowOpen || l.Edge == manifest.WindowClose) {
				calls++
			}
		}
		if calls > 1 {
			break
		}
	}
	return false, nil
}
