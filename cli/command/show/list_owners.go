package show

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/timeline"
)

// maxOwned bounds the rows for which the authors of changes are looked up: a person reads a screenful, and searches thousands.
const maxOwned = 200

// listLookback is how many checkpoints before those shown are read for calls that reach into them: a list is read often.
const listLookback = 64

// others says of each row how many of its paths are not its own: the person's, another session's, or of one of
// several. whose are the names of sessions.
func (l *listing) others(ctx context.Context, whose map[rows.AgentSession]string) (func(*timeline.Row) string, error) {
	all, err := l.owners(ctx)
	return func(r *timeline.Row) string {
		if owned, ok := all[r]; ok {
			return othersIn(r, owned, whose)
		}
		return ""
	}, err
}

// owners says of the newest rows, and of what came after their turns, whose their own changes are; nil where no agent is
// at work.
func (l *listing) owners(ctx context.Context) (map[*timeline.Row]rows.Owned, error) {
	agents := false
	o := attribution.Options{Now: l.present.Seen(l.p), Lookback: listLookback}
	for i, r := range l.rows {
		agents = agents || r.Session != ""
		if r.To != nil && r.From != nil && r.From.Seq > 0 && (o.From == 0 || r.From.Seq < o.From) && i < maxOwned {
			o.From = r.From.Seq
		}
	}
	if !agents {
		return nil, nil // there is only the person
	}
	a, err := attribution.New(ctx, l.p, o)
	if err != nil {
		return nil, err
	}
	all := map[*timeline.Row]rows.Owned{}
	err = a.Ask(func() error {
		for _, r := range l.rows[:min(len(l.rows), maxOwned)] {
			for _, r := range []*timeline.Row{r, r.Then} {
				owned, err := rows.RowCounted(a, r)
				if project.IsDamage(err) {
					continue // verify tells of that
				} else if err != nil {
					return err
				}
				if r != nil {
					all[r] = owned
				}
			}
		}
		return nil
	})
	return all, err
}

// othersIn counts what is not the row's own: " (you 1, 4f2a 2)".
func othersIn(r *timeline.Row, all rows.Owned, whose map[rows.AgentSession]string) string {
	if r.Claimed {
		return "" // the next row tells of it
	}
	counts, among := rows.OwnerCounts(all, whose, r.Session)
	mine := rows.OwnerYou
	if r.Session != "" && r.Side != timeline.After {
		mine = rows.WorkName(&attribution.Work{Agent: r.Agent, Session: r.Session}, whose, among)
	}
	delete(counts, mine)
	if r.Kind == timeline.Manual { // a save is the person's, also beside a session
		delete(counts, rows.OwnerYou)
	}
	own := promptOf(r, all)
	for _, o := range all {
		name := ""
		if own != "" {
			name = otherTurn(r, own, o)
		}
		if name == "" && otherCall(r, o) {
			name = "another call"
		}
		if name != "" {
			counts[name]++
		}
	}
	if len(counts) == 0 {
		return ""
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, name+" "+app.Utoa(counts[name]))
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// promptOf is the id of the prompt that a row of a prompt or of a tool call belongs to, "" where that is not known.
func promptOf(r *timeline.Row, all rows.Owned) string {
	switch r.Kind {
	case timeline.Prompt:
		return r.Checkpoint.PromptID
	case timeline.Tool: // its checkpoint can have the id of what came into the running turn
		for _, o := range all {
			for _, w := range o.Works() {
				if w.Call != "" && w.Call == r.Checkpoint.ToolUseID && w.Session == r.Session {
					return w.PromptID
				}
			}
		}
	}
	return ""
}

// otherTurn tells of a path in the row of a prompt, or of one of its calls, that its own session changed, but for another
// prompt: a session can be open in two clients. "" where nothing else changed it.
func otherTurn(r *timeline.Row, prompt string, o attribution.Owner) string {
	works := o.Works()
	if o.Class == attribution.Operation || len(works) == 0 {
		return ""
	}
	own := 0
	for _, w := range works {
		if w.Session != r.Session || w.Agent != r.Agent || w.PromptID == "" {
			return "" // counted by the session, or of no known turn
		}
		if w.PromptID == prompt {
			own++
		}
	}
	switch own {
	case len(works):
		return ""
	case 0:
		return "another turn"
	}
	return rows.OwnerShared
}

// otherCall tells of a path in the row of a tool call that only other calls of its session changed: the next of them may have
// had no checkpoint. What its subagents did is the call's.
func otherCall(r *timeline.Row, o attribution.Owner) bool {
	if r.Kind != timeline.Tool || r.Checkpoint.ToolUseID == "" || o.Class == attribution.Operation {
		return false
	}
	works := o.Works()
	return len(works) > 0 && !slices.ContainsFunc(works, func(w *attribution.Work) bool {
		return w.Session != r.Session || w.Agent != r.Agent || w.Subagent != r.Subagent || w.Call == "" || w.Call == r.Checkpoint.ToolUseID
	})
}
