package show

import (
	"fmt"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/attempts"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/patch"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// comparePrinter prints a comparison, in one of its forms.
type comparePrinter struct {
	c      *app.Call
	p      *project.Project
	d      *compareFlags
	a, b   side
	base   *project.Listed
	fork   *attempts.Fork // that the two are attempts of; nil: they are not
	linear bool
	found  *inspect.Comparison
}

// group is one of the lists of a comparison, with its word.
type group struct {
	word  string
	paths []inspect.Compared
}

// groups of a comparison, in the order in which they are shown.
func (v *comparePrinter) groups() []group {
	return []group{{"only A", v.found.OnlyA}, {"only B", v.found.OnlyB}, {"same", v.found.Same}, {"differs", v.found.Different}}
}

func (v *comparePrinter) print() {
	o := v.c.Out
	o.Line("since %s", rows.Named(o, *v.base))
	o.Line("A     %s", v.sideText(&v.a))
	o.Line("B     %s", v.sideText(&v.b))
	switch {
	case v.d.stat:
		v.stat()
	case v.d.patch:
		v.patches()
	default:
		v.table()
	}
	v.sum()
}

func (v *comparePrinter) sideText(s *side) string {
	o := v.c.Out
	text := NowWord
	if s.at != nil {
		text = rows.Named(o, *s.at)
	}
	if s.attempt > 0 {
		return fmt.Sprintf("attempt %d, %s: %s", s.attempt, rows.Quoted(app.FirstLine(v.fork.Attempts[s.attempt-1].Prompt.Prompt)), text)
	}
	return text
}

func (v *comparePrinter) table() {
	o := v.c.Out
	t := screen.Table{Columns: []screen.Column{{Title: "", Style: screen.Cyan}, {Title: "PATH", Flex: true}, {Title: "A"}, {Title: "B"}}}
	var others [][]string // at the end
	for _, g := range v.groups() {
		for _, r := range g.paths {
			row := []string{g.word, app.EscapePath(r.Path), v.a.didText(r.A), v.b.didText(r.B)}
			if v.a.did(r.A) || v.b.did(r.B) {
				t.Rows = append(t.Rows, row)
			} else {
				others = append(others, row)
			}
		}
	}
	if t.Rows = append(t.Rows, others...); len(t.Rows) > 0 {
		o.Table(t)
	}
}

// did reports whether a side changed a path, and not only others.
func (s *side) did(d *inspect.FileDiff) bool { return d != nil && !s.others.Alone[d.Path] }

// didText is what was done to a path, and whether others did it.
func (s *side) didText(d *inspect.FileDiff) string {
	text := didText(d)
	if d != nil && s.others.Also[d.Path] {
		text += " (also others)"
	}
	if d != nil && s.others.Alone[d.Path] {
		text += " (others)"
	}
	return text
}

// didText is what a side did to a path, "" for nothing.
func didText(d *inspect.FileDiff) string {
	if d == nil {
		return ""
	}
	what := ""
	switch d.Status {
	case patch.Added:
		what = "new"
	case patch.Deleted:
		what = "deleted"
	case patch.Renamed:
		what = "renamed to " + app.EscapePath(d.Path)
	case patch.Retyped:
		what = "now a " + rows.EntryKind(*d.New)
	}
	lines := ""
	switch {
	case d.Hidden:
		lines = "(precious)"
	case d.Large:
		lines = "(too large for lines)"
	case d.Binary:
		lines = "(binary)"
	case d.Status == patch.Added && d.Added > 0:
		lines = fmt.Sprintf("+%d", d.Added)
	case d.Status == patch.Deleted && d.Deleted > 0:
		lines = fmt.Sprintf("-%d", d.Deleted)
	default:
		lines = rows.LineCounts(d.Added, d.Deleted)
	}
	if what == "" && lines == "" && d.Old != nil && d.New != nil && d.Old.Mode != d.New.Mode {
		return "mode " + octal(d.New)
	}
	if what == "" && lines == "" {
		return "changed"
	}
	return strings.TrimSpace(what + " " + lines)
}

// stat prints the lines per file of each side.
func (v *comparePrinter) stat() {
	o := v.c.Out
	for _, s := range []struct {
		word string
		of   func(inspect.Compared) *inspect.FileDiff
	}{{"A", func(r inspect.Compared) *inspect.FileDiff { return r.A }}, {"B", func(r inspect.Compared) *inspect.FileDiff { return r.B }}} {
		var files []inspect.FileDiff
		for _, g := range v.groups() {
			for _, r := range g.paths {
				if d := s.of(r); d != nil {
					files = append(files, *d)
				}
			}
		}
		o.Line("")
		o.Line("%s", o.Color.Paint(screen.Bold, s.word))
		printStat(o, files)
	}
}

// patches prints what each side did, by path; what is the same in both once.
func (v *comparePrinter) patches() {
	o := v.c.Out
	head := func(word, path, side string) {
		o.Line("")
		if side != "" {
			side = ", " + side
		}
		o.Line("%s", o.Color.Paint(screen.Yellow, word+side+": "+app.EscapePath(path)))
	}
	for _, g := range v.groups() {
		for _, r := range g.paths {
			switch {
			case r.A == nil:
				head(g.word, r.Path, "")
				printPatch(o, *r.B)
			case r.B == nil || g.word == "same":
				head(g.word, r.Path, "")
				printPatch(o, *r.A)
			default:
				head(g.word, r.Path, "A")
				printPatch(o, *r.A)
				head(g.word, r.Path, "B")
				printPatch(o, *r.B)
			}
		}
	}
}

// sum says how many there are of each, and how a side's files are taken.
func (v *comparePrinter) sum() {
	o, f := v.c.Out, v.found
	switch {
	case len(f.OnlyA)+len(f.OnlyB)+len(f.Different) > 0:
		o.Summary("%d only in A, %d only in B, %d the same, %d %s.", len(f.OnlyA), len(f.OnlyB), len(f.Same), len(f.Different), app.ByCount(len(f.Different), "differs", "differ"))
	case len(f.Same) > 0:
		o.Summary("A and B are the same: both changed %s alike.", app.Plural(len(f.Same), "path", "paths"))
	default:
		o.Summary("A and B are the same: neither changed anything.")
	}
	if v.c.Quiet {
		return
	}
	if v.linear && v.d.base == "" {
		o.Hint("one came from the other; rewind diff shows the difference, --base another base")
	}
	from, path := v.a.at, ""
	paths := append(f.OnlyA[:len(f.OnlyA):len(f.OnlyA)], f.Different...)
	side := "A"
	if v.a.at == nil {
		from, side = v.b.at, "B"
		paths = append(f.OnlyB[:len(f.OnlyB):len(f.OnlyB)], f.Different...)
	}
	if from == nil || v.linear || len(paths) == 0 {
		return
	}
	r := paths[0]
	if path = r.Path; side == "A" && r.A != nil {
		path = r.A.Path
	} else if side == "B" && r.B != nil {
		path = r.B.Path
	}
	o.Hint("rewind restore %s -- %s takes that of %s", from.ID.String()[:app.ShortID], app.ShellQuote(v.c.FromHere(v.p.Root(), path)), side)
}

// comparedView is what compare --json prints; docs/schema/compare.schema.json describes it.
type comparedView struct {
	Base      rows.CheckpointView `json:"base"`
	A         stateView           `json:"a"`
	B         stateView           `json:"b"`
	OnlyA     []bothView          `json:"only_a"`
	OnlyB     []bothView          `json:"only_b"`
	Same      []bothView          `json:"same"`
	Different []bothView          `json:"different"`
}

// stateView is one of the two states.
type stateView struct {
	Checkpoint *rows.CheckpointView `json:"checkpoint"` // null: the working tree
	Attempt    int                  `json:"attempt"`    // of those at the base; 0: none
}

// bothView is a path with what each side did to it since the base.
type bothView struct {
	app.PathView          // as the base calls it
	A            *didView `json:"a"` // null: unchanged
	B            *didView `json:"b"`
}

type didView struct {
	app.PathView         // as the side calls it
	Kind         string  `json:"kind"` // created changed deleted renamed mode kind
	LinesAdded   int     `json:"lines_added"`
	LinesDeleted int     `json:"lines_deleted"`
	Binary       bool    `json:"binary"`
	Precious     bool    `json:"precious"`
	Others       bool    `json:"others"`      // others than the attempt's session did it
	OthersAlso   bool    `json:"others_also"` // others changed it, too
	Mode         *string `json:"mode"`        // null: deleted
	Hash         *string `json:"hash"`        // of a file's content
	Patch        *string `json:"patch,omitempty"`
}

func (v *comparePrinter) view() any {
	state := func(s *side) stateView {
		w := stateView{Attempt: s.attempt}
		if s.at != nil {
			w.Checkpoint = new(rows.ViewCheckpoint(*s.at))
		}
		return w
	}
	list := func(paths []inspect.Compared) []bothView {
		return app.Map(paths, func(r inspect.Compared) bothView {
			return bothView{app.ViewPath(r.Path), v.did(&v.a, r.A), v.did(&v.b, r.B)}
		})
	}
	f := v.found
	return comparedView{rows.ViewCheckpoint(*v.base), state(&v.a), state(&v.b), list(f.OnlyA), list(f.OnlyB), list(f.Same), list(f.Different)}
}

func (v *comparePrinter) did(s *side, d *inspect.FileDiff) *didView {
	if d == nil {
		return nil
	}
	w := &didView{PathView: app.ViewPath(d.Path), LinesAdded: d.Added, LinesDeleted: d.Deleted, Binary: d.Binary, Precious: d.Precious(), Others: s.others.Alone[d.Path], OthersAlso: s.others.Also[d.Path]}
	switch {
	case d.Status == patch.Added:
		w.Kind = string(inspect.Created)
	case d.Status == patch.Deleted:
		w.Kind = string(inspect.Deleted)
	case d.Status == patch.Renamed:
		w.Kind = string(inspect.Renamed)
	case d.Status == patch.Retyped:
		w.Kind = string(inspect.KindChanged)
	case d.Old.ID == d.New.ID && d.Old.Target == d.New.Target:
		w.Kind = string(inspect.ModeChanged)
	default:
		w.Kind = string(inspect.Changed)
	}
	if e := d.New; e != nil {
		w.Mode = new(fmt.Sprintf("%04o", e.Mode))
		if e.Kind == manifest.File {
			w.Hash = rows.ViewID(e.ID)
		}
	}
	if v.d.patch {
		w.Patch = &d.Patch
	}
	return w
}
