package restore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/engine/bisect"
	"github.com/rewind-cli/rewind/engine/port"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/manifest"
)

func NewBisect() *app.Command {
	var good, bad, line string
	var keep bool
	return &app.Command{
		Name:  "bisect",
		Usage: "[--good CKPT] [--bad CKPT] [--keep] (--run CMD | -- CMD args…)",
		Short: "find the checkpoint at which a command begins to fail",
		Long: "Runs the command in a scratch copy of the project and finds the first checkpoint at which\n" +
			"it fails. 10,000 checkpoints take about 16 runs. Your working tree is not touched. States\n" +
			"are tried in the order in which they were saved, across forks and restores; neighbours\n" +
			"with the same files count once. The search begins at the oldest checkpoint, or at --good,\n" +
			"and ends at the working tree, or at --bad. Both ends are tried first.\n" +
			"The command runs in the scratch copy of your working directory. Exit code 0 means good,\n" +
			"125 skips the state, any other code up to 127 means bad, and a higher one ends the\n" +
			"search. Captured paths are exact in each run, and other files that the command makes\n" +
			"there stay. Paths that are not captured, such as .git or node_modules, are missing.\n" +
			"$REWIND_BISECT_PROJECT is the project's directory, and $REWIND_BISECT_CHECKPOINT is the\n" +
			"id of the checkpoint, or now.\n" +
			"Saves and restores work meanwhile. Nothing is removed from the store until the search has\n" +
			"ended.",
		Examples: []app.Example{
			{Line: "rewind bisect --run 'go test ./...'", Does: "from the oldest checkpoint to now"},
			{Line: "rewind bisect --good v1 --run 'npm ci && npm test'", Does: "from a state that was fine"},
			{Line: "rewind bisect --bad 3 -- ./check.sh --fast", Does: "a program and its arguments"},
		},
		Answers: app.Answers{"bisect": bisectView{}},
		Exits:   []int{app.ExitNotFound, app.ExitBusy, app.ExitDamaged, app.ExitRefused},
		Paths:   true,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&good, "good", "", "a `CKPT` at which the command succeeds (default: the oldest)")
			f.StringVar(&bad, "bad", "", "a `CKPT` at which it fails (default: the working tree)")
			f.StringVar(&line, "run", "", "the `CMD` to run, a line for the shell")
			f.BoolVar(&keep, "keep", false, "keep the scratch copy, in the last state that was tried")
		},
		Run: func(ctx context.Context, c *app.Call) error {
			words := c.Paths
			switch {
			case c.Flags.Changed("run") && len(words) > 0:
				return app.Usagef("the command is given twice: with --run, and after --")
			case c.Flags.Changed("run") && strings.TrimSpace(line) != "":
				words = app.ShellCommand(line)
			case len(words) == 0 || words[0] == "":
				return &app.UsageError{Msg: "there is no command to run", Hint: "rewind bisect --run 'make test'"}
			}
			for flag, v := range map[string]string{"good": good, "bad": bad} {
				if c.Flags.Changed(flag) && v == "" {
					return &app.UsageError{Msg: "--" + flag + " is an empty string", Hint: "rewind list"}
				}
			}
			return search(ctx, c, good, bad, words, keep)
		},
	}
}

// bisecting is one run of bisect.
type bisecting struct {
	c     *app.Call
	p     *project.Project
	s     *port.States
	m     *timeline.Makers
	words []string
	dir   string // of the command, in the scratch copy
	steps []bisectStepView
}

func search(ctx context.Context, c *app.Call, good, bad string, words []string, keep bool) (err error) {
	p, err := c.Open(ctx)
	if err != nil {
		return err
	}
	var o port.StatesOptions
	for _, end := range []struct {
		spec string
		to   **manifest.Checkpoint
	}{{good, &o.Good}, {bad, &o.Bad}} {
		if end.spec == "" {
			continue
		}
		l, err := c.Resolve(ctx, p, end.spec)
		if err != nil {
			return err
		}
		*end.to = &l.Checkpoint
	}
	temp := os.TempDir()
	s, err := port.OpenStates(ctx, p, temp, o)
	if err != nil {
		return err
	}
	b := &bisecting{c: c, p: p, s: s, m: timeline.NewMakers(p, nil), words: words, dir: s.Dir()}
	if rel, err := app.RootPath(p.Root(), c.Env.Dir, "."); err == nil {
		b.dir = filepath.Join(b.dir, filepath.FromSlash(rel))
	}
	defer func() {
		if cerr := s.Close(keep); err == nil {
			err = cerr
		}
	}()
	v, err := b.search(ctx)
	if err != nil {
		if keep {
			c.Out.Tell("The scratch copy is %s.", app.Escape(s.Dir()))
		}
		return err
	}
	if keep {
		v.Scratch = new(app.ViewPath(filepath.ToSlash(s.Dir())))
	}
	return b.report(v)
}

