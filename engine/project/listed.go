package project

import (
	"context"
	"math"

	"github.com/rewind-cli/rewind/manifest"
)

// Listed is a checkpoint with its position: N is 1 for the newest, 0 for safety checkpoints.
type Listed struct {
	manifest.Checkpoint
	N int
	// Prompts are those that prompt~N goes behind, the newest first; else nil.
	Prompts []string
}

// ListOptions of rewind list.
type ListOptions struct {
	All   bool // safety checkpoints too
	Limit int  // 0: no limit
}

// List gives checkpoints, newest first. The numbers are those of the whole
// list, whatever is left out.
func (p *Project) List(ctx context.Context, o ListOptions) ([]Listed, error) {
	var out []*Listed
	turns := TurnStarts{}
	err := p.Query(ctx, func(db *manifest.DB) error {
		for c, err := range db.Checkpoints(manifest.Query{All: o.All, Limit: o.Limit}) {
			if err != nil {
				return err
			}
			l := &Listed{Checkpoint: c, N: db.Position(c.Seq)}
			turns.See(l)
			out = append(out, l)
		}
		return nil
	})
	list := make([]Listed, len(out))
	for i, l := range out {
		list[i] = *l
	}
	return list, err
}

// TurnStarts gives a session's start the prompt that followed it, where an agent has no
// hook for prompts: the start has the state before that prompt, and what names it else
// the state after it.
type TurnStarts map[sessionKey]*turnStart

type sessionKey struct{ agent, id string }

// turnStart is what is known of a session when an older checkpoint of it comes.
type turnStart struct {
	next    manifest.Checkpoint // the one that came after
	labeled *Listed             // a start that was given a prompt, nil for none
}

// See takes in the next of a list, which comes newest first. An older one can show that a
// start, seen before, has no prompt of its own: then it is taken from it.
func (t TurnStarts) See(l *Listed) {
	c := l.Checkpoint
	if c.Session == "" || c.Kind == manifest.Safety {
		return
	}
	k := sessionKey{c.Agent, c.Session}
	s := t[k]
	if s == nil {
		s = &turnStart{}
		t[k] = s
	}
	if at := s.labeled; at != nil && c.Prompt != "" {
		if at.PromptID == c.PromptID && at.Prompt == c.Prompt {
			at.Prompt, at.PromptID = "", "" // it is from before that start
		}
		s.labeled = nil
	}
	if c.Kind == manifest.SessionStart && c.Prompt == "" && s.next.Kind != manifest.Prompt && s.next.Prompt != "" {
		l.Prompt, l.PromptID = s.next.Prompt, s.next.PromptID
		s.labeled = l
	}
	s.next = c
}

// NewestUpTo is the newest living checkpoint up to a sequence number (math.MaxUint64: of all), safety ones too; nil for none.
func NewestUpTo(db *manifest.DB, seq uint64) (*Listed, error) {
	if seq != math.MaxUint64 {
		seq++
	}
	c, err := db.Previous(seq)
	if err != nil || c == nil {
		return nil, err
	}
	return &Listed{Checkpoint: *c, N: db.Position(c.Seq)}, nil
}
