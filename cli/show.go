package cli

import (
	"context"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/manifest"
)

func newShow() *command {
	var files, coverage bool
	return &command{
		name:  "show",
		usage: "<ckpt> [--files] [--coverage]",
		short: "show one checkpoint in full",
		long: "Shows when and why a checkpoint was taken, its prompt, and what changed since the\n" +
			"checkpoint before it.",
		examples: []example{
			{"rewind show last", "the newest"},
			{"rewind show 3 --files", "with every path in it"},
			{"rewind show v1 --coverage", "with what it did not capture, and why"},
		},
		exits:   []int{exitNotFound, exitBusy, exitDamaged},
		minArgs: 0, maxArgs: 1,
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&files, "files", false, "list every path")
			f.BoolVar(&coverage, "coverage", false, "list what was not captured, and why")
		},
		run: func(ctx context.Context, c *call) error {
			p, l, err := c.checkpoint(ctx, 0)
			if err != nil {
				return err
			}
			v, err := gatherShow(ctx, p, l, files, coverage)
			if err != nil {
				return err
			}
			if c.json {
				return c.out.document(v.json())
			}
			return c.out.paged(ctx, c.env, func() error {
				v.print(c.out)
				return nil
			})
		},
	}
}

// shown is what show prints, either way.
type shown struct {
	project.Listed
	changes            []manifest.Change
	row                *timeline.Row     // as list tells it; nil where that says no more than changes
	did                []manifest.Change // its own
	entries            []engine.TreeEntry
	coverage           []problem.Problem
	withFiles, withCov bool
}

