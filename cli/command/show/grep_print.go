package show

import (
	"context"
	"errors"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/search"
	"github.com/rewind-cli/rewind/engine/timeline"
)

// grepPrinter prints spans as they come, or, of --first and --last, those that are left.
type grepPrinter struct {
	c    *app.Call
	o    grepOptions
	doc  *grepView // with --json
	m    *timeline.Makers
	ctx  context.Context
	best []search.Span
	path string // of the last span that was printed

	release func() // of the store
}

// run searches, and prints what is found from the first span on: until then a progress line may stand there.
func (g *grepPrinter) run(ctx context.Context, searched func(visit func(search.Span) error) (*search.Summary, error)) (*search.Summary, error) {
	if g.c.JSON {
		sum, err := searched(g.take)
		if err != nil {
			return nil, err
		}
		for _, s := range g.best {
			if err := g.add(s); err != nil {
				return nil, err
			}
		}
		return sum, g.c.Out.Document(g.doc.done(sum))
	}
	if g.o.first || g.o.last {
		sum, err := searched(g.take)
		if err != nil || len(g.best) == 0 {
			return sum, err
		}
		g.c.Out.EndProgress()
		return sum, g.c.Out.Paged(ctx, g.c.Env, func() error {
			defer g.release() // before the person reads
			for _, s := range g.best {
				if err := g.print(s); err != nil {
					return unlessBroken(err)
				}
			}
			return nil
		})
	}
	return g.stream(ctx, searched)
}

