package conversation

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rewind-cli/rewind/cas/vfs"
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
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return r.behindLink(at)
	}
	if err := r.ownDir(filepath.Dir(at.file)); err != nil {
		return "", err
	}
	switch {
	case transcript.SessionOf(at.agent, at.file) == at.id:
		return at.file, nil
	case errors.Is(err, fs.ErrNotExist) && transcript.FreelyNamed(at.agent):
		return transcript.NewFile(at.agent, filepath.Dir(at.file), at.id, r.Env.Time()), nil
	}
	return "", &project.RefusedError{What: fmt.Sprintf("%s is not the transcript of session %s", at.file, at.id)}
}

// behindLink is the transcript that a link in its place leads to: the link stays. Only a file of the person's own
// that says itself that it is this session's is rewritten; a link can lead to any file.
func (r *mover) behindLink(at *cutPoint) (string, error) {
	file, err := filepath.EvalSymlinks(at.file)
	if err != nil {
		return "", linkRefused(at.file, linkTarget(at.file), "cannot be reached: "+problem.Text(err), forkInstead)
	}
	if transcript.SessionOf(at.agent, at.file) != at.id {
		return "", linkRefused(at.file, file, "is of another session", forkInstead)
	}
	f, _, err := vfs.OpenRegular(file, 0)
	if err != nil {
		return "", linkRefused(at.file, file, "cannot be read: "+problem.Text(err), forkInstead)
	}
	defer f.Close() // read only: nothing can be lost
	own, err := r.ofThePerson(file)
	if err != nil {
		return "", err
	}
	if !own {
		return "", linkRefused(at.file, file, "belongs to another account", forkInstead)
	}
	x, err := transcript.Read(at.agent, f)
	if err != nil && !errors.As(err, new(*transcript.FormatError)) {
		return "", err
	}
	if err != nil || x.Session != at.id {
		return "", linkRefused(at.file, file, "is no transcript of session "+at.id, forkInstead)
	}
	return file, nil
}

// ownDir refuses a directory that a link leads to, where it belongs to another account. What is not there yet belongs
// to whom the directory around it does.
func (r *mover) ownDir(dir string) error {
	real, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir) {
		if _, lerr := os.Lstat(dir); lerr != nil {
			return r.ownDir(filepath.Dir(dir))
		}
		return linkRefused(dir, linkTarget(dir), "cannot be reached: "+problem.Text(err), "")
	}
	if err != nil || real == filepath.Clean(dir) {
		return err
	}
	own, err := r.ofThePerson(real)
	if err == nil && !own {
		return linkRefused(dir, real, "belongs to another account", "")
	}
	return err
}

// ofThePerson reports whether a file belongs to whom the home belongs.
func (r *mover) ofThePerson(file string) (bool, error) {
	_, uid, err := account.Identity(file)
	if err != nil {
		return false, err
	}
	_, home, err := account.Identity(r.Env.Home)
	return uid == home, err
}

// linkTarget is where a link says that it leads, which may not be there.
func linkTarget(link string) string {
	to, err := os.Readlink(link)
	if err != nil {
		return "what it names"
	}
	return to
}

// linkRefused is the refusal to write where a link leads; next is what to do instead.
func linkRefused(link, to, why, next string) error {
	return &project.RefusedError{What: fmt.Sprintf("%s leads by a link to %s, which %s", link, to, why), Next: next}
}

// forkInstead is what to do where a transcript cannot be rewritten.
const forkInstead = "leave out --in-place: a fork is a session of its own"

// refuseReferred refuses to shorten a transcript that forks of the agent's own
// making refer to: they could not be opened any more. Nor is one rewritten that the agent does not go on in.
func (r *mover) refuseReferred(at *cutPoint) error {
	if _, err := os.Lstat(at.file); r.Force || err != nil || !transcript.Referred(at.agent) {
		return nil // what is gone comes back
	}
	home := agentHome(r.Project)
	if later := transcript.Later(at.agent, home, at.file); later != "" {
		return &project.RefusedError{
			What: fmt.Sprintf("the agent itself went back in session %s and continues it in %s: what it had written before, %s, stays unchanged", at.id, later, at.file),
			Next: forkInstead,
		}
	}
	forks := transcript.ForksOf(at.agent, home, at.file)
	if len(forks) == 0 {
		return nil
	}
	return &project.RefusedError{
		What: fmt.Sprintf("session %s continues in %s, which needs its transcript unchanged", at.id, strings.Join(forks, ", ")),
		Next: forkInstead,
	}
}
