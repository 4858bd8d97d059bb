package page

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/picker"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/search"
	"github.com/rewind-cli/rewind/engine/transcript"
)

// saidView is a text of a conversation that a search found.
type saidView struct {
	Kind    string   `json:"kind"` // words, thought, call, answer
	Person  bool     `json:"person,omitempty"`
	Prompt  bool     `json:"prompt,omitempty"`
	Tool    string   `json:"tool,omitempty"`
	Text    string   `json:"text"` // the text around the match
	Event   string   `json:"event"`
	At      int      `json:"at"` // its place in the conversation, from 1
	Time    string   `json:"time"`
	Session string   `json:"session"`
	Rows    []string `json:"rows"` // checkpoints where it belongs, the closest first
}

const (
	mostSaidFound = 1000
	aroundSaid    = 100 // bytes before what was found, and twice as many after it
)

// searchTalk streams the messages that match, one line of JSON each.
func (s *space) searchTalk(ctx context.Context, m *search.Matcher, out io.Writer) error {
	newest, err := s.newestTalk(ctx)
	if err != nil {
		return err
	}
	enc, found := json.NewEncoder(out), 0
	err = conversation.Search(ctx, s.P, m.FirstLine, func(f conversation.Found) error {
		v := saidView{Kind: partKinds[f.Part.Kind], Person: f.Part.Role == transcript.User, Prompt: f.Prompt, Tool: f.Part.Tool,
			Text: around(m, f.Line), Event: f.Event, At: f.At, Time: app.ViewTime(f.Time), Session: f.Session, Rows: []string{}}
		for _, id := range f.Checkpoints {
			v.Rows = append(v.Rows, id.String())
		}
		if f.Since && newest != nil && f.Session == newest.Checkpoint.Session {
			v.Rows = append(v.Rows, "@")
		}
		if err := enc.Encode(v); err != nil {
			return err
		}
		if found++; found == mostSaidFound {
			return picker.ErrEnough
		}
		return nil
	})
	if errors.Is(err, picker.ErrEnough) {
		return nil
	}
	return err
}

// around is the text around the first match in a line.
func around(m *search.Matcher, line string) string {
	from := 0
	for len(line)-from > aroundSaid { // the match is in the rest as long as that has one
		if _, ok := m.FirstLine(line[from+aroundSaid:]); !ok {
			break
		}
		from += aroundSaid
	}
	end := min(len(line), from+3*aroundSaid)
	text := strings.ToValidUTF8(line[from:end], "")
	if from > 0 {
		text = "…" + text
	}
	if end < len(line) {
		text += "…"
	}
	return text
}
