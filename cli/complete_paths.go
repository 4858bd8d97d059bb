package cli

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/command/store"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/stores"
	"github.com/rewind-cli/rewind/manifest"
)

// completesPaths says from which argument on a command's words are paths of a
// checkpoint, where that is before -- too.
func completesPaths(w partialWords) bool {
	switch w.cmd.Name {
	case "cat", "ls":
		return len(w.args) >= 1
	case "history", "blame":
		return true
	case "restore", "revert", "export", "diff", "compare", "undo", "forget", "grep":
		return w.dashed
	}
	return false
}

// completePaths offers the paths of a checkpoint one directory at a time, as shells do.
// Those that are no longer in the working tree are what is looked for.
func completePaths(ctx context.Context, w partialWords, typed string, env account.Env, emit func(value, text string)) {
	p, err := project.Open(ctx, project.OpenOptions{Env: env, Root: w.root})
	if err != nil {
		return // no completion without a project
	}
	defer p.Close()
	specs := []string{"last"}
	ever := w.cmd.Name == "history" || w.cmd.Name == "blame" || w.cmd.Name == "forget" || w.cmd.Name == "grep" || w.cmd.Name == "list"
	switch {
	case ever:
	case (w.cmd.Name == "diff" || w.cmd.Name == "compare") && len(w.args) > 0:
		specs = w.args
	case w.cmd.Name != "undo" && len(w.args) > 0:
		specs = w.args[:1]
	}
	above := typed[:strings.LastIndexByte(typed, '/')+1]
	dir, err := app.RootPath(p.Root(), env.Dir, filepath.Clean("./"+above))
	if filepath.IsAbs(above) {
		dir, err = app.RootPath(p.Root(), env.Dir, filepath.Clean(above))
	}
	if err != nil {
		return
	}
	seen := map[string]bool{}
	offer := func(name, kind string) {
		// The answer is lines: such a name cannot be in it.
		if strings.ContainsAny(name, "\n\r\t") || seen[name] || strings.HasPrefix(name, ".") && above == typed {
			return
		}
		seen[name] = true
		if kind == "directory" {
			name += "/"
		}
		emit(above+name, kind)
	}
	for _, spec := range specs {
		l, err := app.Resolve(ctx, p, spec)
		if err != nil {
			continue
		}
		list, err := inspect.Dir(ctx, p, l.Checkpoint, dir)
		if err != nil {
			continue
		}
		for _, e := range list {
			switch e.Kind {
			case manifest.Subdir:
				offer(e.Name, "directory")
			case manifest.Symlink:
				offer(e.Name, "link")
			default:
				offer(e.Name, "file")
			}
		}
	}
	if ever {
		// What any checkpoint had, of which the newest's own are known by now.
		names, err := inspect.NamesEver(ctx, p, dir)
		if err != nil {
			return
		}
		for _, n := range names {
			if n.Dir {
				offer(n.Name, "directory")
			} else {
				offer(n.Name, "file")
			}
		}
	}
}

// completePathsOf offers CKPT:PATH, as show takes it. Times and ids that agents bind have colons, too.
func completePathsOf(ctx context.Context, w partialWords, typed string, env account.Env, emit func(value, text string)) {
	for i := range typed {
		if typed[i] == ':' {
			w.args = []string{typed[:i]}
			completePaths(ctx, w, typed[i+1:], env, func(value, text string) { emit(typed[:i+1]+value, text) })
		}
	}
}

// completeSessions offers the agents' sessions.
func completeSessions(ctx context.Context, root string, env account.Env, emit func(value, text string)) {
	p, err := project.Open(ctx, project.OpenOptions{Env: env, Root: root})
	if err != nil {
		return
	}
	defer p.Close()
	sessions, err := conversation.Sessions(ctx, p)
	if err != nil {
		return
	}
	for _, s := range app.FirstN(sessions, completedCheckpoints) {
		emit(s.ID, app.FirstLine(s.Label()))
	}
}

// completeStores offers the stores that no project has any more, and any other by the beginning of its id: those are not
// taken away by accident.
func completeStores(ctx context.Context, typed string, env account.Env, emit func(value, text string)) {
	all, err := stores.List(ctx, env)
	if err != nil {
		return
	}
	for _, s := range all {
		if s.State.Dead() || typed != "" {
			emit(s.ID, app.Escape(store.StateText(s.State)+" "+s.Root))
		}
	}
}
