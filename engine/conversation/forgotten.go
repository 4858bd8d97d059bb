package conversation

import (
	"context"
	"io"
	"os"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// withoutForgotten reads a transcript from its beginning, as the store may hold it: what forget redacted in the store is still in the
// agent's own file, and a backup or a fork must not bring it back. The bytes have the same offsets as in the file. What the store
// cannot read any more is read from the file as it is.
func withoutForgotten(ctx context.Context, p *project.Project, agent, id, name string, f *os.File) (io.Reader, error) {
	forgot := false
	var newest oid.ID
	var ops []manifest.Operation
	err := p.Query(ctx, func(db *manifest.DB) error {
		for op, err := range db.Operations() {
			if err != nil {
				return err
			}
			forgot = forgot || op.Kind == manifest.OpForget
			if op.Fork != "" || op.TranscriptBackup != "" {
				ops = append(ops, op)
			}
		}
		if !forgot {
			return nil
		}
		for c, err := range db.Checkpoints(manifest.Query{Session: id}) {
			if err != nil {
				return err
			}
			if t := c.Transcript; t != nil && t.Agent == agent && !t.Content.IsZero() && transcript.PartOf(transcript.Agent(agent), t.Path) == transcript.PartOf(transcript.Agent(agent), name) {
				newest = t.Content
				return nil
			}
		}
		return nil
	})
	if err != nil || !forgot {
		return f, err
	}
	if held := heldOf(ctx, p, newest, name); held != nil {
		return io.MultiReader(held.Reader(), io.NewSectionReader(f, held.Size, 1<<62)), nil
	}
	for _, op := range ops {
		line, err := p.Moved(op)
		if err != nil || line == nil {
			continue // it may have been removed
		}
		for _, m := range line.Files {
			if m.File != name || len(m.Forgotten) == 0 {
				continue
			}
			if now, err := sumStart(name, m.After.Size); err != nil {
				return nil, err
			} else if sameSum(now, m.After) {
				return &redactedReader{r: f, runs: m.Forgotten}, nil
			}
		}
	}
	return f, nil
}

// heldOf is what the store holds of a file that begins with it; nil where the file does not, or nothing is held.
func heldOf(ctx context.Context, p *project.Project, content oid.ID, name string) *transcript.Held {
	if content == (oid.ID{}) {
		return nil
	}
	cursor, err := session.HeldCursor(p, content)
	if err != nil {
		return nil
	}
	if change, err := transcript.ChangeSince(cursor, name); err != nil || change != transcript.Same && change != transcript.Grown {
		return nil
	}
	held, err := transcript.Open(storeOf(ctx, p), content)
	if err != nil || held.Size != cursor.Offset {
		return nil
	}
	return held
}

// redactedReader puts the marks of runs in the place of those that r has there.
type redactedReader struct {
	r    io.Reader
	at   int64
	runs []project.RedactedRun
}

func (r *redactedReader) Read(b []byte) (int, error) {
	n, err := r.r.Read(b)
	for _, run := range r.runs {
		from, to := max(run.At, r.at), min(run.At+int64(len(run.Text)), r.at+int64(n))
		if from < to {
			copy(b[from-r.at:to-r.at], run.Text[from-run.At:])
		}
	}
	r.at += int64(n)
	return n, err
}
