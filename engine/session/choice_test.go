package session_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/internal/testkit/testlab"
	"github.com/rewind-cli/rewind/manifest"
)

func sessionID(n int) string { return fmt.Sprintf("%08d-2222-4333-8444-555555555555", n) }

// place is where the agent keeps the sessions of the project.
func (l *lab) place() string {
	return filepath.Join(l.Home, ".claude", "projects", transcript.ClaudeDirName(l.Root))
}

// transcript writes a session with prompts, each a line of its own; ids are given
// so that sessions can share them.
func (l *lab) transcript(session, cwd string, at time.Time, prompts ...string) string {
	l.T.Helper()
	var b strings.Builder
	parent := "null"
	for i, p := range prompts {
		id, text, _ := strings.Cut(p, " ")
		fmt.Fprintf(&b, `{"parentUuid":%s,"isSidechain":false,"type":"user","message":{"role":"user","content":%q},"uuid":%q,"timestamp":%q,"cwd":%q,"sessionId":%q,"version":"2.0.30"}`+"\n",
			parent, text, id, at.Add(time.Duration(i)*time.Second).UTC().Format(time.RFC3339Nano), cwd, session)
		parent = `"` + id + `"`
	}
	if err := os.MkdirAll(l.place(), 0o700); err != nil {
		l.T.Fatal(err)
	}
	file := filepath.Join(l.place(), session+".jsonl")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		l.T.Fatal(err)
	}
	return file
}

// chosen is the session that is meant where none is named; "" and how many are
// to choose from where that is not clear.
func (l *lab) chosen() (id string, choices int) {
	l.T.Helper()
	l.Do(func(ctx context.Context, p *project.Project) error {
		s, err := session.Choose(ctx, p, "")
		var no *session.UnclearError
		if errors.As(err, &no) {
			choices = len(no.Choices)
			return nil
		}
		if err == nil {
			id = s.ID
		}
		return err
	})
	return id, choices
}

// Of sessions that no hook told of, their transcripts say who came from whom.
func TestChooseByTranscripts(t *testing.T) {
	now := time.Now()
	ago := func(minutes int) time.Time { return now.Add(-time.Duration(minutes) * time.Minute) }
	for name, c := range map[string]struct {
		write   func(l *lab)
		want    int // 0: it is not clear
		choices int
	}{
		"none": {func(l *lab) {}, 0, 0},
		"one": {func(l *lab) {
			l.transcript(sessionID(1), l.Root, ago(5), "a one")
		}, 1, 0},
		"stubs beside it": {func(l *lab) {
			l.transcript(sessionID(1), l.Root, ago(5), "a one")
			l.transcript(sessionID(2), l.Root, ago(1))
		}, 1, 0},
		"another project's": {func(l *lab) {
			l.transcript(sessionID(1), l.Root, ago(5), "a one")
			l.transcript(sessionID(2), l.Root+"-x", ago(1), "b other")
		}, 1, 0},
		"a fork by the client": {func(l *lab) {
			l.transcript(sessionID(1), l.Root, ago(9), "a one", "b two")
			l.transcript(sessionID(2), l.Root, ago(9), "a one", "b two", "c three")
		}, 2, 0},
		"its origin went on before": {func(l *lab) {
			l.transcript(sessionID(1), l.Root, ago(9), "a one", "b two")
			l.transcript(sessionID(2), l.Root, ago(9).Add(3*time.Second), "a one", "d three")
		}, 2, 0},
		"both went on": {func(l *lab) {
			l.transcript(sessionID(1), l.Root, ago(9), "a one", "b two", "c three")
			l.transcript(sessionID(2), l.Root, ago(9), "a one", "d two", "e three")
		}, 0, 2},
		"two lineages": {func(l *lab) {
			l.transcript(sessionID(1), l.Root, ago(9), "a one")
			l.transcript(sessionID(2), l.Root, ago(2), "b one")
		}, 0, 2},
		"one of them is old": {func(l *lab) {
			l.transcript(sessionID(1), l.Root, ago(90), "a one")
			l.transcript(sessionID(2), l.Root, ago(2), "b one")
		}, 2, 0},
		"the same lines, forged, in many": {func(l *lab) {
			for n := 1; n <= 9; n++ {
				l.transcript(sessionID(n), l.Root, ago(9), "a one")
			}
			l.transcript(sessionID(10), l.Root, ago(9), "a one", "z own")
		}, 10, 0},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.Init()
			c.write(l)
			id, choices := l.chosen()
			if want := sessionID(c.want); c.want != 0 && id != want || c.want == 0 && (id != "" || choices != c.choices) {
				t.Errorf("chosen %q of %d, want %d of %d", id, choices, c.want, c.choices)
			}
		})
	}
}

