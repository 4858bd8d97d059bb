package rows

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/attempts"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/manifest"
)

// Attempts are the attempts at one prompt with what each changed, for the command and the page.
type Attempts struct {
	Fork    *attempts.Fork    // nil: there is none
	Present *timeline.Present // nil: the tree could not be looked at
	Tried   []Tried
}

// Tried is an attempt with what it changed.
type Tried struct {
	attempts.Attempt
	Now     bool // its end is the working tree
	Ended   time.Time
	Changes *inspect.Totals // nil: not known
	Others  int             // paths that are not counted there: others changed them
	Also    int             // paths there that others changed, too
}

// MeasureAttempts finds the end of each attempt, and what it changed.
func MeasureAttempts(ctx context.Context, p *project.Project, f *attempts.Fork) (*Attempts, error) {
	v := &Attempts{Fork: f}
	if f == nil {
		return v, nil
	}
	v.Present, _ = Look(ctx, p) // without it, the ends are what is known
	stretches := make([]inspect.Stretch, len(f.Attempts))
	for i, a := range f.Attempts {
		stretches[i] = inspect.Stretch{Session: a.Prompt.Session, From: a.Prompt.Seq}
		if a.End != nil && (!a.Open || v.Present == nil || v.Present.Root == a.End.Root) {
			stretches[i].To = &a.End.Checkpoint
		} else if !a.Open || v.Present == nil {
			stretches[i].To = &a.Prompt.Checkpoint // it is not known
		}
	}
	others, err := inspect.OthersIn(ctx, p, stretches...)
	if err != nil {
		return nil, err
	}
	for i, a := range f.Attempts {
		t := Tried{Attempt: a}
		var end *manifest.Checkpoint
		if a.End != nil {
			end, t.Ended = &a.End.Checkpoint, a.End.Time
		}
		if a.Open && v.Present != nil && (end == nil || v.Present.Root != end.Root) {
			t.Now, t.Ended, end = true, v.Present.Time, nil
		}
		if t.Now || end != nil {
			n, left, also, err := inspect.DiffTotals(ctx, p, inspect.DiffOptions{A: f.Base.Checkpoint, B: end, Renames: true}, others[i])
			switch {
			case project.IsDamage(err): // verify tells of that
			case err != nil:
				return nil, err
			default:
				t.Changes, t.Others, t.Also = &n, left, also
			}
		}
		v.Tried = append(v.Tried, t)
	}
	return v, nil
}

// OthersText says what others wrote beside an attempt: sentences.
func (t *Tried) OthersText() (lines []string) {
	if t.Mixed {
		lines = append(lines, "Another attempt was at work in the same tree, so this is not its work alone.")
	}
	if t.Others > 0 {
		lines = append(lines, app.Plural(t.Others, "more path that only you or other sessions changed meanwhile is", "more paths that only you or other sessions changed meanwhile are")+" not counted.")
	}
	if t.Also > 0 && t.Changes != nil && t.Changes.LinesAdded+t.Changes.LinesDeleted > 0 {
		lines = append(lines, "Lines that you or other sessions wrote in the same files are counted, too.")
	}
	return lines
}

// OthersLast says of a comparison of two attempts how many of its paths are not theirs.
func OthersLast(n int) string {
	return app.Plural(n, "path that only you or other sessions changed is", "paths that only you or other sessions changed are") + " at the end"
}

// LineCounts are lines in signs: +12 -3.
func LineCounts(added, deleted int) string {
	if added+deleted == 0 {
		return ""
	}
	return strings.TrimSpace("+" + strconv.Itoa(added) + " -" + strconv.Itoa(deleted))
}

// AttemptsView is what list --attempts --json prints, and what the page asks for; docs/schema/attempts.schema.json describes it.
type AttemptsView struct {
	Base     *CheckpointView `json:"base"` // the checkpoint of the first attempt's prompt; null: no prompt has more than one attempt
	At       int             `json:"at"`   // number of the attempt that the tree is at, 0 for none
	AtBase   bool            `json:"at_base"`
	Attempts []attemptView   `json:"attempts"`
}

type attemptView struct {
	N          int             `json:"n"`
	Prompt     string          `json:"prompt"`
	PromptID   string          `json:"prompt_id"`
	SessionID  string          `json:"session_id"`
	Agent      string          `json:"agent"`
	Checkpoint CheckpointView  `json:"checkpoint"` // of its prompt
	End        *CheckpointView `json:"end"`        // null: collected, or now
	Now        bool            `json:"now"`        // its end is the working tree
	Current    bool            `json:"current"`
	Began      string          `json:"began"`
	Ended      *string         `json:"ended"`
	Prompts    int             `json:"prompts"`     // typed in it, in its own session
	Mixed      bool            `json:"mixed"`       // another was at work in the same tree
	Changes    *totalsView     `json:"changes"`     // against base; null: not known
	Others     int             `json:"others"`      // paths that are not in changes: only others changed them
	OthersAlso int             `json:"others_also"` // paths in changes that others changed, too
}

type totalsView struct {
	Added        int `json:"added"`
	Modified     int `json:"modified"`
	Deleted      int `json:"deleted"`
	LinesAdded   int `json:"lines_added"`
	LinesDeleted int `json:"lines_deleted"`
}

// View is the document of the attempts.
func (v *Attempts) View() AttemptsView {
	doc := AttemptsView{Attempts: []attemptView{}}
	if v.Fork != nil {
		doc.Base, doc.At = new(ViewCheckpoint(v.Fork.Base)), v.Fork.At
		doc.AtBase = v.Fork.At == 0 && v.Present != nil && v.Present.Root == v.Fork.Base.Root && v.Present.Root != (oid.ID{})
	}
	for i := range v.Tried {
		t := &v.Tried[i]
		c := &t.Prompt
		w := attemptView{N: t.N, Prompt: c.Prompt, PromptID: c.PromptID, SessionID: c.Session, Agent: c.Agent, Checkpoint: ViewCheckpoint(*c),
			Now: t.Now, Current: t.N == v.Fork.At, Began: app.ViewTime(t.Began()), Prompts: t.Prompts, Mixed: t.Mixed, Others: t.Others, OthersAlso: t.Also}
		if t.End != nil && !t.Now {
			w.End = new(ViewCheckpoint(*t.End))
		}
		if !t.Ended.IsZero() {
			w.Ended = new(app.ViewTime(t.Ended))
		}
		if t.Changes != nil {
			w.Changes = new(totalsView(*t.Changes))
		}
		doc.Attempts = append(doc.Attempts, w)
	}
	return doc
}
