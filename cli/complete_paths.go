package cli

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/rewind-cli/rewind/engine"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/stores"
	"github.com/rewind-cli/rewind/manifest"
)

// completesPaths says from which argument on a command's words are paths of a
// checkpoint, where that is before -- too.
func completesPaths(w partialWords) bool {
	switch w.cmd.name {
	case "cat", "ls":
		return len(w.args) >= 1
	case "restore", "export", "diff", "undo", "forget":
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
	switch {
	case w.cmd.name == "diff" && len(w.args) > 0:
		specs = w.args
	case w.cmd.name != "forget" && w.cmd.name != "undo" && len(w.args) > 0:
		specs = w.args[:1]
	}
	above := typed[:strings.LastIndexByte(typed, '/')+1]
	dir, err := rootPath(p.Root(), env.Dir, filepath.Clean("./"+above))
	if filepath.IsAbs(above) {
		dir, err = rootPath(p.Root(), env.Dir, filepath.Clean(above))
	}
	if err != nil {
		return
	}
	seen := map[string]bool{}
	for _, spec := range specs {
		l, err := resolve(ctx, p, spec)
		if err != nil {
			continue
		}
		list, err := engine.Dir(ctx, p, l.Checkpoint, dir)
		if err != nil {
			continue
		}
		for _, e := range list {
			// The answer is lines: such a name cannot be in it.
			if strings.ContainsAny(e.Name, "\n\r\t") || seen[e.Name] || strings.HasPrefix(e.Name, ".") && above == typed {
				continue
			}
			seen[e.Name] = true
			switch e.Kind {
			case manifest.Subdir:
				emit(above+e.Name+"/", "directory")
			case manifest.Symlink:
				emit(above+e.Name, "link")
			default:
				emit(above+e.Name, "file")
			}
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
	for _, s := range firstN(sessions, completedCheckpoints) {
		emit(s.ID, firstLine(s.Label()))
	}
}

// completeStores offers the stores that no project has any more: the others are not taken
// away by accident.
func completeStores(ctx context.Context, env account.Env, emit func(value, text string)) {
	all, err := stores.List(ctx, env)
	if err != nil {
		return
	}
	for _, s := range all {
		if s.State.Dead() {
			emit(s.ID, escape(stateText(s.State)+" "+s.Root))
		}
	}
}
