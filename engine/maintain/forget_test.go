//go:build unix

package maintain_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/hook"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/save"
	"github.com/rewind-cli/rewind/engine/settings"
	"github.com/rewind-cli/rewind/internal/testkit/testlab"
	"github.com/rewind-cli/rewind/manifest"
)

// forget takes paths out of the project of a lab.
func (l *lab) forget(paths ...string) *maintain.Forgotten {
	l.T.Helper()
	var done *maintain.Forgotten
	l.Do(func(ctx context.Context, p *project.Project) (err error) {
		done, err = maintain.Forget(ctx, p, paths, false)
		return err
	})
	return done
}

// worksAsBefore runs the verbs that must work at once after a forget.
func (l *lab) worksAsBefore() {
	l.T.Helper()
	l.Verify()
	l.Do(func(ctx context.Context, p *project.Project) error {
		for _, spec := range []string{"last", "prev"} {
			c, err := inspect.Resolve(ctx, p, spec)
			if err != nil {
				return err
			}
			if _, err := restore.Restore(ctx, p, restore.Options{Checkpoint: c.Checkpoint}); err != nil {
				return fmt.Errorf("restore %s: %w", spec, err)
			}
		}
		var nothing *project.NothingError
		if _, err := restore.UndoRestore(ctx, p, restore.Options{}); err != nil && !errors.As(err, &nothing) {
			return fmt.Errorf("undo-restore: %w", err)
		}
		if _, err := restore.Undo(ctx, p, restore.Options{}); err != nil && !errors.As(err, &nothing) && !errors.As(err, new(*restore.ForgottenStepError)) {
			return fmt.Errorf("undo: %w", err)
		}
		return nil
	})
	l.Verify()
}