// search tries both ends, and then what is between them.
func (b *bisecting) search(ctx context.Context) (bisectView, error) {
	v := bisectView{States: len(b.s.List), Changes: rows.NewChangesView(), Candidates: []bisectStateView{}}
	last := len(b.s.List) - 1
	tell(b.c, "Bisecting %s from %s to %s: about %s.", app.Plural(last+1, "state", "states"), b.name(0), b.name(last), app.Plural(2+bisect.Runs(last), "run", "runs"))
	for _, end := range []struct {
		state   int
		want    bisect.Verdict
		outcome string
	}{{last, bisect.Bad, "good"}, {0, bisect.Good, "bad"}} {
		got, err := b.try(ctx, end.state, "")
		switch {
		case err != nil:
			return v, err
		case got == bisect.Skip:
			return v, fmt.Errorf("the command skips %s (exit code 125), which is an end of the search", b.name(end.state))
		case got != end.want:
			v.Result = end.outcome
			return v, nil
		}
	}
	first, err := bisect.Search(last, func(st bisect.Step) (bisect.Verdict, error) {
		return b.try(ctx, st.State, fmt.Sprintf("%s left, about %s: ", app.Plural(st.Left, "state", "states"), app.Plural(st.Runs, "run", "runs")))
	})
	if err != nil {
		return v, err
	}
	v.Result = "found"
	if len(first) > 1 {
		v.Result = "skipped"
	}
	v.Candidates = app.Map(first, b.view)
	v.LastGood = new(viewState(b.s.List[first[0]-1].Last))
	if len(first) == 1 {
		v.FirstBad = new(b.view(first[0]))
	}
	v.Before, v.After = first[0]-1, first[len(first)-1]
	changes, err := b.s.Changes(v.Before, v.After)
	if err != nil {
		return v, err
	}
	v.list = changes
	for _, ch := range changes {
		v.Changes.Add(ch, nil)
	}
	return v, nil
}

// try runs the command at a state.
func (b *bisecting) try(ctx context.Context, i int, text string) (bisect.Verdict, error) {
	b.c.Out.Working("bisect")
	problems, err := b.s.MoveTo(ctx, i)
	b.c.Out.EndProgress()
	if err != nil {
		return "", err
	}
	for _, p := range problems {
		b.c.Out.Warn("%s: %s", p.Path, p.Reason)
	}
	tell(b.c, "%s%s", text, b.name(i))
	step := bisectStepView{bisectStateView: b.view(i)}
	start := time.Now()
	if info, err := os.Stat(b.dir); err != nil || !info.IsDir() {
		step.Verdict = bisect.Skip
		tell(b.c, "  skipped: the working directory is not in it")
	} else if step.ExitCode, err = b.run(ctx, i); err != nil {
		return "", err
	} else {
		switch {
		case step.ExitCode == 0:
			step.Verdict = bisect.Good
		case step.ExitCode == 125:
			step.Verdict = bisect.Skip
		case step.ExitCode <= 127:
			step.Verdict = bisect.Bad
		default:
			return "", fmt.Errorf("the command ended with %d at %s, which ends the search", step.ExitCode, b.name(i))
		}
		tell(b.c, "  %s (exit code %d, %s)", step.Verdict, step.ExitCode, app.FormatTook(time.Since(start)))
	}
	b.steps = append(b.steps, step)
	return step.Verdict, nil
}

// run gives the command's exit code; for one that a signal ended, 128 and the signal's number.
func (b *bisecting) run(ctx context.Context, i int) (int, error) {
	id := "now"
	if st := b.s.List[i]; !st.Now {
		id = st.ID.String()
	}
	cmd := exec.CommandContext(ctx, b.words[0], b.words[1:]...)
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), "PWD="+b.dir, "REWIND_BISECT_CHECKPOINT="+id, "REWIND_BISECT_PROJECT="+b.p.Root(), fmt.Sprintf("REWIND_BISECT_STEP=%d", len(b.steps)+1))
	cmd.Stdout, cmd.Stderr = b.c.Out.Stderr, b.c.Out.Stderr // stdout has the answer
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	var ended *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return 0, ctx.Err()
	case err == nil:
		return 0, nil
	case errors.As(err, &ended) && ended.ExitCode() >= 0:
		return ended.ExitCode(), nil
	case errors.As(err, &ended):
		if status, ok := ended.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return exitBySignal + int(status.Signal()), nil
		}
		return exitBySignal, nil
	}
	return 0, fmt.Errorf("the command cannot be run: %w", err)
}

// tell says on stderr how far the search is.
func tell(c *app.Call, format string, args ...any) {
	if !c.Quiet {
		c.Out.Tell(format, args...)
	}
}

// name names a state for people.
func (b *bisecting) name(i int) string {
	st := b.s.List[i]
	if st.Now {
		return "the working tree"
	}
	return b.nameOf(st.Listed)
}

// nameOf names a checkpoint for people.
func (b *bisecting) nameOf(st project.Listed) string {
	return rows.ListedNamed(b.c.Out, st, rows.EndsOf(context.Background(), b.m, st.Seq))
}

// brought says what happened between two states: a checkpoint before a tool, or at a prompt, has the
// state before it.
func (b *bisecting) brought(good, bad int) (tool, prompt string) {
	before, after := b.s.List[good].Last, b.s.List[bad]
	switch {
	case after.Kind == manifest.PostTool:
		return after.Tool, after.Prompt
	case before.Kind == manifest.PreTool:
		return before.Tool, before.Prompt
	case before.Kind == manifest.Prompt:
		return "", before.Prompt
	case after.Kind == manifest.Stop || after.Kind == manifest.SessionEnd:
		return "", after.Prompt
	}
	return "", ""
}
