package hook

import (
	"context"
	"errors"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/save"
	"github.com/rewind-cli/rewind/engine/watch"
	"github.com/rewind-cli/rewind/manifest"
)

// watchWord is that of the detached process that watches: rewind hook --detached ROOT --watch.
const watchWord = "--watch"

// The pace of a watcher that hooks start: what agents do, their hooks save, and what a person does is saved when it has settled.
const (
	watchQuiet = time.Minute
	watchLeast = 5 * time.Minute
	watchIdle  = 12 * time.Hour // it ends after that long without a change; the next prompt starts it again
)

// watch starts a watcher at a session's start and at prompts, where the settings want one and none answers.
func (h *process) watch() {
	p := h.Project
	if !p.Settings().Watch || h.Event.Kind != manifest.SessionStart && h.Event.Kind != manifest.Prompt {
		return
	}
	if a := watch.Ask(p.Root(), watch.Question{}); a != nil {
		a.Close()
		return
	}
	if err := startWorker(p, watchWord); err != nil {
		p.NoteHookError(err)
	}
}

// runWatcher is the detached process. Where the system cannot report changes, status says why.
func runWatcher(ctx context.Context, root string, env account.Env) {
	open := func(ctx context.Context) (*project.Project, error) {
		return project.Open(ctx, project.OpenOptions{Env: env, Root: root})
	}
	note := func(err error) {
		if p, openErr := open(ctx); openErr == nil {
			p.NoteHookError(err)
			p.Close()
		}
	}
	err := save.Watch(ctx, save.WatchOptions{
		Open:    open,
		Pace:    watch.Pace{Quiet: watchQuiet, Least: watchLeast},
		Idle:    watchIdle,
		Started: func(string, int) {},
		Saved:   func(*checkpoint.Saved) {},
		Failed:  note,
	})
	var other *save.AlreadyWatchedError
	if err != nil && !errors.As(err, &other) && !errors.Is(err, watch.ErrGone) {
		note(err)
	}
}
