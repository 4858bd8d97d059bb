package conversation_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/internal/testkit/testlab"
	"github.com/rewind-cli/rewind/manifest"
)

func TestConversationIsCapturedAsItGrows(t *testing.T) {
	l := newLab(t)
	l.Init()
	k := l.TranscriptFile()
	by := k.Trigger()
	by.PromptID, by.Prompt, by.Tool, by.ToolUseID = "pid", "do it", "Edit", "toolu_1"
	first := l.SaveBy(by).Checkpoint
	if tr := first.Transcript; tr == nil || tr.Offset != 0 || !tr.Content.IsZero() || tr.Path != k.File || tr.Session != testlab.Session {
		t.Fatalf("a conversation that is not written yet is an empty one: %+v", tr)
	}
	k.Say("hello", strings.Repeat("a long answer. ", 20_000))
	one := k.Bytes()
	second := l.SaveBy(by).Checkpoint
	k.Say("more", "yes")
	two := k.Bytes()
	k.Add(`{"torn`)
	third := l.SaveBy(by).Checkpoint
	for _, c := range []struct {
		of   manifest.Checkpoint
		want string
	}{{second, one}, {third, two}} {
		if got := l.Conversation(c.of); got != c.want {
			t.Errorf("%d bytes, want %d", len(got), len(c.want))
		}
		if c.of.Transcript.Offset != uint64(len(c.want)) {
			t.Errorf("offset %d, want %d", c.of.Transcript.Offset, len(c.want))
		}
	}
	if third.Transcript.EventID != k.Last {
		t.Errorf("it stands at %s, want %s", third.Transcript.EventID, k.Last)
	}
	if third.StoredBytes > 2000 {
		t.Errorf("an exchange of a few words stored %d bytes", third.StoredBytes)
	}
	if third.PromptID != "pid" || third.Prompt != "do it" || third.Tool != "Edit" || third.ToolUseID != "toolu_1" || third.Session != testlab.Session || third.Agent != "claude" {
		t.Errorf("the record forgets who: %+v", third)
	}
	// The log holds what the save returned.
	l.Do(func(ctx context.Context, p *project.Project) error {
		got, err := inspect.Resolve(ctx, p, "last")
		if err == nil && (got.ToolUseID != "toolu_1" || *got.Transcript != *third.Transcript) {
			t.Errorf("the log has %+v", got)
		}
		return err
	})
}

// A lost session state, a gc in between, a deleted transcript: the conversation
// is neither lost nor stored twice.
// A payload can name any file; what is no conversation is not kept.
func TestNoConversationIsCaptured(t *testing.T) {
	l := newLab(t)
	l.Init()
	k := l.TranscriptFile()
	by := k.Trigger()
	by.Transcript = filepath.Join(filepath.Dir(l.Root), "passwords")
	if err := os.WriteFile(by.Transcript, []byte("root:$y$j9T$secret:1::\nme:*:2::\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if tr := l.SaveBy(by).Checkpoint.Transcript; tr != nil && !tr.Content.IsZero() {
		t.Errorf("%+v", tr)
	}
}

func TestConversationOutlivesStateAndFile(t *testing.T) {
	l := newLab(t)
	l.Init()
	k := l.TranscriptFile()
	k.Say("hello", strings.Repeat("words that are hardly ever the same: 8f2a. ", 5000))
	l.SaveBy(k.Trigger())
	for _, lose := range []func(){
		func() {},
		func() { // the state
			if err := os.RemoveAll(filepath.Join(l.Home, ".rewind", "sessions")); err != nil {
				t.Fatal(err)
			}
		},
		func() { // all checkpoints but the newest
			l.Do(func(ctx context.Context, p *project.Project) error {
				_, err := maintain.GC(ctx, p, maintain.GCOptions{Keep: 1})
				return err
			})
		},
	} {
		lose()
		k.Say("and", "then")
		c := l.SaveBy(k.Trigger()).Checkpoint
		if got := l.Conversation(c); got != k.Bytes() {
			t.Fatalf("%d bytes, want %d", len(got), len(k.Bytes()))
		}
		if c.StoredBytes > 2500 {
			t.Errorf("a short exchange stored %d bytes", c.StoredBytes)
		}
	}
	whole := k.Bytes()
	if err := os.Remove(k.File); err != nil {
		t.Fatal(err)
	}
	c := l.SaveBy(k.Trigger()).Checkpoint
	if got := l.Conversation(c); got != whole {
		t.Errorf("after the agent deleted it: %d bytes, want %d", len(got), len(whole))
	}
	if c.Transcript.Offset != uint64(len(whole)) {
		t.Errorf("offset %d, want %d", c.Transcript.Offset, len(whole))
	}
}

// What is stored of a conversation is read back whatever it looks like, and
// long segments are cut.
func TestConversationStoreRoundTrip(t *testing.T) {
	l := newLab(t)
	l.Init()
	list := cas.List{Size: 3, Sum: oid.Sum([]byte("abc")), Chunks: []cas.Chunk{{ID: oid.Sum([]byte("abc")), Size: 3}}}
	l.Do(func(ctx context.Context, p *project.Project) error {
		release, err := p.Use(ctx)
		if err != nil {
			return err
		}
		defer release()
		batch := p.Store.NewBatch()
		writer := batch.Writer()
		s := conversation.StoreIn(ctx, batch.Get, writer)
		for name, want := range map[string][]byte{
			"empty": {}, "short": []byte("a line\n"), "looks like a list": list.Append(nil),
			"at the limit": bytes.Repeat([]byte("x"), commit.ChunkedSize), "over it": bytes.Repeat([]byte("0123456789"), commit.ChunkedSize/3),
		} {
			id, n, err := s.Put(bytes.NewReader(want))
			if err != nil || n != int64(len(want)) {
				t.Fatalf("%s: %d bytes, %v", name, n, err)
			}
			if err := writer.Flush(); err != nil {
				return err
			}
			r, err := s.Get(id)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			got, err := io.ReadAll(r)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %d bytes of %d, %v", name, len(got), len(want), err)
			}
		}
		ended, cancel := context.WithCancel(ctx)
		cancel()
		s = conversation.StoreIn(ended, batch.Get, writer)
		if _, _, err := s.Put(strings.NewReader("x")); err == nil {
			t.Error("no error after the end of the context")
		}
		return batch.Discard()
	})
}

