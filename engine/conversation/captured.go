package conversation

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// maxHeldPrompt bounds the text, in bytes, that a checkpoint keeps of a prompt that no hook reported.
const maxHeldPrompt = 4 << 10

// PromptOf is the prompt that a checkpoint belongs to if no hook reported it: the agent has no prompt hook, or the hook was
// killed. It is the newest prompt in the transcript, except at a session's start, whose transcript has the prompts of its
// origin only. told is the id of the last prompt whose hook ran. A prompt without an id gets the id of its line.
func PromptOf(h *account.HeldConversation, by Trigger, kind manifest.CheckpointKind, told string) (id, text string) {
	switch {
	case h == nil || by.Prompt != "" || kind == manifest.SessionStart:
	case by.PromptID == "" && transcript.Promptless(transcript.Agent(by.Agent)):
		return h.PromptID, h.Prompt
	case h.Untold && by.PromptID == "" && by.Subagent == "" && kind != manifest.Manual && kind != manifest.Safety:
		return h.PromptID, h.Prompt
	case by.PromptID != "" && by.PromptID == h.PromptID && by.PromptID != told && by.Subagent == "":
		return h.PromptID, h.Prompt
	}
	return by.PromptID, by.Prompt
}

// Captured is the end of a conversation, and the cursor from which its next capture
// continues. Both are nil where the agent's conversations are not understood.
type Captured struct {
	At          *manifest.Transcript
	Held        *account.HeldConversation
	HasMessages bool // messages came since the capture before
}

// Capture puts into tx what the trigger's conversation gained since it was
// captured last, and gives its end. generation is the store's. A conversation that cannot be read voids
// nothing: it is a problem of the checkpoint.
func Capture(ctx context.Context, p *project.Project, tx *commit.Tx, generation uint64, t Trigger) (*Captured, []problem.Problem, error) {
	agent := transcript.Agent(t.Agent)
	if t.Session == "" || !filepath.IsAbs(t.Transcript) || !transcript.Supported(agent) {
		return &Captured{}, nil, nil
	}
	store := &store{ctx: ctx, get: tx.Get, writer: tx.Writer()}
	held, err := heldConversation(ctx, p, t, generation)
	if err != nil {
		return nil, nil, err
	}
	var problems []problem.Problem
	capture := transcript.Capture{Store: store, Agent: agent, File: t.Transcript, Previous: held.Content, PreviousLeaf: held.Leaf, OnlyJSON: true}
	got, err := capture.Run()
	if ferr := store.writer.Flush(); err == nil {
		err = ferr
	}
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	if err != nil {
		problems = append(problems, problem.Problem{Path: t.Transcript, Reason: "the conversation was not captured: " + problem.Text(err), Failed: true})
		got = transcript.Captured{Content: held.Content, Leaf: held.Leaf}
	}
	for name, err := range got.Missed {
		problems = append(problems, problem.Problem{Path: name, Reason: "not captured with the conversation: " + problem.Text(err), Failed: true})
	}
	if got.Change == transcript.Missing {
		// Not written yet, or deleted: what was held of it is all that there is.
		got.Content, got.Leaf = held.Content, held.Leaf
	}
	untold := false
	if got.PromptID != "" {
		s := account.LoadSession(p.Env, t.Agent, t.Session)
		untold = !s.Prompted.After(s.Stopped) // the newest hook of a prompt was that of a turn that has ended
	} else {
		got.PromptID, got.Prompt, untold = held.PromptID, held.Prompt, held.Untold
	}
	if len(got.Prompt) > maxHeldPrompt {
		got.Prompt = strings.ToValidUTF8(got.Prompt[:maxHeldPrompt], "") + "…"
	}
	offset := got.Offset
	if got.Content == held.Content && offset == 0 {
		if offset, err = heldBytes(store, got.Content); err != nil {
			return nil, nil, err
		}
	}
	now := &account.HeldConversation{Store: p.ID.String(), Generation: generation, Content: got.Content, Seen: offset, Leaf: got.Leaf, PromptID: got.PromptID, Prompt: got.Prompt,
		Untold: untold && t.Prompt == "" && t.PromptID == ""}
	return &Captured{Held: now, HasMessages: got.HasMessages, At: &manifest.Transcript{
		Session: t.Session, Agent: t.Agent, Path: t.Transcript,
		Offset: uint64(offset), EventID: got.Leaf, Content: got.Content,
	}}, problems, nil
}

