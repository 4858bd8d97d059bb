package session

import (
	"context"
	"errors"
	"io/fs"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/transcript"
)

// File says how a session's transcript differs from what the store holds of it.
type File struct {
	Agent, Session, Path string
	State                FileState
	Of                   Info
}

// FileState of a transcript, against the session's newest checkpoint.
type FileState string

const (
	AsCaptured FileState = "as captured"
	GrownSince FileState = "grown"
	Rewritten  FileState = "rewritten" // by a compaction, or by hand
	Gone       FileState = "gone"      // agents delete old ones; ours can be written back
	Unreadable FileState = "unreadable"
	NotWritten FileState = "not written" // by the agent, nor captured
	Behind     FileState = "behind"      // the agent has not written the newest prompt to it yet; only conversation.Files knows
)

// Files compares the transcripts of all sessions that have a checkpoint
// with what is held of them. It reads both edges of each file.
func Files(ctx context.Context, p *project.Project) ([]File, error) {
	sessions, err := List(ctx, p)
	if err != nil {
		return nil, err
	}
	release, err := p.Use(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	var out []File
	for _, s := range sessions {
		for _, c := range s.Checkpoints {
			if c.Transcript == nil {
				continue
			}
			state, err := stateOf(p, c.Transcript.Content, c.Transcript.Path)
			if err != nil {
				return nil, err
			}
			out = append(out, File{Agent: s.Agent, Session: s.ID, Path: c.Transcript.Path, State: state, Of: s})
			break
		}
	}
	return out, nil
}

func stateOf(p *project.Project, content oid.ID, file string) (FileState, error) {
	held, err := HeldCursor(p, content)
	if err != nil {
		return "", err
	}
	change, err := transcript.ChangeSince(held, file)
	switch {
	case errors.Is(err, fs.ErrNotExist) && held.Offset == 0:
		return NotWritten, nil
	case errors.Is(err, fs.ErrNotExist):
		return Gone, nil
	case err != nil:
		return Unreadable, nil
	case change == transcript.Same:
		return AsCaptured, nil
	case change == transcript.Grown:
		return GrownSince, nil
	}
	return Rewritten, nil
}

// HeldCursor reads how far the store holds a transcript; the zero id holds nothing.
func HeldCursor(p *project.Project, content oid.ID) (transcript.Cursor, error) {
	if content.IsZero() {
		return transcript.Cursor{}, nil
	}
	data, err := p.Store.Get(nil, content)
	if err != nil {
		return transcript.Cursor{}, p.Classify(err)
	}
	list, err := transcript.ParseList(data)
	if err != nil {
		return transcript.Cursor{}, &account.DamagedStoreError{What: "a conversation", Err: err}
	}
	return list.Cursor, nil
}
