package conversation_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/internal/testkit/testlab"
	"github.com/rewind-cli/rewind/manifest"
)

// A hook that fires twice at one prompt, the second time when the turn has begun
// to change files: the state before the turn stays the state before the turn.
func TestPromptTakenTwice(t *testing.T) {
	for _, id := range []string{"p3", ""} {
		for _, gone := range []bool{false, true} {
			t.Run(fmt.Sprintf("id %q, transcript gone %v", id, gone), func(t *testing.T) {
				c := testlab.NewChat(t)
				// Some seconds pass between the prompts, none between the retries.
				now := time.Now().Add(-time.Hour)
				c.Env.Now = func() time.Time { return now }
				taken := func(prompt, id string) manifest.Checkpoint {
					t.Helper()
					by := c.Transcript.Trigger()
					by.Prompt, by.PromptID = prompt, id
					return c.SaveBy(by).Checkpoint
				}
				c.Turn("one", "1")
				now = now.Add(time.Minute)
				first := taken("two", id)
				c.Write("file", "half of two")
				now = now.Add(time.Second)
				again := taken("two", id)
				if first.ID == again.ID || first.Root == again.Root {
					t.Fatal("there is but one record")
				}
				c.Transcript.Say("two", "answer to two")
				stamp := first.Time.Add(2 * time.Second).Format(time.RFC3339Nano)
				text := strings.Replace(c.Transcript.Bytes(), `"content":"two"},"uuid":"00000000-0000-4000-8000-000000000003","timestamp":"2026-11-20T20:29:18.362Z"`,
					`"content":"two"},"uuid":"00000000-0000-4000-8000-000000000003","timestamp":"`+stamp+`"`, 1)
				if id == "" {
					text = strings.ReplaceAll(text, `"promptId":"p3",`, "")
				}
				if err := os.WriteFile(c.Transcript.File, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				c.Write("file", "2")
				if gone {
					if err := os.RemoveAll(filepath.Join(c.Home, ".claude")); err != nil {
						t.Fatal(err)
					}
				}
				specs := []string{"prompt~1"}
				if id != "" {
					specs = append(specs, testlab.Session+":"+id)
				}
				c.Do(func(ctx context.Context, p *project.Project) error {
					for _, spec := range specs {
						if l, err := inspect.ResolveIn(ctx, p, spec, testlab.Session); err != nil || l.ID != first.ID && !(gone && spec == "prompt~1") {
							t.Errorf("%s is %s (%v), want %s, not %s", spec, l.ID, err, first.ID, again.ID)
						}
					}
					s, err := session.Choose(ctx, p, testlab.Session)
					if err != nil {
						return err
					}
					if gone {
						return nil // the transcript as captured does not have the prompt yet
					}
					_, err = restore.Back(ctx, p, restore.BackOptions{Session: s, N: 1, Both: true})
					return err
				})
				if !gone {
					c.Content("1")
				}
			})
		}
	}
}

// The same of a session whose conversation cannot be read: its checkpoints are counted.
func TestPromptTakenTwiceIsCountedOnce(t *testing.T) {
	for _, id := range []string{"p2", ""} {
		l := newLab(t)
		l.Write("file", "1")
		l.Init()
		now := time.Now().Add(-time.Hour)
		l.Env.Now = func() time.Time { return now }
		taken := func(prompt, id string) manifest.Checkpoint {
			now = now.Add(time.Second)
			return l.SaveBy(conversation.Trigger{Agent: "generic", Session: "s", Prompt: prompt, PromptID: id}).Checkpoint
		}
		taken("one", "")
		now = now.Add(time.Minute)
		first := taken("two", id)
		l.Write("file", "half of two")
		taken("two", id)
		l.Do(func(ctx context.Context, p *project.Project) error {
			if c, err := inspect.ResolveIn(ctx, p, "prompt~1", "s"); err != nil || c.ID != first.ID {
				t.Errorf("id %q: the last prompt is %s (%v), want %s", id, c.ID, err, first.ID)
			}
			if c, err := inspect.ResolveIn(ctx, p, "prompt~2", "s"); err != nil || c.Prompt != "one" {
				t.Errorf("id %q: the one before is %q (%v)", id, c.Prompt, err)
			}
			if _, err := inspect.ResolveIn(ctx, p, "prompt~3", "s"); err == nil {
				t.Errorf("id %q: there are three", id)
			}
			return nil
		})
	}
}
