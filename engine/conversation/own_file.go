package conversation

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/transcript"
)

// ownFile is the file that a session's transcript is put into: its own, or, where that is
// gone and the agent does not go by its name, one that its clean-up leaves alone.
func (r *mover) ownFile(at *cutPoint) (string, error) {
	if err := r.refuseReferred(at); err != nil {
		return "", err
	}
	info, err := os.Lstat(at.file)
	switch {
	case err == nil && info.Mode()&fs.ModeSymlink != 0:
		return r.behindLink(at)
	case transcript.SessionOf(at.agent, at.file) == at.id:
		return at.file, nil
	case errors.Is(err, fs.ErrNotExist) && transcript.FreelyNamed(at.agent):
		return transcript.NewFile(at.agent, filepath.Dir(at.file), at.id, r.Env.Time()), nil
	}
	return "", &project.RefusedError{What: fmt.Sprintf("%s is not the transcript of session %s", at.file, at.id)}
}

// behindLink is the transcript that a link in its place leads to: the link stays. One of somebody else is refused.
func (r *mover) behindLink(at *cutPoint) (string, error) {
	why := "is of another session"
	if transcript.SessionOf(at.agent, at.file) == at.id {
		file, err := filepath.EvalSymlinks(at.file)
		uid, home := 0, 0
		if err == nil {
			_, uid, err = account.Identity(file)
		}
		if err == nil {
			_, home, err = account.Identity(r.Env.Home)
		}
		switch {
		case err != nil:
			why = "cannot be reached: " + problem.Text(err)
		case uid == home:
			return file, nil
		default:
			why = "belongs to another account"
		}
	}
	return "", &project.RefusedError{What: fmt.Sprintf("%s is a link, and the transcript that it leads to %s", at.file, why), Next: "leave out --in-place: a fork is a session of its own"}
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