// heldBytes is the size of a transcript, in bytes, as the store holds it.
func heldBytes(s transcript.Store, content oid.ID) (int64, error) {
	if content == (oid.ID{}) {
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
func heldConversation(ctx context.Context, p *project.Project, t Trigger, generation uint64) (account.HeldConversation, error) {
	s := account.LoadSession(p.Env, t.Agent, t.Session)
	if h := s.Held; h != nil && h.Store == p.ID.String() && h.Generation == generation {
		return *h, nil
	}
	newest, err := newestOfSession(ctx, p, t)
	if err != nil || newest == nil {
		return account.HeldConversation{}, err
	}
	return account.HeldConversation{Content: newest.Transcript.Content, Leaf: newest.Transcript.EventID, PromptID: newest.PromptID, Prompt: newest.Prompt}, nil
}

// SessionLookBack bounds how much of the log is read for a session whose state
// was lost. Beyond it the conversation is captured anew, and what it holds
// already is found chunk by chunk.
const SessionLookBack = 1024

// newestOfSession is the newest living checkpoint that holds some of the
// session's conversation, nil for none near the log's end.
func newestOfSession(ctx context.Context, p *project.Project, t Trigger) (*manifest.Checkpoint, error) {
	c, err := p.NewestInLog(ctx, SessionLookBack, func(c *manifest.Checkpoint) bool {
		return c.Transcript != nil && c.Session == t.Session && c.Agent == t.Agent && !c.Transcript.Content.IsZero()
	})
	return c, p.Classify(err)
}

// NoteHeld remembers a capture for the next one.
func NoteHeld(ctx context.Context, p *project.Project, t Trigger, held *account.HeldConversation) {
	if held == nil {
		return
	}
	// Without it the next capture looks into the log.
	_ = account.UpdateSession(ctx, p.Env, t.Agent, t.Session, func(s *account.SessionState) { s.Held = held })
}

// store keeps transcripts in a transaction. A segment is one object, or a list of chunks if it is long, so that neither
// time nor memory depend on its length. Bytes that look like a list are stored as the chunks of one, so that what can be
// read as a list always is one.
type store struct {
	ctx    context.Context
	get    func([]byte, oid.ID) ([]byte, error)
	writer *cas.Writer // nil: for reading only
}

// StoreIn gives access to the conversations that objects hold: get reads objects, writer puts new ones; nil: for reading only.
func StoreIn(ctx context.Context, get func([]byte, oid.ID) ([]byte, error), writer *cas.Writer) transcript.Store {
	return &store{ctx: ctx, get: get, writer: writer}
}

// Put stages all bytes of r.
func (s *store) Put(r io.Reader) (oid.ID, int64, error) {
	r = cancellable{s.ctx, r}
	data, err := io.ReadAll(io.LimitReader(r, commit.ChunkedSize+1))
	if err != nil {
		return oid.ID{}, 0, err
	}
	if len(data) <= commit.ChunkedSize {
		if _, err := cas.ParseList(data); err != nil {
			id := oid.Sum(data)
			_, err := s.writer.Put(id, data, oid.ID{})
			return id, int64(len(data)), err
		}
	}
	id, list, err := s.writer.PutFile(io.MultiReader(bytes.NewReader(data), r), oid.ID{})
	return id, list.Size, err
}

// Get opens what was put. Every chunk is verified before its bytes are handed out.
func (s *store) Get(id oid.ID) (io.ReadCloser, error) {
	data, err := s.get(nil, id)
	if err != nil {
		return nil, err
	}
	if list, err := cas.ParseList(data); err == nil {
		return io.NopCloser(&project.ChunkReader{Get: s.get, Chunks: list.Chunks}), nil
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

// storeOf reads the conversations that checkpoints hold: it is for
// transcript.Open. The caller holds the users lock while it reads.
func storeOf(ctx context.Context, p *project.Project) transcript.Store {
	return StoreIn(ctx, p.Store.Get, nil)
}
