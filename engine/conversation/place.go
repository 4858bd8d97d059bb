package conversation

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// cutPoint is where a conversation is to be cut.
type cutPoint struct {
	*copies
	source *conversationSource
	leaf   string
}

// isNow reports whether the conversation is at the place now: the session's own file has the same messages.
func (at *cutPoint) isNow() bool {
	x := at.source.index
	return at.source.live && x.SameMessages(at.leaf, x.Leaf()) && transcript.Later(at.agent, session.AgentHome(at.p), at.file) == ""
}

// reverted are the prompts that the place takes back, newest first.
func (at *cutPoint) reverted() []string {
	x := at.source.index
	lines, err := x.Reverted(x.Leaf(), at.leaf)
	if err != nil {
		return nil
	}
	return textsOf(x, lines)
}

// textsOf are the texts of lines, by their numbers.
func textsOf(x *transcript.Index, lines []int) (texts []string) {
	for _, i := range lines {
		texts = append(texts, x.Lines[i].Text)
	}
	return texts
}

// asked are the prompts that a move takes back. If there is none, it is the message at which the checkpoint was taken: the
// person typed it while the agent worked, so that it is no prompt, and would type it again.
func (r *mover) asked(prompts []string) []string {
	if len(prompts) == 0 && r.Before == nil && r.Target.Kind == manifest.Prompt && r.Target.Prompt != "" {
		return []string{r.Target.Prompt}
	}
	return prompts
}

// until is the time of the newest message before a place.
func (r *mover) until(at *cutPoint) time.Time {
	x := at.source.index
	chain, err := x.Chain(at.leaf)
	if err != nil {
		return r.Target.Time
	}
	for _, i := range slices.Backward(chain) {
		if t := x.Lines[i].Time; !t.IsZero() {
			return t
		}
	}
	return r.Target.Time
}

// placeOf finds the end of the conversation at a checkpoint. What is exact (a
// prompt's or a tool call's id) is looked for in all copies before what the hook
// saw at the time counts, since the file lagged behind.
// Errors: *NoConversationError.
func placeOf(ctx context.Context, p *project.Project, c manifest.Checkpoint) (*cutPoint, error) {
	t := c.Transcript
	if t == nil {
		return nil, &NoConversationError{Checkpoint: c.ID.String()}
	}
	if !transcript.Supported(transcript.Agent(t.Agent)) {
		return nil, &NoConversationError{Checkpoint: c.ID.String(), Reason: "conversations of this agent are not supported"}
	}
	v, err := conversationOf(ctx, p, t.Agent, t.Session, t.Path, &c)
	if err != nil {
		return nil, err
	}
	var failure error
	for _, cut := range []func(*transcript.Index, manifest.Checkpoint) (string, error){v.exactCut, seenCut} {
		var found *cutPoint
		err := v.sources(func(s *conversationSource) bool {
			leaf, err := cut(s.index, c)
			switch {
			case err == nil:
				found = &cutPoint{v, s, leaf}
				return false
			case errors.As(err, new(*transcript.NothingBeforeError)):
				failure = err
				return false
			case failure == nil:
				failure = err
			}
			return true
		})
		if err != nil {
			return nil, err
		}
		if found != nil {
			return found, nil
		}
		if errors.As(failure, new(*transcript.NothingBeforeError)) {
			break
		}
	}
	if failure == nil {
		failure = v.nothing()
	}
	return nil, noPlace(c.ID.String(), failure)
}

// noPlace turns what transcripts say into the engine's error.
func noPlace(checkpoint string, err error) error {
	switch {
	case errors.As(err, new(*transcript.NothingBeforeError)):
		return &NoConversationError{Checkpoint: checkpoint, Reason: "this is the session's first prompt, and no earlier conversation exists", Before: true, Err: err}
	case errors.As(err, new(*transcript.FormatError)):
		return &NoConversationError{Checkpoint: checkpoint, Reason: problem.Text(err), Err: err}
	case errors.As(err, new(*transcript.NoEventError)):
		return &NoConversationError{Checkpoint: checkpoint, Reason: "the place was not found: " + problem.Text(err), Err: err}
	}
	return err
}

