package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"rewind/cas"
	"rewind/engine/transcript"
	"rewind/manifest"
)

// conversationSource is one copy of a session's conversation: the agent's own
// file, or what the store holds of it.
type conversationSource struct {
	index *transcript.Index
	live  bool
	held  *transcript.Held // nil for the live file
	open  func() (io.ReadCloser, error)
}

// conversation reads the copies that there are of a session's conversation, as
// they are asked for.
type conversation struct {
	p     *Project
	ctx   context.Context
	agent transcript.Agent
	id    string // of the session
	file  string

	held    []transcript.ID // contents that checkpoints hold, the most useful first
	fits    bool            // the live file begins with what is held
	read    []*conversationSource
	strange error // why a copy was not understood
	unread  error // why the live file could not be read, although it is there
}

// conversationOf gathers the copies of the conversation of a session. near, if
// not nil, is the checkpoint whose place is looked for. The caller holds the
// users lock as long as it uses the result.
func (p *Project) conversationOf(ctx context.Context, agent, session, file string, near *manifest.Checkpoint) (*conversation, error) {
	v := &conversation{p: p, ctx: ctx, agent: transcript.Agent(agent), id: session, file: file}
	var newest, next, own transcript.ID
	err := p.query(ctx, func(db *manifest.DB) error {
		for c, err := range db.Checkpoints(manifest.Query{Session: session}) {
			if err != nil {
				return err
			}
			t := c.Transcript
			if t == nil || t.Agent != agent {
				continue
			}
			if v.file == "" {
				v.file = t.Path
			}
			if newest == (transcript.ID{}) {
				newest = transcript.ID(t.Content)
			}
			if near == nil {
				if newest != (transcript.ID{}) {
					break
				}
				continue
			}
			if c.Seq == near.Seq {
				own = transcript.ID(t.Content)
				break
			}
			if !t.Content.IsZero() {
				next = transcript.ID(t.Content)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, id := range []transcript.ID{newest, next, own} {
		if id != (transcript.ID{}) && !slices.Contains(v.held, id) {
			v.held = append(v.held, id)
		}
	}
	if near != nil && own != (transcript.ID{}) {
		v.fits, err = v.begins(own)
	} else if near != nil {
		v.fits = true // nothing of it was there yet: the file can only have grown
	} else if newest != (transcript.ID{}) {
		v.fits, err = v.begins(newest)
	} else {
		v.fits = true
	}
	return v, err
}

// begins reports whether the live file begins with what is held.
func (v *conversation) begins(content transcript.ID) (bool, error) {
	data, err := v.p.store.Get(nil, cas.ID(content))
	if err != nil {
		return false, v.p.classify(err)
	}
	list, err := transcript.ParseList(data)
	if err != nil {
		return false, &DamagedStoreError{What: "a conversation", Err: err}
	}
	f, err := os.Open(v.file)
	if err != nil {
		v.noteUnread(err)
		return false, nil // the file is gone, or not ours to read: the store has it
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		v.noteUnread(err)
		return false, nil
	}
	plan, err := transcript.NewPlan(list.Cursor, f, info.Size(), true)
	v.noteUnread(err)
	return err == nil && (plan.Change == transcript.Same || plan.Change == transcript.Grown), nil
}

// noteUnread notes a failure of the system at the live file.
func (v *conversation) noteUnread(err error) {
	if errors.As(err, new(syscall.Errno)) && !errors.Is(err, fs.ErrNotExist) {
		v.unread = err
	}
}

// sources yields the copies, the best first: the live file if it begins with
// what is held (at the time of a hook the file lags behind, so that it says
// more than any capture), then the captures, then a file that was rewritten.
func (v *conversation) sources(yield func(*conversationSource) bool) error {
	order := []func() (*conversationSource, error){v.live}
	for _, id := range v.held {
		order = append(order, func() (*conversationSource, error) { return v.captured(id) })
	}
	if !v.fits {
		order = append(order[1:], order[0])
	}
	for i, get := range order {
		if i == len(v.read) {
			s, err := get()
			var strange *transcript.FormatError
			switch {
			case errors.As(err, &strange):
				v.strange = err
			case errors.Is(err, fs.ErrNotExist), err != nil && err == v.unread:
			case err != nil:
				return v.p.classify(err)
			}
			if err != nil {
				s = nil // a copy that cannot be read is none
			}
			v.read = append(v.read, s)
		}
		if s := v.read[i]; s != nil && !yield(s) {
			return nil
		}
	}
	return nil
}

func (v *conversation) live() (_ *conversationSource, err error) {
	defer func() { v.noteUnread(err) }()
	s := &conversationSource{live: true}
	s.open = func() (io.ReadCloser, error) {
		info, err := os.Stat(v.file)
		if err != nil {
			return nil, err
		}
		if !info.Mode().IsRegular() { // it could block
			return nil, &fs.PathError{Op: "open", Path: v.file, Err: fs.ErrNotExist}
		}
		return os.Open(v.file)
	}
	return s, s.scan(v.agent)
}

func (v *conversation) captured(id transcript.ID) (*conversationSource, error) {
	held, err := transcript.Open(v.p.conversations(v.ctx), id)
	if err != nil {
		var damaged *transcript.DamagedError
		if errors.As(err, &damaged) {
			err = &DamagedStoreError{What: "a conversation", Err: err}
		}
		return nil, err
	}
	s := &conversationSource{held: held, open: func() (io.ReadCloser, error) { return held.Reader(), nil }}
	return s, s.scan(v.agent)
}

func (s *conversationSource) scan(agent transcript.Agent) error {
	r, err := s.open()
	if err != nil {
		return err
	}
	defer r.Close()
	s.index, err = transcript.Read(agent, r)
	return err
}

// nothing is the reason when no copy has anything to say.
func (v *conversation) nothing() error {
	if v.strange != nil {
		return v.strange
	}
	return &transcript.NothingBeforeError{}
}

// best is the copy that says where the conversation stands. That is not known
// while the live file is there and cannot be read: what the store has is older.
func (v *conversation) best() (found *conversationSource, err error) {
	err = v.sources(func(s *conversationSource) bool {
		found = s
		return false
	})
	switch {
	case err != nil:
		return nil, err
	case v.unread != nil && (found == nil || !found.live):
		return nil, fmt.Errorf("read the session's transcript: %w", v.unread)
	case found == nil:
		return nil, v.nothing()
	}
	return found, nil
}

// talkPlace is where a conversation is to be cut.
type talkPlace struct {
	*conversation
	source *conversationSource
	leaf   string
}

// reverted are the prompts that the place takes back, newest first.
func (at *talkPlace) reverted() []string {
	x := at.source.index
	lines, err := x.Reverted(x.Leaf(), at.leaf)
	if err != nil {
		return nil
	}
	var texts []string
	for _, i := range lines {
		texts = append(texts, x.Lines[i].Text)
	}
	return texts
}

// placeOf finds where the conversation stood at a checkpoint. What is exact (a
// prompt's or a tool call's id) is looked for in all copies before what the hook
// saw at the time counts, since the file lagged behind.
// Errors: *NoConversationError.
func (p *Project) placeOf(ctx context.Context, c manifest.Checkpoint) (*talkPlace, error) {
	t := c.Transcript
	if t == nil {
		return nil, &NoConversationError{Checkpoint: c.ID.String()}
	}
	if !transcript.Supported(transcript.Agent(t.Agent)) {
		return nil, &NoConversationError{Checkpoint: c.ID.String(), Reason: "conversations of this agent are not understood"}
	}
	v, err := p.conversationOf(ctx, t.Agent, t.Session, t.Path, &c)
	if err != nil {
		return nil, err
	}
	var failure error
	for _, cut := range []func(*transcript.Index, manifest.Checkpoint) (string, error){exactCut, seenCut} {
		var found *talkPlace
		err := v.sources(func(s *conversationSource) bool {
			leaf, err := cut(s.index, c)
			var nothing *transcript.NothingBeforeError
			switch {
			case err == nil:
				found = &talkPlace{v, s, leaf}
				return false
			case errors.As(err, &nothing):
				failure = err
				return false
			case failure == nil:
				failure = err
			}
			return true
		})
		var nothing *transcript.NothingBeforeError
		if err != nil {
			return nil, err
		}
		if found != nil {
			return found, nil
		}
		if errors.As(failure, &nothing) {
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
	var nothing *transcript.NothingBeforeError
	var strange *transcript.FormatError
	var gone *transcript.NoEventError
	switch {
	case errors.As(err, &nothing):
		return &NoConversationError{Checkpoint: checkpoint, Reason: "nothing had been said yet: there is no session to resume, only a new one to start", Before: true, Err: err}
	case errors.As(err, &strange):
		return &NoConversationError{Checkpoint: checkpoint, Reason: err.Error(), Err: err}
	case errors.As(err, &gone):
		return &NoConversationError{Checkpoint: checkpoint, Reason: "the place was not found: " + err.Error(), Err: err}
	}
	return err
}

// exactCut finds a checkpoint's place by the ids that its hook knew.
func exactCut(x *transcript.Index, c manifest.Checkpoint) (string, error) {
	switch {
	case c.Kind == manifest.Prompt:
		return promptCut(x, c)
	case c.Kind == manifest.PreTool && c.ToolUseID != "" && c.Subagent == "":
		return x.BeforeTool(c.ToolUseID)
	}
	return "", &transcript.NoEventError{Kind: "prompt", ID: c.PromptID}
}

func promptCut(x *transcript.Index, c manifest.Checkpoint) (string, error) {
	said, err := x.Prompts(c.Transcript.EventID)
	if err != nil {
		said = nil // another copy than the hook saw
	}
	for _, i := range said {
		if c.PromptID != "" && x.Lines[i].PromptID == c.PromptID {
			// It was typed while the agent worked: it belongs to the running
			// turn, and what the hook saw is the place.
			return x.At(c.Transcript.EventID)
		}
	}
	if c.PromptID != "" {
		leaf, err := x.BeforePromptID(x.Leaf(), c.PromptID)
		var gone *transcript.NoEventError
		if !errors.As(err, &gone) {
			return leaf, err
		}
	}
	if i := nearestPrompt(x, c.Prompt, c.Time); i >= 0 && !slices.Contains(said, i) {
		return x.Before(x.Lines[i].ID)
	}
	return "", &transcript.NoEventError{Kind: "prompt", ID: c.PromptID}
}

// promptSlack is how far the time of a prompt's line may lie from that of its
// checkpoint: the line is written after the hooks have run.
const promptSlack = 2 * time.Minute

// nearestPrompt finds the line of a prompt by text and time, -1 for none.
func nearestPrompt(x *transcript.Index, text string, at time.Time) int {
	text = strings.TrimSpace(text)
	best, bestFar := -1, promptSlack
	for i := range x.Lines {
		l := &x.Lines[i]
		if !l.Prompt || l.Side || text == "" || strings.TrimSpace(l.Text) != text || l.Time.IsZero() {
			continue
		}
		if far := l.Time.Sub(at).Abs(); far < bestFar {
			best, bestFar = i, far
		}
	}
	return best
}

// seenCut takes the event that the hook saw last. What was written after it, but
// had been said before the checkpoint, belongs to it too: the file lagged.
func seenCut(x *transcript.Index, c manifest.Checkpoint) (string, error) {
	leaf := c.Transcript.EventID
	if c.Kind != manifest.Prompt && c.Kind != manifest.PreTool {
		leaf = saidBy(x, leaf, c.Time)
	}
	if leaf == "" {
		return "", &transcript.NothingBeforeError{}
	}
	return x.At(leaf)
}

// saidBy goes on from an event along the newest branch, through what was said
// up to a moment, but not into another prompt.
func saidBy(x *transcript.Index, leaf string, moment time.Time) string {
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
		if from >= 0 && l.Prompt || l.Time.IsZero() || l.Time.After(moment) {
			break
		}
		leaf = l.ID
	}
	return leaf
}

// placeAt finds where a session's conversation stood at a moment.
func (p *Project) placeAt(ctx context.Context, s *SessionInfo, moment time.Time) (*talkPlace, error) {
	v, err := p.conversationOf(ctx, s.Agent, s.ID, s.Path, nil)
	if err != nil {
		return nil, err
	}
	source, err := v.best()
	if err != nil {
		return nil, noPlace("", err)
	}
	x := source.index
	leaf := ""
	chain, err := x.Chain(x.Leaf())
	if err != nil {
		return nil, noPlace("", err)
	}
	for _, i := range chain {
		if l := &x.Lines[i]; !l.Time.IsZero() && !l.Time.After(moment) {
			leaf = l.ID
		}
	}
	if leaf == "" {
		return nil, noPlace("", &transcript.NothingBeforeError{})
	}
	if leaf, err = x.At(leaf); err != nil {
		return nil, noPlace("", err)
	}
	return &talkPlace{v, source, leaf}, nil
}
