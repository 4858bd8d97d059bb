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

// LastMessage is one message of a conversation, unchanged: it can hold any character.
type LastMessage struct {
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

// LastMessages are the last messages up to a checkpoint, the oldest first, at most limit of them.
// It is for showing: it reads what the formats of the agents have in common, and does not distinguish the branches of a
// conversation. None where the checkpoint holds no conversation. Errors as Open.
func LastMessages(ctx context.Context, p *project.Project, c manifest.Checkpoint, limit int) ([]LastMessage, error) {
	r, err := Open(ctx, p, c)
	if errors.As(err, new(*NoConversationError)) {
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
	var all []LastMessage
	for line := range bytes.Lines(tail) {
		all = append(all, messagesOf(transcript.Agent(c.Transcript.Agent), line)...)
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

// messagesOf reads one line of a transcript; nothing where it is none that says something.
func messagesOf(agent transcript.Agent, line []byte) (out []LastMessage) {
	for _, part := range transcript.Speech(agent, line) {
		s := LastMessage{Person: part.Role == transcript.User, Text: part.Text}
		switch part.Kind {
		case transcript.Words:
		case transcript.ToolCall:
			s.Tool, s.Text = part.Tool, GivenTo(part.Text)
		default:
			continue
		}
		if s.Text = strings.TrimSpace(s.Text); len(s.Text) > maxSaying {
			s.Text = strings.ToValidUTF8(s.Text[:maxSaying], "") + "…"
		}
		if s.Text == "" && s.Tool == "" || s.Person && transcript.Label(s.Text) == "" {
			continue // nothing but what the client put in
		}
		out = append(out, s)
	}
	return out
}

// GivenTo is the part of a tool's input that says what it is about, "" for none. Of an input that was cut, what stands before
// the cut is read.
func GivenTo(input string) string {
	fields := map[string]string{}
	d := json.NewDecoder(strings.NewReader(input))
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return ""
	}
	for d.More() {
		name, err := d.Token()
		var value any
		if err != nil || d.Decode(&value) != nil {
			break
		}
		if text, ok := value.(string); ok {
			fields[name.(string)] = text
		}
	}
	for _, name := range []string{"command", "cmd", "file_path", "path", "pattern", "query", "url", "description"} {
		if text := fields[name]; text != "" {
			return text
		}
	}
	return ""
}
