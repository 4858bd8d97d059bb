package cli

import (
	"context"
	"strconv"
	"strings"

	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/manifest"
)

const (
	narrow = 60 // columns of a terminal below which ids are left out
	maxWhy = 16 // columns of a tool's name: those of MCP servers can be long
)

// print prints the rows as a table.
func (l *listing) print(ctx context.Context) error {
	o := l.c.out
	t := screen.Table{
		Width: o.width(),
		Columns: []screen.Column{
			{Title: "#", Right: true},
			{Title: "ID", Style: screen.Yellow},
			{Title: "AGE", Right: true},
			{Title: "WHY", Style: screen.Cyan},
			{Title: "SESSION"},
			{Title: "TEXT", Flex: true},
			{Title: "MADE OR SAVED"},
		},
	}
	whose := sessionLabels(l.rows)
	release, err := l.p.Hold(ctx) // the rows, then what they changed
	if err != nil {
		return err
	}
	defer release()
	others, err := l.others(ctx, whose)
	if err != nil {
		return err
	}
	for _, r := range l.rows {
		n, known, err := r.Count(ctx, l.p, l.present)
		if project.IsDamage(err) {
			n, known = timeline.Counts{}, false // verify tells of that
		} else if err != nil {
			return err
		}
		age := formatAge(o.now().Sub(r.Time))
		cells := []string{rowNumber(r), rowID(r), age, screen.Clip(rowWhy(r), maxWhy), whose[sessionOf(r)], rowText(r, n), joinNonEmpty(strings.TrimSpace(rowChanges(r, n, known)+others(r)), strings.TrimSpace(thenChanges(r)+others(r.Then)))}
		if r.Kind == timeline.Now {
			if cells[1], cells[2] = "now", ""; t.Width > 0 && t.Width < narrow {
				cells[2] = "now"
			}
		}
		t.Rows = append(t.Rows, cells)
	}
	if l.unseen != "" && !l.filtered {
		t.Rows = append([][]string{{"@", "now", "", "", "", "not compared: " + escape(l.unseen), ""}}, t.Rows...)
	}
	if t.Width > 0 && t.Width < narrow {
		for i := range t.Rows {
			t.Rows[i][1] = ""
		}
	}
	return o.paged(ctx, l.c.env, func() error {
		t.Write(o.color, func(s string) { o.line("%s", s) })
		l.printRest()
		return nil
	})
}

// printRest says what is not shown.
func (l *listing) printRest() {
	var parts []string
	if l.folded > 0 {
		parts = append(parts, plural(l.folded, "row without changes", "rows without changes"))
	}
	if l.older > 0 {
		parts = append(parts, plural(l.older, "older checkpoint", "older checkpoints"))
	}
	if len(parts) > 0 {
		l.c.out.summary("%s", l.c.out.color.Paint(screen.Dim, "Not shown: "+strings.Join(parts, ", ")+". All: "+l.c.out.typed("rewind list --all")))
	}
}

// rowNumber is N of a checkpoint, with * where it is pinned, and @ for now.
func rowNumber(r *timeline.Row) string {
	switch c := r.Checkpoint; {
	case r.Kind == timeline.Now:
		return "@"
	case c == nil || c.N == 0:
		return ""
	case c.Pinned:
		return strconv.Itoa(c.N) + "*"
	default:
		return strconv.Itoa(c.N)
	}
}

func rowID(r *timeline.Row) string {
	if r.Checkpoint == nil {
		return ""
	}
	return r.Checkpoint.ID.String()[:shortID]
}

// rowWhy is why a row is there: the tool, the operation, else the kind.
func rowWhy(r *timeline.Row) string {
	switch {
	case r.Kind == timeline.Now:
		return ""
	case r.Kind == timeline.Operation:
		return operationVerb(r.Operation)
	case r.Kind == timeline.Prompt, r.Kind == timeline.Message:
		return string(r.Kind) // a prompt is also a session's start that stands for one
	}
	return reason(*r.Checkpoint)
}

// operationVerb is the command that made an operation.
func operationVerb(o *manifest.Operation) string {
	if o.Verb != "" {
		return escape(o.Verb)
	}
	return escape(string(o.Kind))
}

