package hook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/hook"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/hookio"
)

// inSession recognises a prompt that is a command for us. Only a prompt of the
// person's counts, and only from the agent that our line was registered with.
func (h *process) inSession() (c hookio.InSessionCommand, args []string, ok bool) {
	e := h.event
	if e.Kind != hookio.Prompt || !e.Agent.InSession() || h.named != e.Agent || !e.ByPerson() || e.InSubagent() {
		return c, nil, false
	}
	return hookio.ParseInSession(e.Prompt)
}

// answer runs one of our own commands that the person typed into the agent, and
// shows them what it says in place of a turn of the model. opened is why there
// is no project, nil where there is one. The words never pass through a shell.
func (h *process) answer(ctx context.Context, c hookio.InSessionCommand, args []string, opened error) hookio.Response {
	words, problem := c.Words(args)
	switch {
	case problem != "":
		return hookio.InSession("rewind: error: " + problem)
	case opened != nil:
		var out strings.Builder
		app.NewOutput(app.Stdio{Out: io.Discard, Err: &out}, h.Env, false).Fail(opened)
		return hookio.InSession(strings.TrimRight(out.String(), "\n"))
	}
	words = append([]string{"--root", h.Project.Root()}, words...)
	variables := []string{
		"REWIND_SESSION_ID", h.event.SessionID, "REWIND_TRANSCRIPT_PATH", h.event.TranscriptPath, "REWIND_AGENT", string(h.event.Agent),
		"REWIND_PROJECT_ROOT", "", "NO_COLOR", "1", "PAGER", "cat", app.ClientVariable, string(h.event.Agent),
	}
	var text string
	if c.Changes {
		text = h.outlive(words, variables)
	} else {
		env := h.Env
		env.Dir = h.Project.Root()
		for i := 0; i < len(variables); i += 2 {
			env.Getenv = app.OverrideEnv(env.Getenv, variables[i], variables[i+1])
		}
		var out strings.Builder
		h.command(ctx, words, env, app.Stdio{In: strings.NewReader(""), Out: &out, Err: &out})
		text = out.String()
	}
	for _, notice := range h.Project.Notices() { // of this process, which has opened the project first
		text = "rewind: warning: " + app.Escape(notice) + "\n" + text
	}
	return hookio.InSession(strings.TrimRight(text, "\n"))
}

func stillRunning(command string) string {
	return fmt.Sprintf("rewind: %s is still running in the background; rewind list --ops shows it when it is done", command)
}

// outlive runs a command in a process that is not ended with the hook, and
// returns what it printed: a restore must not be cut short by an agent's
// time-out.
func (h *process) outlive(words, variables []string) string {
	failed := func(err error) string { return "rewind: error: " + app.Escape(problem.Text(err)) }
	cmd, err := app.Detach(h.Env, words...)
	if err != nil {
		return failed(err)
	}
	// A file, not a pipe: a process that writes to a pipe without a reader is killed.
	out, err := os.CreateTemp(filepath.Join(h.Project.StoreDir(), "tmp"), ".tmp-answer-*")
	if err != nil {
		return failed(err)
	}
	defer out.Close()
	defer os.Remove(out.Name())
	cmd.Args[0], cmd.Dir, cmd.Stdout, cmd.Stderr = detachedName(h.self), h.Project.Root(), out, out
	cmd.Env = slices.DeleteFunc(cmd.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		i := slices.Index(variables, name)
		return i >= 0 && i%2 == 0
	})
	for i := 0; i < len(variables); i += 2 {
		cmd.Env = append(cmd.Env, variables[i]+"="+variables[i+1])
	}
	if err := cmd.Start(); err != nil {
		return failed(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err = <-ended:
	case <-time.After(time.Until(h.start.Add(hook.AnswerTime))):
		return stillRunning(words[2])
	}
	text, rerr := io.ReadAll(io.NewSectionReader(out, 0, app.MaxAnswer))
	var exit *exec.ExitError
	if err = errors.Join(err, rerr); err != nil && (!errors.As(err, &exit) || len(text) == 0) {
		return string(text) + failed(err)
	}
	return string(text)
}
