package hook

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/manifest"
)

// once is a hook of an event of session s that began at a time.
func (l *lab) once(began time.Time, kind manifest.CheckpointKind, prompt string) *Call {
	return &Call{Env: l.env, Event: Event{Kind: kind, Time: began, By: conversation.Trigger{Agent: "claude", Session: "s", Prompt: prompt}}}
}

func TestOnce(t *testing.T) {
	l := newLab(t)
	must(t, account.UpdateSession(t.Context(), l.env, "claude", "s", func(*account.SessionState) {}))
	began := time.Now()
	then := func() time.Time { return began }
	one := l.once(began, manifest.Prompt, "undo")
	first, done, err := one.Once(t.Context(), time.Minute)
	if !first || err != nil {
		t.Fatal(first, err)
	}
	second := make(chan bool)
	go func() {
		first, done, _ := l.once(began, manifest.Prompt, "undo").Once(t.Context(), time.Minute)
		done()
		second <- first
	}()
	if first, _, err := l.once(began, manifest.Prompt, "undo").Once(t.Context(), 0); !first || !errors.As(err, new(*account.BusyError)) {
		t.Errorf("while the first is handled: %t, %v", first, err)
	}
	done()
	if <-second {
		t.Error("the second hook of a prompt handled it again")
	}
	for _, c := range []struct {
		name  string
		began func() time.Time
		kind  manifest.CheckpointKind
		what  string // a prompt and its id
		first bool
	}{
		{"began while the first was at it", then, manifest.Prompt, "undo", false},
		{"another event at the same time", then, manifest.Stop, "", true},
		{"other words at the same time", then, manifest.Prompt, "redo", true},
		{"the same behind another event", then, manifest.Prompt, "undo", false},
		{"typed again", time.Now, manifest.Prompt, "undo", true},
		{"a start", then, manifest.SessionStart, "", true},
		{"a start again", time.Now, manifest.SessionStart, "", false},
		{"a start much later", func() time.Time { return time.Now().Add(time.Minute) }, manifest.SessionStart, "", true},
		{"with an id", time.Now, manifest.Prompt, "undo p1", true},
		{"with the same id", time.Now, manifest.Prompt, "undo p1", false},
		{"an event in between", time.Now, manifest.Stop, "", true},
		{"with the same id, behind it", time.Now, manifest.Prompt, "undo p1", true},
		{"with another id", time.Now, manifest.Prompt, "undo p2", true},
		{"a stop", time.Now, manifest.Stop, " p2", true},
		{"that stop, heard of twice", then, manifest.Stop, " p2", false},
		{"another stop of the same turn", time.Now, manifest.Stop, " p2", true},
		{"a tool call", then, manifest.PreTool, "", true},
		{"a tool call again", then, manifest.PreTool, "", true},
	} {
		text, id, _ := strings.Cut(c.what, " ")
		call := l.once(c.began(), c.kind, text)
		call.Event.By.PromptID = id
		first, done, err := call.Once(t.Context(), time.Minute)
		must(t, err)
		if done(); first != c.first {
			t.Errorf("%s: first %t", c.name, first)
		}
	}
}