func gatherShow(ctx context.Context, p *project.Project, l project.Listed, files, coverage bool) (*shown, error) {
	s := &shown{Listed: l, withFiles: files, withCov: coverage}
	changes, err := engine.Changes(ctx, p, l.Checkpoint)
	if err != nil {
		return nil, err
	}
	for i, ch := range changes {
		if i+1 == len(changes) || !impliedDir(ch, changes[i+1]) {
			s.changes = append(s.changes, ch)
		}
	}
	if err := s.gatherOwn(ctx, p); err != nil {
		return nil, err
	}
	if files {
		err = engine.Tree(ctx, p, l.Checkpoint, "", func(e engine.TreeEntry) error {
			s.entries = append(s.entries, e)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if coverage || l.Partial > 0 {
		if s.coverage, err = engine.Coverage(ctx, p, l.Checkpoint); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// gatherOwn finds what list says that a tool call or a prompt did, or what came after a stop.
func (s *shown) gatherOwn(ctx context.Context, p *project.Project) error {
	t := timeline.New(p, timeline.Options{Folded: true, Only: true})
	for {
		rows, err := t.Next(ctx, 100)
		if err != nil || len(rows) == 0 || rows[len(rows)-1].Seq > s.Seq {
			if err != nil || len(rows) == 0 {
				return err
			}
			continue
		}
		for _, r := range rows {
			if r.Seq != s.Seq || r.Side == timeline.Since || r.To == nil {
				continue
			}
			s.row = r
			return r.Changes(ctx, p, nil, func(c manifest.Change) error {
				if c.Old != nil && c.New != nil || c.Old != nil && c.Old.Kind != manifest.Subdir || c.New != nil && c.New.Kind != manifest.Subdir {
					s.did = append(s.did, c)
				}
				return nil
			})
		}
		return nil
	}
}

// impliedDir: a directory that came or went with what is in it, as the next
// change says already.
func impliedDir(c, next manifest.Change) bool {
	e := c.New
	if e == nil {
		e = c.Old
	}
	return e.Kind == manifest.Subdir && (c.Old == nil || c.New == nil) && strings.HasPrefix(next.Path, c.Path+"/")
}

type shownView struct {
	checkpointView
	Changes  changesView    `json:"changes"`
	Entries  *[]entryView   `json:"entries,omitempty"`
	Coverage *[]problemView `json:"coverage,omitempty"`
	// The same, as status calls it.
	NotCovered *[]problemView `json:"not_covered,omitempty"`
}

func (s *shown) json() shownView {
	v := shownView{checkpointView: viewCheckpoint(s.Listed), Changes: newChangesView()}
	for _, ch := range s.changes {
		v.Changes.add(ch, nil)
	}
	if s.withFiles {
		entries := make([]entryView, len(s.entries))
		for i, e := range s.entries {
			entries[i] = viewEntry(e)
		}
		v.Entries = &entries
	}
	if s.withCov {
		cov := viewProblems(s.coverage)
		v.Coverage, v.NotCovered = &cov, &cov
	}
	return v
}

func (s *shown) print(o *output) {
	field := func(name, value string) {
		if value != "" {
			o.line("%s %s", o.color.Paint(screen.Dim, pad(name+":", 13)), value)
		}
	}
	o.line("%s", o.color.Paint(screen.Yellow, "checkpoint "+s.ID.String())+where(s.Listed))
	field("time", s.Time.Local().Format("2006-01-02 15:04:05 -0700")+" ("+ago(o, s.Time)+")")
	field("why", reasonLong(s.Listed))
	field("tool", firstLine(s.ToolSummary))
	field("session", strings.TrimSpace(escape(s.Agent)+" "+escape(s.Session)))
	if s.GitHead != "" {
		field("git", strings.TrimSpace(escape(s.GitBranch)+" "+escape(screen.Clip(s.GitHead, 12))))
	}
	field("files", plural(s.Files, "file", "files")+", "+formatSize(int64(s.Bytes))+", "+formatSize(int64(s.StoredBytes))+" stored")
	field("tree", viewHash(s.Root)[:16])
	if t := s.Transcript; t != nil {
		place := formatSize(int64(t.Offset))
		if t.EventID != "" {
			place += ", at " + escape(t.EventID)
		}
		field("conversation", place)
	}
	for _, text := range []string{s.Description, s.Prompt} {
		if text = strings.TrimSpace(text); text != "" {
			o.line("")
			for _, l := range strings.Split(text, "\n") {
				o.line("    %s", escapeLine(strings.TrimSuffix(l, "\r")))
			}
		}
	}
	o.line("")
	if s.row != nil {
		what := map[timeline.Side]string{timeline.Did: "What it did", timeline.After: "What came after it"}[s.row.Side]
		if len(s.did) == 0 {
			o.line("%s: nothing.", what)
		} else {
			o.line("%s:", what)
		}
		for _, ch := range s.did {
			printChange(o, ch, markOf(o, ch.Precious()))
		}
		o.line("")
		if len(s.changes) > 0 {
			o.line("What came before it:")
		}
	}
	if len(s.changes) == 0 {
		o.line("Nothing changed since the checkpoint before.")
	}
	for _, ch := range s.changes {
		printChange(o, ch, markOf(o, ch.Precious()))
	}
	if bad := problem.FailedOf(s.coverage); len(bad) > 0 && !s.withCov {
		o.line("")
		o.line("Not captured, but should have been:")
		printProblems(o, bad)
	}
	if s.withCov && len(s.coverage) == 0 {
		o.line("")
		o.line("Not captured: nothing.")
	} else if s.withCov {
		o.line("")
		o.line("Not captured:")
		printProblems(o, s.coverage)
	}
	if s.withFiles {
		o.line("")
		printEntries(o, s.entries)
	}
}

// where is a checkpoint's number, name and pin.
func where(l project.Listed) string {
	var parts []string
	if l.N > 0 {
		parts = append(parts, "number "+utoa(uint64(l.N)))
	}
	if l.Name != "" {
		parts = append(parts, escape(l.Name))
	}
	if l.Pinned {
		parts = append(parts, "pinned")
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

func reasonLong(l project.Listed) string {
	kind := escape(string(l.Kind))
	if l.Tool != "" {
		kind += ", " + escape(l.Tool)
	}
	return kind
}

func printProblems(o *output, problems []problem.Problem) {
	for _, p := range problems {
		o.line("    %s: %s", escapePath(p.Path), escape(p.Reason))
	}
}

func letterStyle(b byte) screen.Style {
	switch b {
	case 'A':
		return screen.Green
	case 'D':
		return screen.Red
	}
	return screen.Yellow
}

// printChange is one line as git's --name-status: letter, tab, path; mark may follow.
func printChange(o *output, ch manifest.Change, mark string) {
	b := letter(ch)
	st := letterStyle(b)
	path := escapePath(ch.Path)
	if e := ch.New; e == nil && ch.Old.Kind == manifest.Subdir || e != nil && e.Kind == manifest.Subdir {
		path += "/"
	}
	o.line("%s\t%s%s", o.color.Paint(st, string(b)), path, mark)
}

// markOf follows the path of what is precious.
func markOf(o *output, precious bool) string {
	if !precious {
		return ""
	}
	return o.color.Paint(screen.Dim, " (precious)")
}

func pad(s string, n int) string {
	if len(s) >= n {
		return s
	}
	return s + strings.Repeat(" ", n-len(s))
}
