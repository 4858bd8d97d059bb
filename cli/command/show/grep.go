package show

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/search"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/manifest"
)

// grepOptions are the flags of grep.
type grepOptions struct {
	query                 search.Query
	patterns              []string // of -e
	first, last, prompts  bool
	precious, glob, files bool
}

func NewGrep() *app.Command {
	var o grepOptions
	return &app.Command{
		Name:  "grep",
		Usage: "PATTERN [-e PATTERN] [--first|--last|--prompts] [-l] [-i] [-F] [-w] [--precious] [-- path…]",
		Short: "find when a text appeared in files, and when it vanished",
		Long: "Searches the contents of all checkpoints, and of the working tree, for lines that match a\n" +
			"regular expression (RE2). For each line it prints the row of rewind list that added it\n" +
			"and the one that removed it, or that the line is still there. Binary files are left out,\n" +
			"and the lines of precious files are hidden without --precious. Ends with 1 if nothing\n" +
			"matches, as grep does, and says so on stderr.\n" + app.AboutPaths,
		Examples: []app.Example{
			{Line: "rewind grep parseZone", Does: "when did it come, when did it go?"},
			{Line: "rewind grep 'TODO|FIXME' --last -- src", Does: "the newest state that has one"},
			{Line: "rewind grep -F 'a[0]' --first", Does: "a literal text, and where it came from"},
			{Line: "rewind grep --prompts 'time zone'", Does: "what was asked for"},
			{Line: "rewind grep -e -v", Does: "a pattern that begins with -"},
		},
		Answers: app.Answers{"grep": grepView{}, "grep-prompts": promptsView{}},
		Exits:   []int{app.ExitBusy, app.ExitDamaged},
		MaxArgs: 1, Paths: true,
		Flags: func(f *pflag.FlagSet) {
			f.StringArrayVarP(&o.patterns, "regexp", "e", nil, "a `pattern`; may be given several times")
			f.BoolVar(&o.first, "first", false, "only the lines that appeared first")
			f.BoolVar(&o.last, "last", false, "only the lines of the newest state that has some")
			f.BoolVar(&o.prompts, "prompts", false, "search prompts and descriptions instead of files")
			f.BoolVarP(&o.files, "files-with-matches", "l", false, "only the names of the files")
			f.BoolVarP(&o.query.IgnoreCase, "ignore-case", "i", false, "upper and lower case are the same")
			f.BoolVarP(&o.query.Fixed, "fixed-strings", "F", false, "the pattern is a text")
			f.BoolVarP(&o.query.Word, "word-regexp", "w", false, "match whole words only")
			f.BoolVar(&o.precious, "precious", false, "also show the lines of precious files")
			app.GlobFlag(f, &o.glob)
		},
		Run: func(ctx context.Context, c *app.Call) error { return grep(ctx, c, o) },
	}
}

func grep(ctx context.Context, c *app.Call, o grepOptions) error {
	m, err := o.check(c)
	if err != nil {
		return err
	}
	p, err := c.Open(ctx)
	if err != nil {
		return err
	}
	if o.prompts {
		return grepPrompts(ctx, c, p, m, o)
	}
	var s search.Options
	s.Matcher, s.WithPrecious = m, o.precious
	if s.Paths, err = c.Patterns(ctx, p, c.Paths, o.glob); err != nil {
		return err
	}
	release, err := p.Use(ctx) // what is found, then who made it
	if err != nil {
		return err
	}
	defer release()
	g := &grepPrinter{c: c, o: o, m: timeline.NewMakers(p, nil), ctx: ctx, release: release}
	if c.JSON {
		g.doc = newGrepView(o.query.Patterns)
	}
	sum, err := g.run(ctx, func(visit func(search.Span) error) (*search.Summary, error) { return search.Run(ctx, p, s, visit) })
	if err != nil {
		return err
	}
	for _, path := range app.FirstN(sum.Clipped, app.MaxNamed) {
		c.Out.Warn("%s: too many lines match; the first of each version are shown", app.EscapePath(path))
	}
	switch {
	case len(sum.Problems) > 0:
		return unsearched(sum.Problems)
	case sum.Spans == 0:
		return noMatch(c, o.query.Patterns)
	}
	return nil
}

