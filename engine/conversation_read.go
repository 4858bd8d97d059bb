package engine

import (
	"context"
	"io"
	"strings"

	"rewind/engine/transcript"
	"rewind/manifest"
)

// Conversation opens the transcript's bytes as a checkpoint holds them, through
// the last complete line that there was. The caller closes it. Errors:
// *NoConversationError, *DamagedStoreError.
func (p *Project) Conversation(ctx context.Context, c manifest.Checkpoint) (io.ReadCloser, error) {
	release, err := p.use(ctx)
	if err != nil {
		return nil, err
	}
	c, err = p.current(ctx, c)
	switch {
	case err != nil:
	case c.Transcript == nil:
		err = &NoConversationError{Checkpoint: c.ID.String()}
	case c.Transcript.Content.IsZero():
		release()
		return io.NopCloser(strings.NewReader("")), nil
	}
	if err != nil {
		release()
		return nil, err
	}
	held, err := transcript.Open(p.conversations(ctx), transcript.ID(c.Transcript.Content))
	if err != nil {
		release()
		return nil, p.classify(err)
	}
	r := held.Reader()
	return &talkReader{r, release}, nil
}

type talkReader struct {
	io.ReadCloser
	release func()
}

func (r *talkReader) Close() error {
	defer r.release()
	return r.ReadCloser.Close()
}
