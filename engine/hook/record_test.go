package hook_test

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
	"github.com/rewind-cli/rewind/internal/testkit/testlab"
	"github.com/rewind-cli/rewind/manifest"
)

// at reads a file of a checkpoint.
func (l *lab) at(c manifest.Checkpoint, path string) (text string) {
	l.T.Helper()
	l.Do(func(ctx context.Context, p *project.Project) error {
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
	l.Write("a.txt", "one")
	l.Init()
	k := l.TranscriptFile()
	k.Say("hello", "there")
	by := k.Trigger()
	by.PromptID, by.Prompt = "p1", "do it"
	session := &manifest.Session{ID: by.Session, Agent: by.Agent, TranscriptPath: by.Transcript, Time: time.Unix(1_700_000_000, 0).UTC()}
	l.Report(hook.Event{Time: session.Time, Kind: manifest.Prompt, Moment: settings.Prompt, By: by})
	if s := account.LoadSession(l.Env, by.Agent, by.Session); s.Registered != by.Transcript {
		t.Errorf("%+v", s)
	}
	l.Report(hook.Event{Time: session.Time, Kind: manifest.Stop, Moment: settings.Stop, By: by})
	l.Work()
	list := l.Newest(0)
	if len(list) != 2 {
		t.Fatalf("%d checkpoints, want the first and the prompt's: the stop changed nothing", len(list))
	}
	c := list[0].Checkpoint
	if c.Kind != manifest.Prompt || c.Prompt != "do it" || c.PromptID != "p1" || c.Session != testlab.Session || c.Transcript == nil || l.Conversation(c) != k.Bytes() {
		t.Errorf("%+v", c)
	}
	l.Do(func(ctx context.Context, p *project.Project) error {
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
