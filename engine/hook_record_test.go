package engine

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/hook"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/settings"
	"github.com/rewind-cli/rewind/manifest"
)

// agent lets an agent report an event, as its hook does. Of one whose time is long over the
// checkpoint is left to the detached process.
func (l *lab) agent(e hook.Event) {
	l.t.Helper()
	e.Dir = l.root
	c := hook.Call{Event: e, Env: l.env, Detach: func(hook.WorkOptions) error { return nil }}
	c.Load()
	if err := c.Open(context.Background()); err != nil {
		l.t.Fatal(err)
	}
	defer c.Project.Close()
	if err := c.Run(context.Background()); err != nil {
		l.t.Fatal(err)
	}
}

// work is the detached process.
func (l *lab) work() {
	l.t.Helper()
	l.do(func(ctx context.Context, p *project.Project) error { return hook.Work(ctx, p, hook.WorkOptions{}) })
}

func (l *lab) newest(n int) (out []project.Listed) {
	l.t.Helper()
	l.do(func(ctx context.Context, p *project.Project) (err error) {
		out, err = p.List(ctx, project.ListOptions{Limit: n})
		return err
	})
	return out
}

// at reads a file of a checkpoint.
func (l *lab) at(c manifest.Checkpoint, path string) (text string) {
	l.t.Helper()
	l.do(func(ctx context.Context, p *project.Project) error {
		e, err := inspect.Entry(ctx, p, c, path)
		if err != nil {
			return err
		}
		r, err := inspect.Content(ctx, p, e)
		if err != nil {
			return err
		}
		defer r.Close()
		data, err := io.ReadAll(r)
		text = string(data)
		return err
	})
	return text
}

// Sessions, prompts and tools come through the detached process as through the
// hook itself, and what is left twice is taken twice.
func TestLeftCaptureKeepsItsRecord(t *testing.T) {
	l := newLab(t)
	l.write("a.txt", "one")
	l.init()
	k := l.transcriptFile()
	k.say("hello", "there")
	by := k.trigger()
	by.PromptID, by.Prompt = "p1", "do it"
	session := &manifest.Session{ID: by.Session, Agent: by.Agent, TranscriptPath: by.Transcript, Time: time.Unix(1_700_000_000, 0).UTC()}
	l.agent(hook.Event{Time: session.Time, Kind: manifest.Prompt, Moment: settings.Prompt, By: by})
	if s := account.LoadSession(l.env, by.Agent, by.Session); s.Registered != by.Transcript {
		t.Errorf("%+v", s)
	}
	l.agent(hook.Event{Time: session.Time, Kind: manifest.Stop, Moment: settings.Stop, By: by})
	l.work()
	list := l.newest(0)
	if len(list) != 2 {
		t.Fatalf("%d checkpoints, want the first and the prompt's: the stop changed nothing", len(list))
	}
	c := list[0].Checkpoint
	if c.Kind != manifest.Prompt || c.Prompt != "do it" || c.PromptID != "p1" || c.Session != testSession || c.Transcript == nil || l.said(c) != k.bytes() {
		t.Errorf("%+v", c)
	}
	l.do(func(ctx context.Context, p *project.Project) error {
		return p.Query(ctx, func(db *manifest.DB) error {
			for s, err := range db.Sessions() {
				if err != nil {
					return err
				}
				if s != *session {
					t.Errorf("%+v, want %+v", s, *session)
				}
				return nil
			}
			t.Error("the log has no session")
			return nil
		})
	})
}
