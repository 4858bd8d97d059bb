package cli

import (
	"context"
	"slices"
	"strconv"

	"github.com/rewind-cli/rewind/cli/web"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// uiTalk is a page of a conversation.
type uiTalk struct {
	Messages []uiMessage `json:"messages"`
	Earlier  bool        `json:"earlier"`
	Partial  bool        `json:"partial,omitempty"` // more was said since, which cannot be had
}

type uiMessage struct {
	Here   bool     `json:"here,omitempty"`  // the row begins with it
	Since  bool     `json:"since,omitempty"` // no checkpoint has it: it stands in the agent's own file
	At     int      `json:"at"`
	Event  string   `json:"event"`
	Time   string   `json:"time"`
	Prompt bool     `json:"prompt,omitempty"`
	Parts  []uiPart `json:"parts"`
	Cut    bool     `json:"cut,omitempty"`
}

type uiPart struct {
	Kind   string `json:"kind"` // words, thought, call, answer
	Person bool   `json:"person,omitempty"`
	Text   string `json:"text"`
	Tool   string `json:"tool,omitempty"`
	Call   string `json:"call,omitempty"`
	About  string `json:"about,omitempty"` // of a call: what its input is about
	Row    string `json:"row,omitempty"`   // of a call: the checkpoint before it
	Failed bool   `json:"failed,omitempty"`
}

const (
	talkPage  = 60
	nextTalk  = 200      // records after a turn, in which its conversation is looked for
	mostSince = 400      // messages that no checkpoint has
	maxSaid   = 20 << 10 // bytes of one text
)

func (s *uiSpace) uiTalk(ctx context.Context, args web.Args) (any, error) {
	r, err := s.row(args("id"))
	if err != nil {
		return nil, err
	}
	out := uiTalk{Messages: []uiMessage{}}
	l := talkOf(ctx, s.p, r)
	if r.Kind == timeline.Now && l == nil {
		if l, err = s.newestTalk(ctx); err != nil {
			return nil, err
		}
	}
	if l == nil || l.Transcript == nil {
		return out, nil
	}
	before, _ := strconv.Atoi(args("before"))
	all, earlier, err := conversation.Talk(ctx, s.p, l.Checkpoint, conversation.TalkOptions{Before: before, Limit: talkPage, MaxText: maxSaid})
	if err != nil {
		return nil, err
	}
	held := len(all)
	if before == 0 {
		since, whole, err := conversation.TalkSince(ctx, s.p, l.Checkpoint, conversation.TalkOptions{Limit: mostSince, MaxText: maxSaid})
		if err != nil {
			return nil, err
		}
		all, out.Partial = append(all, since...), !whole
	}
	calls := s.rowsOfCalls(all)
	for i, m := range all {
		v := viewMessage(m, calls, s.p.Root())
		v.Since = i >= held
		if c := r.Checkpoint; c != nil {
			v.Here = r.Kind == timeline.Prompt && m.Prompt && m.PromptID != "" && m.PromptID == c.PromptID ||
				slices.ContainsFunc(m.Parts, func(p transcript.Part) bool {
					return p.Call != "" && p.Kind == transcript.ToolCall && p.Call == c.ToolUseID
				})
		}
		out.Messages = append(out.Messages, v)
	}
	out.Earlier = earlier
	return out, nil
}

// rowsOfCalls are the rows that stand before the calls of messages.
func (s *uiSpace) rowsOfCalls(messages []conversation.Message) map[string]string {
	calls := map[string]string{}
	for _, m := range messages {
		for _, p := range m.Parts {
			if p.Kind == transcript.ToolCall && p.Call != "" {
				calls[p.Call] = ""
			}
		}
	}
	if len(calls) == 0 {
		return calls
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, row := range s.rows {
		if row == nil { // gone since
			continue
		}
		if c := row.Checkpoint; c != nil && c.ToolUseID != "" && c.Kind == manifest.PreTool {
			if _, ok := calls[c.ToolUseID]; ok {
				calls[c.ToolUseID] = id
			}
		}
	}
	return calls
}

var partKinds = [...]string{transcript.Words: "words", transcript.Thought: "thought", transcript.ToolCall: "call", transcript.ToolAnswer: "answer", transcript.Client: "client"}

// viewMessage is a message; calls are rows by the tool calls that they were taken before. What a call is about is told
// from root on.
func viewMessage(m conversation.Message, calls map[string]string, root string) uiMessage {
	v := uiMessage{At: m.At, Event: m.Event, Time: viewTime(m.Time), Prompt: m.Prompt, Cut: m.Cut}
	for _, p := range m.Parts {
		part := uiPart{Kind: partKinds[p.Kind], Person: p.Role == transcript.User, Text: p.Text, Tool: p.Tool, Call: p.Call, Failed: p.Failed}
		if p.Kind == transcript.ToolCall {
			part.About, part.Row = belowRoot(conversation.GivenTo(p.Text), root+"/"), calls[p.Call]
		}
		v.Parts = append(v.Parts, part)
	}
	return v
}

// newestTalk is the newest checkpoint that holds a conversation; nil for none.
func (s *uiSpace) newestTalk(ctx context.Context) (newest *project.Listed, err error) {
	err = s.p.Query(ctx, func(db *manifest.DB) error {
		for c, err := range db.Checkpoints(manifest.Query{}) {
			if err != nil {
				return err
			}
			if c.Transcript != nil {
				newest = &project.Listed{Checkpoint: c}
				return nil
			}
		}
		return nil
	})
	return newest, err
}

// talkOf is the checkpoint whose conversation a row shows: of what a prompt or a call did, the state after it,
// which has what was said meanwhile.
func talkOf(ctx context.Context, p *project.Project, r *timeline.Row) *project.Listed {
	l := r.Checkpoint
	if l == nil {
		return r.Target
	}
	if r.Side != timeline.Did || r.To == nil || r.To.ID == (manifest.CheckpointID{}) {
		return l
	}
	if after, err := resolve(ctx, p, r.To.ID.String()); err == nil && after.ID != l.ID && after.Transcript != nil && after.Session == l.Session {
		return &after
	}
	// An end that changed no file has none, or none of its own: what the session has next holds it.
	err := p.Query(ctx, func(db *manifest.DB) error {
		for c, err := range db.Checkpoints(manifest.Query{Before: r.To.Seq + nextTalk, Session: l.Session}) {
			if err != nil || c.Seq <= max(l.Seq, r.To.Seq) {
				return err
			}
			if c.Transcript != nil {
				found := project.Listed{Checkpoint: c}
				l = &found
			}
		}
		return nil
	})
	if err != nil {
		return r.Checkpoint // it is gone: what was said before is still there
	}
	return l
}
