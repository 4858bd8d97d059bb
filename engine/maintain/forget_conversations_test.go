//go:build unix

package maintain_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/save"
	"github.com/rewind-cli/rewind/internal/testkit/testlab"
	"github.com/rewind-cli/rewind/manifest"
)

// quoted is a text as it is in a JSON string.
func quoted(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}

// TestForgetInConversations: what conversations hold of a forgotten file is marked, however a client writes it, and what
// they hold of others stays.
func TestForgetInConversations(t *testing.T) {
	const content = "# credentials\nPASSWORD=" + testlab.Secret + "\nHOST=db.example.org\n"
	held := map[string]string{
		"the input of a write":         `{"name":"Write","input":{"file_path":"/p/s.env","content":` + quoted(content) + `}}`,
		"the result of a command":      `{"tool_use_id":"t","content":` + quoted(content) + `}`,
		"with numbers":                 `{"content":` + quoted("     1→# credentials\n     2→PASSWORD="+testlab.Secret+"\n     3→HOST=db.example.org\n") + `}`,
		"a patch":                      `{"patch":[{"lines":["-# credentials","+# credentials","+PASSWORD=` + testlab.Secret + `","+HOST=db.example.org"]}]}`,
		"JSON within JSON":             `{"arguments":` + quoted(`{"path":"s.env","text":`+quoted(content)+`}`) + `}`,
		"one line, by the file's name": `{"name":"Bash","input":{"command":"echo PASSWORD=` + testlab.Secret + ` >> s.env"}}`,
		"text beside the transcript":   content,
	}
	for name, record := range held {
		t.Run(name, func(t *testing.T) {
			c := testlab.NewChat(t)
			l := &lab{c.Lab}
			c.Write("s.env", content)
			c.Write("other.txt", "an other file\n")
			if name == "text beside the transcript" {
				side := filepath.Join(strings.TrimSuffix(c.Transcript.File, ".jsonl"), "tool-results", "b.txt")
				if err := os.MkdirAll(filepath.Dir(side), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(side, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			c.Turn("write it", "1")
			if name != "text beside the transcript" {
				c.Transcript.Add(record + "\n")
			}
			c.Transcript.Add(`{"input":{"file_path":"other.txt","content":"an other file\n"}}` + "\n")
			c.Turn("and now?", "2")
			c.Turn("third", "3")
			before := c.Transcript.Bytes()
			rehearsed := l.forgetDry("s.env")
			done := l.forget("s.env")
			if done.Texts == 0 || !slices.Equal(rehearsed.Paths, done.Paths) || rehearsed.Texts != done.Texts || rehearsed.Checkpoints != done.Checkpoints {
				t.Errorf("%+v, by a dry run %+v", done, rehearsed)
			}
			if len(done.Still) != 1 {
				t.Errorf("still in %q", done.Still)
			}
			c.Nowhere(testlab.Secret, "after forget")
			if c.Transcript.Bytes() != before {
				t.Error("the agent's file was changed")
			}
			got := l.heldConversation(c.Newest(1)[0].Checkpoint)
			if !strings.Contains(got, "an other file") || !strings.Contains(got, "and now?") {
				t.Errorf("other things are gone, too: %q", got)
			}
			c.Verify()
		})
	}
	t.Run("a picture", func(t *testing.T) {
		picture := "\x89PNG\r\n\x1a\n\x00\x00" + testlab.Secret
		encoded := base64.StdEncoding.EncodeToString([]byte(picture))
		c := testlab.NewChat(t)
		l := &lab{c.Lab}
		c.Write("p.png", picture)
		c.Turn("look at it", "1")
		c.Transcript.Add(`{"source":{"type":"base64","data":"` + encoded + `"}}` + "\n")
		c.Turn("and now?", "2")
		l.forget("p.png")
		c.Nowhere(encoded, "after forget")
	})
}

// TestForgetCountsValues: a prompt with a value alone keeps it, and is counted.
func TestForgetCountsValues(t *testing.T) {
	c := testlab.NewChat(t)
	c.Write("s.env", "# credentials\nPASSWORD='"+testlab.Secret+"'\nHOST=localhost\n")
	c.Turn("why is "+testlab.Secret+" wrong?", "1")
	c.Turn("use localhost", "2")
	var got *maintain.Forgotten
	c.Do(func(ctx context.Context, p *project.Project) (err error) {
		got, err = maintain.Forget(ctx, p, []string{"s.env"}, true)
		return err
	})
	if got.Mentions == 0 || got.Texts != 0 {
		t.Errorf("%d entries are counted, %d places", got.Mentions, got.Texts)
	}
	without := got.Mentions
	c.Write("s.env", "# credentials\nHOST=localhost\n")
	c.Turn("use localhost and nothing else", "3")
	c.Do(func(ctx context.Context, p *project.Project) (err error) {
		got, err = maintain.Forget(ctx, p, []string{"s.env"}, true)
		return err
	})
	if got.Mentions != without {
		t.Errorf("%d entries, with one more that has no value %d", without, got.Mentions)
	}
}

// TestForgetDryRun: nothing of the store, and nothing beside it, is another than before.
func TestForgetDryRun(t *testing.T) {
	c := testlab.NewChat(t)
	l := &lab{c.Lab}
	c.Write("s.env", testlab.Secret+"\n")
	c.Turn("the password is "+testlab.Secret, "1")
	c.Turn("and now?", "2")
	c.Restore(restore.Options{Checkpoint: c.Newest(1)[0].Checkpoint, Half: conversation.ConversationOnly, InPlace: true}) // leaves a plain copy
	before := l.files()
	if done := l.forgetDry("s.env"); len(done.Paths) != 1 || done.Texts == 0 || done.Freed != 0 {
		t.Errorf("%+v", done)
	}
	c.Do(func(ctx context.Context, p *project.Project) error {
		done, err := maintain.ForgetText(ctx, p, []string{testlab.Secret}, false, true)
		if err == nil && done.Texts == 0 {
			t.Errorf("%+v", done)
		}
		return err
	})
	if after := l.files(); after != before {
		t.Errorf("the store was\n%s\nand is\n%s", before, after)
	}
}

// files says what the store and the account's directory hold, but for locks and what opening them folds.
func (l *lab) files() string {
	l.T.Helper()
	var out strings.Builder
	for _, dir := range []string{filepath.Join(l.Root, ".agent"), filepath.Join(l.Env.Home, ".rewind"), filepath.Join(l.Home, ".claude")} {
		err := filepath.WalkDir(dir, func(file string, d os.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			data, err := os.ReadFile(file)
			out.WriteString(file + " " + quoted(string(data)) + "\n")
			return err
		})
		if err != nil {
			l.T.Fatal(err)
		}
	}
	return out.String()
}

func (l *lab) forgetDry(paths ...string) *maintain.Forgotten {
	l.T.Helper()
	var done *maintain.Forgotten
	l.Do(func(ctx context.Context, p *project.Project) (err error) {
		done, err = maintain.Forget(ctx, p, paths, true)
		return err
	})
	return done
}

// TestForgetTextInNames: the names of checkpoints and branches, and descriptions, have no byte of it; what had a name is
// pinned, so that retention goes on keeping it.
func TestForgetTextInNames(t *testing.T) {
	l := newLab(t)
	l.Write("a", "1")
	for _, dir := range []string{"refs", "objects"} {
		if err := os.MkdirAll(filepath.Join(l.Root, ".git", dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	l.Write(".git/HEAD", "ref: refs/heads/fix-"+testlab.Secret+"\n")
	l.Init()
	save := func(name, description string) manifest.Checkpoint {
		l.T.Helper()
		var saved *checkpoint.Saved
		l.Do(func(ctx context.Context, p *project.Project) (err error) {
			saved, err = save.Save(ctx, p, checkpoint.Options{Kind: manifest.Manual, Name: name, Description: description})
			return err
		})
		return saved.Checkpoint
	}
	named := save("v-"+testlab.Secret, "before "+testlab.Secret)
	renamed := save("first-"+testlab.Secret, "")
	l.Do(func(ctx context.Context, p *project.Project) error {
		return maintain.Rename(ctx, p, renamed, "second-"+testlab.Secret)
	})
	kept := save("kept", "")
	l.Do(func(ctx context.Context, p *project.Project) error {
		return maintain.Rename(ctx, p, kept, "keeps-its-name")
	})
	if kept.GitBranch != "fix-"+testlab.Secret {
		t.Fatalf("the branch is %q", kept.GitBranch)
	}
	if done := l.forgetText(testlab.Secret, false); done.Texts == 0 || done.Pending != "" {
		t.Errorf("%+v", done)
	}
	l.Nowhere(testlab.Secret, "after forget")
	for _, c := range l.Newest(4) {
		switch c.ID {
		case named.ID, renamed.ID:
			if c.Name != "" || !c.Pinned {
				t.Errorf("%q is pinned: %v", c.Name, c.Pinned)
			}
		case kept.ID:
			if c.Name != "keeps-its-name" || c.Pinned {
				t.Errorf("%q is pinned: %v", c.Name, c.Pinned)
			}
		}
	}
	l.Verify()
}

// TestForgetNamesForks: a fork that a restore wrote for the client holds the text, too, and so may a temporary copy of a
// process that died beside a transcript: the one is named, the other removed.
func TestForgetNamesForks(t *testing.T) {
	c := testlab.NewChat(t)
	l := &lab{c.Lab}
	c.Turn("the password is "+testlab.Secret, "1")
	second := c.Turn("and now?", "2")
	fork := c.Restore(restore.Options{Checkpoint: second, Half: conversation.ConversationOnly}).Conversation.File
	left := filepath.Join(filepath.Dir(c.Transcript.File), ".rewind-999999999-1234.tmp")
	if err := os.WriteFile(left, []byte(testlab.Secret), 0o600); err != nil {
		t.Fatal(err)
	}
	done := l.forgetText(testlab.Secret, false)
	if !slices.Contains(done.Still, fork) || !slices.Equal(done.Forks, []string{fork}) {
		t.Errorf("still in %q, forks %q, want %s", done.Still, done.Forks, fork)
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("the temporary copy: %v", err)
	}
}

// TestForgetCheckpoint: one checkpoint goes, with every byte that nothing else has, and its neighbours stay as they were.
func TestForgetCheckpoint(t *testing.T) {
	c := testlab.NewChat(t)
	c.Write("unchanged", "the same in all of them")
	c.Turn("first", "1")
	c.Write("only-here", testlab.Secret)
	second := c.Turn("the password is "+testlab.Secret[1:], "2")
	c.Remove("only-here")
	c.Turn("third", "3")
	c.Transcript.Say("fourth", "answer")
	c.Turn("fifth", "5")
	forget := func(id manifest.CheckpointID, dryRun bool) (done *maintain.Forgotten, err error) {
		c.Do(func(ctx context.Context, p *project.Project) error {
			done, err = maintain.ForgetCheckpoint(ctx, p, id, dryRun)
			return nil
		})
		return done, err
	}
	was := len(c.Newest(100))
	if done, err := forget(second.ID, true); err != nil || done.Shared == 0 || len(c.Newest(100)) != was {
		t.Fatal(done, err)
	}
	var refused *project.RefusedError
	pin := true
	c.Do(func(ctx context.Context, p *project.Project) error { return maintain.Pin(ctx, p, second, pin) })
	if _, err := forget(second.ID, false); !errors.As(err, &refused) {
		t.Errorf("a pinned one: %v", err)
	}
	c.Do(func(ctx context.Context, p *project.Project) error { return maintain.Pin(ctx, p, second, !pin) })
	done, err := forget(second.ID, false)
	if err != nil || done.Pending != "" || len(c.Newest(100)) != was-1 {
		t.Fatal(done, err, len(c.Newest(100)))
	}
	c.Nowhere(testlab.Secret, "after forget")
	c.Verify()
	c.Restore(restore.Options{Checkpoint: c.Newest(100)[2].Checkpoint})
	c.Verify()
	// The last one stays: without a checkpoint there is no store.
	l := newLab(t)
	l.Write("a", "1")
	l.Init()
	l.Do(func(ctx context.Context, p *project.Project) error {
		_, err := maintain.ForgetCheckpoint(ctx, p, l.Newest(1)[0].ID, false)
		if !errors.As(err, &refused) {
			t.Errorf("the only one: %v", err)
		}
		return nil
	})
}
