package conversation

import (
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// base is the end of the transcript that a copy of a conversation continues, from the agent's files or the store; nil if it
// continues none, or if that transcript is found nowhere.
func (v *copies) base(s *conversationSource) (*cutPoint, error) {
	part := s.index.Base.Part
	if part == "" {
		return nil, nil
	}
	file, id := transcript.PartFile(v.agent, session.AgentHome(v.p), part), ""
	if file == "" {
		err := v.p.Query(v.ctx, func(db *manifest.DB) error {
			for c, err := range db.Checkpoints(manifest.Query{}) {
				if err != nil {
					return err
				}
				if t := c.Transcript; t != nil && t.Agent == string(v.agent) && !t.Content.IsZero() && transcript.PartOf(v.agent, t.Path) == part {
					file, id = t.Path, t.Session
					return nil
				}
			}
			return nil
		})
		if err != nil || file == "" {
			return nil, err
		}
	} else {
		id = transcript.SessionOf(v.agent, file)
	}
	b, err := conversationOf(v.ctx, v.p, string(v.agent), id, file, nil)
	if err != nil {
		return nil, err
	}
	var found *cutPoint
	err = b.sources(func(o *conversationSource) bool {
		if o.index.Size < s.index.Base.End {
			return true // it was shortened since
		}
		found = &cutPoint{b, o, o.index.LeafWithin(s.index.Base.End)}
		return false
	})
	return found, err
}

// maxBases bounds how many transcripts a conversation is followed through: hostile ones can refer to each other.
const maxBases = 100

// since are the ends of a conversation in each file that it continued in, the newest first: the first is its end now.
func (at *cutPoint) since() (ends []*cutPoint, err error) {
	for at != nil && len(ends) < maxBases {
		ends = append(ends, at)
		if at, err = at.copies.base(at.source); err != nil {
			return nil, err
		}
	}
	return ends, nil
}

// whole is the place in the base file, where this file holds nothing before the place. A fork of the base file needs no
// other file.
func (at *cutPoint) whole() (*cutPoint, error) {
	for range maxBases {
		if !at.source.index.Inherits(at.leaf) {
			break
		}
		base, err := at.copies.base(at.source)
		if err != nil {
			return nil, err
		}
		if base == nil {
			return nil, &NoConversationError{Reason: "all that was said before is in the transcript " + at.source.index.Base.Part + ", which is gone, and no checkpoint contains it"}
		}
		at = base
	}
	return at, nil
}

// undone are the prompts between the place and the end of the session, newest first. They can be in a later file.
func (at *cutPoint) undone() (texts []string) {
	later := transcript.Later(at.agent, session.AgentHome(at.p), at.file)
	if later == "" {
		return at.reverted()
	}
	v, err := conversationOf(at.ctx, at.p, string(at.agent), at.id, later, nil)
	if err != nil {
		return at.reverted()
	}
	now, err := v.best()
	if err != nil {
		return at.reverted()
	}
	ends, err := (&cutPoint{v, now, now.index.Leaf()}).since()
	if err != nil {
		return at.reverted()
	}
	for _, end := range ends {
		x, same := end.source.index, transcript.PartOf(at.agent, end.file) == transcript.PartOf(at.agent, at.file)
		lines, err := x.Prompts(end.leaf)
		if same {
			lines, err = x.Reverted(end.leaf, at.leaf)
		}
		if err != nil {
			return at.reverted()
		}
		texts = append(texts, textsOf(x, lines)...)
		if same {
			break
		}
	}
	return texts
}
