package gitrestore

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The reflog of a branch that comes back is the saved file, with git's line at its end: it is moved there before git makes the branch.
func TestReflogsOfNewReferencesAreMoved(t *testing.T) {
	b := newBox(t)
	b.commit("a", "one")
	b.git("branch", "topic")
	b.git("branch", "dir/topic")
	b.git("update-ref", "-m", "twice", "refs/heads/topic", b.commit("a", "two"))
	was := b.git("reflog", "topic")
	s := b.save()
	saved, err := os.Stat(filepath.Join(s.Dir, "logs/refs/heads/topic"))
	if err != nil {
		t.Fatal(err)
	}
	b.git("branch", "-qD", "topic", "dir/topic")

	p := b.plan(s, b.target(), Missing)
	r, err := p.Apply(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if r.Logs != 2 || r.Refs != 2 {
		t.Errorf("%+v", r)
	}
	if now, err := os.Stat(filepath.Join(b.dir, ".git/logs/refs/heads/topic")); err != nil || !os.SameFile(now, saved) {
		t.Error("the file of the reflog is another one")
	}
	got := strings.SplitN(b.git("reflog", "topic", "--format=%gs"), "\n", 2)
	if want := "rewind: restore to 42"; got[0] != want {
		t.Errorf("the newest line is %q", got[0])
	}
	if lines := strings.Split(b.git("reflog", "topic"), "\n"); len(lines) != 1+len(strings.Split(was, "\n")) {
		t.Errorf("%q", lines)
	}
	if again := b.plan(s, b.target(), Missing); len(again.Lines) > 0 {
		t.Errorf("a second plan has %+v", again.Lines)
	}
}

// A reflog that exists stays, and is added to: so does one whose reference git lost alone.
func TestReflogThatIsThereIsNotReplaced(t *testing.T) {
	b := newBox(t)
	b.commit("a", "one")
	b.git("branch", "topic")
	s := b.save()
	log := filepath.Join(b.dir, ".git/logs/refs/heads/topic")
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(b.dir, ".git/refs/heads/topic")); err != nil {
		t.Fatal(err)
	}
	more := strings.Replace(string(text), "\t", "\tlater ", 1)
	if err := os.WriteFile(log, []byte(more), 0o666); err != nil {
		t.Fatal(err)
	}
	b.restore(s, b.target(), Missing)
	got := b.git("reflog", "topic", "--format=%gs")
	if want := []string{"rewind: restore to 42", "later branch: Created from main", "branch: Created from main"}; !slices.Equal(strings.Split(got, "\n"), want) {
		t.Errorf("%q", got)
	}
}

// What git has written is made durable, too, before the operation counts as done.
func TestChangedReferencesAreMadeDurable(t *testing.T) {
	b := newBox(t)
	b.commit("a", "one")
	b.git("branch", "topic")
	s := b.save()
	b.git("branch", "-qD", "topic")
	p := b.plan(s, b.target(), Missing)
	w, err := startWork(b.target().CommonDir)
	if err != nil {
		t.Fatal(err)
	}
	var r Result
	if err := p.applyRefs(context.Background(), w, p.first, &r); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"refs/heads/topic", "logs/refs/heads/topic", "packed-refs"} {
		if !slices.Contains(w.written, filepath.Join(b.dir, ".git", filepath.FromSlash(name))) {
			t.Errorf("%s is not made durable", name)
		}
	}
	if err := w.end(); err != nil {
		t.Fatal(err)
	}
}
