package cli

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"rewind/engine/hook"
	"rewind/engine/project"
	"rewind/hookio"
	"rewind/manifest"
)

// sweepPause is how often retention looks at a session's start or end.
const sweepPause = time.Hour

// sessionRecord is what the log is told of a session, nil if it knows.
func (h *hookCall) sessionRecord() *manifest.Session {
	e := h.event
	known := h.session.Registered
	if e.SessionID == "" || known != "" && (known == e.TranscriptPath || e.TranscriptPath == "") {
		return nil
	}
	r := &manifest.Session{
		ID: e.SessionID, Agent: string(e.Agent), TranscriptPath: e.TranscriptPath,
		Parent: e.PreviousSessionID, Source: e.Source, Time: h.start.UTC(),
	}
	if e.Kind != hookio.SessionStart {
		r.Source = ""
	}
	if r.Parent == "" && (e.Source == "clear" || e.Source == "fork") {
		// The agent does not say where the session comes from; but it ended one in
		// the same process just before.
		if p := h.agentProcess(); p != "" {
			if last := h.project.Ended(); last.Process == p && last.Agent == r.Agent && last.Session != r.ID {
				r.Parent = last.Session
			}
		}
	}
	return r
}

// agentProcess names the agent's process, "" where it does not say.
func (h *hookCall) agentProcess() string { return h.env.Getenv("CLAUDE_PID") }

// begin is what a session's start brings beside a checkpoint.
func (h *hookCall) begin() {
	h.note(h.export())
	h.note(hook.WriteSession(h.project, hook.CurrentSession{
		Agent: string(h.event.Agent), Session: h.event.SessionID, Transcript: h.event.TranscriptPath,
		Source: h.event.Source, Time: h.start.UTC(),
	}))
	if h.event.SessionID != "" && h.event.Source != "compact" { // which is a turn's, and nobody's choice
		h.project.NoteOpened(project.OpenedSession{Agent: string(h.event.Agent), Session: h.event.SessionID, Time: h.start.UTC()})
	}
	if h.project.Settings().Retention.Auto && hook.SweepDue(h.project, sweepPause) {
		h.note(h.detach("--sweep"))
	}
}

// end is what a session's end brings beside a checkpoint.
func (h *hookCall) end(saved *hook.Saved) {
	if h.event.Kind != hookio.SessionEnd {
		return
	}
	if h.event.SessionID != "" {
		h.project.NoteEnded(project.EndedSession{
			Agent: string(h.event.Agent), Session: h.event.SessionID, Process: h.agentProcess(), Time: h.start.UTC(),
		})
	}
	if h.project.Settings().Retention.Auto && (saved == nil || !saved.Due) && hook.SweepDue(h.project, sweepPause) {
		h.note(h.detach("--sweep"))
	}
}

// export appends what the agent's shell is to know to the file that it reads.
func (h *hookCall) export() error {
	file := hookio.EnvFile(h.event, h.env.Getenv)
	if file == "" || !filepath.IsAbs(file) {
		return nil
	}
	variables := hookio.ShellVariables(h.event, h.project.Root())
	if path := h.env.Getenv("PATH"); !onPath(path) {
		if exe, err := os.Executable(); err == nil && filepath.Base(exe) == "rewind" {
			if value, ok := hookio.WithPath(path, filepath.Dir(exe)); ok && hookio.Exportable(h.event.Agent, value) {
				variables = append(variables, hookio.Variable{Name: "PATH", Value: value})
			}
		}
	}
	if len(variables) == 0 {
		return nil
	}
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("export to the agent's shell: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return fmt.Errorf("export to the agent's shell: %s is not a regular file (%v)", file, err)
	}
	old, err := io.ReadAll(io.LimitReader(f, 1<<20))
	if err != nil {
		return fmt.Errorf("export to the agent's shell: %w", err)
	}
	if add := hookio.Exports(old, variables); len(add) > 0 {
		if _, err := f.Write(add); err != nil {
			return fmt.Errorf("export to the agent's shell: %w", err)
		}
	}
	return f.Close()
}

// onPath reports whether a shell with this PATH finds rewind.
func onPath(path string) bool {
	for _, dir := range filepath.SplitList(path) {
		if info, err := os.Stat(filepath.Join(dir, "rewind")); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return true
		}
	}
	return false
}

// detach starts a process of this program that outlives the hook and the agent.
func (h *hookCall) detach(words ...string) error {
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("start a detached process: %w", err)
	}
	cmd := exec.Command(exe)
	cmd.Args = append([]string{detachedName(h.self), "hook", workerFlag, h.project.Root()}, words...)
	cmd.Dir = h.project.StoreDir() // not the agent's, which may be about to go
	cmd.SysProcAttr = detached()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start a detached process: %w", err)
	}
	return cmd.Process.Release()
}

// detachedName is the program's own name, also where it was called by the older tool's.
func detachedName(self string) string {
	if strings.TrimSuffix(filepath.Base(self), ".exe") == olderName {
		return "rewind"
	}
	return self
}

// runWorker is the detached process: rewind hook --detached ROOT [--sweep] [--fold].
func runWorker(words []string, env project.Env) {
	var root string
	var o hook.WorkOptions
	for _, w := range words {
		switch {
		case w == "--sweep":
			o.Sweep = true
		case w == "--fold":
			o.Fold = true
		case filepath.IsAbs(w):
			root = w
		}
	}
	if root == "" {
		return
	}
	lowPriority()
	ctx, stop := interruptible()
	defer stop()
	p, err := project.Open(ctx, project.OpenOptions{Env: env, Root: root})
	if err != nil {
		return // the next hook finds the same, and tells
	}
	defer p.Close()
	hook.NoteHookFailure(p, hook.Work(ctx, p, o))
}
