package rows

import (
	"strconv"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/manifest"
)

const (
	Narrow = 60 // columns of a terminal below which ids are left out
	MaxWhy = 16 // columns of a tool's name: those of MCP servers can be long
)

// RowNumber is N of a checkpoint, with * where it is pinned, and the machine's name before it where it was pulled; @ for now.
func RowNumber(r *timeline.Row) string {
	switch c := r.Checkpoint; {
	case r.Kind == timeline.Now:
		return "@"
	case c == nil || c.N == 0:
		return ""
	case c.Pinned:
		return OfLog(c.Of) + strconv.Itoa(c.N) + "*"
	default:
		return OfLog(c.Of) + strconv.Itoa(c.N)
	}
}

// OfLog is what comes before a checkpoint's number or id where it was pulled.
func OfLog(of string) string {
	if of == "" {
		return ""
	}
	return of + "/"
}

func RowID(r *timeline.Row) string {
	if r.Checkpoint == nil {
		return ""
	}
	return r.Checkpoint.ID.String()[:app.ShortID]
}

// RowWhy is why a row is there: the tool, the operation, else the kind.
func RowWhy(r *timeline.Row) string {
	switch {
	case r.Kind == timeline.Now:
		return ""
	case r.Kind == timeline.Operation:
		return OperationVerb(r.Operation)
	case r.Kind == timeline.Prompt, r.Kind == timeline.Message:
		return string(r.Kind) // a session's start that has a prompt is a prompt, too
	}
	return Reason(*r.Checkpoint)
}

// OperationVerb is the command that made an operation.
func OperationVerb(o *manifest.Operation) string {
	if o.Verb != "" {
		return app.Escape(o.Verb)
	}
	return app.Escape(string(o.Kind))
}

// OperationNoun is what an operation is called in a sentence, by the command that made it.
func OperationNoun(verb string) string {
	if verb == "back" {
		return "move back"
	}
	return app.Escape(verb)
}

// RowText is what a row says. n are its changes, which the row of now counts in words.
func RowText(r *timeline.Row, n timeline.Counts) string {
	switch r.Kind {
	case timeline.Now:
		return nowText(r, n)
	case timeline.Operation:
		return operationText(r)
	}
	text := app.FirstLine(r.Checkpoint.Description)
	if text == "" {
		switch r.Kind {
		case timeline.Stop, timeline.SessionEnd:
			if prompt := app.FirstLine(r.Ends); prompt != "" {
				text = "↳ " + Quoted(prompt)
			} else if r.Subagent != "" {
				text = "↳ subagent"
			}
		default:
			text = CheckpointText(*r.Checkpoint)
			return text
		}
	}
	if r.Checkpoint.Green {
		text = strings.TrimSpace("✓ " + text)
	}
	if name := r.Checkpoint.Name; name != "" {
		text = strings.TrimSpace("[" + app.Escape(name) + "] " + text)
	}
	return text
}

// nowText says how the project is against the last thing that happened to it.
func nowText(r *timeline.Row, n timeline.Counts) string {
	changed := "nothing changed"
	if total := n.Added + n.Modified + n.Deleted; total > 0 {
		changed = app.Plural(total, "file changed", "files changed")
	}
	switch {
	case r.Operation != nil && r.Part:
		return changed + " since a part of " + targetText(r) + " was restored"
	case r.Operation != nil && r.Target != nil && r.Target.N > 0:
		if n.None() {
			return "as in " + targetText(r)
		}
		return changed + " since " + targetText(r) + " was restored"
	case r.Operation != nil:
		return changed + " since the " + OperationNoun(OperationVerb(r.Operation))
	case r.Target == nil:
		return changed
	case r.Target.N == 0:
		return changed + " since the newest safety checkpoint"
	}
	if prompt := app.FirstLine(r.Ends); prompt != "" {
		return changed + " since " + targetText(r)
	}
	return changed + " since " + strconv.Itoa(r.Target.N)
}

