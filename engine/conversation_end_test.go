package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/hook"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/settings"
	"github.com/rewind-cli/rewind/manifest"
)

// The answer to a question that changed no file is kept at the session's end: it
// outlives the transcript. What a client notes about itself is no answer.
func TestLastAnswerIsKept(t *testing.T) {
	for name, at := range map[string]time.Time{"in time": time.Now().Add(time.Hour), "left": time.Unix(1, 0)} {
		t.Run(name, func(t *testing.T) {
			c := newChat(t)
			c.turn("one", "0")
			c.k.add(`{"type":"cost-state","sessionId":"` + testSession + `"}` + "\n")
			end := func() manifest.Checkpoint {
				t.Helper()
				c.agent(hook.Event{Time: at, Kind: manifest.SessionEnd, Moment: settings.SessionEnd, By: c.k.trigger()})
				c.work()
				return c.newest(1)[0].Checkpoint
			}
			last := end()
			if last.Kind != manifest.SessionEnd {
				t.Fatalf("no record of the last answer: %+v", last)
			}
			c.k.add(`{"type":"cost-state","sessionId":"` + testSession + `","more":1}` + "\n")
			if again := end(); again.ID != last.ID {
				t.Errorf("a record of no answer: %+v", again)
			}
			if err := os.RemoveAll(filepath.Join(c.home, ".claude")); err != nil {
				t.Fatal(err)
			}
			done := c.restore(restore.Options{Checkpoint: last, Half: conversation.ConversationOnly})
			text, err := os.ReadFile(done.Conversation.File)
			if err != nil || !strings.Contains(string(text), "answer to one") {
				t.Errorf("after the purge: %v\n%s", err, text)
			}
		})
	}
}