// check refuses a wrong command line before anything is opened.
func (o *grepOptions) check(c *app.Call) (*search.Matcher, error) {
	switch {
	case len(o.patterns) == 0 && len(c.Args) == 0:
		return nil, &app.UsageError{Msg: "too few arguments: PATTERN is missing", Hint: "rewind grep " + c.Cmd.Usage}
	case len(o.patterns) > 0 && len(c.Args) > 0:
		return nil, &app.UsageError{Msg: "unexpected argument " + app.Quote(c.Args[0]), Hint: "with -e, paths go after --: rewind grep -e " + app.ShellQuote(o.patterns[0]) + " -- " + app.ShellQuote(c.Args[0])}
	case o.first && o.last:
		return nil, app.Usagef("--first and --last cannot be combined")
	case o.prompts && (o.first || o.last || o.files || o.precious || o.glob || len(c.Paths) > 0):
		return nil, app.Usagef("--prompts cannot be combined with paths, nor with --first, --last, -l, --precious or --glob")
	}
	o.query.Patterns = append(o.query.Patterns, o.patterns...)
	o.query.Patterns = append(o.query.Patterns, c.Args...)
	return search.Compile(o.query)
}

// noMatch ends a search that found nothing, as grep ends it.
func noMatch(c *app.Call, patterns []string) error {
	f := app.Failure{Code: app.ExitFailed}
	if !c.Quiet {
		f.Message = "nothing matches " + strings.Join(app.Map(patterns, app.Quote), ", ")
	}
	return &app.FailedError{Failure: f}
}

// unsearched says that what is damaged was passed over; what could be searched has been printed.
func unsearched(problems []search.Problem) error {
	f := app.Failure{Code: app.ExitDamaged, Hint: "rewind verify",
		Message: "the store is damaged: " + app.Plural(len(problems), "content", "contents") + " could not be searched"}
	for _, p := range app.FirstN(problems, app.MaxNamed) {
		where := "the tree"
		if p.Path != "" {
			where = app.EscapePath(p.Path)
		}
		if p.Seq != 0 {
			where += " in checkpoint seq " + app.Utoa(p.Seq)
		}
		f.Warnings = append(f.Warnings, where+": "+p.Err.Error())
	}
	return &app.FailedError{Failure: f}
}

// promptsView is what grep --prompts --json prints; docs/schema/grep-prompts.schema.json describes it.
type promptsView struct {
	Patterns []string        `json:"patterns"`
	Prompts  []promptMatched `json:"prompts"`
}

// promptMatched is the checkpoint of a prompt with the first line of it that matches.
type promptMatched struct {
	rows.CheckpointView
	Line string `json:"line"`
}

// typedAgain reports whether a checkpoint is of another prompt than those before it with the same text: without an id, only
// its turn tells.
func typedAgain(ctx context.Context, p *project.Project, c *manifest.Checkpoint) (again bool, err error) {
	if c.PromptID != "" || c.Kind != manifest.Prompt {
		return false, nil
	}
	err = p.Query(ctx, func(db *manifest.DB) error {
		again, err = conversation.BeginsTurn(db, c)
		return err
	})
	return again, err
}

// grepPrompts searches the prompts and descriptions of all checkpoints, the newest first. A prompt that
// several checkpoints have is printed once, with the oldest of them: it has the files as they were before.
func grepPrompts(ctx context.Context, c *app.Call, p *project.Project, m *search.Matcher, o grepOptions) error {
	all, err := p.List(ctx, project.ListOptions{All: true})
	if err != nil {
		return err
	}
	type promptLine struct {
		project.Listed
		line string
	}
	var found []promptLine
	seen := map[[2]string]bool{}
	for _, l := range slices.Backward(all) {
		for i, text := range []string{l.Prompt, l.Description} {
			line, ok := m.FirstLine(text)
			if !ok {
				continue
			}
			if key := [2]string{l.Session, l.PromptID + text}; i == 0 && seen[key] {
				if again, err := typedAgain(ctx, p, &l.Checkpoint); err != nil {
					return err
				} else if !again {
					continue
				}
			} else if i == 0 {
				seen[key] = true
			}
			found = append(found, promptLine{l, line})
			break
		}
	}
	slices.Reverse(found)
	if c.JSON {
		v := promptsView{Patterns: o.query.Patterns, Prompts: app.Map(found, func(f promptLine) promptMatched {
			return promptMatched{rows.ViewCheckpoint(f.Listed), strings.ToValidUTF8(f.line, "\uFFFD")}
		})}
		if err := c.Out.Document(v); err != nil || len(found) > 0 {
			return err
		}
	}
	if len(found) == 0 {
		return noMatch(c, o.query.Patterns)
	}
	return c.Page(ctx, func() {
		for _, f := range found {
			n := ""
			if f.N > 0 {
				n = app.Utoa(uint64(f.N)) + " "
			}
			line := n + f.ID.String()[:app.ShortID] + " " + app.Ago(c.Out, f.Time) + ": " + app.Escape(strings.TrimSpace(f.line))
			c.Out.Line("%s", screen.Clip(line, limit(c.Out.Width())))
		}
	})
}
