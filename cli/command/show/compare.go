package show

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/attempts"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// NowWord names the working tree where a state is compared.
const NowWord = "now"

// compareFlags are those of compare.
type compareFlags struct {
	stat, patch, ignoreSpace bool
	noRenames                bool
	precious, glob           bool
	context                  int
	base                     string
}

func NewCompare() *app.Command {
	var d compareFlags
	return &app.Command{
		Name:  "compare",
		Usage: "<a> [<b>] [--base CKPT] [--stat|-p] [-U N] [-w] [--no-renames] [--precious] [-- path…]",
		Short: "compare two attempts with what they have in common",
		Long: "Shows what two states changed since the nearest state that they have in common: the paths\n" +
			"that only <a> changed, those that only <b> changed (default: now, the working tree),\n" +
			"those that both changed in the same way, and those that differ, with the number of lines.\n" +
			"A state is an attempt (attempt~N of rewind list --attempts), any checkpoint, or now.\n" +
			"The base of two attempts at a prompt is the checkpoint of that prompt. The base of other\n" +
			"states is the newest checkpoint from which both came; if one came from the other, it is\n" +
			"the older one. --base names another. A renamed file counts under its old name.\n" + app.AboutPaths,
		Examples: []app.Example{
			{Line: "rewind diff attempt~1 attempt~2 --base", Does: "two attempts at the newest prompt that has several"},
			{Line: "rewind compare attempt~1", Does: "the first one with the tree as it is"},
			{Line: "rewind diff 9 3 --base -p -- src", Does: "with the patches of both, these paths only"},
			{Line: "rewind diff v1 v2 --base=v0 --stat", Does: "lines per file, since a base of one's own"},
			{Line: "rewind restore attempt~1 -- src/lexer.go", Does: "take one file of an attempt"},
		},
		Answers: app.Answers{"compare": comparedView{}},
		Exits:   []int{app.ExitNotFound, app.ExitBusy, app.ExitDamaged},
		MinArgs: 1, MaxArgs: 2, Paths: true,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&d.base, "base", "", "what they have in common: a `checkpoint`")
			f.BoolVar(&d.stat, "stat", false, "lines added and deleted per file, of each side")
			f.BoolVarP(&d.patch, "patch", "p", false, "with the patches of each side")
			f.IntVarP(&d.context, "unified", "U", inspect.DefaultContext, "`N` unchanged lines around each change")
			f.BoolVarP(&d.ignoreSpace, "ignore-all-space", "w", false, "lines that differ in white space alone are the same")
			f.BoolVar(&d.noRenames, "no-renames", false, "show a rename as a deletion and an addition")
			f.BoolVar(&d.precious, "precious", false, "also show the content of precious files")
			app.GlobFlag(f, &d.glob)
		},
		Run: func(ctx context.Context, c *app.Call) error { return runCompare(ctx, c, &d) },
	}
}

// side is one of the two states that are compared.
type side struct {
	at      *project.Listed // nil: the working tree
	attempt int             // 0: none that the base is of
	others  inspect.Others  // what others changed in the attempt
}

func (s *side) checkpoint() *manifest.Checkpoint {
	if s.at == nil {
		return nil
	}
	return &s.at.Checkpoint
}

func runCompare(ctx context.Context, c *app.Call, d *compareFlags) error {
	switch {
	case d.stat && d.patch:
		return app.Usagef("--stat and --patch cannot be combined")
	case d.context < 0:
		return app.Usagef("--unified must not be negative")
	case c.Flags.Changed("base") && d.base == "":
		return app.Usagef("--base is an empty string")
	}
	p, err := c.Open(ctx)
	if err != nil {
		return err
	}
	v := comparePrinter{c: c, p: p, d: d}
	words := append(c.Args[:len(c.Args):len(c.Args)], NowWord)
	if v.a, err = v.state(ctx, words[0]); err != nil {
		return err
	}
	if v.b, err = v.state(ctx, words[1]); err != nil {
		return err
	}
	if err := v.findBase(ctx); err != nil {
		return err
	}
	o := inspect.CompareOptions{A: v.a.checkpoint(), B: v.b.checkpoint(), Context: d.context, IgnoreSpace: d.ignoreSpace, Renames: !d.noRenames, WithPrecious: d.precious}
	if o.Context == 0 {
		o.Context = -1 // none, not the default
	}
	var in []manifest.Checkpoint
	for _, at := range []*manifest.Checkpoint{o.A, o.B} {
		if at != nil {
			in = append(in, *at)
		}
	}
	if v.base != nil {
		o.Base = &v.base.Checkpoint
		in = append(in, *o.Base)
	}
	if o.Paths, err = c.Patterns(ctx, p, c.Paths, d.glob, in...); err != nil {
		return err
	}
	if v.found, err = inspect.Compare(ctx, p, o); err != nil {
		return err
	}
	if err := v.findOthers(ctx); err != nil {
		return err
	}
	c.Out.EndProgress()
	return c.Answer(ctx, v.view, v.print)
}

// state finds what a word names.
func (v *comparePrinter) state(ctx context.Context, word string) (s side, err error) {
	if word == NowWord || word == "@" {
		return s, nil
	}
	if n, ok := attempts.Number(word); ok {
		f, a, err := attempts.Numbered(ctx, v.p, n)
		if err != nil {
			return s, err
		}
		v.fork, s.attempt = f, n
		if !a.Open { // else the tree is at that attempt, and later changes belong to it
			s.at = a.End
		}
		return s, nil
	}
	l, err := v.c.Resolve(ctx, v.p, word)
	s.at = &l
	return s, err
}

// findOthers finds what in the attempts is not of their sessions.
func (v *comparePrinter) findOthers(ctx context.Context) error {
	var sides []*side
	var stretches []inspect.Stretch
	for _, s := range []*side{&v.a, &v.b} {
		if s.attempt > 0 && v.fork != nil {
			began := &v.fork.Attempts[s.attempt-1].Prompt
			sides, stretches = append(sides, s), append(stretches, inspect.Stretch{Session: began.Session, From: began.Seq, To: s.checkpoint()})
		}
	}
	if len(sides) == 0 {
		return nil
	}
	others, err := inspect.OthersIn(ctx, v.p, stretches...)
	for i, s := range sides {
		if err == nil {
			s.others = others[i]
		}
	}
	return err
}

// findBase finds what the two have in common.
func (v *comparePrinter) findBase(ctx context.Context) error {
	if v.d.base != "" {
		l, err := v.c.Resolve(ctx, v.p, v.d.base)
		v.base, v.fork, v.a.attempt, v.b.attempt = &l, nil, 0, 0
		return err
	}
	if v.fork != nil {
		for _, s := range []*side{&v.a, &v.b} {
			if s.attempt == 0 && s.at == nil {
				s.attempt = v.fork.At
			}
		}
		if v.a.attempt > 0 && v.b.attempt > 0 {
			v.base = &v.fork.Base
			return nil
		}
	}
	b, err := attempts.BaseOf(ctx, v.p, v.a.checkpoint(), v.b.checkpoint())
	if err != nil {
		return err
	}
	if b == nil {
		return app.Hinted(&project.NoCheckpointError{Spec: "base", Reason: "no checkpoint is known that the two have in common"}, "name one with --base")
	}
	v.base, v.linear, v.fork = &b.Checkpoint, b.Linear, b.Fork
	v.a.attempt, v.b.attempt = b.A, b.B
	return nil
}
