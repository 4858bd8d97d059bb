package conversation

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/transcript"
)

// ownFile is the file that a session's transcript is put into: its own, or, where that is
// gone and the agent does not go by its name, one that its clean-up leaves alone.
func (r *mover) ownFile(at *cutPoint) (string, error) {
	if err := r.refuseReferred(at); err != nil {
		return "", err
	}
	_, err := os.Lstat(at.file)
	switch {
	case transcript.SessionOf(at.agent, at.file) == at.id:
		return at.file, nil
	case errors.Is(err, fs.ErrNotExist) && transcript.FreelyNamed(at.agent):
		return transcript.NewFile(at.agent, filepath.Dir(at.file), at.id, r.Env.Time()), nil
	}
	return "", &project.RefusedError{What: fmt.Sprintf("%s is not the transcript of session %s", at.file, at.id)}
}

// refuseReferred refuses to shorten a transcript that forks of the agent's own
// making refer to: they could not be opened any more.
func (r *mover) refuseReferred(at *cutPoint) error {
	if _, err := os.Lstat(at.file); r.Force || err != nil || !transcript.Referred(at.agent) {
		return nil // what is gone comes back
	}
	forks, err := transcript.ForksOf(at.agent, agentHome(r.Project), r.Root(), at.id)
	if err != nil || len(forks) == 0 {
		return err
	}
	return &project.RefusedError{
		What: fmt.Sprintf("session %s continues in %s, which needs its transcript unchanged", at.id, strings.Join(forks, ", ")),
		Next: "leave out --in-place: a fork is a session of its own",
	}
}
