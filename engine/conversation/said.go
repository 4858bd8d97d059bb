package conversation

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// Saying is one thing that was said in a conversation, as it was: it can hold any character.
type Saying struct {
	Person bool   // else the model
	Tool   string // the tool that the model called, "" for words
	Text   string // words, or what the tool was given
}

// saidIn is how many bytes at the end of a conversation are looked through, and maxSaying how many of
// one saying are kept.
const (
	saidIn    = 1 << 20
	maxSaying = 4 << 10
)

// Said are the last things that were said up to a checkpoint, the oldest first, at most limit of them.
// It is for looking at: what the formats of the agents have in common is read, and no branch of a
// conversation told from another. None where the checkpoint holds no conversation. Errors as Open.
func Said(ctx context.Context, p *project.Project, c manifest.Checkpoint, limit int) ([]Saying, error) {
	r, err := Open(ctx, p, c)
	var none *NoConversationError
	if errors.As(err, &none) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer r.Close()
	tail, err := lastBytes(ctx, r, saidIn)
	if err != nil {
		return nil, p.Classify(err)
	}
	var all []Saying
	for line := range bytes.Lines(tail) {
		all = append(all, sayingsOf(line)...)
	}
	return all[max(len(all)-limit, 0):], nil
}

// lastBytes reads to the end and gives the last whole lines, of n bytes at most.
func lastBytes(ctx context.Context, r io.Reader, n int) ([]byte, error) {
	var tail []byte
	cut := false
	for b := make([]byte, 256<<10); ; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		k, err := r.Read(b)
		tail = append(tail, b[:k]...)
		if len(tail) > 2*n {
			tail, cut = append(tail[:0], tail[len(tail)-n:]...), true
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	if len(tail) > n {
		tail, cut = tail[len(tail)-n:], true
	}
	if cut {
		_, tail, _ = bytes.Cut(tail, []byte("\n"))
	}
	return tail, nil
}

// spoken is what the agents' lines have in common: a message, at the top or one below.
type spoken struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	IsMeta  bool            `json:"isMeta"`
	Side    bool            `json:"isSidechain"`
	Message *spoken         `json:"message"`
	Payload *spoken         `json:"payload"`
}

type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	Arguments json.RawMessage `json:"arguments"`
}

// sayingsOf reads one line of a transcript; nothing where it is none that says something.
func sayingsOf(line []byte) (out []Saying) {
	var m spoken
	if json.Unmarshal(line, &m) != nil || m.IsMeta || m.Side {
		return nil
	}
	at := &m
	for _, inner := range []*spoken{m.Message, m.Payload} {
		if inner != nil {
			at = inner
		}
	}
	person := at.Role == "user"
	if !person && at.Role != "assistant" && at.Role != "model" {
		return nil
	}
	say := func(s Saying) {
		if s.Text = strings.TrimSpace(s.Text); len(s.Text) > maxSaying {
			s.Text = strings.ToValidUTF8(s.Text[:maxSaying], "") + "…"
		}
		if s.Text == "" && s.Tool == "" || person && transcript.Label(s.Text) == "" || person && strings.HasPrefix(s.Text, "<") {
			return // a client's own words
		}
		out = append(out, s)
	}
	var text string
	if json.Unmarshal(at.Content, &text) == nil {
		say(Saying{Person: person, Text: text})
		return out
	}
	var blocks []block
	if json.Unmarshal(at.Content, &blocks) != nil {
		return nil
	}
	for _, b := range blocks {
		switch b.Type {
		case "text", "output_text", "input_text":
			say(Saying{Person: person, Text: b.Text})
		case "tool_use", "toolCall":
			given := b.Input
			if given == nil {
				given = b.Arguments
			}
			say(Saying{Tool: b.Name, Text: givenTo(given)})
		}
	}
	return out
}

// givenTo is the part of a tool's input that says what it is about.
func givenTo(input json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil {
		return ""
	}
	for _, name := range []string{"command", "file_path", "path", "pattern", "query", "url", "description"} {
		var text string
		if json.Unmarshal(fields[name], &text) == nil && text != "" {
			return text
		}
	}
	return ""
}
