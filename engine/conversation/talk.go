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
	r, err := Open(ctx, p, c)
	var none *NoConversationError
	if errors.As(err, &none) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	x, err := transcript.Read(transcript.Agent(c.Transcript.Agent), cancellable{ctx, r})
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, false, p.Classify(err)
	}
	leaf := c.Transcript.EventID
	if _, ok := x.Line(leaf); !ok {
		leaf = x.Leaf()
	}
	lines, err := x.Along(leaf)
	if err != nil {
		return nil, false, err
	}
	if r, err = Open(ctx, p, c); err != nil {
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

// talkOf reads the lines.
func talkOf(r io.Reader, x *transcript.Index, lines []int, o TalkOptions) (all []Message, earlier bool, err error) {
	in := bufio.NewReaderSize(r, 256<<10)
	var at int64
	n := 0
	for _, i := range lines {
		l := &x.Lines[i]
		if _, err := in.Discard(int(l.Offset - at)); err != nil {
			return nil, false, err
		}
		data := make([]byte, l.Length)
		if _, err := io.ReadFull(in, data); err != nil {
			return nil, false, err
		}
		at = l.Offset + l.Length
		parts := transcript.Speech(x.Agent, data)
		if len(parts) == 0 {
			continue
		}
		n++
		if o.Before > 0 && n >= o.Before {
			break
		}
		m := Message{At: n, Event: l.ID, Time: l.Time, Prompt: l.Prompt, PromptID: l.PromptID, Parts: parts}
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
