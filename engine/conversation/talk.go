package conversation

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// Message is one event of a conversation that says something.
type Message struct {
	At       int    // its place in the conversation, from 1
	Event    string // the agent's id of it
	Time     time.Time
	Prompt   bool // typed by the person
	PromptID string
	Parts    []transcript.Part // not empty; their texts can hold any character
	Cut      bool              // a text was longer than TalkOptions.MaxText
}

// TalkOptions of Talk.
type TalkOptions struct {
	Before  int // messages before this place; 0: the last ones
	Limit   int // how many; 0: all
	MaxText int // bytes kept of each text; 0: all
}

// Talk gives the messages up to a checkpoint, the oldest first: those of the branch on which the checkpoint
// is, without what a client keeps beside it. Earlier reports whether there is more before the first. None where the
// checkpoint holds no conversation. Errors: those of Open, and *transcript.FormatError.
func Talk(ctx context.Context, p *project.Project, c manifest.Checkpoint, o TalkOptions) (all []Message, earlier bool, err error) {
	x, err := indexOf(ctx, p, c)
	if errors.As(err, new(*NoConversationError)) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	leaf := c.Transcript.EventID
	if _, ok := x.Line(leaf); !ok {
		leaf = x.Leaf()
	}
	lines, err := x.Along(leaf)
	if err != nil {
		return nil, false, err
	}
	r, err := Open(ctx, p, c)
	if err != nil {
		return nil, false, err
	}
	defer r.Close()
	all, earlier, err = talkOf(cancellable{ctx, r}, x, lines, o)
	return all, earlier, p.Classify(err)
}

// cancellable ends with its context.
type cancellable struct {
	ctx context.Context
	r   io.Reader
}

func (c cancellable) Read(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(b)
}

// indexOf reads the index of what a checkpoint holds of a conversation.
func indexOf(ctx context.Context, p *project.Project, c manifest.Checkpoint) (*transcript.Index, error) {
	r, err := Open(ctx, p, c)
	if err != nil {
		return nil, err
	}
	x, err := transcript.Read(transcript.Agent(c.Transcript.Agent), cancellable{ctx, r})
	return x, p.Classify(errors.Join(err, r.Close()))
}

// messageReader reads messages of a transcript, in the order of their lines.
type messageReader struct {
	agent transcript.Agent
	in    *bufio.Reader
	at    int64 // of the next byte
}

func newMessageReader(agent transcript.Agent, r io.Reader) *messageReader {
	return &messageReader{agent: agent, in: bufio.NewReaderSize(r, 256<<10)}
}

// read gives the message of a line. It has no parts where the line says nothing.
func (r *messageReader) read(l *transcript.Line) (Message, error) {
	m := Message{Event: l.ID, Time: l.Time, Prompt: l.Prompt, PromptID: l.PromptID}
	if _, err := io.CopyN(io.Discard, r.in, l.Offset-r.at); err != nil {
		return m, err
	}
	data := make([]byte, l.Length)
	if _, err := io.ReadFull(r.in, data); err != nil {
		return m, err
	}
	r.at = l.Offset + l.Length
	m.Parts = transcript.Speech(r.agent, data)
	return m, nil
}

// talkOf reads the lines.
func talkOf(r io.Reader, x *transcript.Index, lines []int, o TalkOptions) (all []Message, earlier bool, err error) {
	in := newMessageReader(x.Agent, r)
	n := 0
	for _, i := range lines {
		m, err := in.read(&x.Lines[i])
		if err != nil {
			return nil, false, err
		}
		if len(m.Parts) == 0 {
			continue
		}
		if n++; o.Before > 0 && n >= o.Before {
			break
		}
		m.At = n
		for k := range m.Parts {
			text := &m.Parts[k].Text
			if o.MaxText > 0 && len(*text) > o.MaxText {
				*text, m.Cut = strings.ToValidUTF8((*text)[:o.MaxText], ""), true
			}
			*text = strings.Clone(*text)
		}
		all = append(all, m)
		if o.Limit > 0 && len(all) > o.Limit {
			all, earlier = all[1:], true
		}
	}
	return all, earlier, nil
}