// TestForgetLeavesNoByte: wherever in the store the content got to, it is gone.
func TestForgetLeavesNoByte(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	noise := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "abcdefghijklmnopqrstuvwxyz 0123456789\n"[random.IntN(38)]
		}
		return string(b)
	}
	for what, situation := range map[string]func(l *lab){
		"small, in the log": func(l *lab) {},
		"again and again, edited": func(l *lab) {
			for i := range 12 {
				l.Write("pass.txt", noise(2000)+testlab.Secret+noise(2000)+fmt.Sprint(i))
				l.Save()
			}
		},
		"base of a delta": func(l *lab) {
			text := noise(4000) + testlab.Secret + noise(4000)
			l.Write("pass.txt", text)
			l.Save()
			// The next version no longer has it, lives under the same name elsewhere,
			// and is stored as a delta of the one that does.
			l.Write("kept.txt", text)
			l.Save()
			l.Write("kept.txt", strings.ReplaceAll(text, testlab.Secret, "nothing"))
			l.Save()
			l.forget("kept.txt")
		},
		"a dense pack": func(l *lab) {
			for i := range 300 {
				l.Write(fmt.Sprintf("d/f%d", i), noise(3000))
			}
			l.Save()
			l.Do(func(ctx context.Context, p *project.Project) error {
				_, err := maintain.GC(ctx, p, maintain.GCOptions{})
				return err
			})
		},
		"a bulk pack, chunked": func(l *lab) {
			l.Write("big.txt", noise(6<<20)+testlab.Secret+noise(6<<20))
			l.Save()
			l.Write("big.txt", noise(100)+testlab.Secret+noise(9<<20))
			l.Save()
			l.forget("big.txt")
		},
		"an operation and its safety checkpoint": func(l *lab) {
			first := l.Save().Checkpoint
			l.Write("pass.txt", testlab.Secret+" changed")
			l.Do(func(ctx context.Context, p *project.Project) error {
				_, err := restore.Restore(ctx, p, restore.Options{Checkpoint: first})
				return err
			})
		},
		"a torn tail": func(l *lab) {
			pack := filepath.Join(l.Root, ".agent/rewind/objects/log-00000001.pack")
			f, err := os.OpenFile(pack, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				l.T.Fatal(err)
			}
			defer f.Close()
			if _, err := f.WriteString("\xb5torn " + testlab.Secret); err != nil {
				l.T.Fatal(err)
			}
		},
		"temporary files, an abandoned pack": func(l *lab) {
			for name, text := range map[string]string{
				"objects/log-00000001.pack.0123456789abcdef.tmp": testlab.Secret,
				"objects/data-0123456789abcdef.pack":             "rwpack\r\n" + testlab.Secret,
			} {
				if err := os.WriteFile(filepath.Join(l.Root, ".agent/rewind", name), []byte(text), 0o600); err != nil {
					l.T.Fatal(err)
				}
			}
		},
		"a checkpoint that retention took": func(l *lab) {
			l.Write("pass.txt", testlab.Secret+" 2")
			l.Save()
			l.Remove("pass.txt")
			l.Save()
			l.Do(func(ctx context.Context, p *project.Project) error {
				_, err := maintain.GC(ctx, p, maintain.GCOptions{Keep: 2})
				return err
			})
		},
		"what hooks saw of an edit": func(l *lab) {
			for i := range 3 {
				l.Write("pass.txt", noise(600)+testlab.Secret+noise(600)+fmt.Sprint(i))
				l.Report(hook.Event{Time: time.Now(), Kind: manifest.PostTool, Edited: []string{filepath.Join(l.Root, "pass.txt")},
					By: conversation.Trigger{Agent: "claude", Session: "s", Tool: "Edit", ToolUseID: fmt.Sprint(i)}})
			}
			l.Save()
			l.Fold()
			if n := l.touches(); n != 3 {
				l.T.Fatalf("%d touches", n)
			}
		},
		"pre-images of hooks": func(l *lab) {
			for i := range 3 {
				l.Write("pass.txt", fmt.Sprint(testlab.Secret, i))
				l.Report(hook.Event{Time: time.Unix(int64(i+1), 0), Kind: manifest.PreTool, Moment: settings.PreEdit, Files: []string{filepath.Join(l.Root, "pass.txt")}})
			}
		},
	} {
		t.Run(what, func(t *testing.T) {
			l := newLab(t)
			l.Write("a.txt", "one")
			l.Write("pass.txt", "KEY="+testlab.Secret)
			l.Init()
			l.Write("a.txt", "two")
			l.Save()
			situation(l)
			if len(testlab.Holding(t, testlab.Secret, filepath.Join(l.Root, ".agent"))) == 0 && what != "base of a delta" && !strings.HasPrefix(what, "a bulk") {
				t.Log("the text was not found before: the search may be blind to it")
			}
			done := l.forget("pass.txt")
			if done.Pending != "" {
				t.Errorf("pending: %s", done.Pending)
			}
			l.Nowhere(testlab.Secret, "after forget")
			for _, path := range []string{"pass.txt", "kept.txt", "big.txt"} {
				l.Remove(path) // else it would be taken again
			}
			l.worksAsBefore()
			if l.Read()["pass.txt"] != "" {
				t.Error("a restore brought it back")
			}
			l.Nowhere(testlab.Secret, "after restores")
		})
	}
}

// touches counts what hooks saw of edits.
func (l *lab) touches() (n int) {
	l.T.Helper()
	l.Do(func(ctx context.Context, p *project.Project) error {
		return p.Query(ctx, func(db *manifest.DB) error {
			for _, err := range db.Touches(manifest.TouchQuery{}) {
				if err != nil {
					return err
				}
				n++
			}
			return nil
		})
	})
	return n
}

