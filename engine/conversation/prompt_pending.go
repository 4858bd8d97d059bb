package conversation

import (
	"context"
	"slices"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// A hook reports a prompt before the client has written it to its transcript: seconds later, or never, where the client was
// killed or discarded the prompt. Such a prompt counts from its hook on, as in the list, until the transcript has something
// newer.

// pendingPrompts are the newest prompts of the session that its checkpoints have and a copy of its transcript does not, newest
// first.
func (v *copies) pendingPrompts(s *conversationSource) (list []project.Listed, err error) {
	x := s.index
	along, err := x.Along(x.Leaf())
	if err != nil {
		return nil, nil // a strange tree: its own prompts are all that is known
	}
	m, err := v.promptsIn(x)
	if err != nil {
		return nil, err
	}
	unmatched := m.unmatched()
	if len(unmatched) == 0 {
		return nil, nil
	}
	on := map[string]bool{"": true}
	for _, i := range along {
		on[x.Lines[i].ID] = true
	}
	err = v.p.Query(v.ctx, func(db *manifest.DB) error {
		rewrote, err := v.rewrote(db)
		if err != nil {
			return err
		}
		for c, err := range db.Checkpoints(manifest.Query{Session: v.id}) {
			switch t := c.Transcript; {
			case err != nil:
				return err
			case c.Seq < rewrote:
				return nil // it was taken back
			case c.Agent != string(v.agent) || c.Subagent != "":
				continue
			case t != nil && (!sameFile(&c, v.file) || !on[t.EventID]):
				return nil // the conversation was there, and has gone back since
			}
			a := unmatched[0]
			if c.Seq != a.taken[0].Seq {
				continue
			}
			if c.Transcript == nil || m.passed(a, along) {
				return nil
			}
			if c.Prompt != "" || c.PromptID != "" {
				list = append(list, project.Listed{Checkpoint: c, N: db.Position(c.Seq)})
			}
			if unmatched = unmatched[1:]; len(unmatched) == 0 {
				return nil
			}
		}
		return nil
	})
	return list, v.p.Classify(err)
}

// rewrote is the sequence number of the newest operation that rewrote the conversation in its file and was not undone; 0 for none.
func (v *copies) rewrote(db *manifest.DB) (uint64, error) {
	undone := map[uint64]bool{}
	for op, err := range db.Operations() {
		if err != nil {
			return 0, err
		}
		switch {
		case undone[op.Seq]:
		case op.Undoes != 0:
			undone[op.Undoes] = true
		case op.TranscriptBackup != "":
			line, err := v.p.Moved(op)
			if project.IsLost(err) {
				continue
			} else if err != nil {
				return 0, err
			}
			if line != nil && line.InPlace && line.Agent == string(v.agent) && line.Session == v.id {
				return op.Seq, nil
			}
		}
	}
	return 0, nil
}

// unmatched are the prompts behind the newest one that the transcript has, the newest first.
func (m *matched) unmatched() (list []*asking) {
	for _, a := range slices.Backward(m.asked) {
		if _, said := m.line[a.taken[0].Seq]; said {
			break
		}
		list = append(list, a)
	}
	return list
}

// passed reports whether the conversation went on without a prompt that its transcript does not have: it continues with
// another prompt, or with a message that is newer. Then the prompt was discarded, or was typed into a running turn.
func (m *matched) passed(a *asking, along []int) bool {
	if a.held < 0 {
		return true
	}
	for _, i := range along {
		l := &m.x.Lines[i]
		switch {
		case l.Prompt && m.checkpoint(i) == nil && (i >= a.held || !answered(m.x.Lines[i:a.held])):
			return true
		case l.Role != transcript.NoRole && i >= a.held && l.Time.After(a.time):
			return true
		}
	}
	return false
}

// pendingOf is pendingPrompts of a session in a list. Its transcript is read only where the ends of it do not show that there is
// none. The caller holds the users lock.
func pendingOf(ctx context.Context, p *project.Project, s *session.Info) ([]project.Listed, error) {
	if !s.OnDisk || !transcript.Supported(transcript.Agent(s.Agent)) || !s.MayLack() {
		return nil, nil
	}
	v, err := conversationOf(ctx, p, s.Agent, s.ID, s.Path, nil)
	if err != nil {
		return nil, err
	}
	source, err := v.best()
	if err != nil {
		return nil, nil // no copy can be read: nothing is known of it
	}
	return v.pendingPrompts(source)
}

// Sessions is session.List, where the newest prompt of a session is one that its transcript does not have yet, too.
func Sessions(ctx context.Context, p *project.Project) ([]session.Info, error) {
	list, err := session.List(ctx, p)
	if err != nil {
		return nil, err
	}
	return list, eachPending(ctx, p, len(list), func(i int) *session.Info { return &list[i] }, func(i int, newest project.Listed) {
		list[i].Last = transcript.Label(newest.Prompt)
	})
}

// Files is session.Files, where a transcript that was captured can be behind.
func Files(ctx context.Context, p *project.Project) ([]session.File, error) {
	files, err := session.Files(ctx, p)
	if err != nil {
		return nil, err
	}
	return files, eachPending(ctx, p, len(files), func(i int) *session.Info {
		if f := &files[i]; f.State == session.AsCaptured || f.State == session.GrownSince {
			return &f.Of
		}
		return nil
	}, func(i int, _ project.Listed) { files[i].State = session.Behind })
}

// eachPending calls found with the newest pending prompt of each of n sessions that has one. Where of gives nil, none is looked for.
func eachPending(ctx context.Context, p *project.Project, n int, of func(i int) *session.Info, found func(i int, newest project.Listed)) error {
	release, err := p.Use(ctx)
	if err != nil {
		return err
	}
	defer release()
	for i := range n {
		s := of(i)
		if s == nil {
			continue
		}
		pending, err := pendingOf(ctx, p, s)
		if err != nil {
			return err
		}
		if len(pending) > 0 {
			found(i, pending[0])
		}
	}
	return nil
}

// resumable is the place, if a client can open a conversation that ends there.
func (at *cutPoint) resumable() (*cutPoint, error) {
	if at.leaf == "" {
		return nil, noPlace("", &transcript.NothingBeforeError{})
	}
	if _, err := at.source.index.At(at.leaf); err != nil {
		return nil, noPlace("", err)
	}
	return at, nil
}
