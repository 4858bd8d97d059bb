package conversation

import (
	"context"
	"errors"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// PlacesBefore finds where a session's conversation stood before each of its prompts, by the sequence numbers of
// their checkpoints: the event before them, which keeps its id in a fork, or for the first prompt the session's own
// beginning. Prompts with the same place were typed at the same point, also where a client branched
// within one transcript. What is not found in any copy of the transcript is left out. All prompts
// are of that session. The caller holds the users lock.
func PlacesBefore(ctx context.Context, p *project.Project, agent, session string, prompts []manifest.Checkpoint) (map[uint64]string, error) {
	places := map[uint64]string{}
	if !transcript.Supported(transcript.Agent(agent)) {
		return places, nil
	}
	v, err := conversationOf(ctx, p, agent, session, "", nil)
	if err != nil {
		return nil, err
	}
	err = v.sources(func(s *conversationSource) bool {
		for _, c := range prompts {
			if _, known := places[c.Seq]; known || c.Transcript == nil {
				continue
			}
			leaf, err := exactCut(s.index, c)
			var nothing *transcript.NothingBeforeError
			switch {
			case err == nil:
				places[c.Seq] = "event " + leaf
			case errors.As(err, &nothing):
				places[c.Seq] = "begin " + session
			}
		}
		return ctx.Err() == nil && len(places) < len(prompts)
	})
	return places, errors.Join(err, ctx.Err())
}
