package conversation

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/zeebo/blake3"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/engine/transcript"
)

func (r *mover) prepareInPlace(at *cutPoint) (*Move, error) {
	if b := r.Before; b != nil && b.Session.ID != at.id {
		return nil, &project.RefusedError{What: fmt.Sprintf("session %s continues session %s, whose transcript has this place", b.Session.ID, at.id), Next: forkInstead}
	}
	file, err := r.ownFile(at)
	if err != nil {
		return nil, err
	}
	m := &Move{r: r, answer: &Moved{Agent: string(at.agent), Session: at.id, File: file, InPlace: true, Prompts: r.asked(at.reverted()), Until: r.until(at)}}
	if r.Before != nil && r.Before.Prompts != nil {
		m.answer.Prompts = r.Before.Prompts
	}
	x := at.source.index
	if r.Session == nil && r.Before == nil {
		if root := session.NestedIn(r.Project, string(at.agent), at.id, x.Dir(file), true); root != "" {
			return nil, &NoConversationError{Checkpoint: r.targetName(), Reason: "session " + at.id + " belongs to the project " + root +
				", below this one, and is rewritten from here only if it is named"}
		}
	}
	if root := session.Elsewhere(r.Project, string(at.agent), at.id, x.Dir(file)); root != "" && !r.named() {
		return nil, &project.RefusedError{What: "session " + at.id + " belongs to the project " + root + ", and is rewritten from here only if it is named",
			Next: forkInstead + "; or name it: --session " + at.id}
	}
	dir, _ := workingDir(r.Project, x.Dir(file))
	m.answer.Resume = transcript.Command(at.agent, dir, at.id)
	m.line = project.MovedLine{Action: project.MovedAction, Agent: string(at.agent), Session: at.id, Resume: m.answer.Resume, InPlace: true}
	if err := m.refuseRunning(at.id, file, x.Dir(file)); err != nil {
		return nil, err
	}
	if _, err := x.Cut(at.leaf); err != nil {
		return nil, noPlace(r.targetName(), err)
	}
	if there, err := at.standsIn(file); err != nil {
		return nil, noPlace(r.targetName(), err)
	} else if there && (r.Before == nil || !r.Before.pending) {
		m.line, m.answer.There, m.answer.Prompts = project.MovedLine{}, true, nil
		return m, nil
	}
	if r.DryRun {
		return m, nil
	}
	if err := r.makeAgentDir(filepath.Dir(file)); err != nil {
		return nil, err
	}
	f := project.MovedFile{File: file}
	if err := r.backUp(string(at.agent), at.id, &f); err != nil {
		return nil, err
	}
	data, err := at.source.open()
	if err != nil {
		return nil, err
	}
	defer data.Close()
	sides, err := r.stageSides(at, func(string) bool { return true })
	if err != nil {
		return nil, err
	}
	s, err := transcript.Stage(file, true, r.agentOwner(), func(w io.Writer) error {
		_, err := transcript.Linear(w, x, data, at.leaf)
		return err
	})
	if err != nil {
		discardAll(sides)
		return nil, noPlace(r.targetName(), err)
	}
	for _, side := range sides {
		m.line.Files = append(m.line.Files, project.MovedFile{File: side.Name, Temp: side.Temp, After: sumOf(side)})
	}
	f.Temp, f.After = s.Temp, sumOf(s)
	m.staged, m.line.Files = append(sides, s), append(m.line.Files, f)
	r.Op.TranscriptBackup = f.Backup
	if f.Before == nil {
		r.Op.Fork = file // it was gone: an undo takes it away again
	}
	m.answer.Backup = StoreFile(r.Project, f.Backup)
	return m, nil
}

// named reports whether a person, or the environment, named the session.
func (r *mover) named() bool {
	return r.Session != nil && !r.Session.ByItself || r.Before != nil && r.Before.Session != nil && !r.Before.Session.ByItself
}

// standsIn reports whether a session's own file holds the conversation up to there and no more, with what belongs beside it.
func (at *cutPoint) standsIn(file string) (bool, error) {
	now, err := SumFile(file)
	if err != nil || now == nil || len(at.missingSides(func(string) bool { return true })) > 0 {
		return false, err
	}
	data, err := at.source.open()
	if err != nil {
		return false, err
	}
	defer data.Close()
	hash := blake3.New()
	_, err = transcript.Linear(hash, at.source.index, data, at.leaf)
	return hex.EncodeToString(hash.Sum(nil)) == now.Sum, err
}

// ownFile is the file that a session's transcript is written to. It is the session's own file. If that is gone and the agent
// does not need its name, it is a file with a new name, which the agent's clean-up does not delete.
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

// behindLink is the transcript that a link in its place leads to. The link stays. Because a link can lead to any file, only a
// file that belongs to the person and names this session itself is rewritten.
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

// ofThePerson reports whether a file belongs to whom the home belongs, or to the account that runs this, unless that is root.
func (r *mover) ofThePerson(file string) (bool, error) {
	_, uid, err := account.Identity(file)
	if err != nil {
		return false, err
	}
	if uid != 0 && uid == os.Geteuid() {
		return true, nil // also with a home of another account's, as in containers
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
// making refer to: they could not be opened any more. It also refuses if the agent continues in a later transcript.
func (r *mover) refuseReferred(at *cutPoint) error {
	if _, err := os.Lstat(at.file); r.Force || err != nil || !transcript.Referred(at.agent) {
		return nil // what is gone comes back
	}
	home := session.AgentHome(r.Project)
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
