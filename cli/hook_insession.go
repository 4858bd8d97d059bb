package cli

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

	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/hookio"
)

const (
	// answerTime is how long the person waits in the agent for a command that
	// changes something; the time-out that is registered is 10 s.
	answerTime = 8 * time.Second
	// maxAnswer bounds what is read of such a command's output; agents show less.
	maxAnswer = 64 << 10
	// clientVariable tells a command of ours that its answer is shown inside an
	// agent. Nobody else sets it.
	clientVariable = "REWIND_ANSWERS_IN"
)

// inSession recognises a prompt that is a command for us. Only a prompt of the
// person's counts, and only from the agent that our line was registered with.
func (h *hookCall) inSession() (c hookio.InSessionCommand, args []string, ok bool) {
	e := h.event
	if e.Kind != hookio.Prompt || !e.Agent.InSession() || h.named != e.Agent || !e.ByPerson() || e.InSubagent() {
		return c, nil, false
	}
	return hookio.ParseInSession(e.Prompt)
}

// answer runs one of our own commands that the person typed into the agent, and
// shows them what it says in place of a turn of the model. opened is why there
// is no project, nil where there is one. The words never pass through a shell.
func (h *hookCall) answer(ctx context.Context, c hookio.InSessionCommand, args []string, opened error) hookio.Response {
	words, problem := c.Words(args)
	switch {
	case problem != "":
		return hookio.InSession("rewind: error: " + problem)
	case opened != nil:
		var out strings.Builder
		newOutput(Stdio{Out: io.Discard, Err: &out}, h.Env, false).fail(opened)
		return hookio.InSession(strings.TrimRight(out.String(), "\n"))
	}
	words = append([]string{"--root", h.Project.Root()}, words...)
	variables := []string{
		"REWIND_SESSION_ID", h.event.SessionID, "REWIND_TRANSCRIPT_PATH", h.event.TranscriptPath, "REWIND_AGENT", string(h.event.Agent),
		"REWIND_PROJECT_ROOT", "", "NO_COLOR", "1", "PAGER", "cat", clientVariable, string(h.event.Agent),
	}
	var text string
	if c.Changes {
		text = h.outlive(words, variables)
	} else {
		env := h.Env
		env.Dir = h.Project.Root()
		for i := 0; i < len(variables); i += 2 {
			env.Getenv = overrideEnv(env.Getenv, variables[i], variables[i+1])
		}
		var out strings.Builder
		run(ctx, words, env, Stdio{In: strings.NewReader(""), Out: &out, Err: &out})
		text = out.String()
	}
	for _, notice := range h.Project.Notices() { // of this process, which has opened the project first
		text = "rewind: warning: " + escape(notice) + "\n" + text
	}
	return hookio.InSession(strings.TrimRight(text, "\n"))
}

// outlive runs a command in a process that is not ended with the hook, and
// returns what it printed: a restore must not be cut short by an agent's
// time-out.
func (h *hookCall) outlive(words, variables []string) string {
	failed := func(err error) string { return "rewind: error: " + escape(problem.Text(err)) }
	exe, err := os.Executable()
	if err != nil {
		return failed(err)
	}
	// A file, not a pipe: a process that writes to a pipe nobody reads is killed.
	out, err := os.CreateTemp(filepath.Join(h.Project.StoreDir(), "tmp"), ".tmp-answer-*")
	if err != nil {
		return failed(err)
	}
	defer out.Close()
	defer os.Remove(out.Name())
	cmd := exec.Command(exe)
	cmd.Args = append([]string{detachedName(h.self)}, words...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = h.Project.Root(), out, out, detached()
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if i := slices.Index(variables, name); i < 0 || i%2 != 0 {
			cmd.Env = append(cmd.Env, v)
		}
	}
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
	case <-time.After(time.Until(h.start.Add(answerTime))):
		return fmt.Sprintf("rewind: %s is still running in the background; rewind list --ops shows it when it is done", words[2])
	}
	text, rerr := io.ReadAll(io.NewSectionReader(out, 0, maxAnswer))
	var exit *exec.ExitError
	if err = errors.Join(err, rerr); err != nil && (!errors.As(err, &exit) || len(text) == 0) {
		return string(text) + failed(err)
	}
	return string(text)
}

// typed says how the person types a command line where the answer is shown.
func (o *output) typed(line string) string {
	if o.client == "" {
		return line
	}
	return hookio.TypedInSession(line)
}

// clientVersion is the version of the agent that wrote a transcript, as the last of its lines that
// names one says it; "" where none does.
func clientVersion(transcript string) string {
	f, err := os.Open(transcript)
	if err != nil {
		return ""
	}
	defer f.Close()
	const end = 64 << 10
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return ""
	} else if info.Size() > end {
		_, _ = f.Seek(-end, io.SeekEnd) // else its beginning tells
	}
	data, err := io.ReadAll(io.LimitReader(f, end))
	if err != nil {
		return ""
	}
	const member = `"version":"`
	i := strings.LastIndex(string(data), member)
	if i < 0 {
		return ""
	}
	version, _, _ := strings.Cut(string(data[i+len(member):]), `"`)
	return version
}

// opens says how the person opens a conversation where the answer is shown.
func (o *output) opens(m *conversation.Moved) string {
	if o.client != "" && m.Agent == string(o.client) && m.Session != "" && m.Again == "" {
		if typed := o.client.Opens(m.Session, clientVersion(o.transcript)); typed != "" {
			return typed
		}
	}
	return m.Resume
}
