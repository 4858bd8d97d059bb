package conversation

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// Found is a text of a conversation that a search found.
type Found struct {
	Message                 // without its parts
	Part    transcript.Part // without its text
	Line    string          // the line of the text that was found; of what a tool was given, that of one of its texts, without the JSON
	Session string
	Since   bool // no checkpoint has it: it is in the agent's own file, after the session's newest checkpoint
	// Checkpoints say where it belongs, the closest first: the one before the tool call that it is about, that of the prompt
	// that it answers, the oldest that holds it, the prompt in front of that. What came since has the newest, and its prompt.
	Checkpoints []manifest.CheckpointID
}

// mostFound bounds what is kept of one session until its checkpoints are known.
const mostFound = 1000

// Search looks through what checkpoints hold of conversations, and what agents have written since, each message once, and
// gives what line finds: one text of a message, and no more than mostFound of a session. The session with the newest
// checkpoint comes first, and in it the newest message. What is damaged, or in a form that is not known, is passed over. Errors: those of each, and of the context.
func Search(ctx context.Context, p *project.Project, line func(text string) (string, bool), each func(Found) error) error {
	sessions := map[string][]manifest.Checkpoint{}
	var order []string
	err := p.Query(ctx, func(db *manifest.DB) error {
		for c, err := range db.Checkpoints(manifest.Query{}) {
			if err != nil {
				return err
			}
			if c.Transcript == nil {
				continue
			}
			if sessions[c.Session] == nil {
				order = append(order, c.Session)
			}
			sessions[c.Session] = append(sessions[c.Session], c)
		}
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	told := map[string]bool{} // events: a fork has those of what it was forked from
	for _, session := range order {
		found, err := searchSession(ctx, p, sessions[session], line)
		if err != nil {
			return err
		}
		for _, f := range slices.Backward(found) {
			if f.Event != "" && told[f.Event] {
				continue
			}
			told[f.Event], f.Session = true, session
			if err := each(f); err != nil {
				return err
			}
		}
	}
	return nil
}

func searchSession(ctx context.Context, p *project.Project, checkpoints []manifest.Checkpoint, line func(string) (string, bool)) ([]Found, error) {
	var found []Found
	prompts := map[int]string{} // by number of the message
	b, err := TalkBranches(ctx, p, checkpoints, func(n int, m Message) error {
		if m.Prompt {
			prompts[n] = m.PromptID
		}
		m.At = n
		if f, ok := findIn(m, line); ok {
			if found = append(found, f); len(found) > mostFound {
				found = found[1:]
			}
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	since, err := searchSince(ctx, p, checkpoints, line)
	if err != nil || len(found) == 0 {
		return since, err
	}
	calls, asked := map[string]manifest.CheckpointID{}, map[string]manifest.CheckpointID{}
	for _, c := range checkpoints { // the oldest of each is what counts
		if c.ToolUseID != "" && c.Kind == manifest.PreTool {
			calls[c.ToolUseID] = c.ID
		}
		if c.PromptID != "" && c.Kind == manifest.Prompt {
			asked[c.PromptID] = c.ID
		}
	}
	type place struct{ branch, at int }
	places := make(map[int]place, len(found))
	wanted := make(map[int]bool, len(found))
	for _, f := range found {
		wanted[f.At] = true
	}
	prompt := make(map[int]string, len(found)) // the newest one before
	for i, list := range b.Lists {
		last := ""
		for at, n := range list {
			if id, ok := prompts[n]; ok {
				last = id
			}
			if _, known := places[n]; wanted[n] && !known {
				places[n], prompt[n] = place{i, at}, last
			}
		}
	}
	for i := range found {
		f := &found[i]
		n, at := f.At, places[f.At]
		f.At = at.at + 1
		if id, ok := calls[f.Part.Call]; ok {
			f.Checkpoints = append(f.Checkpoints, id)
		}
		if id, ok := asked[prompt[n]]; ok {
			f.Checkpoints = append(f.Checkpoints, id)
		}
		for k := len(checkpoints) - 1; k >= 0; k-- {
			if b.At[k].Branch == at.branch && b.At[k].Messages > at.at {
				f.Checkpoints = append(f.Checkpoints, checkpoints[k].ID)
				f.Checkpoints = append(f.Checkpoints, promptOf(checkpoints[k+1:])...) // of agents that give prompts no ids
				break
			}
		}
	}
	return append(found, since...), nil
}

// searchSince looks through what the agent wrote behind a session's newest checkpoint.
func searchSince(ctx context.Context, p *project.Project, checkpoints []manifest.Checkpoint, line func(string) (string, bool)) ([]Found, error) {
	newest := checkpoints[0]
	recent, _, err := TalkSince(ctx, p, newest, TalkOptions{})
	if err != nil && !errors.As(err, new(*account.DamagedStoreError)) {
		return nil, err
	}
	belongs := append([]manifest.CheckpointID{newest.ID}, promptOf(checkpoints)...)
	var found []Found
	for _, m := range recent {
		if f, ok := findIn(m, line); ok {
			f.Since, f.Checkpoints = true, belongs
			found = append(found, f)
		}
	}
	return found[max(0, len(found)-mostFound):], nil
}

// promptOf is the newest prompt's, if there is one.
func promptOf(checkpoints []manifest.Checkpoint) []manifest.CheckpointID {
	for _, c := range checkpoints {
		if c.Kind == manifest.Prompt {
			return []manifest.CheckpointID{c.ID}
		}
	}
	return nil
}

// findIn gives the first text of a message that line finds.
func findIn(m Message, line func(string) (string, bool)) (Found, bool) {
	for _, part := range m.Parts {
		if found, ok := line(part.Text); ok {
			if part.Kind == transcript.ToolCall {
				found = givenLine(part.Text, found, line)
			}
			m.Parts, part.Text = nil, ""
			return Found{Message: m, Part: part, Line: found}, true
		}
	}
	return Found{}, false
}

// givenLine is what line finds in one of the texts that a tool was given, by their names; found where it finds none, or the input was cut.
func givenLine(input, found string, line func(string) (string, bool)) string {
	var given any
	if json.Unmarshal([]byte(input), &given) != nil {
		return found
	}
	var in func(v any) bool
	in = func(v any) (ok bool) {
		switch v := v.(type) {
		case string:
			var text string
			if text, ok = line(v); ok {
				found = text
			}
		case []any:
			ok = slices.ContainsFunc(v, in)
		case map[string]any:
			ok = slices.ContainsFunc(slices.Sorted(maps.Keys(v)), func(name string) bool { return in(v[name]) })
		}
		return ok
	}
	in(given)
	return found
}
