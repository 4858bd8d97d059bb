package hook

import (
	"context"
	"time"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/report"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/hook"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/remote"
	"github.com/rewind-cli/rewind/manifest"
)

// pushWord is that of the detached process that pushes: rewind hook --detached ROOT --push[=hurry|=ask].
const (
	pushWord  = "--push"
	hurryWord = "--push=hurry" // it does not wait for more
	askWord   = "--push=ask"   // before it pushes, it asks whether this machine was put back to an earlier state
)

// flushTime is how long the end of a turn waits for a push, where the machine may be gone right after it and no setting says otherwise.
const flushTime = 3 * time.Second

// flushes is how long the end of a turn waits for a push here.
func flushes(p *project.Project) time.Duration {
	switch set := p.Settings().Push.Flush; {
	case set != nil:
		return *set
	case mayVanish(p.Env):
		return flushTime
	}
	return 0
}

// StartPush starts a detached process that pushes what was committed, if a remote wants it and none is there already. hurry: it
// does not wait for more.
func StartPush(p *project.Project, hurry bool) error {
	if !remote.Wanted(p) {
		return nil
	}
	if hurry {
		return startWorker(p, hurryWord)
	}
	return startWorker(p, pushWord)
}

// startWorker starts the detached process for one word.
func startWorker(p *project.Project, word string) error {
	cmd, err := app.Detach(p.Env, "hook", workerFlag, p.Root(), word)
	if err != nil {
		return err
	}
	cmd.Dir = p.StoreDir()
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}

// push has what hooks saved pushed; at the end of a turn it waits for that, as long as the setting says, or where the machine may be gone with it.
func (h *process) push(ctx context.Context) {
	kind := h.Event.Kind
	if h.opensSession() && remote.AskWanted(h.Project, mayVanish(h.Env)) && startWorker(h.Project, askWord) == nil {
		return
	}
	ends := kind == manifest.Stop || kind == manifest.SessionEnd
	if !ends && !h.Project.Committed.Load() {
		return
	}
	var wait time.Duration
	if ends {
		wait = flushes(h.Project)
	}
	if err := StartPush(h.Project, wait > 0); err != nil || wait == 0 {
		return // the next save tries again
	}
	ctx, cancel := context.WithTimeout(ctx, min(wait, time.Until(h.start.Add(hook.WatchTime-time.Second))))
	defer cancel()
	remote.Flush(ctx, h.Project)
}

// opensSession reports whether a session starts: after a compaction it continues.
func (h *process) opensSession() bool {
	return h.Event.Kind == manifest.SessionStart && h.Event.Source != "compact"
}

// behind says that the project was put back to an earlier state than what was pushed from it, where a session starts or continues; "": it is not known to be so.
func (h *process) behind() string {
	if !h.opensSession() && h.Event.Kind != manifest.Prompt {
		return ""
	}
	for _, l := range remote.Laters(h.Project) {
		return "[rewind] Note: " + report.LaterText(l) + "."
	}
	return ""
}

// mayVanish reports whether this looks like a sandbox, which can be stopped with the agent: it has no terminal, or a variable of one.
func mayVanish(env account.Env) bool {
	for _, name := range []string{"CLAUDE_CODE_REMOTE", "CODESPACES", "E2B_SANDBOX", "GITPOD_WORKSPACE_ID"} {
		if env.Variable(name) != "" {
			return true
		}
	}
	return !hasTerminal()
}
