package conversation

import (
	"context"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/transcript"
)

// answerWait is how long a turn's end waits for its answer: clients write their transcripts some 100 ms late.
const answerWait = 300 * time.Millisecond

// AwaitAnswer waits until the trigger's transcript has the answer with which its turn ended, but not for long.
func AwaitAnswer(ctx context.Context, t Trigger) {
	agent := transcript.Agent(t.Agent)
	if t.Transcript == "" || !transcript.Supported(agent) {
		return
	}
	for end := time.Now().Add(answerWait); time.Now().Before(end) && !transcript.Answered(agent, t.Transcript); {
		select {
		case <-ctx.Done():
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// AskedSince counts the prompts of the trigger's transcript behind what is known of it, and says how far it looked.
func AskedSince(t Trigger, held *account.HeldConversation) (seen int64, asked int) {
	agent := transcript.Agent(t.Agent)
	if held == nil || t.Transcript == "" || !transcript.Supported(agent) {
		return 0, 0
	}
	return transcript.Asked(agent, t.Transcript, held.Seen)
}