// Among thousands of transcripts a choice is among a few, and finds the one that is named.
func TestChooseAmongThousands(t *testing.T) {
	l := newLab(t)
	l.Init()
	const described = 64
	count := 10_000 / testlab.Every(10)
	for n := range count {
		l.transcript(sessionID(n+1), l.Root, time.Now(), fmt.Sprintf("u%d one", n))
	}
	id, choices := l.chosen()
	if id != "" || choices != described {
		t.Errorf("%q, %d", id, choices)
	}
	l.Do(func(ctx context.Context, p *project.Project) error {
		s, err := session.Choose(ctx, p, sessionID(777))
		if err != nil || s.ID != sessionID(777) || s.Last != "one" {
			t.Errorf("%+v, %v", s, err)
		}
		_, err = session.Choose(ctx, p, sessionID(1)[:5])
		var no *session.UnclearError
		if !errors.As(err, &no) || len(no.Choices) > described {
			t.Errorf("a beginning that many have: %v", err)
		}
		return nil
	})
}

// prompted tells the log of a session's start and of a prompt, as hooks do.
func (l *lab) prompted(session, parent, prompt string) manifest.Checkpoint {
	l.T.Helper()
	var saved *checkpoint.Saved
	l.Do(func(ctx context.Context, p *project.Project) (err error) {
		by := conversation.Trigger{Agent: "claude", Session: session, Prompt: prompt, PromptID: "id of " + prompt, Transcript: filepath.Join(l.place(), session+".jsonl")}
		record := &manifest.Session{ID: session, Agent: "claude", TranscriptPath: by.Transcript, Parent: parent, Time: p.Env.Time().UTC()}
		saved, err = checkpoint.Take(ctx, p, checkpoint.TakeOptions{Options: checkpoint.Options{Kind: manifest.Prompt, By: by}, Session: record})
		return err
	})
	return saved.Checkpoint
}

// Parents that go in a circle, a clock that is set back, and transcripts that
// vanish end no command.
func TestChooseWhatHooksTold(t *testing.T) {
	t.Run("circle", func(t *testing.T) {
		l := newLab(t)
		l.Init()
		l.prompted(sessionID(1), sessionID(2), "one")
		l.prompted(sessionID(2), sessionID(1), "two")
		if id, _ := l.chosen(); id != sessionID(2) {
			t.Errorf("%q", id)
		}
	})
	t.Run("the clock is set back", func(t *testing.T) {
		l := newLab(t)
		l.Init()
		l.prompted(sessionID(1), "", "one")
		l.Env.Now = func() time.Time { return time.Now().Add(-24 * time.Hour) }
		if id, _ := l.chosen(); id != sessionID(1) {
			t.Errorf("%q", id)
		}
		l.prompted(sessionID(2), sessionID(1), "two")
		if id, _ := l.chosen(); id != sessionID(2) {
			t.Errorf("%q", id)
		}
	})
	t.Run("ended", func(t *testing.T) {
		l := newLab(t)
		l.Init()
		l.prompted(sessionID(1), "", "one")
		l.prompted(sessionID(2), "", "two")
		if id, n := l.chosen(); id != "" || n != 2 {
			t.Errorf("%q of %d", id, n)
		}
		l.Do(func(_ context.Context, p *project.Project) error {
			time.Sleep(20 * time.Millisecond) // the file system's clock, which checkpoints go by, ticks slower
			p.NoteEnded(project.EndedSession{Agent: "claude", Session: sessionID(2), Time: time.Now().UTC()})
			time.Sleep(20 * time.Millisecond)
			return nil
		})
		if id, _ := l.chosen(); id != sessionID(2) {
			t.Errorf("one ran and ended while the other was quiet: %q", id)
		}
		l.prompted(sessionID(1), "", "three")
		if id, _ := l.chosen(); id != sessionID(1) {
			t.Errorf("the other went on: %q", id)
		}
	})
}