// rowText is what a row says. n are its changes, which the row of now counts in words.
func rowText(r *timeline.Row, n timeline.Counts) string {
	switch r.Kind {
	case timeline.Now:
		return nowText(r, n)
	case timeline.Operation:
		return operationText(r)
	}
	text := firstLine(r.Checkpoint.Description)
	if text == "" {
		switch r.Kind {
		case timeline.Stop, timeline.SessionEnd:
			if said := firstLine(r.Ends); said != "" {
				text = "↳ " + quoted(said)
			} else if r.Subagent != "" {
				text = "↳ subagent"
			}
		default:
			text = checkpointText(*r.Checkpoint)
			return text
		}
	}
	if name := r.Checkpoint.Name; name != "" {
		text = strings.TrimSpace("[" + escape(name) + "] " + text)
	}
	return text
}

// nowText says how the project is against the last thing that happened to it.
func nowText(r *timeline.Row, n timeline.Counts) string {
	changed := "nothing changed"
	if total := n.Added + n.Modified + n.Deleted; total > 0 {
		changed = plural(total, "file changed", "files changed")
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
		return changed + " since the " + operationVerb(r.Operation)
	case r.Target == nil:
		return changed
	case r.Target.N == 0:
		return changed + " since the newest safety checkpoint"
	}
	if said := firstLine(r.Ends); said != "" {
		return changed + " since " + targetText(r)
	}
	return changed + " since " + strconv.Itoa(r.Target.N)
}

// targetText names what a row went to, or is compared with: a turn's end by its prompt.
func targetText(r *timeline.Row) string {
	if said := firstLine(r.Ends); said != "" && r.Target.Name == "" {
		return strconv.Itoa(r.Target.N) + ", the end of " + quoted(said)
	}
	return briefly(*r.Target)
}

func operationText(r *timeline.Row) string {
	switch t := r.Target; {
	case t != nil && r.Part:
		return "a part of " + targetText(r)
	case t != nil:
		return "to " + targetText(r)
	case r.Operation.Checkpoint != (manifest.CheckpointID{}):
		return "to " + r.Operation.Checkpoint.String()[:shortID] + ", which is gone"
	}
	return firstLine(r.Operation.Args)
}

// rowChanges renders the changes of a row. Changes after a stop are shown behind "then", unless another row has them.
func rowChanges(r *timeline.Row, n timeline.Counts, known bool) string {
	var text string
	if known {
		text = changeCounts(n.Added, n.Modified, n.Deleted)
	}
	if r.Side == timeline.After && text != "" {
		if text = "then " + text; r.To.Now || r.Claimed {
			text = "" // the row of now says it, or that of the save
		}
	}
	if c := r.Checkpoint; c != nil && c.Partial > 0 {
		text = strings.TrimSpace(text + " !" + utoa(c.Partial))
	}
	return text
}

// thenChanges are in signs what came after a save or a turn's end, of which no row of its own tells.
func thenChanges(r *timeline.Row) string {
	if r.Then == nil {
		return ""
	}
	n, _ := r.Then.Known()
	return "then " + changeCounts(n.Added, n.Modified, n.Deleted)
}

// joinNonEmpty puts a comma between two texts, where there are two.
func joinNonEmpty(a, b string) string {
	if a != "" && b != "" {
		return a + ", " + b
	}
	return a + b
}

type agentSession struct{ agent, id string }

func sessionOf(r *timeline.Row) agentSession { return agentSession{r.Agent, r.Session} }

// sessionLabels tells the sessions of the rows apart, as briefly as that goes: nothing where there
// is one, the agents where each has one.
func sessionLabels(rows []*timeline.Row) map[agentSession]string {
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
	labels := map[agentSession]string{}
	if sessions < 2 {
		return labels
	}
	for agent, ids := range agents {
		for id := range ids {
			var parts []string
			if len(agents) > 1 && agent != "" {
				parts = append(parts, escape(agent))
			}
			if len(ids) > 1 && id != "" {
				parts = append(parts, escape(shortest(id, ids)))
			}
			labels[agentSession{agent, id}] = strings.Join(parts, " ")
		}
	}
	return labels
}

// shortest is the beginning of an id that no other has, as long as all that are shortened or longer.
func shortest(id string, among map[string]bool) string {
	n := min(shortID, len(id))
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
