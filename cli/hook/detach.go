package hook

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/registration"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/hook"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/remote"
	"github.com/rewind-cli/rewind/hookio"
	"github.com/rewind-cli/rewind/hookio/register"
	"github.com/rewind-cli/rewind/manifest"
)

// workerFlag marks the detached process that finishes what a hook began.
const workerFlag = "--detached"

// Words of its command line that carry a value.
const (
	sessionWord = "--session="
	budgetWord  = "--budget="
	agentWord   = "--complete="
)

// detach starts a process of this program that outlives the hook and the agent.
func (h *process) detach(o hook.WorkOptions) error {
	cmd, err := app.Detach(h.Env, "hook", workerFlag, h.Project.Root())
	if err != nil {
		return err
	}
	cmd.Args[0] = detachedName(h.self)
	if o.Sweep {
		cmd.Args = append(cmd.Args, "--sweep")
	}
	if o.Fold {
		cmd.Args = append(cmd.Args, "--fold")
	}
	if o.Session != "" {
		cmd.Args = append(cmd.Args, sessionWord+o.Session)
	}
	if o.Budget > 0 {
		cmd.Args = append(cmd.Args, budgetWord+o.Budget.String())
	}
	if h.completes() {
		cmd.Args = append(cmd.Args, agentWord+string(h.event.Agent))
		h.completing = true
	}
	cmd.Dir = h.Project.StoreDir() // not the agent's, which may be about to go
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start a detached process: %w", err)
	}
	return cmd.Process.Release()
}

// detachedName is the program's own name, also where it was called by the older tool's.
func detachedName(self string) string {
	if isOlderName(self) {
		return "rewind"
	}
	return self
}

// after is what a word has behind its beginning, "" where that is another.
func after(word, begin string) string {
	value, ok := strings.CutPrefix(word, begin)
	if !ok {
		return ""
	}
	return value
}

// runWorker is the detached process: rewind hook --detached ROOT [--sweep] [--fold] [--session=ID] [--budget=TIME]
// [--complete=AGENT], or [--push], or --watch.
func runWorker(words []string, env account.Env) {
	var root string
	var o hook.WorkOptions
	var agent hookio.Agent
	var push string
	var watches bool
	for _, w := range words {
		switch {
		case w == "--sweep":
			o.Sweep = true
		case w == "--fold":
			o.Fold = true
		case w == watchWord:
			watches = true
		case w == pushWord, w == hurryWord, w == askWord:
			push = w
		case filepath.IsAbs(w):
			root = w
		default:
			o.Session = cmp.Or(after(w, sessionWord), o.Session)
			agent = cmp.Or(hookio.Agent(after(w, agentWord)), agent)
			if d, err := time.ParseDuration(after(w, budgetWord)); err == nil {
				o.Budget = d
			}
		}
	}
	if root == "" {
		return
	}
	lowPriority()
	ctx, stop := app.Interruptible()
	defer stop()
	if watches {
		runWatcher(ctx, root, env)
		return
	}
	registration.CompleteRegistration(ctx, env, agent)
	p, err := project.Open(ctx, project.OpenOptions{Env: env, Root: root})
	if err != nil {
		return // the next hook finds the same, and tells
	}
	defer p.Close()
	if push != "" {
		if push == askWord {
			_ = remote.Ask(ctx, p) // the next push asks, too
		}
		_ = remote.Auto(ctx, p, push == hurryWord) // it leaves word of a failure for status
		return
	}
	if err := hook.Work(ctx, p, o); err != nil { // success says nothing about hooks
		p.NoteHookError(err)
	}
	if p.Committed.Load() || remote.Wanted(p) { // what was forgotten is gone now, so that a push can go on
		_ = remote.Auto(ctx, p, false)
	}
}

// completes reports whether the event is one after which the agent's registration is looked at. It costs
// one look at the account, at a session's start.
func (h *process) completes() bool {
	if h.Event.Kind != manifest.SessionStart || h.Project == nil {
		return false
	}
	a := registration.Completable(h.Env, h.event.Agent)
	if a == nil {
		return false
	}
	r := account.RegistrationOf(h.Env, string(a.Agent), a.Dir(a.Where))
	return r.Behind(register.Generation, h.Env.Time())
}

// complete starts the detached process where nothing else wanted one.
func (h *process) complete() {
	if !h.completing && h.completes() {
		_ = h.detach(hook.WorkOptions{}) // the next session's start tries again
	}
}
