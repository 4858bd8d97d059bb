package conversation

import (
	"errors"
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
	defer func() {
		if err != nil {
			discardAll(staged)
			staged = nil
		}
	}()
	for _, side := range at.missingSides(wanted) {
		file := at.beside(side.Name)
		held, err := transcript.Open(storeOf(r.ctx, r.Project), side.Content)
		if err != nil {
			return staged, r.Classify(err)
		}
		if err := r.makeAgentDir(filepath.Dir(file)); err != nil {
			return staged, err
		}
		data := held.Reader()
		s, err := transcript.Stage(file, false, r.agentOwner(), copyOf(data))
		data.Close()
		if err != nil {
			return staged, err
		}
		staged = append(staged, s)
	}
	return staged, nil
}

// missingSides are the files of stageSides.
func (at *cutPoint) missingSides(wanted func(name string) bool) (sides []transcript.HeldSide) {
	if at.source.held == nil {
		return nil // the agent has all of it
	}
	for _, side := range at.source.held.Sides {
		if _, err := os.Lstat(at.beside(side.Name)); wanted(side.Name) && errors.Is(err, fs.ErrNotExist) {
			sides = append(sides, side)
		}
	}
	return sides
}

func (at *cutPoint) beside(name string) string {
	return filepath.Join(filepath.Dir(at.file), filepath.FromSlash(name))
}

func discardAll(staged []*transcript.Staged) {
	for _, s := range staged {
		s.Discard()
	}
}
