package testlab

import (
	"context"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/hook"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/settings"
	"github.com/rewind-cli/rewind/manifest"
)

// Report lets an agent report an event, as its hook does. If the time of the event is long over, its checkpoint is left
// to the detached process, which Work is.
func (l *Lab) Report(e hook.Event) {
	l.T.Helper()
	e.Dir = l.Root
	c := hook.Call{Event: e, Env: l.Env, Detach: func(hook.WorkOptions) error { return nil }}
	c.Load()
	if err := c.Open(context.Background()); err != nil {
		l.T.Fatal(err)
	}
	defer c.Project.Close()
	if err := c.Run(context.Background()); err != nil {
		l.T.Fatal(err)
	}
}

// Work is the detached process.
func (l *Lab) Work() {
	l.T.Helper()
	l.Do(func(ctx context.Context, p *project.Project) error { return hook.Work(ctx, p, hook.WorkOptions{}) })
}

// Does plays what happens in a project, a word each: "w:a=1" writes a file, "d:a" deletes it,
// "save", "restore:N", "undo-restore", and "S/prompt:text", "S/tool:Name", "S/after:Name", "S/stop", "S/start",
// "S/end" take the checkpoint of session S's moment. Of the sessions g and h these are hooks, and so are "h/pre:call" and
// "h/post:call" of a command: they leave lines, and a checkpoint only where one is due.
func (l *Lab) Does(words ...string) {
	l.T.Helper()
	for _, word := range words {
		what, arg, _ := strings.Cut(word, ":")
		switch what {
		case "w":
			path, text, _ := strings.Cut(arg, "=")
			l.Write(path, text)
			continue
		case "d":
			l.Remove(arg)
			continue
		case "save":
			l.SaveWith(checkpoint.Options{Description: arg})
			continue
		case "restore":
			l.Do(func(ctx context.Context, p *project.Project) error {
				c, err := inspect.Resolve(ctx, p, arg)
				if err == nil {
					_, err = restore.Restore(ctx, p, restore.Options{Checkpoint: c.Checkpoint})
				}
				return err
			})
			continue
		case "talk":
			l.Do(func(ctx context.Context, p *project.Project) error {
				c, err := inspect.Resolve(ctx, p, arg)
				if err != nil {
					return err
				}
				_, err = commit.Commit(ctx, p, manifest.Record{Operation: &manifest.Operation{Kind: manifest.OpRestore, Time: p.Env.Time().UTC(), Checkpoint: c.ID}})
				return err
			})
			continue
		case "undo-restore":
			l.Do(func(ctx context.Context, p *project.Project) error {
				_, err := restore.UndoRestore(ctx, p, restore.Options{})
				return err
			})
			continue
		}
		session, moment, ok := strings.Cut(what, "/")
		if !ok {
			l.T.Fatalf("what is %q?", word)
		}
		if session == "g" || session == "h" {
			l.Hooked(session, moment, arg)
			continue
		}
		o := checkpoint.Options{By: conversation.Trigger{Agent: "generic", Session: session}}
		switch moment {
		case "prompt":
			o.Kind, o.By.Prompt = manifest.Prompt, arg
		case "tool":
			o.Kind, o.By.Tool = manifest.PreTool, arg
		case "after":
			o.Kind, o.By.Tool = manifest.PostTool, arg
		case "stop":
			o.Kind = manifest.Stop
		case "start":
			o.Kind = manifest.SessionStart
		case "end":
			o.Kind = manifest.SessionEnd
		default:
			l.T.Fatalf("what is %q?", word)
		}
		l.SaveWith(o)
	}
}

// Hooked runs the hook of a moment of a session.
func (l *Lab) Hooked(session, moment, arg string) {
	l.T.Helper()
	e := hook.Event{Time: time.Now(), By: conversation.Trigger{Agent: "generic", Session: session}}
	switch moment {
	case "prompt":
		e.Kind, e.Moment, e.Edge, e.By.Prompt = manifest.Prompt, settings.Prompt, manifest.WindowPrompt, arg
	case "pre":
		e.Kind, e.Moment, e.Edge, e.Class, e.By.Tool, e.By.ToolUseID = manifest.PreTool, settings.PreShell, manifest.WindowOpen, manifest.WindowShell, "Bash", arg
	case "post":
		e.Kind, e.Moment, e.Edge, e.Class, e.By.Tool, e.By.ToolUseID = manifest.PostTool, settings.PostShell, manifest.WindowClose, manifest.WindowShell, "Bash", arg
	case "stop":
		e.Kind, e.Moment, e.Edge = manifest.Stop, settings.Stop, manifest.WindowStop
	case "end":
		e.Kind, e.Moment, e.Edge = manifest.SessionEnd, settings.SessionEnd, manifest.WindowEnd
	default:
		l.T.Fatalf("what is %q?", moment)
	}
	l.Report(e)
}