// stream hands spans from the search to the screen. A reader that is gone ends the search.
func (g *grepPrinter) stream(ctx context.Context, searched func(visit func(search.Span) error) (*search.Summary, error)) (sum *search.Summary, err error) {
	spans := make(chan search.Span)
	gone := make(chan struct{})
	done := make(chan error, 1)
	go func() {
		defer close(spans)
		var err error
		sum, err = searched(func(s search.Span) error {
			select {
			case spans <- s:
				return nil
			case <-gone:
				return errReaderGone
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		done <- err
	}()
	if s, any := <-spans; any {
		g.c.Out.FullScreen(true) // no progress among the lines
		err = g.c.Out.Paged(ctx, g.c.Env, func() error {
			defer g.release() // all is found by then
			for any {
				if err := g.print(s); err != nil {
					return err
				}
				s, any = <-spans
			}
			return g.c.Out.Buf.Flush()
		})
		close(gone)
		for range spans {
		}
	}
	found := <-done
	switch {
	case err != nil && !app.IsBrokenPipe(err):
		return nil, err
	case errors.Is(found, errReaderGone): // quietly: somebody has read enough
		return &search.Summary{Spans: 1}, nil
	}
	return sum, found
}

// errReaderGone ends a search when the reader of its output is gone.
var errReaderGone = errors.New("the reader is gone")

func unlessBroken(err error) error {
	if app.IsBrokenPipe(err) {
		return nil
	}
	return err
}

// take keeps a span if it is asked for: of --first, those that appeared first, and so on.
func (g *grepPrinter) take(s search.Span) error {
	if !g.o.first && !g.o.last {
		return g.add(s)
	}
	if len(g.best) > 0 {
		a, b := g.rank(s), g.rank(g.best[0])
		if a < b {
			return nil
		}
		if a > b {
			g.best = g.best[:0]
		}
	}
	g.best = append(g.best, s)
	return nil
}

// rank is the larger the earlier a span begins (--first), or the later it ends (--last).
func (g *grepPrinter) rank(s search.Span) int64 {
	const late = 1 << 62
	switch {
	case g.o.first && s.Appeared == nil:
		return -late
	case g.o.first:
		return -int64(s.Appeared.Seq)
	case s.Now:
		return late
	}
	return int64(s.Last.Seq)
}

// print writes one span: the line, and below it when it was there.
func (g *grepPrinter) print(s search.Span) error {
	o := g.c.Out
	if g.o.files {
		if s.Path != g.path {
			o.Line("%s", o.Color.Paint(screen.Cyan, app.EscapePath(s.Path)))
		}
		g.path = s.Path
		return g.flush()
	}
	head := o.Color.Paint(screen.Cyan, app.EscapePath(s.Path)) + ":" + o.Color.Paint(screen.Green, app.Utoa(uint64(s.Line))) + ": "
	o.Line("%s%s", head, g.text(s, o.Width()-len(app.EscapePath(s.Path))-len(app.Utoa(uint64(s.Line)))-3))
	when, err := g.when(s)
	if err != nil {
		return err
	}
	o.Line("    %s", when)
	g.path = s.Path
	return g.flush()
}

// flush hands what was printed to the reader when there is enough of it, so that one who is gone is noticed.
func (g *grepPrinter) flush() error {
	if g.c.Out.Buf.Buffered() < 16<<10 && !g.c.Out.OutTerm {
		return nil
	}
	return g.c.Out.Buf.Flush()
}

// text is the line with its match, clipped to a width, if there is one.
func (g *grepPrinter) text(s search.Span, width int) string {
	o := g.c.Out
	if s.Hidden {
		return o.Color.Paint(screen.Dim, "(a line of a precious file; --precious shows it)")
	}
	before, match, after := s.Text[:s.Start], s.Text[s.Start:s.End], s.Text[s.End:]
	before = strings.TrimLeft(before, " \t")
	more := ""
	if s.Clipped {
		more = " …"
	}
	if g.c.Out.Width() == 0 {
		return app.EscapeLine(before + match + after + more)
	}
	width = max(width, 20)
	if line := app.Escape(before + match + after); screen.Clip(line, width) == line {
		return app.Escape(before) + o.Color.Paint(screen.Red, app.Escape(match)) + app.Escape(after) + more
	}
	// The text before the match gets at most a third of the width, and is cut at its beginning.
	b := []rune(app.Escape(before))
	if most := width / 3; len(b) > most {
		b = append([]rune("…"), b[len(b)-most+1:]...)
	}
	m := screen.Clip(app.Escape(match), max(width-len(b), 1))
	rest := width - len(b) - len([]rune(m))
	if rest <= 0 {
		return string(b) + o.Color.Paint(screen.Red, m)
	}
	return string(b) + o.Color.Paint(screen.Red, m) + screen.Clip(app.Escape(after)+more, rest)
}

func (g *grepPrinter) add(s search.Span) error {
	came, went, err := rows.LineMade(g.ctx, g.m, s)
	if err == nil {
		g.doc.add(s, rows.ViewMaker(g.ctx, g.m, came), rows.ViewMaker(g.ctx, g.m, went))
	}
	return err
}

// when says from when to when a line was there.
func (g *grepPrinter) when(s search.Span) (string, error) {
	o := g.c.Out
	yellow := func(text string) string { return o.Color.Paint(screen.Yellow, text) }
	at := func(l *project.Listed) string {
		return yellow(rows.ListedNamed(o, *l, rows.EndsOf(g.ctx, g.m, l.Seq)))
	}
	by := func(m timeline.Made) string {
		if m.Owner == nil {
			return ""
		}
		return ", " + rows.ByMaker(m.Owner, s.Path)
	}
	came, went, err := rows.LineMade(g.ctx, g.m, s)
	if err != nil {
		return "", err
	}
	if s.Appeared == nil && came.Row == nil {
		return "in the working tree, and in no checkpoint yet", nil
	}
	var from, to string
	switch {
	case s.Oldest:
		from = "there since the oldest checkpoint, " + at(s.Appeared)
	case came.Row != nil:
		from = "appeared " + rows.InRow(o, came.Row, yellow)
	default:
		from = "appeared in " + at(s.Appeared) + by(came)
	}
	switch {
	case s.Now:
		to = "still there"
	case went.Row != nil:
		to = "vanished " + rows.InRow(o, went.Row, yellow)
	case s.Vanished == nil:
		to = "gone from the working tree"
	default:
		to = "vanished in " + at(s.Vanished) + by(went)
	}
	return from + "; " + to, nil
}

// grepView is what grep --json prints; docs/schema/grep.schema.json describes it.
type grepView struct {
	Patterns    []string              `json:"patterns"`
	Matches     []matchView           `json:"matches"`
	Checkpoints []rows.CheckpointView `json:"checkpoints"` // those that the matches name, each once
	Searched    searchedView          `json:"searched"`
	NotSearched []notSearched         `json:"not_searched"` // what is damaged
	known       map[string]bool
}

// matchView is a line with the time in which it was there.
type matchView struct {
	app.PathView
	Line     int     `json:"line"`
	Text     *string `json:"text"` // null: hidden
	Text64   string  `json:"text_b64,omitempty"`
	Clipped  bool    `json:"clipped"`
	Start    int     `json:"start"`
	End      int     `json:"end"`
	Precious bool    `json:"precious"`
	Appeared *string `json:"appeared"`
	Oldest   bool    `json:"oldest"`
	Vanished *string `json:"vanished"`
	Last     *string `json:"last"`
	Now      bool    `json:"now"`

	AppearedBy *rows.MadeByView `json:"appeared_by"` // null: not known, or the working tree
	VanishedBy *rows.MadeByView `json:"vanished_by"`
}

type searchedView struct {
	Checkpoints int   `json:"checkpoints"`
	Paths       int   `json:"paths"`
	Contents    int   `json:"contents"`
	Bytes       int64 `json:"bytes"`
}

type notSearched struct {
	app.PathView
	Seq    uint64 `json:"seq"`
	Reason string `json:"reason"`
}

func newGrepView(patterns []string) *grepView {
	return &grepView{Patterns: patterns, Matches: []matchView{}, Checkpoints: []rows.CheckpointView{}, NotSearched: []notSearched{}, known: map[string]bool{}}
}

func (v *grepView) add(s search.Span, came, went *rows.MadeByView) {
	m := matchView{PathView: app.ViewPath(s.Path), Line: s.Line, Clipped: s.Clipped, Start: s.Start, End: s.End, Precious: s.Precious,
		Appeared: v.name(s.Appeared), Oldest: s.Oldest, Vanished: v.name(s.Vanished), Last: v.name(s.Last), Now: s.Now,
		AppearedBy: came, VanishedBy: went}
	if !s.Hidden {
		t := app.ViewPath(s.Text) // the same rule: text, and the bytes where it is no UTF-8
		m.Text, m.Text64 = &t.Path, t.Path64
	}
	v.Matches = append(v.Matches, m)
}

// name is a checkpoint's id, which the document has the rest of.
func (v *grepView) name(l *project.Listed) *string {
	if l == nil {
		return nil
	}
	id := l.ID.String()
	if !v.known[id] {
		v.known[id] = true
		v.Checkpoints = append(v.Checkpoints, rows.ViewCheckpoint(*l))
	}
	return &id
}

func (v *grepView) done(s *search.Summary) *grepView {
	v.Searched = searchedView{s.Checkpoints, s.Paths, s.Contents, s.Bytes}
	for _, p := range s.Problems {
		v.NotSearched = append(v.NotSearched, notSearched{app.ViewPath(p.Path), p.Seq, p.Err.Error()})
	}
	return v
}
