package conversation_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/save"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/internal/testkit/testlab"
	"github.com/rewind-cli/rewind/manifest"
)

// Prompts of the same words, of which hooks told or not, with ids or without, by whatever clock: each has the state that it
// found, and the conversation goes back to before its own line.
func TestPromptsOfTheSameWords(t *testing.T) {
	n := 0
	for _, words := range []string{"go go go go", "go go go! go", "go go go!", "go go! go! go", "go! go go", "x go! y go", "go other go!", "a b! c d"} {
		for _, clock := range []time.Duration{0, -3 * time.Second, 45 * time.Second, -time.Hour} {
			for _, ids := range []bool{true, false} {
				for _, lineFirst := range []bool{false, true} {
					if n++; n%testlab.Every(11) != 0 {
						continue
					}
					t.Run(fmt.Sprintf("%s, clock %v, ids %v, line first %v", words, clock, ids, lineFirst), func(t *testing.T) {
						sameWords(t, strings.Fields(words), clock, ids, lineFirst)
					})
				}
			}
		}
	}
}

// sameWords lives through turns; the words of one whose hook did not run end with an exclamation mark.
func sameWords(t *testing.T, words []string, clock time.Duration, ids, lineFirst bool) {
	c := testlab.NewChat(t)
	now := time.Now().Add(-2 * time.Hour)
	c.Env.Now = func() time.Time { return now }
	say := func(role, id, text string) {
		c.Transcript.N++
		parent, event := "null", fmt.Sprintf("event-%d", c.Transcript.N)
		if c.Transcript.Last != "" {
			parent = `"` + c.Transcript.Last + `"`
		}
		c.Transcript.Add(fmt.Sprintf(`{"parentUuid":%s,"isSidechain":false,"type":%q,"message":{"role":%q,"content":%q},"uuid":%q,"timestamp":%q,"promptId":%q,"sessionId":%q,"version":"2.1.329"}`+"\n",
			parent, role, role, text, event, now.Add(clock).UTC().Format(time.RFC3339Nano), id, testlab.Session))
		c.Transcript.Last = event
	}
	found := make([]oid.ID, len(words)) // the trees that the prompts found
	told := make([]manifest.CheckpointID, len(words))
	root := c.SaveBy(conversation.Trigger{}).Checkpoint.Root
	for i, word := range words {
		word, untold := strings.CutSuffix(word, "!")
		now = now.Add(10 * time.Second)
		found[i] = root
		by := c.Transcript.Trigger()
		if ids {
			by.PromptID = fmt.Sprintf("p%d", i)
		}
		if lineFirst {
			say("user", by.PromptID, word)
		}
		if !untold {
			of := by
			of.Prompt = word
			told[i] = c.SaveBy(of).Checkpoint.ID
		}
		now = now.Add(100 * time.Millisecond)
		if !lineFirst {
			say("user", by.PromptID, word)
		}
		now = now.Add(3 * time.Second)
		say("assistant", "", "done")
		c.Write("file", fmt.Sprint("turn ", i))
		c.Do(func(ctx context.Context, p *project.Project) error {
			saved, err := save.Save(ctx, p, checkpoint.Options{Kind: manifest.Stop, By: by})
			if err == nil {
				root = saved.Checkpoint.Root
			}
			return err
		})
	}
	c.Do(func(ctx context.Context, p *project.Project) error {
		for i := range words {
			n := len(words) - i
			l, err := inspect.ResolveIn(ctx, p, fmt.Sprintf("prompt~%d", n), testlab.Session)
			var none *conversation.PromptNotSavedError
			switch {
			case i == 0 && errors.As(err, &none) && told[i] == (manifest.CheckpointID{}):
				// what the first prompt found is not known
			case err != nil:
				t.Errorf("prompt %d: %v", i, err)
			case l.Root != found[i]:
				t.Errorf("prompt %d is %s %q, with another tree", i, l.ID, l.Prompt)
			case told[i] != (manifest.CheckpointID{}) && l.ID != told[i]:
				t.Errorf("prompt %d is %s, want %s", i, l.ID, told[i])
			}
			s, err := session.Choose(ctx, p, testlab.Session)
			if err != nil {
				return err
			}
			if place, err := conversation.FindPrompt(ctx, p, s, n); err != nil || place.Exact != (told[i] != (manifest.CheckpointID{})) {
				t.Errorf("prompt %d: exact is %v (%v)", i, place.Exact, err)
			}
			if told[i] == (manifest.CheckpointID{}) || i == 0 {
				continue
			}
			done, err := restore.Restore(ctx, p, restore.Options{Checkpoint: l.Checkpoint, Half: conversation.ConversationOnly, DryRun: true})
			if err != nil || len(done.Prompts) != n {
				t.Errorf("prompt %d: its conversation takes back %q (%v), want %d", i, done.Prompts, err, n)
			}
		}
		return nil
	})
}