// Two sessions were at work at once, and both ended: it is not clear which is meant, whichever of them ended last.
func TestChooseOfTwoAtWorkAtOnce(t *testing.T) {
	l := newLab(t)
	l.Init()
	l.prompted(sessionID(1), "", "one")
	l.prompted(sessionID(2), "", "two")
	time.Sleep(20 * time.Millisecond) // the file system's clock, which checkpoints go by, ticks slower
	ended := func(n int) {
		l.Do(func(_ context.Context, p *project.Project) error {
			p.NoteEnded(project.EndedSession{Agent: "claude", Session: sessionID(n), Time: time.Now().UTC()})
			return nil
		})
	}
	ended(2)
	l.Write("file", "of the first")
	l.Do(func(ctx context.Context, p *project.Project) error {
		by := conversation.Trigger{Agent: "claude", Session: sessionID(1)}
		_, err := checkpoint.Take(ctx, p, checkpoint.TakeOptions{Options: checkpoint.Options{Kind: manifest.Stop, By: by}})
		return err
	})
	time.Sleep(20 * time.Millisecond)
	ended(1)
	if id, n := l.chosen(); id != "" || n != 2 {
		t.Errorf("%q of %d", id, n)
	}
}

// A fork that the client made shares lines with its origin, and has no other tie.
func TestPromptOfAForksOrigin(t *testing.T) {
	l := newLab(t)
	l.Write("file", "0")
	l.Init()
	origin, fork, stranger := sessionID(1), sessionID(2), sessionID(3)
	first := l.prompted(origin, "", "first")
	l.transcript(origin, l.Root, first.Time, "a first")
	l.Write("file", "1")
	second := l.prompted(origin, "", "second")
	l.transcript(origin, l.Root, second.Time, "a first", "b second")
	l.Write("file", "2")
	l.prompted(stranger, "", "elsewhere")
	l.Write("file", "3")
	third := l.prompted(fork, "", "third")
	l.transcript(fork, l.Root, second.Time.Add(-time.Second), "a first", "b second")
	l.Do(func(ctx context.Context, p *project.Project) error {
		// third has no line yet: the last prompts are those of the origin.
		for spec, want := range map[string]manifest.Checkpoint{"prompt~1": second} {
			if c, err := inspect.ResolveIn(ctx, p, spec, fork); err != nil || c.ID != want.ID {
				t.Errorf("%s is %s (%v), want %s", spec, c.ID, err, want.ID)
			}
		}
		return nil
	})
	// A session that nobody's checkpoint is of: nothing says how old another's tree was at its first prompt.
	l.transcript(sessionID(4), l.Root, third.Time.Add(-time.Microsecond), "x unheard of")
	l.Do(func(ctx context.Context, p *project.Project) error {
		var unsaved *conversation.PromptNotSavedError
		if c, err := inspect.ResolveIn(ctx, p, "prompt~1", sessionID(4)); !errors.As(err, &unsaved) {
			t.Errorf("%s %q (%v), want none", c.ID, c.Prompt, err)
		}
		return nil
	})
}

// A project that moved has its forks where clients look for them now.
func TestForkOfAMovedProject(t *testing.T) {
	l := newLab(t)
	l.Write("file", "0")
	l.Init()
	c := l.prompted(sessionID(1), "", "one")
	l.transcript(sessionID(1), l.Root, c.Time, "a one")
	second := l.prompted(sessionID(1), "", "two")
	origin := l.transcript(sessionID(1), l.Root, c.Time, "a one", "b two")
	old := l.Root
	l.Root += "-moved"
	if err := os.Rename(old, l.Root); err != nil {
		t.Fatal(err)
	}
	l.Env.Dir = l.Root
	l.Do(func(ctx context.Context, p *project.Project) error {
		s, err := session.Choose(ctx, p, sessionID(1))
		if err != nil {
			return err
		}
		done, err := restore.Back(ctx, p, restore.BackOptions{Session: s, N: 1})
		if err != nil {
			return err
		}
		m := done.Conversation
		if filepath.Dir(m.File) != l.place() || !strings.HasPrefix(m.Resume, "cd "+l.Root+" && ") {
			t.Errorf("the fork is %s, opened with %q", m.File, m.Resume)
		}
		return nil
	})
	// Its origin lies where clients of the old path have put it: those of the new
	// one do not all find it there.
	l.Do(func(ctx context.Context, p *project.Project) error {
		done, err := restore.UndoRestore(ctx, p, restore.Options{})
		if err != nil {
			return err
		}
		m, want := done.Conversation, filepath.Join(l.place(), sessionID(1)+".jsonl")
		if m.Session != sessionID(1) || m.File != want || m.Resume != "cd "+l.Root+" && claude --resume "+sessionID(1) {
			t.Errorf("%s in %s is opened with %q", m.Session, m.File, m.Resume)
		}
		old, err := os.ReadFile(origin)
		if err != nil {
			return err
		}
		now, err := os.ReadFile(want)
		if string(now) != string(old) {
			t.Errorf("it is there with other content")
		}
		return err
	})
	_ = second
}
