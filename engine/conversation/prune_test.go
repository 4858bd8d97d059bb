package conversation_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/hook"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/internal/testkit/testlab"
)

// Plain copies of transcripts go when they are old, but not the newest ones of a
// session, and never one that an undo needs.
func TestOldBackupsGo(t *testing.T) {
	c := testlab.NewChat(t)
	c.Turn("one", "1")
	second := c.Turn("two", "2")
	now := time.Now()
	c.Env.Now = func() time.Time { return now }
	done := c.Restore(restore.Options{Checkpoint: second, InPlace: true})
	before := c.Transcript.Bytes()
	dir := filepath.Dir(done.Conversation.Backup)
	called := map[string]string{filepath.Base(done.Conversation.Backup): "today's"}
	put := func(name, short string) {
		t.Helper()
		called[name] = short
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	copyOf := func(session string, days ...int) {
		for _, d := range days {
			put(session+"-"+now.UTC().AddDate(0, 0, -d).Format("20060102T150405.000000000")+".jsonl", fmt.Sprintf("%.5s-%d", session, d))
		}
	}
	copyOf("other", 200, 100, 60, 40, 35)
	copyOf(testlab.Session, 200, 100, 60, 40, 35, 29, 20)
	put("mine.txt", "mine")
	put("a-note-of-my-own-20260101T000000.jsonl", "note")
	left := func() string {
		t.Helper()
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range entries {
			names = append(names, called[e.Name()])
		}
		slices.Sort(names)
		return strings.Join(names, " ")
	}
	sweep := func() {
		t.Helper()
		c.Do(func(ctx context.Context, p *project.Project) error {
			return hook.Work(ctx, p, hook.WorkOptions{Sweep: true})
		})
	}
	sweep()
	// The session's newest three are today's, 20 and 29 days old.
	if got, want := left(), "11111-20 11111-29 mine note other-35 other-40 other-60 today's"; got != want {
		t.Errorf("a sweep leaves %s\nwant %s", got, want)
	}

	// A year later, with newer copies: what the undo needs is still there.
	now = now.AddDate(1, 0, 0)
	copyOf(testlab.Session, 3, 2, 1)
	c.Do(func(ctx context.Context, p *project.Project) error {
		_, err := maintain.GC(ctx, p, maintain.GCOptions{})
		return err
	})
	if got, want := left(), "11111-1 11111-2 11111-3 mine note other-35 other-40 other-60 today's"; got != want {
		t.Errorf("gc leaves %s\nwant %s", got, want)
	}
	c.TakeBack(restore.UndoRestore, restore.Options{})
	if c.Transcript.Bytes() == before {
		t.Error("the undo did not put the transcript back")
	}
	c.Content("2")
}
