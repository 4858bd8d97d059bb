package restore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/report"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/save"
	"github.com/rewind-cli/rewind/manifest"
)

func NewRun() *app.Command {
	var (
		name string
		yes  bool
	)
	return &app.Command{
		Name:  "run",
		Usage: "[--name N] [--yes] [--] CMD [args…]",
		Short: "take a checkpoint, run a command, and offer to undo it",
		Long: "Takes a checkpoint, then runs CMD with this terminal. If CMD fails and has changed\n" +
			"files, it says what changed and how to undo it; at a terminal it asks, and --yes undoes\n" +
			"it without asking. If CMD succeeds, or changed nothing, it says nothing.\n" +
			"The exit code is CMD's: 128 and the signal's number if a signal ended it, 127 if there\n" +
			"is no such command, 126 if it cannot be run. With --json, what CMD prints goes to stderr.",
		Examples: []app.Example{
			{Line: "rewind run -- make migrate", Does: "run it with a way back"},
			{Line: "rewind run --yes -- ./codemod.sh src", Does: "all of it or nothing"},
			{Line: "rewind run --name before-upgrade -- npm update", Does: "with a name for the checkpoint"},
		},
		Answers:  app.Answers{"run": runView{}},
		Exits:    []int{app.ExitBusy, app.ExitDamaged},
		MaxArgs:  -1,
		Verbatim: true,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&name, "name", "", "a `name` for the checkpoint")
			f.BoolVarP(&yes, "yes", "y", false, "undo what a failed command changed, without asking")
		},
		Run: func(ctx context.Context, c *app.Call) error {
			return runRun(ctx, c, append(c.Args, c.Paths...), name, yes)
		},
	}
}

// CommandExit is the end of a program that was run: its exit code is ours, and there is nothing to say.
type CommandExit struct{ code int }

func (e *CommandExit) Error() string          { return fmt.Sprintf("exit code %d", e.code) }
func (e *CommandExit) Explain(f *app.Failure) { *f = app.Failure{Code: e.code} }

const (
	exitCannotRun  = 126
	exitNoCommand  = 127
	exitBySignal   = 128 // and its number
	runTool        = "run"
	maxRunShown    = 60  // columns of a command in a message
	maxDescription = 500 // bytes of a command in a checkpoint
)

func runRun(ctx context.Context, c *app.Call, words []string, name string, yes bool) error {
	if len(words) == 0 || words[0] == "" {
		return &app.UsageError{Msg: "no command to run", Hint: "rewind run -- make test"}
	}
	if c.Flags.Changed("name") && name == "" {
		return &project.BadNameError{Name: "", Reason: "it is empty"}
	}
	p, err := c.Open(ctx)
	if err != nil {
		return err
	}
	path, err := exec.LookPath(words[0])
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return notRun(c, words[0], err)
	}
	line := strings.ToValidUTF8(strings.Join(app.QuoteAll(words), " "), "\uFFFD")
	text := line
	if len(text) > maxDescription {
		text = strings.ToValidUTF8(text[:maxDescription], "") + "…"
	}
	// A kind that retention may take: there may be many of them, and a name is a way to keep one.
	saved, err := save.Save(ctx, p, checkpoint.Options{Kind: manifest.PreTool, Description: text, Name: name, By: conversation.Trigger{Tool: runTool}})
	if err != nil {
		return err
	}
	c.Out.Note("saved %s", saved.Checkpoint.ID.String()[:app.ShortID])
	report.WarnTooLarge(c, saved.TooLarge)
	if bad := problem.FailedOf(saved.Partial); len(bad) > 0 {
		for _, b := range app.FirstN(bad, app.MaxNamed) {
			c.Out.Warn("%s: %s", b.Path, b.Reason)
		}
		c.Out.Warn("%s could not be captured, and cannot be brought back if the command changes them", app.Plural(len(bad), "path", "paths"))
	}
	c.Close() // the command may do anything, for any time
	if ctx.Err() != nil {
		return &NotRunError{saved.Checkpoint.ID.String()[:app.ShortID]}
	}
	ended, err := runProgram(c, path, words)
	if err != nil {
		return notRun(c, words[0], err)
	}
	ctx, stop := app.Interruptible()
	defer stop()
	c.Out.Interrupted = ctx.Done()
	return afterRun(ctx, c, ended, line, words, saved.Checkpoint, yes)
}

// NotRunError: after the checkpoint was saved, Ctrl-C came before the command began.
type NotRunError struct{ Saved string }

func (e *NotRunError) Error() string { return "the command was not run" }
func (e *NotRunError) Unwrap() error { return context.Canceled }

func (e *NotRunError) Interrupted() string {
	return "the command was not run; the checkpoint " + e.Saved + " is kept"
}

// notRun says why a command does not run.
func notRun(c *app.Call, name string, err error) error {
	code := exitCannotRun
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		code, err = exitNoCommand, errors.New("no such command")
	}
	var pathErr *os.PathError
	var execErr *exec.Error
	switch {
	case errors.As(err, &execErr):
		err = execErr.Err
	case errors.As(err, &pathErr):
		err = pathErr.Err
	}
	return app.Coded(fmt.Errorf("%s: %w", app.Quote(name), err), code)
}

// programEnd is how a program ended.
type programEnd struct {
	code   int
	signal syscall.Signal // 0: by itself
}

func (e programEnd) String() string {
	if e.signal != 0 {
		return "was ended by a signal (" + e.signal.String() + ")"
	}
	return fmt.Sprintf("failed with exit code %d", e.code)
}

