package restore

import (
	"fmt"

	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/rules"
	"github.com/rewind-cli/rewind/manifest"
)

// ForgottenStepError: the next step of an undo changed only paths that were forgotten, so that nothing of it can be undone, and what
// is older would be undone in its place.
type ForgottenStepError struct {
	Steps []manifest.Checkpoint // that cannot be undone, the newest first
	Older *manifest.Checkpoint  // where the step before them leads; nil: there is none
}

func (e *ForgottenStepError) Error() string {
	if len(e.Steps) == 1 {
		return "the next step back cannot be undone, since rewind forget removed every path that it changed"
	}
	return fmt.Sprintf("the next %d steps back cannot be undone, since rewind forget removed every path that they changed", len(e.Steps))
}

// forgotten refuses (*ForgottenStepError) to pass from the checkpoint that was given last to the next one, c, where the list still
// counts what changed between them and the trees have nothing of it any more.
func (w *past) forgotten(c manifest.Checkpoint) error {
	if w.at == nil || w.r.Sel != nil || w.r.Options.Half == conversation.ConversationOnly || !w.lost(*w.at, c) {
		return nil
	}
	e := &ForgottenStepError{}
	for from, rest := *w.at, append([]manifest.Checkpoint{c}, w.page...); ; rest = rest[1:] {
		if len(rest) == 0 {
			var err error
			if rest, err = w.older(); err != nil || len(rest) == 0 {
				return e
			}
		}
		if rest[0].Root != c.Root {
			e.Older = &rest[0]
			return e
		}
		if w.lost(from, rest[0]) {
			e.Steps = append(e.Steps, from)
		}
		from = rest[0]
	}
}

// lost reports whether all that changed from one checkpoint to the next newer one was forgotten.
func (w *past) lost(newer, older manifest.Checkpoint) bool {
	if newer.Parent != older.ID || newer.Root != older.Root || newer.Added+newer.Modified+newer.Deleted == 0 {
		return false
	}
	data, err := w.r.ReadObject(newer.Coverage)
	if project.IsDamage(err) {
		return false // verify tells of that
	}
	return rules.ForgottenIn(data) != nil
}