func TestSessionStateIsLoseable(t *testing.T) {
	l := newLab(t)
	ctx := context.Background()
	at := time.Unix(1_800_000_000, 0)
	set := func(s *account.SessionState) { s.Last = at }
	if err := account.UpdateSession(ctx, l.Env, "claude", "s", set); err != nil {
		t.Fatal(err)
	}
	if s := account.LoadSession(l.Env, "claude", "s"); !s.Last.Equal(at) {
		t.Errorf("%+v", s)
	}
	if s := account.LoadSession(l.Env, "droid", "s"); !s.Last.IsZero() {
		t.Errorf("another agent's session: %+v", s)
	}
	file := account.SessionFile(l.Env, "claude", "s")
	for _, text := range []string{"", "{", "[]", `{"last":7}`, `{"held":{"content":"zz"}}`} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if s := account.LoadSession(l.Env, "claude", "s"); !s.Last.IsZero() || s.Held != nil {
			t.Errorf("%q gives %+v", text, s)
		}
		if err := account.UpdateSession(ctx, l.Env, "claude", "s", set); err != nil {
			t.Errorf("after %q: %v", text, err)
		}
	}
	if err := account.ForgetSessions(l.Env, -time.Second); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("a quiet session's state is still there: %v", err)
	}
}

// What became of each session's file since its newest checkpoint.
func TestSessionFiles(t *testing.T) {
	l := newLab(t)
	l.Init()
	k := l.TranscriptFile()
	state := func() session.FileState {
		t.Helper()
		var files []session.File
		l.Do(func(ctx context.Context, p *project.Project) (err error) {
			files, err = session.Files(ctx, p)
			return err
		})
		if len(files) != 1 || files[0].Session != testlab.Session || files[0].Path != k.File {
			t.Fatalf("%+v", files)
		}
		return files[0].State
	}
	l.SaveBy(k.Trigger())
	if got := state(); got != session.NotWritten {
		t.Errorf("not written yet: %s", got)
	}
	k.Say("hello", "there")
	if got := state(); got != session.GrownSince {
		t.Errorf("written since: %s", got)
	}
	l.SaveBy(k.Trigger())
	if got := state(); got != session.AsCaptured {
		t.Errorf("saved: %s", got)
	}
	if err := os.WriteFile(k.File, []byte(strings.ToUpper(k.Bytes())), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := state(); got != session.Rewritten {
		t.Errorf("rewritten: %s", got)
	}
	if err := os.Remove(k.File); err != nil {
		t.Fatal(err)
	}
	if got := state(); got != session.Gone {
		t.Errorf("removed: %s", got)
	}
	if err := os.Mkdir(k.File, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := state(); got != session.Unreadable {
		t.Errorf("a directory: %s", got)
	}
}
