package gitstate_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/gitstate"
	"github.com/rewind-cli/rewind/manifest"
)

// TestReflogsOfWhatChanged: a reflog is captured whenever git has added to it, also where the file of its reference is as it was, or
// is gone. Each step comes after a capture, and what is captured beside that is what is captured from nothing.
func TestReflogsOfWhatChanged(t *testing.T) {
	b := newBox(t)
	b.commit("a", "one")
	b.commit("a", "two")
	b.git("branch", "topic")
	b.git("branch", "d/e")
	b.git("branch", "other")
	b.git("symbolic-ref", "refs/heads/alias", "refs/heads/topic")
	b.git("update-ref", "--create-reflog", "-m", "made", "refs/heads/alias", "HEAD~1")
	file := func(name string) string { return filepath.Join(b.dir, ".git", filepath.FromSlash(name)) }
	remove := func(name string) {
		if err := os.RemoveAll(file(name)); err != nil {
			t.Fatal(err)
		}
	}
	line := func(name string) {
		appendTo(b, "logs/"+name, fmt.Sprintf("%040d %040d a <a@b> 1 +0000\tby hand\n", 0, 0))
	}
	lock := func(name string) {
		if err := os.WriteFile(file(name+".lock"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	steps := []struct {
		name string
		do   func()
	}{
		{"through a symbolic reference", func() { b.git("update-ref", "-m", "moved", "refs/heads/alias", "HEAD") }},
		{"the same once more", func() { b.git("update-ref", "-m", "back", "refs/heads/alias", "HEAD~1") }},
		{"and packed", func() { b.git("branch", "-f", "other", "HEAD~1"); b.git("pack-refs", "--all", "--prune") }},
		{"packed, and moved and packed again", func() { b.git("branch", "-f", "other", "HEAD"); b.git("pack-refs", "--all", "--prune") }},
		{"moved", func() { b.git("branch", "-f", "other", "HEAD~1") }},
		{"moved, and its file removed", func() { b.git("branch", "-f", "other", "HEAD"); remove("refs/heads/other") }},
		{"a directory", func() { b.git("branch", "-f", "d/e", "HEAD~1") }},
		{"moved, and its directory removed", func() { b.git("branch", "-f", "d/e", "HEAD"); remove("refs/heads/d") }},
		{"a git that holds a lock", func() { lock("refs/heads/topic") }},
		{"and has written into the reflog when it is ended", func() { line("refs/heads/topic"); remove("refs/heads/topic.lock") }},
		{"a git that holds a lock and has written", func() { lock("refs/heads/topic"); line("refs/heads/topic") }},
		{"a lock that stays", func() { b.git("branch", "-f", "other", "HEAD~1") }},
		{"and goes", func() { line("refs/heads/topic"); remove("refs/heads/topic.lock") }},
		{"a commit", func() { b.commit("a", "three") }},
		{"a commit that is taken back at once", func() { b.commit("a", "four"); b.git("reset", "-q", "--hard", "HEAD~1") }},
		{"references as a symbolic link", func() {
			if err := os.Rename(file("refs"), file("refs.away")); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("refs.away", file("refs")); err != nil {
				t.Fatal(err)
			}
		}},
		{"and as a directory again", func() {
			remove("refs")
			if err := os.Rename(file("refs.away"), file("refs")); err != nil {
				t.Fatal(err)
			}
		}},
		{"other permissions", func() {
			if err := errors.Join(os.Chmod(file("refs"), 0o750|os.ModeSetgid), os.Chmod(file("logs/refs"), 0o700)); err != nil {
				t.Fatal(err)
			}
		}},
		{"the reflogs removed", func() { remove("logs") }},
		{"and begun again", func() { b.commit("a", "five") }},
	}
	cache := filepath.Join(b.p.StoreDir(), "git")
	for _, wait := range []bool{true, false} {
		for _, step := range steps {
			if wait {
				settle()
			}
			b.save()
			step.do()
			if wait {
				settle()
			}
			beside := b.save().Git
			aside := filepath.Join(b.TempDir(), "aside")
			if err := os.Rename(cache, aside); err != nil {
				t.Fatal(err)
			}
			if whole := b.save().Git; whole != beside {
				t.Errorf("%s (wait: %v): not all was captured:", step.name, wait)
				_ = manifest.Diff(b.p.LoadDir, whole, beside, func(c manifest.Change) error { t.Logf("%s %+v %+v", c.Path, c.Old, c.New); return nil })
			}
			if err := os.RemoveAll(cache); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(aside, cache); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestReflogsAreComparedAgain: what left no trace in the references is captured with the first change after an hour.
func TestReflogsAreComparedAgain(t *testing.T) {
	b := newBox(t)
	b.commit("a", "one")
	b.git("branch", "topic")
	settle()
	b.save()
	appendTo(b, "logs/refs/heads/topic", fmt.Sprintf("%040d %040d a <a@b> 1 +0000\tby hand\n", 0, 0))
	b.commit("a", "two")
	if strings.Contains(b.captured("logs/refs/heads/topic"), "by hand") {
		t.Error("a reflog was looked at whose reference is as it was")
	}
	files, err := filepath.Glob(filepath.Join(b.p.StoreDir(), "git", "*.signature"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	data = regexp.MustCompile(`"compared":"[^"]*"`).ReplaceAll(data, fmt.Appendf(nil, `"compared":%q`, time.Now().Add(-2*time.Hour).Format(time.RFC3339)))
	if err := os.WriteFile(files[0], data, 0o600); err != nil {
		t.Fatal(err)
	}
	b.commit("a", "three")
	if log := b.captured("logs/refs/heads/topic"); !strings.Contains(log, "by hand") {
		t.Errorf("%q", log)
	}
}

// captured is the content of a file of the git directory in a new checkpoint.
func (b *box) captured(name string) (text string) {
	b.Helper()
	objects := gitstate.InStore(b.p)
	state, err := gitstate.Load(objects, b.save().Git, b.dir)
	if err != nil {
		b.Fatal(err)
	}
	err = manifest.Walk(objects.Load, state.Files(), func(path string, e manifest.Entry) error {
		if path != name {
			return nil
		}
		data, err := state.Read(e)
		text = string(data)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return text
}

// TestLargeFilesOfGitAreReadWhereTheyAre: a capture that only looks keeps no large file, and reads it again.
func TestLargeFilesOfGitAreReadWhereTheyAre(t *testing.T) {
	b := newBox(t)
	b.commit("a", "one")
	head := strings.TrimSpace(b.git("rev-parse", "HEAD"))
	packed := []byte("# pack-refs with: peeled fully-peeled sorted \n")
	for i := range 20_000 {
		packed = fmt.Appendf(packed, "%s refs/tags/t%06d\n", head, i)
	}
	b.write(".git/packed-refs", string(packed))
	c, err := checkpoint.CaptureTree(t.Context(), b.p, checkpoint.CaptureOptions{Look: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Discard() // nothing was to be kept
	state, err := gitstate.Load(c.Tx, c.Git(), b.dir)
	if err != nil {
		t.Fatal(err)
	}
	err = manifest.Walk(c.Tx.Load, state.Files(), func(path string, e manifest.Entry) error {
		if path != "packed-refs" {
			return nil
		}
		f, err := c.Tx.Open(e)
		if err != nil {
			return err
		}
		data, err := io.ReadAll(f)
		if !bytes.Equal(data, packed) {
			t.Errorf("%d bytes, not %d", len(data), len(packed))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
