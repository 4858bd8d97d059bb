package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/save"
	"github.com/rewind-cli/rewind/manifest"
)

func newRun() *command {
	var (
		name string
		yes  bool
	)
	return &command{
		name:  "run",
		usage: "[--name N] [--yes] [--] CMD [args…]",
		short: "take a checkpoint, run a command, and offer to undo it",
		long: "Takes a checkpoint, then runs CMD with this terminal. If CMD fails and has changed\n" +
			"files, it says what changed and how to undo it; at a terminal it asks, and --yes undoes\n" +
			"it without asking. If CMD succeeds, or changed nothing, it says nothing.\n" +
			"The exit code is CMD's: 128 and the signal's number if a signal ended it, 127 if there\n" +
			"is no such command, 126 if it cannot be run. With --json, what CMD prints goes to stderr.",
		examples: []example{
			{"rewind run -- make migrate", "run it with a way back"},
			{"rewind run --yes -- ./codemod.sh src", "all of it or nothing"},
			{"rewind run --name before-upgrade -- npm update", "with a name for the checkpoint"},
		},
		exits:    []int{exitBusy, exitDamaged},
		maxArgs:  -1,
		verbatim: true,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&name, "name", "", "a `name` for the checkpoint")
			f.BoolVarP(&yes, "yes", "y", false, "undo what a failed command changed, without asking")
		},
		run: func(ctx context.Context, c *call) error {
			return runRun(ctx, c, append(c.args, c.paths...), name, yes)
		},
	}
}

// commandExit is the end of a program that was run: its exit code is ours, and there is nothing to say.
type commandExit struct{ code int }

func (e *commandExit) Error() string { return fmt.Sprintf("exit code %d", e.code) }

const (
	exitCannotRun  = 126
	exitNoCommand  = 127
	exitBySignal   = 128 // and its number
	runTool        = "run"
	maxRunShown    = 60  // columns of a command in a message
	maxDescription = 500 // bytes of a command in a checkpoint
)

func runRun(ctx context.Context, c *call, words []string, name string, yes bool) error {
	if len(words) == 0 || words[0] == "" {
		return &usageError{msg: "no command to run", hint: "rewind run -- make test"}
	}
	if c.flags.Changed("name") && name == "" {
		return &project.BadNameError{Name: "", Reason: "it is empty"}
	}
	p, err := c.open(ctx)
	if err != nil {
		return err
	}
	path, err := exec.LookPath(words[0])
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return notRun(c, words[0], err)
	}
	line := strings.ToValidUTF8(strings.Join(quoteAll(words), " "), "\uFFFD")
	text := line
	if len(text) > maxDescription {
		text = strings.ToValidUTF8(text[:maxDescription], "") + "…"
	}
	// A kind that retention may take: there may be many of them, and a name is a way to keep one.
	saved, err := save.Save(ctx, p, checkpoint.Options{Kind: manifest.PreTool, Description: text, Name: name, By: conversation.Trigger{Tool: runTool}})
	if err != nil {
		return err
	}
	c.out.note("saved %s", saved.Checkpoint.ID)
	warnTooLarge(c, saved.TooLarge)
	if bad := problem.FailedOf(saved.Partial); len(bad) > 0 {
		for _, b := range firstN(bad, maxNamed) {
			c.out.warn("%s: %s", b.Path, b.Reason)
		}
		c.out.warn("%s could not be captured, and cannot be brought back if the command changes them", plural(len(bad), "path", "paths"))
	}
	c.close() // the command may do anything, for any time
	if ctx.Err() != nil {
		return &notRunError{saved.Checkpoint.ID.String()[:shortID]}
	}
	ended, err := runProgram(c, path, words)
	if err != nil {
		return notRun(c, words[0], err)
	}
	ctx, stop := interruptible()
	defer stop()
	c.out.interrupted = ctx.Done()
	return afterRun(ctx, c, ended, line, words, saved.Checkpoint, yes)
}

// notRunError: after the checkpoint was saved, Ctrl-C came before the command began.
type notRunError struct{ saved string }

func (e *notRunError) Error() string { return "the command was not run" }
func (e *notRunError) Unwrap() error { return context.Canceled }

// notRun says why a command does not run.
func notRun(c *call, name string, err error) error {
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
	return &codedError{fmt.Errorf("%s: %w", quote(name), err), code}
}

// codedError is an error with an exit code of its own.
type codedError struct {
	error
	code int
}

