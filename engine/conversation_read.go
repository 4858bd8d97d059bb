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
	if c.Transcript == nil {
		return nil, &NoConversationError{Checkpoint: c.ID.String()}
	}
	if c.Transcript.Content.IsZero() {
		return io.NopCloser(strings.NewReader("")), nil
	}
	release, err := p.use(ctx)
	if err != nil {
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
