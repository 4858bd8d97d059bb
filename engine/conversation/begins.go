package conversation

import (
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// BeginsTurn is the one rule for what a prompt is. A hook reports more than that as a prompt: a notice that the client
// itself puts in, and a message that was typed while the agent worked, which belongs to the running turn. Only what a
// person typed to an agent at rest begins a turn, and is counted by prompt~N.
func BeginsTurn(db *manifest.DB, c *manifest.Checkpoint) (bool, error) {
	if c.Kind != manifest.Prompt || c.Subagent != "" {
		return c.Kind == manifest.SessionStart && c.Prompt != "", nil
	}
	agent := transcript.Agent(c.Agent)
	if !transcript.Typed(agent, c.Prompt) {
		return false, nil
	}
	for before, err := range db.Checkpoints(manifest.Query{Session: c.Session, Before: c.Seq, Kinds: []manifest.CheckpointKind{manifest.Prompt}}) {
		if err != nil {
			return false, err
		}
		if before.Agent == c.Agent && before.Subagent == "" && transcript.Typed(agent, before.Prompt) {
			return !samePrompt(before, *c), nil
		}
	}
	return true, nil
}
