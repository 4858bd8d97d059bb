//go:build unix

package session_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/session"
)

// A session belongs to the project in which its client was started. The project around that one takes it only if it is named.
func TestChooseAroundANestedProject(t *testing.T) {
	now := time.Now()
	below := func(l *lab, path string) string { return filepath.Join(l.Root, filepath.FromSlash(path)) }
	nested := func(l *lab) string {
		l.Write("sub/file", "x")
		l.In(below(l, "sub")).Init()
		return below(l, "sub")
	}
	worktree := func(l *lab) string {
		l.Write(".trees/w/.git", "gitdir: /somewhere/.git/worktrees/w\n")
		return below(l, ".trees/w")
	}
	started := func(l *lab, session, dir string) {
		if err := account.UpdateSession(context.Background(), l.Env, "claude", session, func(s *account.SessionState) { s.Dir = dir }); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		write func(l *lab)
		want  int // 0: none
	}{
		"a nested project's": {func(l *lab) {
			l.transcript(sessionID(1), nested(l), now, "a one")
		}, 0},
		"below a nested project's root": {func(l *lab) {
			l.Write("sub/deep/file", "x")
			l.transcript(sessionID(1), filepath.Join(nested(l), "deep"), now, "a one")
		}, 0},
		"a worktree's": {func(l *lab) {
			l.transcript(sessionID(1), worktree(l), now, "a one")
		}, 0},
		"an agent's worktree's that is gone": {func(l *lab) {
			l.transcript(sessionID(1), below(l, ".claude/worktrees/w"), now, "a one")
		}, 0},
		"that of a directory that is gone": {func(l *lab) {
			l.transcript(sessionID(1), below(l, "gone/deep"), now, "a one")
		}, 1},
		"a subdirectory's": {func(l *lab) {
			l.Write("dir/file", "x")
			l.transcript(sessionID(1), below(l, "dir"), now, "a one")
		}, 1},
		"its own beside a nested project's": {func(l *lab) {
			l.transcript(sessionID(1), nested(l), now, "a one")
			l.transcript(sessionID(2), l.Root, now.Add(-5*time.Minute), "b one")
		}, 2},
		"a nested project's that wrote here": {func(l *lab) {
			c := l.prompted(sessionID(1), "", "one")
			l.transcript(sessionID(1), nested(l), c.Time, "a one")
		}, 0},
		"a nested project's, without a line in its transcript": {func(l *lab) {
			l.prompted(sessionID(1), "", "one")
			started(l, sessionID(1), nested(l))
		}, 0},
		"a nested project's that was resumed here": {func(l *lab) {
			c := l.prompted(sessionID(1), "", "one")
			l.transcript(sessionID(1), nested(l), c.Time, "a one")
			started(l, sessionID(1), l.Root)
		}, 1},
		"that of a worktree without a store, recorded here": {func(l *lab) {
			c := l.prompted(sessionID(1), "", "one")
			l.transcript(sessionID(1), worktree(l), c.Time, "a one")
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.Init()
			c.write(l)
			want := ""
			if c.want > 0 {
				want = sessionID(c.want)
			}
			if id, choices := l.chosen(); id != want || choices != 0 {
				t.Errorf("chosen %q of %d, want %q", id, choices, want)
			}
			l.Do(func(ctx context.Context, p *project.Project) error {
				s, err := session.Choose(ctx, p, "claude")
				if c.want > 0 && (err != nil || s.ID != want) || c.want == 0 && !errors.As(err, new(*session.UnclearError)) {
					t.Errorf("by its agent's name: %v, %v", s, err)
				}
				if by, err := session.Beside(ctx, p); err != nil || (by == nil) != (want == "") || by != nil && by.ID != want {
					t.Errorf("a save is beside %v (%v), want %q", by, err, want)
				}
				if s, err = session.Choose(ctx, p, sessionID(1)); err != nil || s.ID != sessionID(1) {
					t.Errorf("named: %v", err)
				}
				return nil
			})
		})
	}
}

// The conversation of a session of a nested project is not rewritten for a checkpoint that it left here, unless it is named.
func TestInPlaceAroundANestedProject(t *testing.T) {
	l := newLab(t)
	l.Write("sub/file", "x")
	l.Init()
	l.In(filepath.Join(l.Root, "sub")).Init()
	id := sessionID(1)
	file := l.transcript(id, filepath.Join(l.Root, "sub"), time.Now(), "a one", "b two")
	l.Write("file", "1")
	c := l.SaveWith(checkpoint.Options{By: conversation.Trigger{Agent: "claude", Session: id, Transcript: file}}).Checkpoint
	before := l.transcript(id, filepath.Join(l.Root, "sub"), time.Now(), "a one", "b two", "c three")
	text, err := os.ReadFile(before)
	if err != nil {
		t.Fatal(err)
	}
	err = l.Try(func(ctx context.Context, p *project.Project) error {
		_, err := restore.Restore(ctx, p, restore.Options{Checkpoint: c, InPlace: true, Half: conversation.ConversationOnly})
		return err
	})
	var none *conversation.NoConversationError
	if now, _ := os.ReadFile(file); !errors.As(err, &none) || string(now) != string(text) {
		t.Errorf("unnamed: %v, %q", err, now)
	}
	l.Do(func(ctx context.Context, p *project.Project) error {
		s, err := session.Choose(ctx, p, id)
		if err != nil {
			return err
		}
		_, err = restore.Restore(ctx, p, restore.Options{Checkpoint: c, InPlace: true, Half: conversation.ConversationOnly, Session: s, Force: true})
		return err
	})
	if now, _ := os.ReadFile(file); string(now) == string(text) {
		t.Error("named, and not rewritten")
	}
}
