package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/manifest"
)

func newShow() *command {
	var files, coverage bool
	return &command{
		name:  "show",
		usage: "[<ckpt>][:path] [--files] [--coverage]",
		short: "show one checkpoint in full, or a file of it",
		long: "Shows when and why a checkpoint was taken, its prompt, the changes that rewind list shows\n" +
			"for it, and, if they differ, the changes since the checkpoint before it. With :path,\n" +
			"prints the contents of that file in the checkpoint, or the target of a symlink.",
		examples: []example{
			{"rewind show last", "the newest"},
			{"rewind show 3 --files", "with every path in it"},
			{"rewind show 3:notes.md >old-notes.md", "one file of it"},
			{"rewind show v1 --coverage", "what it did not capture, and why"},
		},
		exits:   []int{exitNotFound, exitBusy, exitDamaged},
		minArgs: 0, maxArgs: 1,
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&files, "files", false, "list every path")
			f.BoolVar(&coverage, "coverage", false, "list what was not captured, and why, instead of the\nchanges")
		},
		run: func(ctx context.Context, c *call) error {
			p, l, err := c.checkpoint(ctx, 0)
			if err != nil {
				if of, path, ok := c.fileOf(ctx, p, err); ok {
					return c.catFile(ctx, p, of, path)
				}
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

// fileOf reads an argument that names no checkpoint as CKPT:PATH. Ids that agents bind, and times, have colons, too.
func (c *call) fileOf(ctx context.Context, p *project.Project, err error) (of project.Listed, path string, ok bool) {
	if none := (*project.NoCheckpointError)(nil); p == nil || !errors.As(err, &none) {
		return of, "", false
	}
	arg := c.args[0]
	for i := range arg {
		if arg[i] != ':' || i == 0 || i == len(arg)-1 {
			continue
		}
		if of, err := c.resolve(ctx, p, arg[:i]); err == nil {
			return of, arg[i+1:], true
		}
	}
	return of, "", false
}

// shown is what show prints, either way.
type shown struct {
	project.Listed
	changes            []manifest.Change
	row                *timeline.Row     // nil where none is known
	own                []manifest.Change // the row's
	then               []manifest.Change // what came after the row, of a prompt after the end of its turn
	owned, ownOwned    owned             // whose changes and own are
	thenOwned          owned
	agents             bool // are at work in the project
	entries            []inspect.TreeEntry
	coverage           []problem.Problem
	withFiles, withCov bool
}

func gatherShow(ctx context.Context, p *project.Project, l project.Listed, files, coverage bool) (*shown, error) {
	s := &shown{Listed: l, withFiles: files, withCov: coverage}
	changes, err := inspect.Changes(ctx, p, l.Checkpoint)
	if err != nil {
		return nil, err
	}
	s.changes = withoutImplied(changes)
	if err := s.ownChanges(ctx, p); err != nil {
		return nil, err
	}
	if files {
		err = inspect.Tree(ctx, p, l.Checkpoint, "", func(e inspect.TreeEntry) error {
			s.entries = append(s.entries, e)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if coverage || l.Partial > 0 {
		if s.coverage, err = inspect.Coverage(ctx, p, l.Checkpoint); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// ownChanges finds what the checkpoint's row tells of.
func (s *shown) ownChanges(ctx context.Context, p *project.Project) error {
	release, err := p.Hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	var now *timeline.Present
	r, err := timeline.RowOf(ctx, p, s.Seq, func() *timeline.Present {
		if s.Kind != manifest.Manual {
			now, _ = look(ctx, p) // the newest turn ends now
		}
		return now
	})
	if err != nil {
		return err
	}
	if err := s.owners(ctx, p, r, now); err != nil || r == nil {
		return err
	}
	var own []manifest.Change
	err = r.Changes(ctx, p, now, func(c manifest.Change) error {
		own = append(own, c)
		return nil
	})
	switch {
	case project.IsDamage(err):
		return nil // verify tells of that
	case err != nil:
		return err
	}
	if s.row = r; r.To == nil {
		s.row = nil
	}
	s.own = withoutImplied(own)
	if r.Then == nil {
		return nil
	}
	var then []manifest.Change
	err = r.Then.Changes(ctx, p, now, func(c manifest.Change) error {
		then = append(then, c)
		return nil
	})
	if s.then = withoutImplied(then); project.IsDamage(err) {
		return nil
	}
	return err
}

// owners finds whose the changes are. r is the checkpoint's row, nil for none.
func (s *shown) owners(ctx context.Context, p *project.Project, r *timeline.Row, now *timeline.Present) error {
	o := attribution.Options{From: s.Seq - 1, To: s.Seq}
	if r != nil && r.To != nil && r.Side != timeline.Since {
		if o.To = r.To.Seq; r.To.Now {
			o.To, o.Now = 0, now.Seen(p)
		}
	} else if r != nil && r.From != nil && r.From.Seq > 0 {
		o.From = min(o.From, r.From.Seq)
	}
	if r != nil && r.Then != nil {
		o.To, o.Now = r.Then.To.Seq, nil
	}
	a, err := attribution.New(ctx, p, o)
	if err != nil {
		return err
	}
	s.agents = a.Agents()
	steps, err := a.Changes(s.Seq)
	if err == nil {
		by := map[string][]attribution.Step{}
		for _, st := range steps {
			by[st.Path] = append(by[st.Path], st)
		}
		s.owned = ownedOf(by)
		s.ownOwned, err = rowOwned(a, r)
	}
	if err == nil && r != nil {
		s.thenOwned, err = rowOwned(a, r.Then)
	}
	if project.IsDamage(err) {
		return nil // verify tells of that
	}
	return err
}

// withoutImplied leaves out directories of which other changes tell.
func withoutImplied(changes []manifest.Change) (out []manifest.Change) {
	for i, ch := range changes {
		if i+1 == len(changes) || !impliedDir(ch, changes[i+1]) {
			out = append(out, ch)
		}
	}
	return out
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
	Changes  ownedChangesView `json:"changes"`
	Own      *ownPathsView    `json:"own_changes"` // as list tells them; null where they are not known
	Then     *ownPathsView    `json:"then"`        // what came after it, of a prompt after the end of its turn, as list has it; null for nothing
	Entries  *[]entryView     `json:"entries,omitempty"`
	Coverage *[]problemView   `json:"coverage,omitempty"`
	// The same, as status calls it.
	NotCovered *[]problemView `json:"not_covered,omitempty"`
}

// ownPathsView is what a row is responsible for, with the paths.
type ownPathsView struct {
	Side string  `json:"side"` // since: before its own state; did, after: behind it
	From *string `json:"from"` // checkpoint; null for the empty tree, or what an operation left
	To   *string `json:"to"`   // checkpoint; null for now, or what an operation found
	ownedChangesView
}

func (s *shown) json() shownView {
	v := shownView{checkpointView: viewCheckpoint(s.Listed), Changes: viewOwned(s.changes, s.owned)}
	if r := s.row; r != nil {
		v.Own = &ownPathsView{string(r.Side), viewStateID(r.From), viewStateID(r.To), viewOwned(s.own, s.ownOwned)}
		if then := r.Then; then != nil {
			v.Then = &ownPathsView{string(then.Side), viewStateID(then.From), viewStateID(then.To), viewOwned(s.then, s.thenOwned)}
		}
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
	field("why", s.why())
	field("tool", firstLine(s.ToolSummary))
	if s.row != nil && s.Prompt == "" {
		field("ends", firstLine(s.row.Ends))
	}
	field("call", escape(s.ToolUseID))
	session := strings.TrimSpace(escape(s.Agent) + " " + escape(s.Session))
	if s.Subagent != "" {
		session += ", subagent " + escape(s.Subagent)
	}
	field("session", session)
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
	if !s.withCov { // else that is the question
		s.printChanges(o)
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

// why is as list has it.
func (s *shown) why() string {
	if s.row != nil {
		return rowWhy(s.row)
	}
	return reason(s.Listed)
}

// printChanges prints what the row did, and what had changed since the checkpoint before it.
func (s *shown) printChanges(o *output) {
	list := func(changes []manifest.Change, whose owned) {
		who := whose.text(s.Session, s.agents)
		for _, ch := range changes {
			mark := markOf(o, ch.Precious())
			if by := who(ch.Path); by != "" {
				mark += "  " + o.color.Paint(screen.Dim, by)
			}
			printChange(o, ch, mark)
		}
	}
	then := func(what string) {
		if len(s.then) > 0 {
			o.line("")
			o.line("What came after %s:", what)
			list(s.then, s.thenOwned)
		}
	}
	o.line("")
	if r := s.row; r != nil && r.Side == timeline.Did {
		if len(s.own) == 0 {
			o.line("What it did: nothing.")
		} else {
			heading := "What it did:"
			if s.ownOwned.others(s.Session) {
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
				o.line("%s", heading)
				list(its, s.ownOwned)
			} else {
				o.line("What it did: nothing.")
			}
			if len(others) > 0 {
				o.line("")
				o.line("What other calls did before the next checkpoint:")
				list(others, s.ownOwned)
			}
		}
		then("its end")
	} else if r != nil && r.Side == timeline.After && len(s.own) > 0 {
		o.line("What came after it:")
		list(s.own, s.ownOwned)
	} else if r != nil && r.Side == timeline.Since && s.afterOperation() {
		// The checkpoint before is the safety checkpoint, which list does not show: what the operation did is in its row.
		if len(s.own) == 0 {
			o.line("Nothing changed since the operation before.")
		}
		list(s.own, s.ownOwned)
		then("it")
		return
	} else {
		if len(s.changes) == 0 {
			o.line("Nothing changed since the checkpoint before.")
		}
		list(s.changes, s.owned)
		then("it")
		return
	}
	if len(s.changes) > 0 {
		o.line("")
		o.line("What came before it:")
		list(s.changes, s.owned)
	}
}

// afterOperation reports whether the row's changes begin at what an operation left.
func (s *shown) afterOperation() bool {
	return s.row.From != nil && s.row.From.ID == (manifest.CheckpointID{}) && s.row.From.Seq > 0
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