// TestTouchesGoWithTheirSession: gc keeps what hooks saw while their session has a checkpoint.
func TestTouchesGoWithTheirSession(t *testing.T) {
	l := newLab(t)
	l.Write("a", "one")
	l.Init()
	by := conversation.Trigger{Agent: "claude", Session: "s", Tool: "Edit", ToolUseID: "1"}
	l.Write("a", "only a hook saw this")
	l.Report(hook.Event{Time: time.Now(), Kind: manifest.PostTool, Edited: []string{filepath.Join(l.Root, "a")}, By: by})
	l.Write("a", "two")
	l.Report(hook.Event{Time: time.Now(), Kind: manifest.Prompt, Moment: settings.Prompt, By: by})
	for i := range 3 {
		l.Write("a", fmt.Sprint("later", i))
		l.Report(hook.Event{Time: time.Now(), Kind: manifest.Prompt, Moment: settings.Prompt, By: conversation.Trigger{Agent: "claude", Session: "t", Prompt: fmt.Sprint(i)}})
	}
	gc := func(keep, left int) {
		t.Helper()
		l.Do(func(ctx context.Context, p *project.Project) error {
			if _, err := maintain.GC(ctx, p, maintain.GCOptions{Keep: keep}); err != nil {
				return err
			}
			v, err := maintain.Verify(ctx, p, false)
			if err == nil && !v.OK() {
				t.Errorf("verify: %+v", v.Damaged)
			}
			return err
		})
		if n := l.touches(); n != left {
			t.Errorf("with %d checkpoints: %d touches, want %d", keep, n, left)
		}
	}
	gc(4, 1)
	gc(1, 0)
	gc(1, 0)
}

// TestForgottenFileStays: a restore to a checkpoint that a path was taken out of
// leaves what is there alone, and says why.
func TestForgottenFileStays(t *testing.T) {
	l := newLab(t)
	l.Write("a.txt", "one")
	l.Write("secrets/key", testlab.Secret)
	first := l.Init().Checkpoint
	l.Write("a.txt", "two")
	l.Write("secrets/other", "not forgotten, but below what was")
	l.Save()
	done := l.forget("secrets")
	if len(done.Present) != 1 || done.Present[0] != "secrets" || done.Checkpoints != 2 {
		t.Errorf("%+v", done)
	}
	l.Do(func(ctx context.Context, p *project.Project) error {
		r, err := restore.Restore(ctx, p, restore.Options{Checkpoint: first})
		if err != nil {
			return err
		}
		if len(r.Delete) > 0 {
			t.Errorf("deletes %v", r.Delete)
		}
		if len(r.Skip) == 0 || !strings.Contains(r.Skip[0].Reason, "forgotten") {
			t.Errorf("skips %+v", r.Skip)
		}
		return nil
	})
	if l.Read()["secrets/key"] == "" || l.Read()["secrets/other"] == "" {
		t.Error("a forgotten file was deleted")
	}
	// The names are nowhere in what the old checkpoints say.
	l.Do(func(ctx context.Context, p *project.Project) error {
		c, err := inspect.Coverage(ctx, p, first)
		for _, problem := range c {
			if strings.HasPrefix(problem.Path, "secrets") {
				t.Errorf("the coverage names %s", problem.Path)
			}
		}
		return err
	})
}

// TestForgottenContentLivesOn: the same bytes under another path stay, and forget says where.
func TestForgottenContentLivesOn(t *testing.T) {
	l := newLab(t)
	l.Write("pass.txt", testlab.Secret)
	l.Write("docs/example.env", testlab.Secret)
	first := l.Init().Checkpoint
	done := l.forget("pass.txt")
	if len(done.LivesOn) != 1 || done.LivesOn[0] != (maintain.LivesOn{Path: "docs/example.env", Checkpoints: 1}) {
		t.Errorf("lives on: %+v", done.LivesOn)
	}
	l.Remove("docs")
	l.Do(func(ctx context.Context, p *project.Project) error {
		_, err := restore.Restore(ctx, p, restore.Options{Checkpoint: first})
		return err
	})
	if got := l.Read()["docs/example.env"]; !strings.HasSuffix(got, testlab.Secret) {
		t.Errorf("the other path came back as %q", got)
	}
}

