package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/engine/search"
	"github.com/rewind-cli/rewind/engine/timeline"
)

// grepOptions are the flags of grep.
type grepOptions struct {
	query                 search.Query
	patterns              []string // of -e
	first, last, prompts  bool
	precious, glob, files bool
}

func newGrep() *command {
	var o grepOptions
	return &command{
		name:  "grep",
		usage: "PATTERN [-e PATTERN] [--first|--last|--prompts] [-l] [-i] [-F] [-w] [--precious] [-- path…]",
		short: "find when a text appeared in files, and when it vanished",
		long: "Searches the contents of all checkpoints, and of the working tree, for lines that match a\n" +
			"regular expression (RE2). For each line it prints the row of rewind list that added it\n" +
			"and the one that removed it, or that the line is still there. Binary files are left out,\n" +
			"and the lines of precious files are hidden without --precious. Ends with 1 if nothing\n" +
			"matches, as grep does, and says so on stderr.\n" + aboutPaths,
		examples: []example{
			{"rewind grep parseZone", "when did it come, when did it go?"},
			{"rewind grep 'TODO|FIXME' --last -- src", "the newest state that has one"},
			{"rewind grep -F 'a[0]' --first", "a literal text, and where it came from"},
			{"rewind grep --prompts 'time zone'", "what was asked for"},
			{"rewind grep -e -v", "a pattern that begins with -"},
		},
		exits:   []int{exitBusy, exitDamaged},
		maxArgs: 1, paths: true,
		flags: func(f *pflag.FlagSet) {
			f.StringArrayVarP(&o.patterns, "regexp", "e", nil, "a `pattern`; may be given several times")
			f.BoolVar(&o.first, "first", false, "only the lines that appeared first")
			f.BoolVar(&o.last, "last", false, "only the lines of the newest state that has some")
			f.BoolVar(&o.prompts, "prompts", false, "search prompts and descriptions instead of files")
			f.BoolVarP(&o.files, "files-with-matches", "l", false, "only the names of the files")
			f.BoolVarP(&o.query.IgnoreCase, "ignore-case", "i", false, "upper and lower case are the same")
			f.BoolVarP(&o.query.Fixed, "fixed-strings", "F", false, "the pattern is a text")
			f.BoolVarP(&o.query.Word, "word-regexp", "w", false, "match whole words only")
			f.BoolVar(&o.precious, "precious", false, "also show the lines of precious files")
			globFlag(f, &o.glob)
		},
		run: func(ctx context.Context, c *call) error { return grep(ctx, c, o) },
	}
}

func grep(ctx context.Context, c *call, o grepOptions) error {
	m, err := o.check(c)
	if err != nil {
		return err
	}
	p, err := c.open(ctx)
	if err != nil {
		return err
	}
	if o.prompts {
		return grepPrompts(ctx, c, p, m, o)
	}
	var s search.Options
	s.Matcher, s.WithPrecious = m, o.precious
	if s.Paths, err = c.patterns(ctx, p, c.paths, o.glob); err != nil {
		return err
	}
	release, err := p.Hold(ctx) // what is found, then who made it
	if err != nil {
		return err
	}
	defer release()
	g := &grepPrinter{c: c, o: o, m: timeline.NewMakers(p, nil), ctx: ctx}
	if c.json {
		g.doc = newGrepView(o.query.Patterns)
	}
	sum, err := g.run(ctx, func(visit func(search.Span) error) (*search.Summary, error) { return search.Run(ctx, p, s, visit) })
	if err != nil {
		return err
	}
	for _, path := range firstN(sum.Clipped, maxNamed) {
		c.out.warn("%s: too many lines match; the first of each version are shown", escapePath(path))
	}
	switch {
	case len(sum.Problems) > 0:
		return &unsearchedError{problems: sum.Problems}
	case sum.Spans == 0:
		return &noMatchError{patterns: o.query.Patterns, silent: c.quiet}
	}
	return nil
}

// check refuses a wrong command line before anything is opened.
func (o *grepOptions) check(c *call) (*search.Matcher, error) {
	switch {
	case len(o.patterns) == 0 && len(c.args) == 0:
		return nil, &usageError{msg: "too few arguments: PATTERN is missing", hint: "rewind grep " + c.cmd.usage}
	case len(o.patterns) > 0 && len(c.args) > 0:
		return nil, &usageError{msg: "unexpected argument " + quote(c.args[0]), hint: "with -e, paths go after --: rewind grep -e " + shellQuote(o.patterns[0]) + " -- " + shellQuote(c.args[0])}
	case o.first && o.last:
		return nil, usagef("--first and --last cannot be combined")
	case o.prompts && (o.first || o.last || o.files || o.precious || o.glob || len(c.paths) > 0):
		return nil, usagef("--prompts cannot be combined with paths, nor with --first, --last, -l, --precious or --glob")
	}
	o.query.Patterns = append(o.query.Patterns, o.patterns...)
	o.query.Patterns = append(o.query.Patterns, c.args...)
	return search.Compile(o.query)
}

// noMatchError ends a search that found nothing, as grep ends it.
type noMatchError struct {
	patterns []string
	silent   bool
}

func (e *noMatchError) Error() string {
	return "nothing matches " + strings.Join(quoteWords(e.patterns), ", ")
}

func quoteWords(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = quote(w)
	}
	return out
}

// unsearchedError: what is damaged was passed over; what could be searched has been printed.
type unsearchedError struct{ problems []search.Problem }

func (e *unsearchedError) Error() string {
	return "the store is damaged: " + plural(len(e.problems), "content", "contents") + " could not be searched"
}

func (e *unsearchedError) failure() failure {
	f := failure{code: exitDamaged, message: e.Error(), hint: "rewind verify"}
	for _, p := range firstN(e.problems, maxNamed) {
		where := "the tree"
		if p.Path != "" {
			where = escapePath(p.Path)
		}
		if p.Seq != 0 {
			where += " in checkpoint seq " + utoa(p.Seq)
		}
		f.warnings = append(f.warnings, where+": "+p.Err.Error())
	}
	return f
}

// explainGrep says what a search could not do; false: it is none of that.
func explainGrep(err error, f *failure) bool {
	var (
		pattern *search.PatternError
		none    *noMatchError
		partly  *unsearchedError
	)
	switch {
	case errors.As(err, &pattern):
		f.code, f.hint = exitUsage, "rewind grep -F takes the text literally"
	case errors.As(err, &none):
		f.document = false
		if none.silent {
			f.message = ""
		}
	case errors.As(err, &partly):
		*f = partly.failure()
	default:
		return false
	}
	return true
}
