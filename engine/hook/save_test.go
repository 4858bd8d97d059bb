package hook

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// What a hook leaves is taken later, as it was when the hook ran: the files
// that its tool and later ones were about to change come from their pre-images,
// what else changed since is named as late.
func TestLeftCaptureIsOfItsMoment(t *testing.T) {
	l := newLab(t)
	for _, name := range []string{"edited.txt", "edited-later.txt", "deleted.txt", "changed.txt", "same.txt", "sub/deep.txt"} {
		l.write(name, name+" before")
	}
	if err := os.Symlink("same.txt", filepath.Join(l.root, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(l.root, "edited.txt"), 0o640); err != nil {
		t.Fatal(err)
	}
	l.init()
	time.Sleep(tick) // changes after the hook have a later ctime
	abs := func(names ...string) (out []string) {
		for _, name := range names {
			out = append(out, filepath.Join(l.root, name))
		}
		return out
	}
	first := l.save(saveOptions{Deadline: tooLate, Edits: abs("edited.txt", "deleted.txt", "new.txt", "made/by/tool.txt", "link")})
	if !first.Left || l.detached != 1 {
		t.Fatalf("%+v, detached %d times", first, l.detached)
	}
	time.Sleep(tick)
	l.write("edited.txt", "edited now")
	l.remove("deleted.txt")
	l.write("new.txt", "new")
	l.write("made/by/tool.txt", "new")
	l.write("changed.txt", "changed by nobody knows whom")
	l.remove("link")
	time.Sleep(tick)
	second := l.save(saveOptions{Deadline: tooLate, Edits: abs("edited-later.txt", "edited.txt")})
	if !second.Left {
		t.Fatalf("%+v", second)
	}
	time.Sleep(tick)
	l.write("edited-later.txt", "edited later")
	l.write("edited.txt", "edited again")
	l.work()
	list := l.newest(2)
	one, two := list[1].Checkpoint, list[0].Checkpoint
	for _, c := range []struct {
		of         manifest.Checkpoint
		path, want string
	}{
		{one, "edited.txt", "edited.txt before"}, {one, "edited-later.txt", "edited-later.txt before"},
		{one, "deleted.txt", "deleted.txt before"}, {one, "new.txt", "-"}, {one, "made/by/tool.txt", "-"},
		{one, "same.txt", "same.txt before"}, {one, "sub/deep.txt", "sub/deep.txt before"}, {one, "link", "same.txt"},
		{two, "edited.txt", "edited now"}, {two, "edited-later.txt", "edited-later.txt before"},
		{two, "deleted.txt", "-"}, {two, "new.txt", "new"}, {two, "link", "-"},
	} {
		if got := l.at(c.of, c.path); got != c.want {
			t.Errorf("%s of %s is %q, want %q", c.path, c.of.ID, got, c.want)
		}
	}
	if e := l.entry(one, "edited.txt"); e == nil || e.Mode != 0o640 {
		t.Errorf("%+v", e)
	}
	if l.entry(one, "made") != nil {
		t.Error("the directory that the tool made is there")
	}
	l.do(func(ctx context.Context, p *project.Project) error {
		late := func(c manifest.Checkpoint) (out []string) {
			data, err := p.ReadObject(c.Coverage)
			must(t, err)
			problems, err := problem.Decode(data)
			must(t, err)
			for _, found := range problems {
				if found.Code == problem.Late {
					out = append(out, found.Path)
				}
			}
			return out
		}
		if got := late(one); !slices.Contains(got, "changed.txt") || slices.Contains(got, "edited.txt") || slices.Contains(got, "same.txt") {
			t.Errorf("late: %v", got)
		}
		if one.Partial == 0 {
			t.Error("a checkpoint with late paths does not say that it is partial")
		}
		return nil
	})
	if _, err := os.Stat(filepath.Join(l.root, ".agent/rewind/tmp/hooks")); !os.IsNotExist(err) {
		t.Errorf("the notes are still there: %v", err)
	}
	// The stat cache says what was scanned, not what the checkpoint says.
	l.person()
	if got := l.at(l.newest(1)[0].Checkpoint, "edited.txt"); got != "edited again" {
		t.Errorf("the next save has %q", got)
	}
}

// A pre-image of what is not captured does not bring it in.
func TestPreimageOfIgnoredFile(t *testing.T) {
	l := newLab(t)
	l.write(".gitignore", "secret*\n")
	l.write("secret.txt", "s")
	l.write("a.txt", "a")
	l.init()
	l.write("a.txt", "b")
	l.save(saveOptions{Deadline: tooLate, Edits: []string{filepath.Join(l.root, "secret.txt"), filepath.Join(l.env.Home, "outside"), "relative"}})
	l.write("secret.txt", "t")
	l.work()
	c := l.newest(1)[0].Checkpoint
	if got := l.at(c, "secret.txt"); got != "-" {
		t.Errorf("an ignored file was captured: %q", got)
	}
	if got := l.at(c, "a.txt"); got != "b" {
		t.Errorf("a.txt is %q", got)
	}
}

// A hook that takes no checkpoint, because its tool's call is too small or too
// soon, keeps what the file holds all the same.
func TestEditWithoutCheckpointBesideACapture(t *testing.T) {
	l := newLab(t)
	l.write("a.txt", "before")
	l.init()
	file := filepath.Join(l.root, "a.txt")
	keep := func() {
		l.do(func(ctx context.Context, p *project.Project) error { return beforeEdit(p, []string{file}) })
	}
	keep()
	if _, err := os.Stat(filepath.Join(l.root, ".agent/rewind/tmp/hooks")); !os.IsNotExist(err) {
		t.Errorf("kept although no capture runs: %v", err)
	}
	l.save(saveOptions{Options: checkpoint.Options{Kind: manifest.Prompt}, Deadline: tooLate})
	keep()
	l.write("a.txt", "after")
	l.work()
	if got := l.at(l.newest(1)[0].Checkpoint, "a.txt"); got != "before" {
		t.Errorf("a.txt is %q", got)
	}
}

// A request whose process dies on it again and again is given up; one that
// cannot be read is dropped; and the next hook starts a process for one whose
// own was killed.
func TestLeftCaptureOfAKilledProcess(t *testing.T) {
	l := newLab(t)
	l.write("a.txt", "one")
	l.init()
	l.save(saveOptions{Deadline: tooLate})
	before := l.detached
	l.write("a.txt", "two")
	if s := l.save(saveOptions{Deadline: time.Now().Add(time.Minute)}); !s.Left || l.detached != before+2 {
		// Once for what waits, once for its own.
		t.Errorf("%+v, detached %d times more", s, l.detached-before)
	}
	notes := filepath.Join(l.root, ".agent/rewind/tmp/hooks")
	if err := os.WriteFile(filepath.Join(notes, "r-00000000000000000000-0000.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	l.do(func(ctx context.Context, p *project.Project) error {
		for name := checkpoint.Notes(p, "r")[1]; ; {
			r := nextRequest(p)
			if r.Attempts < maxAttempts {
				r.Attempts = maxAttempts
				if err := writeNote(p, strings.TrimSuffix(name, ".json"), r); err != nil {
					return err
				}
				continue
			}
			return nil
		}
	})
	err := l.try(func(ctx context.Context, p *project.Project) error { return Work(ctx, p, WorkOptions{}) })
	if err == nil || !strings.Contains(err.Error(), "given up") {
		t.Errorf("error %v", err)
	}
	l.do(func(ctx context.Context, p *project.Project) error {
		if last := project.ReadHookState(p.StoreDir()).Error; last == nil || !strings.Contains(last.Reason, "given up") {
			t.Errorf("status has %+v", last)
		}
		p.NoteHookError(nil)
		return nil
	})
	if got := l.at(l.newest(1)[0].Checkpoint, "a.txt"); got != "two" {
		t.Errorf("the second request was not taken: %q", got)
	}
	if _, err := os.Stat(notes); !os.IsNotExist(err) {
		t.Errorf("the notes are still there: %v", err)
	}
}

// A hook waits for a restore that runs, within its time, and then leaves.
func TestHookWaitsForARestore(t *testing.T) {
	l := newLab(t)
	l.write("a.txt", "one")
	l.init()
	l.write("a.txt", "half restored")
	l.do(func(ctx context.Context, p *project.Project) error {
		lock, err := p.Lock(ctx, account.TreeLockName)
		if err != nil {
			return err
		}
		saved := l.save(saveOptions{Deadline: time.Now().Add(handOver + 50*time.Millisecond)})
		if !saved.Left {
			t.Errorf("captured while a restore ran: %+v", saved)
		}
		l.write("a.txt", "restored")
		lock.Release()
		return nil
	})
	l.work()
	if got := l.at(l.newest(1)[0].Checkpoint, "a.txt"); got != "restored" {
		t.Errorf("a.txt is %q", got)
	}
}

// Retries, and what is held back by nothing but the tree, cost no record.
func TestHookSaveUnchanged(t *testing.T) {
	l := newLab(t)
	l.write("a.txt", "one")
	l.init()
	in := time.Now().Add(time.Hour)
	s := l.save(saveOptions{Options: checkpoint.Options{OnlyIfChanged: true, By: conversation.Trigger{Agent: "claude", Session: "s"}}, Deadline: in, Note: func(*account.SessionState, bool) { t.Error("nothing was taken") }})
	if !s.Skipped || s.Due {
		t.Errorf("%+v", s)
	}
	for range 60 {
		if s := l.save(saveOptions{Options: checkpoint.Options{Kind: manifest.Prompt}, Deadline: in}); s.Due != (s.Checkpoint.Seq/sweepEvery != (s.Checkpoint.Seq-1)/sweepEvery) {
			t.Errorf("at %d a sweep is due: %v", s.Checkpoint.Seq, s.Due)
		}
	}
}

// Work sweeps by retention, and only then.
func TestSweep(t *testing.T) {
	l := newLab(t)
	l.write("a.txt", "one")
	l.init()
	for range 9 {
		l.person()
	}
	sweep := func() int {
		l.do(func(ctx context.Context, p *project.Project) error {
			return Work(ctx, p, WorkOptions{Sweep: true, Fold: true})
		})
		return len(l.newest(0))
	}
	if n := sweep(); n != 10 {
		t.Errorf("%d checkpoints, want all: nothing expires unless asked", n)
	}
	l.do(func(ctx context.Context, p *project.Project) error {
		if sweepDue(p, time.Hour) {
			t.Error("a sweep is due right after one")
		}
		return os.WriteFile(filepath.Join(p.StoreDir(), account.ConfigName), []byte(`{"retention.maxCheckpoints": 3}`), 0o600)
	})
	if n := sweep(); n >= 10 {
		t.Errorf("%d checkpoints after a sweep that keeps 3", n)
	}
}