// runProgram runs a program on this terminal and waits for it. Signals are the program's business:
// those that a terminal sends reach it by themselves, the others are handed on.
func runProgram(c *app.Call, path string, words []string) (programEnd, error) {
	cmd := exec.Command(path)
	cmd.Path, cmd.Err, cmd.Args = path, nil, words
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Out.Stdin, c.Out.Stdout.Writer, c.Out.Stderr
	if c.JSON {
		cmd.Stdout = c.Out.Stderr
	}
	c.Out.EndProgress()
	signals := make(chan os.Signal, 8)
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(sig) {
			signal.Notify(signals, sig)
		}
	}
	defer signal.Stop(signals)
	terminal := keepTerminal(c.Out)
	defer terminal()
	if err := cmd.Start(); err != nil {
		return programEnd{}, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case sig := <-signals:
			if (sig == os.Interrupt || sig == syscall.SIGQUIT) && onTerminal() {
				continue // the terminal has sent it to the program too
			}
			_ = cmd.Process.Signal(sig)
		case err := <-ended:
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				if cmd.ProcessState == nil {
					return programEnd{}, err
				}
			}
			if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
				return programEnd{exitBySignal + int(status.Signal()), status.Signal()}, nil
			}
			return programEnd{code: cmd.ProcessState.ExitCode()}, nil
		}
	}
}

// onTerminal reports whether there is a terminal that sends signals to whatever runs on it.
func onTerminal() bool {
	f, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	f.Close()
	return true
}

// keepTerminal gives what puts the terminal back into the state that it is in: a program that was
// killed leaves it as it was then.
func keepTerminal(o *app.Output) (restore func()) {
	f, ok := o.Stdin.(*os.File)
	if !ok || !o.InOK {
		return func() {}
	}
	state, err := term.GetState(int(f.Fd()))
	if err != nil {
		return func() {}
	}
	return func() { _ = term.Restore(int(f.Fd()), state) }
}

// afterRun says what a failed command changed and how to undo it, and undoes it where the person wants that.
func afterRun(ctx context.Context, c *app.Call, ended programEnd, line string, words []string, before manifest.Checkpoint, yes bool) error {
	view := runView{Command: words, ExitCode: ended.code, Signal: int(ended.signal), Checkpoint: before.ID.String(), Added: []app.PathView{}, Modified: []app.PathView{}, Deleted: []app.PathView{}}
	var end error
	if ended.code != 0 {
		end = &CommandExit{ended.code}
	}
	if end == nil && !c.JSON {
		return nil
	}
	// The plan of the undo is what there is to undo: what git ignores stays as it is.
	p, err := project.Open(ctx, c.OpenOptions())
	var plan *restore.Restored
	o := restore.Options{Checkpoint: before, Half: conversation.CodeOnly, DryRun: true, Args: before.ID.String()[:app.ShortID]}
	if err == nil {
		c.Project, c.Noticed = p, len(p.Notices())
		plan, err = restore.Restore(ctx, p, o)
	}
	c.Out.EndProgress()
	shown := screen.Clip(line, maxRunShown)
	undo := "rewind restore " + before.ID.String()[:app.ShortID] + " --code-only"
	if err != nil {
		c.Out.Warn("what %s changed could not be found out: %s", shown, app.Explain(err).Message)
		c.Out.Hint("%s undoes it", undo)
		return end
	}
	view.take(plan)
	if len(plan.Create)+len(plan.Replace)+len(plan.Delete)+len(plan.Mode) > 0 {
		view.Undo = &undo
		if end != nil {
			counts := rows.ChangeCounts(uint64(plan.Files(plan.Delete)), uint64(len(plan.Replace)+len(plan.Mode)), uint64(plan.Files(plan.Create)))
			c.Out.Warn("%s %s and changed %s", shown, ended, cmp.Or(counts, "directories"))
			done, err := undoRun(ctx, c, p, o, yes)
			switch {
			case err != nil:
				f := app.Explain(err)
				c.Out.Warn("it could not be undone: %s", f.Message)
			case done:
				view.Undone = true
			}
			if !view.Undone {
				c.Out.Hint("rewind undo undoes it")
			}
		}
	}
	if err := c.Document(view); err != nil {
		return err
	}
	return end
}

// undoRun asks, and brings back what the command changed.
func undoRun(ctx context.Context, c *app.Call, p *project.Project, o restore.Options, yes bool) (bool, error) {
	if !yes {
		if !c.Out.Interactive() {
			return false, nil
		}
		ok, err := c.Out.Ask("Undo what it changed?")
		if err != nil || !ok {
			return false, err
		}
	}
	o.DryRun = false
	done, err := restore.Restore(ctx, p, o)
	if err != nil {
		return false, err
	}
	c.Out.EndProgress()
	for _, s := range problem.FailedOf(done.Skip) {
		c.Out.Warn("%s: %s", s.Path, s.Reason)
	}
	if !c.Quiet {
		c.Out.Tell("Undone: %s", report.RestoredLine(done))
		c.Out.Tell("Take that back with: rewind undo")
	}
	return true, nil
}

// runView is the document of run.
type runView struct {
	Command    []string       `json:"command"`
	ExitCode   int            `json:"exit_code"`
	Signal     int            `json:"signal"` // 0: it ended by itself
	Checkpoint string         `json:"checkpoint"`
	Added      []app.PathView `json:"added"`
	Modified   []app.PathView `json:"modified"`
	Deleted    []app.PathView `json:"deleted"`
	Undo       *string        `json:"undo"` // the command that undoes it; null where nothing changed
	Undone     bool           `json:"undone"`
}

// take takes over what undoing would do: the other way round, that is what the command did.
func (v *runView) take(plan *restore.Restored) {
	v.Added, v.Modified, v.Deleted = app.ViewPaths(plan.Delete), app.ViewPaths(slices.Concat(plan.Replace, plan.Mode)), app.ViewPaths(plan.Create)
}