// exactCut finds a checkpoint's place by the ids that its hook knew.
func (v *copies) exactCut(x *transcript.Index, c manifest.Checkpoint) (string, error) {
	switch {
	case c.Kind == manifest.Prompt:
		return v.promptCut(x, c)
	case c.Kind == manifest.PreTool && c.ToolUseID != "" && c.Subagent == "":
		return x.BeforeTool(c.ToolUseID)
	}
	return "", &transcript.NoEventError{Kind: "prompt", ID: c.PromptID}
}

func (v *copies) promptCut(x *transcript.Index, c manifest.Checkpoint) (string, error) {
	m, err := v.promptsIn(x)
	if err != nil {
		return "", err
	}
	seen, _ := x.Number(c.Transcript.EventID)
	prompts, err := x.Prompts(c.Transcript.EventID)
	if err != nil {
		prompts = nil // another copy than the hook saw
	}
	for _, i := range prompts {
		if c.PromptID == "" || x.Lines[i].PromptID != c.PromptID {
			continue
		}
		if own := m.checkpoint(i); own != nil && own.Seq == c.Seq && !answered(x.Lines[i:max(i, seen+1)]) {
			return x.Before(x.Lines[i].ID) // its line was written before the hook ran
		}
		// It was typed while the agent worked, and belongs to the running turn. The messages that are
		// older than the checkpoint come before it, also where the file was written later.
		return x.At(saidBy(x, c.Transcript.EventID, c.Time))
	}
	if c.PromptID != "" {
		leaf, err := x.BeforePromptID(x.Leaf(), c.PromptID)
		if !errors.As(err, new(*transcript.NoEventError)) {
			return leaf, err
		}
	}
	if j, ok := m.line[c.Seq]; ok {
		return x.Before(x.Lines[m.prompts[j]].ID)
	}
	return "", &transcript.NoEventError{Kind: "prompt", ID: c.PromptID}
}

// seenCut takes the event that the hook saw last. Messages that were written to the file later, but are older
// than the checkpoint, belong to it too: the file was behind.
func seenCut(x *transcript.Index, c manifest.Checkpoint) (string, error) {
	leaf := c.Transcript.EventID
	if c.Kind == manifest.PreTool && x.WrittenAgain(leaf, int64(c.Transcript.Offset)) {
		return x.Before(leaf) // with the call that the hook reported
	}
	if c.Kind != manifest.Prompt && c.Kind != manifest.PreTool {
		leaf = saidBy(x, leaf, c.Time)
	}
	if leaf == "" {
		return "", &transcript.NothingBeforeError{}
	}
	return x.At(leaf)
}

// saidBy follows the newest branch from an event through the messages
// up to a time, but not into another prompt.
func saidBy(x *transcript.Index, leaf string, at time.Time) string {
	chain, err := x.Chain(x.Leaf())
	if err != nil {
		return leaf
	}
	from := -1
	if leaf != "" {
		if from = slices.IndexFunc(chain, func(i int) bool { return x.Lines[i].ID == leaf }); from < 0 {
			return leaf // on a branch that was given up since
		}
	}
	for _, i := range chain[from+1:] {
		l := &x.Lines[i]
		if from >= 0 && l.Prompt || l.Time.IsZero() || l.Time.After(at) {
			break
		}
		leaf = l.ID
	}
	return leaf
}

// placeAt finds the end of a session's conversation at a time.
func placeAt(ctx context.Context, p *project.Project, s *session.Info, at time.Time) (*cutPoint, error) {
	v, err := conversationOf(ctx, p, s.Agent, s.ID, s.Path, nil)
	if err != nil {
		return nil, err
	}
	source, err := v.best()
	if err != nil {
		return nil, noPlace("", err)
	}
	ends, err := (&cutPoint{v, source, source.index.Leaf()}).since()
	if err != nil {
		return nil, err
	}
	for _, end := range ends {
		x := end.source.index
		leaf := ""
		chain, err := x.Chain(end.leaf)
		if err != nil {
			return nil, noPlace("", err)
		}
		for _, i := range chain {
			if l := &x.Lines[i]; !l.Time.IsZero() && !l.Time.After(at) {
				leaf = l.ID
			}
		}
		if leaf == "" {
			continue // the message is older than this file
		}
		if leaf, err = x.At(leaf); err != nil {
			return nil, noPlace("", err)
		}
		return &cutPoint{end.copies, end.source, leaf}, nil
	}
	return nil, noPlace("", &transcript.NothingBeforeError{})
}
