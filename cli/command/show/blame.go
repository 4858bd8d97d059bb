package show

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/manifest"
)

func NewBlame() *app.Command {
	var o blameFlags
	return &app.Command{
		Name:  "blame",
		Usage: "FILE [--at CKPT] [-L FROM,TO] [--no-follow] [--precious]",
		Short: "show who wrote each line of a file",
		Long: "Shows each line of a file with the row of rewind list that wrote it (if there is\n" +
			"none, the first checkpoint that has the line), its age, and its author: an\n" +
			"agent's tool call with its prompt, an operation such as restore, or you. A ?\n" +
			"means that others could have written it, too. now marks lines that no checkpoint\n" +
			"has yet. A line without a name was already in the oldest checkpoint. At a\n" +
			"terminal, neighbouring lines with the same origin are named once. Lines that a\n" +
			"restore brought back keep their age and owner. Renames are followed backwards.\n" +
			"A path that exists, on disk or in any checkpoint, is taken literally. Any other is a glob\n" +
			"that must match one path.",
		Examples: []app.Example{
			{Line: "rewind blame src/main.go", Does: "the file as it is now"},
			{Line: "rewind blame -L 40,60 src/main.go", Does: "these lines; 40,+20 are 20 of them, 40, is to the end"},
			{Line: "rewind blame --at prompt~2 src/main.go", Does: "as it was before the last but one prompt"},
			{Line: "rewind show kqxztlsm", Does: "the row that wrote a line"},
		},
		Answers: app.Answers{"blame": blamedView{}},
		Exits:   []int{app.ExitNotFound, app.ExitBusy, app.ExitDamaged},
		MaxArgs: 1, Paths: true, OnePath: true,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&o.at, "at", "", "as a `checkpoint` has it")
			f.StringVarP(&o.lines, "lines", "L", "", "only lines `FROM,TO`; FROM,+N; FROM,; ,TO")
			f.BoolVar(&o.noFollow, "no-follow", false, "end at a rename")
			f.BoolVar(&o.precious, "precious", false, "also show the content of precious files")
			app.GlobFlag(f, &o.glob)
		},
		Run: func(ctx context.Context, c *app.Call) error { return runBlame(ctx, c, o) },
	}
}

// blameFlags are those of blame.
type blameFlags struct {
	at, lines                string
	noFollow, precious, glob bool
}

func runBlame(ctx context.Context, c *app.Call, f blameFlags) error {
	var span lineSpan
	if c.Flags.Changed("lines") {
		var err error
		if span, err = parseLines(f.lines); err != nil {
			return err
		}
	}
	if err := c.NotEmpty("at"); err != nil {
		return err
	}
	arg, err := onePath(c, 0, true)
	if err != nil {
		return err
	}
	p, err := c.Open(ctx)
	if err != nil {
		return err
	}
	o := inspect.BlameOptions{NoFollow: f.noFollow, WithPrecious: f.precious}
	if f.at != "" && f.at != NowWord {
		l, err := c.Resolve(ctx, p, f.at)
		if err != nil {
			return err
		}
		o.At = &l.Checkpoint
	}
	if o.Path, err = pathEver(ctx, c, p, arg, f.glob); err != nil {
		return rows.NoHistory(err)
	}
	release, err := p.Use(ctx)
	if err != nil {
		return err
	}
	defer release()
	b, err := inspect.Blame(ctx, p, o)
	if err != nil {
		return notBlamed(c, err, f.at != "")
	}
	v := blamePrinter{ctx: ctx, c: c, b: b, m: timeline.NewMakers(p, nil)}
	if v.from, v.to, err = span.of(len(b.Lines)); err != nil {
		return err
	}
	oldest := uint64(timeline.ThenNow)
	v.runs(func(r inspect.BlameRun) {
		if r.Seen != nil {
			oldest = min(oldest, r.Seen.Seq)
		}
	})
	v.m.Reach(oldest)
	c.Out.EndProgress()
	if c.JSON {
		return v.json()
	}
	err = c.Out.Paged(ctx, c.Env, func() error {
		defer release() // before the person reads
		return v.print()
	})
	if call := v.onlyCall(); err == nil && call != "" {
		c.Out.Hint("rewind revert --tool %s takes that call back, and keeps the rest", app.ShellQuote(call))
	}
	return err
}

// notBlamed says why there are no lines, and what there is instead.
func notBlamed(c *app.Call, err error, at bool) error {
	var not *inspect.NotBlamedError
	if !errors.As(err, &not) {
		return rows.NoHistory(err)
	}
	path := app.ShellQuote(c.FromHere(c.Project.Root(), not.Path))
	history := "rewind history " + path + " shows what changed it"
	say := func(text, hint string) error { return app.Hinted(fmt.Errorf(text, cmp.Or(not.Path, ".")), hint) }
	switch not.Reason {
	case inspect.BlameGone:
		when, as := "is not there now", "before it was deleted"
		if at {
			when = "was not there then"
		} else if account.Exists(filepath.Join(c.Project.Root(), filepath.FromSlash(not.Path))) {
			when, as = "is not captured now", "when it was captured last"
		}
		if not.Last != nil {
			return say("%q "+when, "rewind blame --at "+lastName(not.Last)+" "+path+" shows it as it was "+as)
		}
		return say("%q "+when, history)
	case inspect.BlameDirectory:
		return say("%q is a directory", history)
	case inspect.BlameLink:
		return say("%q is a link, which has no lines", history)
	case inspect.BlamePrecious:
		return say("%q is precious: its content is not shown", "rewind blame --precious "+path+" shows it")
	case inspect.BlameLarge:
		return say("%q is too large to be split into lines", history)
	}
	return say("%q is no text", history)
}

func lastName(l *project.Listed) string {
	if l.N > 0 && l.Kind != manifest.Safety {
		return strconv.Itoa(l.N)
	}
	return l.ID.String()[:app.ShortID]
}

// lineSpan is what -L asks for, from 1; to 0 is the end.
type lineSpan struct {
	from, to int
	given    bool
	text     string
}

// parseLines reads FROM,TO as git does: FROM,+N and FROM,-N count, one end may be left out, FROM alone goes to the end.
func parseLines(text string) (lineSpan, error) {
	s := lineSpan{from: 1, given: true, text: text}
	bad := app.Usagef("-L takes FROM,TO or FROM,+N, not %q", text)
	number := func(word string) (int, bool) {
		n, err := strconv.ParseUint(word, 10, 31)
		return int(n), err == nil && n > 0
	}
	from, to, two := strings.Cut(text, ",")
	if from == "" && to == "" {
		return s, bad
	}
	ok := true
	if from != "" {
		if s.from, ok = number(from); !ok {
			return s, bad
		}
	}
	switch {
	case !two || to == "":
	case to[0] == '+', to[0] == '-':
		n, ok := number(to[1:])
		if !ok {
			return s, bad
		}
		if s.to = s.from + n - 1; to[0] == '-' {
			s.from, s.to = max(s.from-n+1, 1), s.from
		}
	default:
		if s.to, ok = number(to); !ok {
			return s, bad
		}
		if s.to < s.from {
			s.from, s.to = s.to, s.from
		}
	}
	return s, nil
}

// of gives the lines as indices, to not among them.
func (s *lineSpan) of(lines int) (from, to int, err error) {
	if !s.given {
		return 0, lines, nil
	}
	if s.from > lines {
		return 0, 0, app.Usagef("-L %s: the file has %s", s.text, app.Plural(lines, "line", "lines"))
	}
	to = lines
	if s.to > 0 {
		to = min(s.to, lines)
	}
	return s.from - 1, to, nil
}