// TestForgetBesideAReader: while somebody reads, the bytes stay and status says so; the next write finishes it, also where
// the store, or its mirror, is gone by then.
func TestForgetBesideAReader(t *testing.T) {
	t.Parallel()
	saves := func(ctx context.Context, p *project.Project) error {
		_, err := save.Save(ctx, p, checkpoint.Options{})
		return err
	}
	for what, next := range map[string]func(ctx context.Context, p *project.Project) error{
		"gc": func(ctx context.Context, p *project.Project) error {
			_, err := maintain.GC(ctx, p, maintain.GCOptions{})
			return err
		},
		"save":                    saves,
		"save without the store":  saves,
		"save without the mirror": saves,
		"auto": func(ctx context.Context, p *project.Project) error {
			return hook.Work(ctx, p, hook.WorkOptions{Sweep: true})
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel() // forget waits for the reader
			l := newLab(t)
			l.Write("a.txt", "one")
			l.Write("pass.txt", testlab.Secret)
			l.Init()
			l.Write("a.txt", "two")
			l.Save()
			l.Remove("pass.txt")
			reader := l.Open()
			release, err := reader.Use(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			done := l.forget("pass.txt")
			if done.Pending == "" {
				t.Error("it does not say that somebody reads")
			}
			pending := func() bool {
				var at *time.Time
				l.Do(func(ctx context.Context, p *project.Project) (err error) {
					at, err = maintain.PendingForget(ctx, p)
					return err
				})
				return at != nil
			}
			if !pending() {
				t.Error("status does not say that bytes are left")
			}
			l.Verify()
			release()
			reader.Close()
			var lost error
			switch what {
			case "save without the store":
				lost = os.RemoveAll(reader.StoreDir())
			case "save without the mirror":
				lost = os.RemoveAll(account.MirrorDir(l.Env, reader.ID))
			}
			if lost != nil || !pending() {
				t.Error("status does not say any more that bytes are left", lost)
			}
			l.Do(next)
			if pending() {
				t.Error("it is not finished")
			}
			l.Nowhere(testlab.Secret, "afterwards")
			l.Verify()
		})
	}
}

// TestReturnBesideAPurge: packs that another process brings back while a purge is at work are not what that has looked through. The note
// of them stays, and the next write finishes.
func TestReturnBesideAPurge(t *testing.T) {
	l := newLab(t)
	l.Write("pass.txt", testlab.Secret)
	l.Init()
	l.Remove("pass.txt")
	l.Save()
	other := l.Open()
	defer other.Close()
	came := false
	l.Do(func(ctx context.Context, p *project.Project) error {
		p.Progress = func(project.ProgressInfo) {
			if n := p.Forgetting(); n != nil && n.Sweeping && !came {
				came = true
				l.Ok(other.NoteForgetting(project.ForgettingNote{Since: time.Unix(1, 0).UTC(), Sweeping: true})) // as before packs come
			}
		}
		_, err := maintain.Forget(ctx, p, []string{"pass.txt"}, false)
		return err
	})
	if !came {
		t.Fatal("nothing came while the purge was at work")
	}
	if !other.IsForgetting() {
		t.Error("the note of what came back is gone, and nobody looks through it")
	}
	l.Save()
	if other.IsForgetting() {
		t.Error("the next write has not finished it")
	}
	l.Nowhere(testlab.Secret, "afterwards")
}

// TestForgetThatHasNoNote: a mirror that cannot be written while something is forgotten gets no note of it, but the log that it
// shares with the store tells: a store that is rebuilt from it is not taken for one without the bytes.
func TestForgetThatHasNoNote(t *testing.T) {
	l := newLab(t)
	l.Write("pass.txt", testlab.Secret)
	l.Init()
	l.Remove("pass.txt")
	l.Save()
	l.Do(func(ctx context.Context, p *project.Project) error {
		list, err := p.List(ctx, project.ListOptions{})
		if err != nil {
			return err
		}
		rewrite := &manifest.Rewrite{Checkpoints: []manifest.CheckpointID{list[1].ID}, Roots: []oid.ID{list[0].Root}}
		if _, err := commit.Commit(ctx, p, manifest.Record{Rewrite: rewrite}); err != nil {
			return err
		}
		return os.RemoveAll(p.StoreDir())
	})
	pending := func() (at *time.Time) {
		l.Do(func(ctx context.Context, p *project.Project) (err error) {
			at, err = maintain.PendingForget(ctx, p)
			return err
		})
		return at
	}
	if pending() == nil {
		t.Error("status does not say that bytes are left")
	}
	l.Save()
	if pending() != nil {
		t.Error("it is not finished")
	}
	l.Nowhere(testlab.Secret, "afterwards")
	l.Verify()
}

