package engine

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"rewind/cas"
	"rewind/engine/transcript"
	"rewind/manifest"
)

// heldConversation is what the store holds of a session's conversation: where
// the next capture goes on. It can be lost: the log's newest record of the
// session says the same.
type heldConversation struct {
	Store      string    `json:"store"`      // id of the store
	Generation uint64    `json:"generation"` // of the store when it was noted
	Content    contentID `json:"content"`
	Leaf       string    `json:"leaf,omitempty"`
	PromptID   string    `json:"prompt_id,omitempty"` // of the newest prompt in it
	Prompt     string    `json:"prompt,omitempty"`    // its text, at most maxHeldPrompt bytes
}

// maxHeldPrompt bounds what a checkpoint has of a prompt that no hook told of.
const maxHeldPrompt = 4 << 10

// promptOf is the prompt that a checkpoint belongs to where the agent has no hook
// for prompts: the newest in its transcript, but at a session's start, which has
// those of its origin only.
func (h *heldConversation) promptOf(o SaveOptions) (id, text string) {
	if h == nil || transcript.Agent(o.By.Agent) != transcript.Droid || o.By.Prompt != "" || o.By.PromptID != "" || o.Kind == manifest.SessionStart {
		return o.By.PromptID, o.By.Prompt
	}
	return h.PromptID, h.Prompt
}

// contentID is the id of a captured conversation, written in hexadecimal.
type contentID transcript.ID

func (id contentID) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, id[:]), nil }

func (id *contentID) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	if err == nil && len(b) != len(id) {
		err = errors.New("wrong length")
	}
	if err == nil {
		copy(id[:], b)
	}
	return err
}

// conversationPlace is where a conversation stands, and where its next capture
// goes on. Both are nil where the agent's conversations are not understood.
type conversationPlace struct {
	at   *manifest.Transcript
	held *heldConversation
	said bool // messages came since the capture before
}

// conversation stages what the trigger's conversation gained since it was
// captured last, and gives the place where it stands. A conversation that cannot be read voids
// nothing: it is a problem of the checkpoint.
func (c *captured) conversation(ctx context.Context, t Trigger) (*conversationPlace, error) {
	agent := transcript.Agent(t.Agent)
	if t.Session == "" || !filepath.IsAbs(t.Transcript) || !transcript.Supported(agent) {
		return &conversationPlace{}, nil
	}
	store := &conversationStore{ctx: ctx, get: c.tx.Get, writer: c.tx.Writer()}
	held, err := c.p.heldConversation(ctx, t, c.generation)
	if err != nil {
		return nil, err
	}
	capture := transcript.Capture{Store: store, Agent: agent, File: t.Transcript, Previous: transcript.ID(held.Content), PreviousLeaf: held.Leaf}
	got, err := capture.Run()
	if ferr := store.writer.Flush(); err == nil {
		err = ferr
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		c.problems = append(c.problems, Problem{Path: t.Transcript, Reason: "the conversation was not captured: " + err.Error(), Failed: true})
		got = transcript.Captured{Content: transcript.ID(held.Content), Leaf: held.Leaf}
	}
	for name, err := range got.Missed {
		c.problems = append(c.problems, Problem{Path: name, Reason: "not captured with the conversation: " + err.Error(), Failed: true})
	}
	if got.Change == transcript.Missing {
		// Not written yet, or deleted: what was held of it is all that there is.
		got.Content, got.Leaf = transcript.ID(held.Content), held.Leaf
	}
	if got.PromptID == "" {
		got.PromptID, got.Prompt = held.PromptID, held.Prompt
	}
	if len(got.Prompt) > maxHeldPrompt {
		got.Prompt = strings.ToValidUTF8(got.Prompt[:maxHeldPrompt], "") + "…"
	}
	offset := got.Offset
	if got.Content == transcript.ID(held.Content) && offset == 0 {
		if offset, err = heldBytes(store, got.Content); err != nil {
			return nil, err
		}
	}
	now := &heldConversation{Store: c.p.id.String(), Generation: c.generation, Content: contentID(got.Content), Leaf: got.Leaf, PromptID: got.PromptID, Prompt: got.Prompt}
	return &conversationPlace{held: now, said: got.Said, at: &manifest.Transcript{
		Session: t.Session, Agent: t.Agent, Path: t.Transcript,
		Offset: uint64(offset), EventID: got.Leaf, Content: manifest.ID(got.Content),
	}}, nil
}

// heldBytes is the size of a transcript as it is held.
func heldBytes(s transcript.Store, content transcript.ID) (int64, error) {
	if content == (transcript.ID{}) {
		return 0, nil
	}
	held, err := transcript.Open(s, content)
	if err != nil {
		return 0, fmt.Errorf("read what is held of the conversation: %w", err)
	}
	return held.Size, nil
}

