package conversation_test

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
	"github.com/rewind-cli/rewind/internal/testkit/testlab"
	"github.com/rewind-cli/rewind/manifest"
)

// The answer to a question that changed no file is kept at the session's end: it
// outlives the transcript. What a client notes about itself is no answer.
func TestLastAnswerIsKept(t *testing.T) {
	for name, at := range map[string]time.Time{"in time": time.Now().Add(time.Hour), "left": time.Unix(1, 0)} {
		t.Run(name, func(t *testing.T) {
			c := testlab.NewChat(t)
			c.Turn("one", "0")
			c.Transcript.Add(`{"type":"cost-state","sessionId":"` + testlab.Session + `"}` + "\n")
			end := func() manifest.Checkpoint {
				t.Helper()
				c.Report(hook.Event{Time: at, Kind: manifest.SessionEnd, Moment: settings.SessionEnd, By: c.Transcript.Trigger()})
				c.Work()
				return c.Newest(1)[0].Checkpoint
			}
			last := end()
			if last.Kind != manifest.SessionEnd {
				t.Fatalf("no record of the last answer: %+v", last)
			}
			c.Transcript.Add(`{"type":"cost-state","sessionId":"` + testlab.Session + `","more":1}` + "\n")
			if again := end(); again.ID != last.ID {
				t.Errorf("a record of no answer: %+v", again)
			}
			if err := os.RemoveAll(filepath.Join(c.Home, ".claude")); err != nil {
				t.Fatal(err)
			}
			done := c.Restore(restore.Options{Checkpoint: last, Half: conversation.ConversationOnly})
			text, err := os.ReadFile(done.Conversation.File)
			if err != nil || !strings.Contains(string(text), "answer to one") {
				t.Errorf("after the purge: %v\n%s", err, text)
			}
		})
	}
}
