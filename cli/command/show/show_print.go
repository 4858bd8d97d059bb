package show

import (
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/manifest"
)

func (s *shown) print(o *app.Output) {
	field := func(name, value string) {
		if value != "" {
			o.Line("%s %s", o.Color.Paint(screen.Dim, app.Pad(name+":", 13)), value)
		}
	}
	o.Line("%s", o.Color.Paint(screen.Yellow, "checkpoint "+s.ID.String())+where(s.Listed))
	field("time", s.Time.Local().Format("2006-01-02 15:04:05 -0700")+" ("+app.Ago(o, s.Time)+")")
	field("why", s.why())
	field("tool", app.FirstLine(s.ToolSummary))
	if s.row != nil && s.Prompt == "" {
		field("ends", app.FirstLine(s.row.Ends))
	}
	field("call", app.Escape(s.ToolUseID))
	session := strings.TrimSpace(app.Escape(s.Agent) + " " + app.Escape(s.Session))
	if s.Subagent != "" {
		session += ", subagent " + app.Escape(s.Subagent)
	}
	field("session", session)
	if s.GitHead != "" {
		field("git", rows.GitAt(s.Checkpoint, s.stashes))
	}
	if s.head != nil {
		o.Line("%s%s", app.Pad("", 14), rows.HeadMovedText(s.head))
	}
	field("files", app.Plural(s.Files, "file", "files")+", "+app.FormatSize(int64(s.Bytes))+", "+app.FormatSize(int64(s.StoredBytes))+" that this checkpoint brought into the store")
	field("tree", rows.ViewHash(s.Root)[:16])
	if t := s.Transcript; t != nil {
		place := app.FormatSize(int64(t.Offset))
		if t.EventID != "" {
			place += ", at " + app.Escape(t.EventID)
		}
		field("conversation", place)
	}
	for _, text := range []string{s.Description, s.Prompt} {
		if text = strings.TrimSpace(text); text != "" {
			o.Line("")
			for _, l := range strings.Split(text, "\n") {
				o.Line("    %s", app.EscapeLine(strings.TrimSuffix(l, "\r")))
			}
		}
	}
	if !s.withCov { // else that is the question
		s.printChanges(o)
		if len(s.git) > 0 {
			o.Line("")
			o.Line("What git did after it:")
			for _, e := range s.git {
				o.Line("    %s", rows.GitText(e))
			}
		}
	}
	if bad := problem.FailedOf(s.coverage); len(bad) > 0 && !s.withCov {
		o.Line("")
		o.Line("Not captured, but should have been:")
		printProblems(o, bad)
	}
	if s.withCov && len(s.coverage) == 0 {
		o.Line("")
		o.Line("Not captured: nothing.")
	} else if s.withCov {
		o.Line("")
		o.Line("Not captured:")
		printProblems(o, s.coverage)
	}
	if s.withFiles {
		o.Line("")
		printEntries(o, s.entries)
	}
}

// where is a checkpoint's number, name and pin.
func where(l project.Listed) string {
	var parts []string
	if l.N > 0 {
		parts = append(parts, "number "+app.Utoa(uint64(l.N)))
	}
	if l.Name != "" {
		parts = append(parts, app.Escape(l.Name))
	}
	if l.Pinned {
		parts = append(parts, "pinned")
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// why is as list has it.
func (s *shown) why() string {
	if s.row != nil {
		return rows.RowWhy(s.row)
	}
	return rows.Reason(s.Listed)
}

// printChanges prints what the row did, and what had changed since the checkpoint before it.
func (s *shown) printChanges(o *app.Output) {
	list := func(changes []manifest.Change, whose rows.Owned) {
		who := whose.Text(s.Session, s.agents)
		for _, ch := range changes {
			mark := markOf(o, ch.Precious())
			if by := who(ch.Path); by != "" {
				mark += "  " + o.Color.Paint(screen.Dim, by)
			}
			rows.PrintChange(o, ch, mark)
		}
	}
	then := func(what string) {
		if len(s.then) > 0 {
			o.Line("")
			o.Line("What came after %s:", what)
			list(s.then, s.thenOwned)
		}
	}
	o.Line("")
	if r := s.row; r != nil && r.Side == timeline.Did {
		if len(s.own) == 0 {
			if r.Cut {
				o.Line("What it did: nothing before the session's next prompt.")
			} else {
				o.Line("What it did: nothing.")
			}
		} else {
			heading := "What it did:"
			if s.ownOwned.Others(s.Session) {
				heading = "What changed during it:"
			}
			var its, others []manifest.Change
			for _, ch := range s.own {
				if otherCall(r, s.ownOwned[ch.Path]) {
					others = append(others, ch)
				} else {
					its = append(its, ch)
				}
			}
			if len(its) > 0 {
				o.Line("%s", heading)
				list(its, s.ownOwned)
			} else {
				o.Line("What it did: nothing.")
			}
			if len(others) > 0 {
				o.Line("")
				o.Line("What other calls did before the next checkpoint:")
				list(others, s.ownOwned)
			}
		}
		then("its end")
	} else if r != nil && r.Side == timeline.After && len(s.own) > 0 {
		o.Line("What came after it:")
		list(s.own, s.ownOwned)
	} else if r != nil && r.Side == timeline.Since && s.afterOperation() {
		// The checkpoint before is the safety checkpoint, which list does not show: what the operation did is in its row.
		if len(s.own) == 0 {
			o.Line("Nothing changed since the operation before.")
		}
		list(s.own, s.ownOwned)
		then("it")
		return
	} else {
		if len(s.changes) == 0 {
			o.Line("Nothing changed since the checkpoint before.")
		}
		list(s.changes, s.owned)
		then("it")
		return
	}
	if len(s.changes) > 0 {
		o.Line("")
		o.Line("What came before it:")
		list(s.changes, s.owned)
	}
}

// afterOperation reports whether the row's changes begin at what an operation left.
func (s *shown) afterOperation() bool {
	return s.row.From != nil && s.row.From.ID == (manifest.CheckpointID{}) && s.row.From.Seq > 0
}

func printProblems(o *app.Output, problems []problem.Problem) {
	for _, p := range problems {
		o.Line("    %s: %s", app.EscapePath(p.Path), app.Escape(p.Reason))
	}
}

// markOf follows the path of what is precious.
func markOf(o *app.Output, precious bool) string {
	if !precious {
		return ""
	}
	return o.Color.Paint(screen.Dim, " (precious)")
}
