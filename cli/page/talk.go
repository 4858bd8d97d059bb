package page

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/picker"
	"github.com/rewind-cli/rewind/cli/web"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// talkView is a page of a conversation.
type talkView struct {
	Messages []messageView `json:"messages"`
	Earlier  bool          `json:"earlier"`
	Partial  bool          `json:"partial,omitempty"` // there are later messages, which are not available
}

type messageView struct {
	Here   bool       `json:"here,omitempty"`  // the row begins with it
	Since  bool       `json:"since,omitempty"` // in no checkpoint yet: read from the agent's own file
	At     int        `json:"at"`
	Event  string     `json:"event"`
	Time   string     `json:"time"`
	Prompt bool       `json:"prompt,omitempty"`
	Row    string     `json:"row,omitempty"` // of a prompt: its own
	Parts  []partView `json:"parts"`
	Cut    bool       `json:"cut,omitempty"`
}

type partView struct {
	Kind   string `json:"kind"` // words, thought, call, answer
	Person bool   `json:"person,omitempty"`
	Text   string `json:"text"`
	Tool   string `json:"tool,omitempty"`
	Call   string `json:"call,omitempty"`
	About  string `json:"about,omitempty"` // of a call: what its input is about
	Row    string `json:"row,omitempty"`   // of a call: the checkpoint before it
	Failed bool   `json:"failed,omitempty"`

	Subagent string `json:"subagent,omitempty"` // of an answer: the subagent that the call ran
}

func (s *space) talk(ctx context.Context, args web.Args) (any, error) {
	r, err := s.Row(args("id"))
	if err != nil {
		return nil, err
	}
	out := talkView{Messages: []messageView{}}
	l := picker.TalkOf(ctx, s.P, r)
	if r.Kind == timeline.Now && l == nil {
		if l, err = s.newestTalk(ctx); err != nil {
			return nil, err
		}
	}
	if l == nil || l.Transcript == nil {
		return out, nil
	}
	before, _ := strconv.Atoi(args("before"))
	all, earlier, err := conversation.Talk(ctx, s.P, l.Checkpoint, conversation.TalkOptions{Before: before, Limit: picker.TalkPage, MaxText: picker.MaxSaid})
	if err != nil {
		return nil, err
	}
	held := len(all)
	if before == 0 {
		since, whole, err := conversation.TalkSince(ctx, s.P, l.Checkpoint, conversation.TalkOptions{Limit: picker.MostSince, MaxText: picker.MaxSaid})
		if err != nil {
			return nil, err
		}
		all, out.Partial = append(all, since...), !whole
	}
	calls, prompts := s.rowsOf(all)
	bare := s.BarePrompts(l.Agent, l.Session)
	for i, m := range all {
		v := viewMessage(m, calls, s.P.Root())
		if m.Prompt {
			v.Row = cmp.Or(prompts[m.PromptID], barePrompt(bare, &m))
		}
		v.Since = i >= held
		if c := r.Checkpoint; c != nil {
			v.Here = r.Kind == timeline.Prompt && m.Prompt && m.PromptID != "" && m.PromptID == c.PromptID ||
				slices.ContainsFunc(m.Parts, func(p transcript.Part) bool {
					return p.Call != "" && p.Kind == transcript.ToolCall && p.Call == c.ToolUseID
				})
		}
		out.Messages = append(out.Messages, v)
	}
	if c := r.Checkpoint; c != nil && r.Kind == timeline.Prompt && !slices.ContainsFunc(out.Messages, func(v messageView) bool { return v.Here }) {
		if i := promptAt(all[:held], c.Prompt); i >= 0 {
			out.Messages[i].Here, out.Messages[i].Row = true, c.ID.String()
		}
	}
	out.Earlier = earlier
	return out, nil
}

// promptSlack is how far the time of a prompt in a transcript may lie from that of its checkpoint.
const promptSlack = 2 * time.Minute

// barePrompt is the row of a prompt without an id, among checkpoints of such prompts: the one with its text, taken at its
// time. "" where there is none, or where several could be it: a wrong one would restore another state.
func barePrompt(bare []*project.Listed, m *conversation.Message) (id string) {
	if m.PromptID != "" || m.Time.IsZero() {
		return ""
	}
	for _, c := range bare {
		if conversation.PromptTime(&c.Checkpoint).Sub(m.Time).Abs() >= promptSlack || !saysPrompt(m, c.Prompt) {
			continue
		}
		if id != "" {
			return ""
		}
		id = c.ID.String()
	}
	return id
}

// saysPrompt reports whether a message has a prompt's text.
func saysPrompt(m *conversation.Message, text string) bool {
	return slices.ContainsFunc(m.Parts, func(p transcript.Part) bool {
		return p.Kind == transcript.Words && p.Role == transcript.User && transcript.SameText(text, p.Text)
	})
}

// promptAt is the newest prompt with a text, for clients whose prompts have no ids; -1 for none.
func promptAt(all []conversation.Message, text string) int {
	for i, m := range slices.Backward(all) {
		if m.Prompt && saysPrompt(&m, text) {
			return i
		}
	}
	return -1
}

// rowsOf are the rows before the tool calls of messages, by the ids of the calls, and those of the prompts among them.
func (s *space) rowsOf(messages []conversation.Message) (calls, prompts map[string]string) {
	calls, prompts = map[string]string{}, map[string]string{}
	for _, m := range messages {
		if m.Prompt && m.PromptID != "" {
			prompts[m.PromptID] = ""
		}
		for _, p := range m.Parts {
			if p.Kind == transcript.ToolCall && p.Call != "" {
				calls[p.Call] = ""
			}
		}
	}
	s.CallRows(calls, prompts)
	return calls, prompts
}

var partKinds = [...]string{transcript.Words: "words", transcript.Thought: "thought", transcript.ToolCall: "call", transcript.ToolAnswer: "answer", transcript.Client: "client"}

// viewMessage is a message; calls are the rows before its tool calls. The file that a call is about is named relative to root.
func viewMessage(m conversation.Message, calls map[string]string, root string) messageView {
	v := messageView{At: m.At, Event: m.Event, Time: app.ViewTime(m.Time), Prompt: m.Prompt, Cut: m.Cut}
	for _, p := range m.Parts {
		part := partView{Kind: partKinds[p.Kind], Person: p.Role == transcript.User, Text: p.Text, Tool: p.Tool, Call: p.Call, Failed: p.Failed, Subagent: p.Subagent}
		if p.Kind == transcript.ToolCall {
			part.About, part.Row = picker.BelowRoot(conversation.GivenTo(p.Text), root), calls[p.Call]
		}
		v.Parts = append(v.Parts, part)
	}
	return v
}

// newestTalk is the newest checkpoint that holds a conversation; nil for none.
func (s *space) newestTalk(ctx context.Context) (newest *project.Listed, err error) {
	err = s.P.Query(ctx, func(db *manifest.DB) error {
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
