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
	m := &Move{r: r, answer: &Moved{Agent: line.Agent, InPlace: line.InPlace}}
	m.line = project.MovedLine{Action: project.MovedAction, Agent: line.Agent, Session: line.Session, From: line.From, Resume: line.Resume, Origin: line.Origin, InPlace: line.InPlace}
	foreign := ""                                        // the project that the session belongs to, where that is another one
	main, kept := project.MovedFile{File: op.Fork}, true // a fork that the operation left where it was, unless it is of the files
	for i, f := range line.Files {
		if f.File == op.Fork && !line.InPlace || i == len(line.Files)-1 && line.InPlace {
			main, kept = f, false
		}
	}
	m.answer.File = main.File
	if info, err := os.Lstat(main.File); err == nil && line.InPlace && info.Mode()&os.ModeSymlink != 0 {
		return nil, linkRefused(main.File, linkTarget(main.File), "is not what the operation wrote", "--code-only takes back the files alone")
	}
	now, err := r.sumThen(main.File)
	if err != nil {
		return nil, err
	}
	if now != nil {
		foreign = r.foreign(line, main.File)
	}
	if foreign != "" && line.InPlace && !r.Force {
		return nil, &project.RefusedError{What: "session " + line.Session + " belongs to the project " + foreign + ", of which this one is a copy", Paths: []string{main.File}, Forcible: true,
			Next: "--code-only takes back the files alone"}
	}
	appears := main.Before != nil || line.Was != "" // the session is there again
	asBefore := sameSum(now, main.Before) && !sameSum(now, main.After)
	switch {
	case line.InPlace && asBefore:
		return nil, nil
	case line.InPlace && appears:
		m.answer.Session, m.answer.Resume, m.line.Next = line.Session, line.Resume, line.Session
	case line.InPlace:
	case appears:
		err = m.toForkAgain(line, main.File)
	default:
		if m.line.Was, err = r.left(line, op, above); err == nil {
			err = m.toOrigin(op, before, line, main.File)
		}
	}
	if err != nil {
		return nil, err
	}
	other := r.Op.Fork
	r.Op.Fork = main.File
	switch {
	case !kept && sameSum(now, main.After):
	case line.InPlace && !r.Force:
		return nil, &project.RefusedError{What: "the conversation has continued since that restore", Paths: []string{main.File}, Forcible: true,
			Next: "--code-only takes back the files alone; --force takes back the conversation, too, with all that came since"}
	case line.InPlace:
	case asBefore || appears && kept || now == nil: // there is nothing to do
		return m, nil
	default:
		m.stays(line, "was used since")
		return m, nil
	}
	if foreign != "" && !line.InPlace && !appears {
		m.stays(line, "belongs to the project "+foreign)
		return m, nil
	}
	if main.After != nil {
		err := m.refuseRunning(line.Session, main.File, "")
		if errors.As(err, new(*AgentRunningError)) && !line.InPlace {
			m.stays(line, "is open")
			return m, nil
		}
		if err != nil {
			return nil, err
		}
	}
	m.answer.Removed = !appears
	if appears {
		m.answer.From = line.From
	} else if line.InPlace {
		m.answer.Session = line.Session
		if err := m.sessionGone(line.Agent, line.Session, main.File); err != nil {
			return nil, err
		}
	}
	for _, f := range line.Files {
		if err := m.prepareFile(f); err != nil {
			m.Close()
			return nil, err
		}
	}
	if line.InPlace && len(m.line.Files) == 0 { // it had written what was there before
		r.Op.Fork = other
		return nil, nil
	}
	if line.InPlace && r.Op.TranscriptBackup != "" {
		r.Op.Fork = other // not a file that is there again, which an undo takes away
	}
	m.answer.Backup = StoreFile(r.Project, r.Op.TranscriptBackup)
	return m, nil
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

// stays says that a fork is not taken away.
func (m *Move) stays(line *project.MovedLine, why string) {
	m.answer.Notes = append(m.answer.Notes, "the forked session "+line.Session+" "+why+": it is kept")
}
