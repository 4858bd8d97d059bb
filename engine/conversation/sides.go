package conversation

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rewind-cli/rewind/engine/transcript"
)

// stageSides prepares the files beside a transcript that agents delete with it
// after a while: of those that are wanted, by their names relative to the
// transcript's directory, the ones that are missing. A fork names them by their
// old paths, so that is where they go.
func (r *mover) stageSides(at *cutPoint, wanted func(name string) bool) (staged []*transcript.Staged, err error) {
	if at.source.held == nil {
		return nil, nil // the agent has all of it
	}
	defer func() {
		if err != nil {
			discardAll(staged)
			staged = nil
		}
	}()
	for _, side := range at.source.held.Sides {
		file := filepath.Join(filepath.Dir(at.file), filepath.FromSlash(side.Name))
		if _, err := os.Lstat(file); !wanted(side.Name) || !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		held, err := transcript.Open(storeOf(r.ctx, r.Project), side.Content)
		if err != nil {
			return staged, r.Classify(err)
		}
		if err := r.makeAgentDir(filepath.Dir(file)); err != nil {
			return staged, err
		}
		s, err := transcript.Stage(file, false, r.agentOwner(), func(w io.Writer) error {
			data := held.Reader()
			defer data.Close()
			_, err := io.Copy(w, data)
			return err
		})
		if err != nil {
			return staged, err
		}
		staged = append(staged, s)
	}
	return staged, nil
}

func discardAll(staged []*transcript.Staged) {
	for _, s := range staged {
		s.Discard()
	}
}
