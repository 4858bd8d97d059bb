package conversation

import (
	"errors"
	"os"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// prepareMoveBack prepares to take back what an operation did to a conversation; nil if it did nothing. Of the operations that
// are not taken back, before are the earlier ones, the newest last, and above the later ones: they say which session the person
// continues in.
// A fork that was used since stays. A transcript that was rewritten in place and changed since is refused without force; with
// force it is copied first. Errors: *RefusedError, *AgentRunningError.
func (r *mover) prepareMoveBack(op manifest.Operation, before, above []manifest.Operation) (*Move, error) {
	line, err := r.Moved(op)
	if err != nil || line == nil {
		return nil, err
	}
	b := &moveBack{Move: &Move{r: r, answer: &Moved{Agent: line.Agent, InPlace: line.InPlace}}, op: op, done: line,
		main: project.MovedFile{File: op.Fork}, unchanged: true}
	b.line = project.MovedLine{Action: project.MovedAction, Agent: line.Agent, Session: line.Session, From: line.From, Resume: line.Resume, Origin: line.Origin, InPlace: line.InPlace}
	for i, f := range line.Files {
		if f.File == op.Fork && !line.InPlace || i == len(line.Files)-1 && line.InPlace {
			b.main, b.unchanged = f, false
		}
	}
	b.answer.File = b.main.File
	b.appears = b.main.Before != nil || line.Was != ""
	if info, err := os.Lstat(b.main.File); err == nil && line.InPlace && info.Mode()&os.ModeSymlink != 0 {
		return nil, linkRefused(b.main.File, linkTarget(b.main.File), "is not what the operation wrote", "--code-only takes back the files alone")
	}
	if b.now, err = r.sumThen(b.main.File); err != nil {
		return nil, err
	}
	if b.now != nil {
		b.foreign = r.foreign(line, b.main.File)
	}
	if line.InPlace {
		return b.rewritten()
	}
	return b.forked(before, above)
}

// moveBack is what an operation did to a conversation, and what is there of it now.
type moveBack struct {
	*Move
	op        manifest.Operation
	done      *project.MovedLine
	main      project.MovedFile // the transcript that the person was sent to
	unchanged bool              // the operation left that file as it was
	appears   bool              // the operation took the session away: it is there again afterwards
	now       *project.FileSum  // the sum of main's content; nil where the file is not there
	foreign   string            // the project that the session belongs to, where that is another one
}

// asBefore reports whether the transcript is what it was before the operation, and not what that wrote.
func (b *moveBack) asBefore() bool {
	return sameSum(b.now, b.main.Before) && !sameSum(b.now, b.main.After)
}

// asWritten reports whether the transcript is what the operation wrote.
func (b *moveBack) asWritten() bool { return !b.unchanged && sameSum(b.now, b.main.After) }

// rewritten prepares to take back what was done to a transcript in its place.
func (b *moveBack) rewritten() (*Move, error) {
	r, line := b.r, b.done
	if b.foreign != "" && !r.Force {
		return nil, &project.RefusedError{What: "session " + line.Session + " belongs to the project " + b.foreign + ", of which this one is a copy", Paths: []string{b.main.File}, Forcible: true,
			Next: "--code-only takes back the files alone"}
	}
	if b.asBefore() {
		return nil, nil
	}
	other := r.Op.Fork
	r.Op.Fork = b.main.File
	if !b.asWritten() && !r.Force {
		return nil, &project.RefusedError{What: "the conversation has continued since that restore", Paths: []string{b.main.File}, Forcible: true,
			Next: "--code-only takes back the files alone; --force takes back the conversation, too, with all that came since"}
	}
	if b.main.After != nil {
		if err := b.refuseRunning(line.Session, b.main.File, ""); err != nil {
			return nil, err
		}
	}
	b.answer.Session = line.Session
	if b.appears {
		b.answer.Resume, b.line.Next, b.answer.From = line.Resume, line.Session, line.From
	} else if err := b.sessionGone(line.Agent, line.Session, b.main.File); err != nil {
		return nil, err
	}
	b.answer.Removed = !b.appears
	m, err := b.files()
	if err == nil && len(b.line.Files) == 0 { // it had written what was there before
		m = nil
	}
	if m == nil || r.Op.TranscriptBackup != "" {
		r.Op.Fork = other // not a file that is there again, which an undo takes away
	}
	return m, err
}

// forked prepares to take back a fork, or to bring it back.
func (b *moveBack) forked(before, above []manifest.Operation) (m *Move, err error) {
	r, line := b.r, b.done
	if b.appears {
		err = b.toForkAgain(line, b.main.File)
	} else if b.line.Was, err = r.left(line, b.op, above); err == nil {
		err = b.toOrigin(b.op, before, line, b.main.File)
	}
	if err != nil {
		return nil, err
	}
	r.Op.Fork = b.main.File
	switch {
	case b.asWritten():
	case b.asBefore() || b.appears && b.unchanged || b.now == nil: // there is nothing to do
		return b.Move, nil
	default:
		return b.stays("was used since"), nil
	}
	if b.foreign != "" && !b.appears {
		return b.stays("belongs to the project " + b.foreign), nil
	}
	if b.main.After != nil {
		err := b.refuseRunning(line.Session, b.main.File, "")
		if errors.As(err, new(*AgentRunningError)) {
			return b.stays("is open"), nil
		}
		if err != nil {
			return nil, err
		}
	}
	if b.appears {
		b.answer.From = line.From
	}
	b.answer.Removed = !b.appears
	return b.files()
}

// files prepares to give each file the content that it had before the operation.
func (b *moveBack) files() (*Move, error) {
	for _, f := range b.done.Files {
		if err := b.prepareFile(f); err != nil {
			b.Close()
			return nil, err
		}
	}
	b.answer.Backup = StoreFile(b.r.Project, b.r.Op.TranscriptBackup)
	return b.Move, nil
}

// foreign is the root of the project whose operation wrote a transcript, where that is another one: this one is a copy of it, and has
// its operations. "" where it is this one's, also of a session that was started elsewhere.
func (r *mover) foreign(line *project.MovedLine, file string) string {
	agent := transcript.Agent(line.Agent)
	d, err := transcript.Describe(agent, file)
	if err != nil {
		return ""
	}
	if dir, _ := workingDir(r.Project, d.Dir); line.Resume == transcript.Command(agent, dir, line.Session) {
		return ""
	}
	return session.Elsewhere(r.Project, line.Agent, line.Session, d.Dir)
}

// prepareFile prepares to give a file the content that it had before the operation.
func (m *Move) prepareFile(f project.MovedFile) error {
	now, err := m.r.sumThen(f.File)
	if err != nil || sameSum(now, f.Before) {
		return err
	}
	if !m.line.InPlace && !sameSum(now, f.After) {
		m.answer.Notes = append(m.answer.Notes, f.File+" was changed since: it is kept")
		return nil
	}
	back := project.MovedFile{File: f.File, After: f.Before}
	var s *transcript.Staged
	if !m.r.DryRun {
		if was, ok := m.r.then[f.File]; ok {
			back.Before, back.Backup, back.Seen = was.Before, was.Backup, was.Seen
		} else if err := m.r.backUp(m.line.Agent, m.line.Session, &back); err != nil {
			return err
		}
		if f.Before != nil {
			if s, err = m.r.stageBackup(f.File, f.Backup, f.Before); err != nil {
				return err
			}
			back.Temp = s.Temp
		}
	}
	m.line.Files, m.staged = append(m.line.Files, back), append(m.staged, s)
	m.r.Op.TranscriptBackup = back.Backup
	return nil
}

// stays notes that a fork is not taken away, and why.
func (b *moveBack) stays(why string) *Move {
	b.answer.Notes = append(b.answer.Notes, "the forked session "+b.done.Session+" "+why+": it is kept")
	return b.Move
}
