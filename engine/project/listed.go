package project

import (
	"context"

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
	All     bool   // safety checkpoints too
	Session string // only this session's
	Limit   int    // 0: no limit
}

// List gives checkpoints, newest first. The numbers are those of the whole
// list, whatever is left out.
func (p *Project) List(ctx context.Context, o ListOptions) ([]Listed, error) {
	var out []Listed
	turns := turnStarts{}
	err := p.Query(ctx, func(db *manifest.DB) error {
		for c, err := range db.Checkpoints(manifest.Query{All: o.All, Session: o.Session, Limit: o.Limit}) {
			if err != nil {
				return err
			}
			out = append(out, Listed{Checkpoint: c, N: db.Position(c.Seq)})
			turns.see(out)
		}
		return nil
	})
	return out, err
}

// turnStarts gives a session's start the prompt that followed it, where an agent has no
// hook for prompts: the start has the state before that prompt, and what names it else
// the state after it.
type turnStarts map[sessionKey]*turnStart

type sessionKey struct{ agent, id string }

// turnStart is what is known of a session when an older checkpoint of it comes.
type turnStart struct {
	next    manifest.Checkpoint // the one that came after
	labeled int                 // place in the list of a start that was given a prompt, -1 for none
}

// see takes in the last of a list, which grows newest first.
func (t turnStarts) see(list []Listed) {
	i := len(list) - 1
	c := list[i].Checkpoint
	if c.Session == "" || c.Kind == manifest.Safety {
		return
	}
	k := sessionKey{c.Agent, c.Session}
	s := t[k]
	if s == nil {
		s = &turnStart{labeled: -1}
		t[k] = s
	}
	if n := s.labeled; n >= 0 && c.Prompt != "" {
		if list[n].PromptID == c.PromptID && list[n].Prompt == c.Prompt {
			list[n].Prompt, list[n].PromptID = "", "" // it was said before that start
		}
		s.labeled = -1
	}
	if c.Kind == manifest.SessionStart && c.Prompt == "" && s.next.Kind != manifest.Prompt && s.next.Prompt != "" {
		list[i].Prompt, list[i].PromptID = s.next.Prompt, s.next.PromptID
		s.labeled = i
	}
	s.next = c
}
