package conversation

import (
	"context"
	"io"
	"strings"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// Open opens the transcript's bytes as a checkpoint holds them, through
// the last complete line that there was. The caller closes it. Errors:
// *NoConversationError, *DamagedStoreError.
func Open(ctx context.Context, p *project.Project, c manifest.Checkpoint) (io.ReadCloser, error) {
	release, err := p.Use(ctx)
	if err != nil {
		return nil, err
	}
	c, err = p.Current(ctx, c)
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
	held, err := transcript.Open(storeOf(ctx, p), c.Transcript.Content)
	if err != nil {
		release()
		return nil, p.Classify(err)
	}
	return &project.HeldReader{ReadCloser: held.Reader(), Release: release}, nil
}
