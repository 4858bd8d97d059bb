package picker

import (
	"context"
	"os"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/screen"
)

// NewPick is what rewind without a command does at a terminal.
func NewPick() *app.Command {
	return &app.Command{
		Name:  "pick",
		Usage: "",
		Short: "look through the checkpoints and restore one",
		Long: "Shows what happened as a timeline: sessions, forks and restores at the side, and beside\n" +
			"each checkpoint its files, its diff and the conversation around it. Letters are commands:\n" +
			"enter shows what restoring would do, v what reverting one turn would do, and y then does\n" +
			"it; / filters, and tab then searches the lines of all files in all checkpoints; d compares\n" +
			"with the files as they are now, f restores single files or hunks, u undoes, U redoes,\n" +
			"? shows all keys, q leaves. On a terminal that can only print lines (TERM=dumb) it asks\n" +
			"for a number instead.",
		Exits: []int{app.ExitPartial, app.ExitBusy, app.ExitDamaged, app.ExitRefused},
		Run:   runPick,
	}
}

func runPick(ctx context.Context, c *app.Call) error {
	if !c.Out.Interactive() {
		return &app.UsageError{Msg: "the picker needs a terminal", Hint: "rewind list"}
	}
	p, err := c.Open(ctx)
	if err != nil {
		return err
	}
	s := newPicking(c, p)
	in, out := c.Out.Stdin.(*os.File), c.Out.Stderr.(*os.File)
	if c.Env.Getenv("TERM") == "dumb" {
		return byNumber(ctx, s)
	}
	scope, id := screen.InProject, ""
	if c.Session != "" {
		scope, id = screen.InSession, c.Session
	}
	m := screen.NewPicker(scope, id, c.Out.ErrColor, !utf8Locale(c.Env.Getenv))
	c.Out.FullScreen(true)
	what, err := screen.Show(ctx, in, out, m, s.answer)
	c.Out.FullScreen(false)
	if err != nil {
		return byNumber(ctx, s) // no raw mode
	}
	if rerr := s.report(); rerr != nil {
		return rerr
	}
	if what == screen.Interrupt {
		return context.Canceled
	}
	return nil
}

// utf8Locale reports whether the terminal shows more than ASCII, as far as the environment says.
func utf8Locale(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(getenv(name)); v != "" {
			return v != "c" && v != "posix" && (!strings.Contains(v, ".") || strings.Contains(v, "utf"))
		}
	}
	return getenv("TERM") != "linux" && getenv("TERM") != "vt100"
}