func (e *codedError) Unwrap() error { return e.error }

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
func runProgram(c *call, path string, words []string) (programEnd, error) {
	cmd := exec.Command(path)
	cmd.Path, cmd.Err, cmd.Args = path, nil, words
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.out.stdin, c.out.stdout.Writer, c.out.stderr
	if c.json {
		cmd.Stdout = c.out.stderr
	}
	c.out.endProgress()
	signals := make(chan os.Signal, 8)
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(sig) {
			signal.Notify(signals, sig)
		}
	}
	defer signal.Stop(signals)
	terminal := keepTerminal(c.out)
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
func keepTerminal(o *output) (restore func()) {
	f, ok := o.stdin.(*os.File)
	if !ok || !o.inOK {
		return func() {}
	}
	state, err := term.GetState(int(f.Fd()))
	if err != nil {
		return func() {}
	}
	return func() { _ = term.Restore(int(f.Fd()), state) }
}

// afterRun says what a failed command changed and how to undo it, and undoes it where the person wants that.
func afterRun(ctx context.Context, c *call, ended programEnd, line string, words []string, before manifest.Checkpoint, yes bool) error {
	view := runView{Command: words, ExitCode: ended.code, Signal: int(ended.signal), Checkpoint: before.ID.String(), Added: []pathView{}, Modified: []pathView{}, Deleted: []pathView{}}
	var end error
	if ended.code != 0 {
		end = &commandExit{ended.code}
	}
	if end == nil && !c.json {
		return nil
	}
	// The plan of the undo is what there is to undo: what git ignores stays as it is.
	p, err := project.Open(ctx, c.openOptions())
	var plan *restore.Restored
	o := restore.Options{Checkpoint: before, Half: conversation.CodeOnly, DryRun: true, Args: before.ID.String()[:shortID]}
	if err == nil {
		c.project, c.noticed = p, len(p.Notices())
		plan, err = restore.Restore(ctx, p, o)
	}
	c.out.endProgress()
	shown := screen.Clip(line, maxRunShown)
	undo := "rewind restore " + before.ID.String()[:shortID] + " --code-only"
	if err != nil {
		c.out.warn("what %s changed could not be found out: %s", shown, explain(err).message)
		c.out.hint("%s undoes it", undo)
		return end
	}
	view.take(plan)
	if len(plan.Create)+len(plan.Replace)+len(plan.Delete)+len(plan.Mode) > 0 {
		view.Undo = &undo
		if end != nil {
			counts := changeCounts(uint64(plan.Files(plan.Delete)), uint64(len(plan.Replace)+len(plan.Mode)), uint64(plan.Files(plan.Create)))
			c.out.warn("%s %s and changed %s", shown, ended, cmp.Or(counts, "directories"))
			done, err := undoRun(ctx, c, p, o, yes)
			switch {
			case err != nil:
				f := explain(err)
				c.out.warn("it could not be undone: %s", f.message)
			case done:
				view.Undone = true
			}
			if !view.Undone {
				c.out.hint("rewind undo undoes it")
			}
		}
	}
	if c.json {
		if err := c.out.document(view); err != nil {
			return err
		}
	}
	return end
}

// undoRun asks, and brings back what the command changed.
func undoRun(ctx context.Context, c *call, p *project.Project, o restore.Options, yes bool) (bool, error) {
	if !yes {
		if !c.out.interactive() {
			return false, nil
		}
		ok, err := c.out.ask("Undo what it changed?")
		if err != nil || !ok {
			return false, err
		}
	}
	o.DryRun = false
	done, err := restore.Restore(ctx, p, o)
	if err != nil {
		return false, err
	}
	c.out.endProgress()
	for _, s := range problem.FailedOf(done.Skip) {
		c.out.warn("%s: %s", s.Path, s.Reason)
	}
	if !c.quiet {
		c.out.tell("Undone: %s", restoredLine(done))
		c.out.tell("Take that back with: rewind undo")
	}
	return true, nil
}

// runView is the document of run.
type runView struct {
	Command    []string   `json:"command"`
	ExitCode   int        `json:"exit_code"`
	Signal     int        `json:"signal"` // 0: it ended by itself
	Checkpoint string     `json:"checkpoint"`
	Added      []pathView `json:"added"`
	Modified   []pathView `json:"modified"`
	Deleted    []pathView `json:"deleted"`
	Undo       *string    `json:"undo"` // the command that undoes it; null where nothing changed
	Undone     bool       `json:"undone"`
}

// take takes over what undoing would do: the other way round, that is what the command did.
func (v *runView) take(plan *restore.Restored) {
	for _, to := range []struct {
		list  *[]pathView
		paths []string
	}{{&v.Added, plan.Delete}, {&v.Modified, plan.Replace}, {&v.Modified, plan.Mode}, {&v.Deleted, plan.Create}} {
		for _, path := range to.paths {
			*to.list = append(*to.list, viewPath(path))
		}
	}
}
