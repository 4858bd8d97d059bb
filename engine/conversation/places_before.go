package conversation

import (
	"context"
	"errors"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// PlacesBefore finds the place in a session's conversation before each of its prompts. The keys are the sequence numbers of
// the prompts' checkpoints. A place is the event before the prompt, which keeps its id in a fork, or for the first prompt the
// session's beginning: prompts with equal places were typed at the same point, also where a client branched within one
// transcript. A prompt that no copy of the transcript has gets no place. The caller holds the users lock.
func PlacesBefore(ctx context.Context, p *project.Project, agent, session string, prompts []manifest.Checkpoint) (map[uint64]string, error) {
	places := map[uint64]string{}
	if !transcript.Supported(transcript.Agent(agent)) {
		return places, nil
	}
	parts := map[string][]manifest.Checkpoint{} // a session can have several transcripts
	for _, c := range prompts {
		if c.Transcript != nil {
			part := transcript.PartOf(transcript.Agent(agent), c.Transcript.Path)
			parts[part] = append(parts[part], c)
		}
	}
	for part, prompts := range parts {
		file := ""
		if part != "" {
			file = prompts[0].Transcript.Path
		}
		if err := placesIn(ctx, p, agent, session, file, prompts, places); err != nil {
			return nil, err
		}
	}
	return places, nil
}

// placesIn finds the places of prompts in one transcript of the session.
func placesIn(ctx context.Context, p *project.Project, agent, session, file string, prompts []manifest.Checkpoint, places map[uint64]string) error {
	v, err := conversationOf(ctx, p, agent, session, file, nil)
	if err != nil {
		return err
	}
	found := 0
	var lost error
	err = v.sources(func(s *conversationSource) bool {
		for _, c := range prompts {
			if _, known := places[c.Seq]; known {
				continue
			}
			leaf, err := v.exactCut(s.index, c)
			if err == nil && s.index.Inherits(leaf) {
				base, err := v.base(s)
				if err != nil {
					lost = err
					return false
				}
				if base != nil {
					leaf = base.leaf // it was typed there, in the file before
				}
			}
			switch {
			case err == nil:
				places[c.Seq] = "event " + leaf
			case errors.As(err, new(*transcript.NothingBeforeError)):
				places[c.Seq] = "begin " + session
			default:
				continue
			}
			found++
		}
		return ctx.Err() == nil && found < len(prompts)
	})
	return errors.Join(err, lost, ctx.Err())
}