// TestForgetRewritesTheLog: after it the log has no record that replaces others, whatever an older program made of it.
func TestForgetRewritesTheLog(t *testing.T) {
	l := newLab(t)
	l.Write("a.txt", "one")
	l.Write("pass.txt", testlab.Secret)
	c := l.Init().Checkpoint
	l.Write("a.txt", "two")
	l.Save()
	l.Do(func(ctx context.Context, p *project.Project) error {
		name, yes := "named", true
		if err := maintain.Rename(ctx, p, c, name); err != nil {
			return err
		}
		return maintain.Pin(ctx, p, c, yes)
	})
	l.forget("pass.txt")
	l.Do(func(ctx context.Context, p *project.Project) error {
		state, err := maintain.ReadLog(ctx, p)
		if err != nil {
			return err
		}
		if state.Amended {
			t.Error("the log still has records that replace others")
		}
		now, err := inspect.Resolve(ctx, p, "named")
		if err != nil || !now.Pinned || now.ID != c.ID || now.Root == c.Root {
			t.Errorf("%+v %v", now.Checkpoint, err)
		}
		return nil
	})
	// As a store from before Amend: a Rewrite that nobody purged.
	l.Do(func(ctx context.Context, p *project.Project) error {
		list, err := p.List(ctx, project.ListOptions{})
		if err != nil {
			return err
		}
		_, err = commit.Commit(ctx, p, manifest.Record{Rewrite: &manifest.Rewrite{Checkpoints: []manifest.CheckpointID{list[1].ID}, Roots: []oid.ID{list[0].Root}}})
		return err
	})
	l.Do(func(ctx context.Context, p *project.Project) error {
		_, err := maintain.GC(ctx, p, maintain.GCOptions{})
		return err
	})
	l.Do(func(ctx context.Context, p *project.Project) error {
		state, err := maintain.ReadLog(ctx, p)
		if err == nil && (state.Amended || state.Checkpoints[0].Root != state.Checkpoints[1].Root) {
			t.Error("the tree of an old forget was lost")
		}
		return err
	})
	l.Verify()
}

// TestForgettingNoteThatCannotBe: where the mirror is no directory, there is no note in it; and one that cannot be read is of when it was written.
func TestForgettingNoteThatCannotBe(t *testing.T) {
	l := newLab(t)
	l.Write("a.txt", "a")
	l.Init()
	l.Do(func(ctx context.Context, p *project.Project) error {
		mirror := account.MirrorDir(l.Env, p.ID)
		if err := os.Rename(mirror, mirror+".away"); err != nil {
			return err
		}
		if err := os.WriteFile(mirror, nil, 0o600); err != nil {
			return err
		}
		if at, err := maintain.PendingForget(ctx, p); at != nil || err != nil || p.IsForgetting() {
			t.Errorf("it is said to be pending since %v, %v", at, err)
		}
		if err := errors.Join(os.Remove(mirror), os.Rename(mirror+".away", mirror)); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(p.StoreDir(), project.ForgettingName), []byte("{"), 0o600); err != nil {
			return err
		}
		if at, err := maintain.PendingForget(ctx, p); at == nil || err != nil || time.Since(*at) > time.Hour {
			t.Errorf("a note that cannot be read is of %v, %v", at, err)
		}
		return nil
	})
}