// heldConversation finds where the last capture of a session ended: in the
// session's state, or, where that is gone or older than the last gc, in the
// newest checkpoints of the log.
func (p *Project) heldConversation(ctx context.Context, t Trigger, generation uint64) (heldConversation, error) {
	s := LoadSession(p.env, t.Agent, t.Session)
	if h := s.Held; h != nil && h.Store == p.id.String() && h.Generation == generation {
		return *h, nil
	}
	newest, err := p.newestOfSession(ctx, t)
	if err != nil || newest == nil {
		return heldConversation{}, err
	}
	return heldConversation{Content: contentID(newest.Transcript.Content), Leaf: newest.Transcript.EventID, PromptID: newest.PromptID, Prompt: newest.Prompt}, nil
}

// sessionLookBack bounds how much of the log is read for a session whose state
// was lost. Beyond it the conversation is captured anew, and what it holds
// already is found chunk by chunk.
const sessionLookBack = 1024

// newestOfSession is the newest living checkpoint that holds some of the
// session's conversation, nil for none near the log's end.
func (p *Project) newestOfSession(ctx context.Context, t Trigger) (*manifest.Checkpoint, error) {
	c, err := p.newestInLog(ctx, sessionLookBack, func(c *manifest.Checkpoint) bool {
		return c.Transcript != nil && c.Session == t.Session && c.Agent == t.Agent && !c.Transcript.Content.IsZero()
	})
	return c, p.classify(err)
}

// noteConversation remembers a capture for the next one.
func (p *Project) noteConversation(ctx context.Context, t Trigger, held *heldConversation) {
	if held == nil {
		return
	}
	// Without it the next capture looks into the log.
	_ = UpdateSession(ctx, p.env, t.Agent, t.Session, func(s *SessionState) { s.Held = held })
}

// conversationStore keeps transcripts in a batch: a segment is one object, a
// long one a list of chunks, so that neither time nor memory depend on how long
// it is. Bytes that look like a list are always stored as the chunks of one:
// so what reads as a list is one.
type conversationStore struct {
	ctx    context.Context
	get    func([]byte, cas.ID) ([]byte, error)
	writer *cas.Writer // nil: for reading only
}

// Put stages all bytes of r.
func (s *conversationStore) Put(r io.Reader) (transcript.ID, int64, error) {
	r = &endingReader{s.ctx, r}
	data, err := io.ReadAll(io.LimitReader(r, chunkedSize+1))
	if err != nil {
		return transcript.ID{}, 0, err
	}
	if len(data) <= chunkedSize {
		if _, err := cas.ParseList(data); err != nil {
			id := cas.Sum(data)
			_, err := s.writer.Put(id, data, cas.ID{})
			return transcript.ID(id), int64(len(data)), err
		}
	}
	id, list, err := s.writer.PutFile(io.MultiReader(bytes.NewReader(data), r))
	return transcript.ID(id), list.Size, err
}

// Get opens what was put. Every chunk is verified before its bytes are handed out.
func (s *conversationStore) Get(id transcript.ID) (io.ReadCloser, error) {
	data, err := s.get(nil, cas.ID(id))
	if err != nil {
		return nil, err
	}
	if list, err := cas.ParseList(data); err == nil {
		return io.NopCloser(&chunkReader{get: s.get, chunks: list.Chunks}), nil
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

// endingReader ends with its context.
type endingReader struct {
	ctx context.Context
	r   io.Reader
}

func (r *endingReader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(b)
}

// conversations reads the conversations that checkpoints hold: it is for
// transcript.Open. The caller holds the users lock while it reads.
func (p *Project) conversations(ctx context.Context) transcript.Store {
	return &conversationStore{ctx: ctx, get: p.store.Get}
}

// conversation marks all that a stored conversation consists of.
func (m *marker) conversation(content manifest.ID) error {
	store := &conversationStore{ctx: context.Background(), get: m.get}
	return transcript.Walk(store, transcript.ID(content), func(id transcript.ID) (bool, error) {
		if m.has(cas.ID(id)) {
			return false, nil
		}
		m.add(cas.ID(id))
		data, err := m.get(nil, cas.ID(id))
		if err != nil {
			return false, err
		}
		if list, err := cas.ParseList(data); err == nil {
			for _, chunk := range list.Chunks {
				m.seen(manifest.ID(chunk.ID))
			}
		}
		return true, nil
	})
}

// conversation says what a stored conversation lacks, "" if it is whole.
func (w *wholeness) conversation(content manifest.ID) string {
	var reason string
	store := &conversationStore{ctx: context.Background(), get: w.p.store.Get}
	err := transcript.Walk(store, transcript.ID(content), func(id transcript.ID) (bool, error) {
		if w.good[manifest.ID(id)] {
			return false, nil
		}
		if reason = w.missing(manifest.ID(id)); reason != "" {
			return false, errors.New(reason)
		}
		data, err := w.p.store.Get(nil, cas.ID(id))
		if err != nil {
			return false, err
		}
		if list, err := cas.ParseList(data); err == nil {
			for _, chunk := range list.Chunks {
				if reason = w.missing(manifest.ID(chunk.ID)); reason != "" {
					return false, errors.New(reason)
				}
			}
		}
		w.good[manifest.ID(id)] = true
		return true, nil
	})
	if err != nil {
		return err.Error()
	}
	return ""
}
