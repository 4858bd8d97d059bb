package attempts

import (
	"cmp"
	"context"
	"slices"

	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// event is a checkpoint or an operation that moved the project.
type event struct {
	c  *manifest.Checkpoint
	op *manifest.Operation
}

func (e *event) seq() uint64 {
	if e.op != nil {
		return e.op.Seq
	}
	return e.c.Seq
}

type sessionKey struct{ agent, id string }

func sessionOf(c *manifest.Checkpoint) sessionKey { return sessionKey{c.Agent, c.Session} }

// log is what happened, oldest first.
type log struct {
	events  []event
	prompts []*manifest.Checkpoint // those that a person typed, once each
	isTyped map[uint64]bool        // by sequence number: it is among prompts
	byID    map[manifest.CheckpointID]*manifest.Checkpoint
	ops     map[uint64]*manifest.Operation
	parents map[string]string     // of sessions, as hooks reported
	anew    map[sessionKey]bool   // its client had another one before
	first   map[sessionKey]uint64 // its oldest checkpoint
}

func readLog(ctx context.Context, p *project.Project) (*log, error) {
	l := &log{isTyped: map[uint64]bool{}, byID: map[manifest.CheckpointID]*manifest.Checkpoint{}, ops: map[uint64]*manifest.Operation{}, parents: map[string]string{},
		anew: map[sessionKey]bool{}, first: map[sessionKey]uint64{}}
	err := p.Query(ctx, func(db *manifest.DB) error {
		for c, err := range db.Checkpoints(manifest.Query{All: true}) {
			if err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			l.byID[c.ID] = &c
			if k := sessionOf(&c); l.first[k] == 0 || c.Seq < l.first[k] {
				l.first[k] = c.Seq
			}
			l.events = append(l.events, event{c: &c})
		}
		for op, err := range db.Operations() {
			if err != nil {
				return err
			}
			if op.Kind.Moves() {
				l.ops[op.Seq] = &op
				l.events = append(l.events, event{op: &op})
			}
		}
		for s, err := range db.Sessions() {
			if err != nil {
				return err
			}
			if parent := s.Continues(); parent != "" {
				l.parents[s.ID] = parent
			}
			l.anew[sessionKey{s.Agent, s.ID}] = s.BegunAnew()
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(l.events, func(a, b event) int { return cmp.Compare(a.seq(), b.seq()) })
	return l, p.Query(ctx, l.findPrompts)
}

// findPrompts notes the prompts. What a hook reported twice, or was typed into a running turn, is one.
func (l *log) findPrompts(db *manifest.DB) error {
	last := map[sessionKey]*manifest.Checkpoint{}
	for _, e := range l.events {
		c := e.c
		if c == nil || c.Subagent != "" || c.Session == "" || c.Prompt == "" || c.Kind != manifest.Prompt && c.Kind != manifest.SessionStart ||
			!transcript.Typed(transcript.Agent(c.Agent), c.Prompt) {
			continue
		}
		if before := last[sessionOf(c)]; before != nil {
			if same, err := conversation.SamePrompt(db, before, c); err != nil {
				return err
			} else if same {
				continue
			}
		}
		last[sessionOf(c)] = c
		l.prompts = append(l.prompts, c)
		l.isTyped[c.Seq] = true
	}
	return nil
}

// sameTalk reports whether two checkpoints are of one session, or of sessions that come from one.
func (l *log) sameTalk(a, b *manifest.Checkpoint) bool {
	return sessionOf(a) == sessionOf(b) || a.Agent == b.Agent && l.related(a.Session, b.Session)
}

// apart reports whether a checkpoint is of a conversation that was begun anew since a prompt, and not of the prompt's.
func (l *log) apart(c, prompt *manifest.Checkpoint) bool {
	return l.anew[sessionOf(c)] && l.first[sessionOf(c)] > prompt.Seq && !l.sameTalk(c, prompt)
}

// related reports whether one of two sessions comes from the other, or both from a third.
func (l *log) related(a, b string) bool {
	root := func(id string) string {
		for n := 0; l.parents[id] != "" && n < 1000; n++ {
			id = l.parents[id]
		}
		return id
	}
	return a != "" && b != "" && root(a) == root(b)
}