// targetText names what a row went to, or is compared with: a turn's end by its prompt.
func targetText(r *timeline.Row) string {
	if prompt := app.FirstLine(r.Ends); prompt != "" && r.Target.Name == "" {
		return OfLog(r.Target.Of) + strconv.Itoa(r.Target.N) + ", the end of " + Quoted(prompt)
	}
	return Briefly(*r.Target)
}

func operationText(r *timeline.Row) string {
	switch t := r.Target; {
	case t != nil && r.Part:
		return "a part of " + targetText(r)
	case t != nil:
		return "to " + targetText(r)
	case r.Operation.Checkpoint != (manifest.CheckpointID{}):
		if of := r.Operation.Of; of != "" {
			return "to " + of + "/" + r.Operation.Checkpoint.String()[:app.ShortID]
		}
		return "to " + r.Operation.Checkpoint.String()[:app.ShortID] + ", which is gone"
	case r.Turn != nil && r.Operation.OfSome():
		return "a part of " + Briefly(*r.Turn)
	case r.Turn != nil:
		return "of " + Briefly(*r.Turn)
	case r.Operation.Kind.Moves() && r.From == nil && !r.Operation.ChangesNothing():
		return "the conversation"
	}
	return app.FirstLine(r.Operation.Args)
}

// RowChanges renders the changes of a row. Changes after a stop are shown behind "then", unless another row has them.
func RowChanges(r *timeline.Row, n timeline.Counts, known bool) string {
	var text string
	if known {
		text = ChangeCounts(n.Added, n.Modified, n.Deleted)
	}
	if r.Side == timeline.After && text != "" {
		if text = "then " + text; r.To.Now || r.Claimed {
			text = "" // the row of now says it, or that of the save
		}
	}
	if c := r.Checkpoint; c != nil && c.Partial > 0 {
		text = strings.TrimSpace(text + " !" + app.Utoa(c.Partial))
	}
	return text
}

// ThenChanges are the changes after a save or a turn's end that have no row of their own, as +n ~n -n.
func ThenChanges(r *timeline.Row) string {
	if r.Then == nil {
		return ""
	}
	n, _ := r.Then.Known()
	return "then " + ChangeCounts(n.Added, n.Modified, n.Deleted)
}

// JoinNonEmpty puts a comma between two texts, where there are two.
func JoinNonEmpty(a, b string) string {
	if a != "" && b != "" {
		return a + ", " + b
	}
	return a + b
}

type AgentSession struct{ agent, id string }

func SessionOf(r *timeline.Row) AgentSession { return AgentSession{r.Agent, r.Session} }

// SessionLabels gives each session of the rows its shortest distinct label: none where there
// is one, the agents where each has one.
func SessionLabels(rows []*timeline.Row) map[AgentSession]string {
	agents := map[string]map[string]bool{}
	sessions := 0
	for _, r := range rows {
		if r.Agent == "" && r.Session == "" || r.Kind == timeline.Operation {
			continue
		}
		if agents[r.Agent] == nil {
			agents[r.Agent] = map[string]bool{}
		}
		if !agents[r.Agent][r.Session] {
			agents[r.Agent][r.Session] = true
			sessions++
		}
	}
	labels := map[AgentSession]string{}
	if sessions < 2 {
		return labels
	}
	for agent, ids := range agents {
		for id := range ids {
			var parts []string
			if len(agents) > 1 && agent != "" {
				parts = append(parts, app.Escape(agent))
			}
			if len(ids) > 1 && id != "" {
				parts = append(parts, app.Escape(shortest(id, ids)))
			}
			labels[AgentSession{agent, id}] = strings.Join(parts, " ")
		}
	}
	return labels
}

// shortest is the beginning of an id that no other has, as long as all that are shortened or longer.
func shortest(id string, among map[string]bool) string {
	n := min(app.ShortID, len(id))
	for other := range among {
		if other == id {
			continue
		}
		same := 0
		for same < min(len(id), len(other)) && id[same] == other[same] {
			same++
		}
		n = max(n, min(same+1, len(id)))
	}
	for n < len(id) && id[n]&0xC0 == 0x80 { // not in the middle of a character
		n++
	}
	return id[:n]
}
