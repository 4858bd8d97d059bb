package conversation

import (
	"slices"
	"strings"
	"time"

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
			same, err := SamePrompt(db, &before, c)
			return !same, err
		}
	}
	return true, nil
}

// PromptRetry is how soon the same words again can be the same prompt, where the agent gives prompts no ids.
const PromptRetry = 5 * time.Second

// SamePrompt reports whether two checkpoints of one session were taken at one prompt: hooks fire twice, and what is typed
// into a running turn has the turn's id. The older one has the state before the turn. Without ids, the same text
// shortly afterwards is the same prompt only if the turn is still running and has changed nothing yet.
func SamePrompt(db *manifest.DB, older, newer *manifest.Checkpoint) (bool, error) {
	if older.PromptID != "" || newer.PromptID != "" {
		return older.PromptID == newer.PromptID, nil
	}
	from, until := PromptTime(older), PromptTime(newer)
	if strings.TrimSpace(older.Prompt) != strings.TrimSpace(newer.Prompt) || until.Sub(from) >= PromptRetry {
		return false, nil
	}
	changed := older.Root != newer.Root
	for c, err := range db.Checkpoints(manifest.Query{Before: newer.Seq + 1, All: true}) {
		if err != nil {
			return false, err
		}
		if c.Seq <= older.Seq {
			break
		}
		windows, _ := manifest.ParseWindows(c.Windows) // verify reports what is damaged
		for _, w := range windows {
			if w.Session != older.Session || w.Agent != older.Agent || !w.Time.After(from) || !w.Time.Before(until) {
				continue
			}
			switch w.Edge {
			case manifest.WindowStop, manifest.WindowEnd:
				if w.Subagent == "" {
					return false, nil
				}
			case manifest.WindowOpen, manifest.WindowClose:
				if changed {
					return false, nil
				}
			}
		}
		if c.Seq == newer.Seq || c.Session != older.Session || c.Agent != older.Agent {
			continue
		}
		switch c.Kind { // of a program that left no lines
		case manifest.Stop, manifest.SessionEnd:
			if c.Subagent == "" {
				return false, nil
			}
		case manifest.PreTool, manifest.PostTool:
			if changed {
				return false, nil
			}
		}
	}
	return true, nil
}

// PromptTime is when a prompt was sent: its hook began before its checkpoint.
func PromptTime(c *manifest.Checkpoint) time.Time {
	windows, err := manifest.ParseWindows(c.Windows)
	if err != nil {
		return c.Time // verify reports that
	}
	for _, w := range slices.Backward(windows) {
		if w.Edge == manifest.WindowPrompt && w.Session == c.Session && w.PromptID == c.PromptID && w.Time.Before(c.Time) {
			return w.Time
		}
	}
	return c.Time
}
