package restore

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/session"
)

// sessionOf is the session whose conversation a restore moves, nil for that of
// the checkpoint: one that is named counts, and at a bare time the one in
// whose shell the command runs, since the newest checkpoint may be another's.
func sessionOf(ctx context.Context, c *app.Call, p *project.Project, spec string, l project.Listed, h conversation.Half) (*session.Chosen, error) {
	switch {
	case c.Session != "": // of the files alone, it is whose turns go
		return c.ChooseSession(ctx, p)
	case h == conversation.CodeOnly:
		return nil, nil
	case !strings.HasPrefix(spec, "@{"):
		return nil, nil
	case l.Transcript != nil && c.Env.Getenv("REWIND_SESSION_ID") == "" && c.Env.Getenv("REWIND_TRANSCRIPT_PATH") == "":
		return nil, nil
	}
	s, err := c.ChooseSession(ctx, p)
	var none *session.UnclearError
	if errors.As(err, &none) && len(none.Choices) == 0 && none.Named == "" && h == conversation.Both {
		return nil, nil // there is no conversation: the files are all that there is
	}
	return s, err
}

// resume runs the command that opens a session: in a new window inside tmux,
// else here, in the place of this command. How the agent ends is no matter of the
// restore, which is done and reported: it is a warning.
func resume(ctx context.Context, c *app.Call, m *conversation.Moved) error {
	if m == nil || m.Resume == "" {
		return nil
	}
	c.Close() // the agent's hooks want the store
	if err := c.Out.Buf.Flush(); err != nil {
		return &app.OutputError{Err: err}
	}
	var cmd *exec.Cmd
	switch {
	case c.Env.Getenv("TMUX") != "":
		cmd = exec.CommandContext(ctx, "tmux", tmuxWindow(c, m.Resume)...)
	case c.JSON:
		c.Out.Warn("--resume with --json opens the conversation only inside tmux")
		return nil
	default:
		words := app.ShellCommand(m.Resume)
		cmd = exec.Command(words[0], words[1:]...) // Ctrl-C is the agent's
		cmd.Stdin, cmd.Stdout = c.Out.Stdin, os.Stdout
	}
	cmd.Stderr = c.Out.Stderr
	// A client that believes that it runs inside another hides its session.
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); name != "CLAUDECODE" && !strings.HasPrefix(name, "CLAUDE_CODE_") && !strings.HasPrefix(name, "REWIND_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	err := cmd.Run()
	var ended *exec.ExitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &ended) && ended.ExitCode() == notFound:
		c.Out.Warn("the program that opens the conversation was not found in PATH")
	default:
		c.Out.Warn("the command that opens the conversation ended with an error: %v", err)
	}
	c.Out.Hint("open it yourself: %s", m.Resume)
	return nil
}

// notFound is the exit code of a shell that did not find a program.
const notFound = 127

// tmuxWindow are the arguments that open a window for a command. tmux gives it
// the environment of its server, which may be older than this shell: the agent
// must be found, and find its files. Secrets do not go onto a command line. If
// the command fails, the window stays until its message was read.
func tmuxWindow(c *app.Call, line string) []string {
	words := []string{"new-window"}
	for _, name := range []string{"PATH", "HOME", "CLAUDE_CONFIG_DIR"} {
		if v := c.Env.Getenv(name); v != "" {
			words = append(words, "-e", name+"="+v)
		}
	}
	return append(words, line+" || { echo; echo 'press Enter to close this window'; read -r answer; }")
}
