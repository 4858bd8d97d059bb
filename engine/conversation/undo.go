package conversation

import (
	"context"
	"errors"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// PrepareMoveBack prepares to take back what an operation did to a conversation, nil if it did
// nothing, or nothing is left of it. before are the operations that it came after and that hold
// still, the newest last: the session to go on with is where they left the conversation.
// A fork that somebody wrote to stays; a file rewritten in place that changed since is refused without force, and copied first with it. Errors: *RefusedError, *AgentRunningError.
func PrepareMoveBack(ctx context.Context, p *project.Project, op manifest.Operation, before []manifest.Operation, o MoveOptions) (*Move, error) {
	r := &mover{p, ctx, o}
	if op.Fork == "" && op.TranscriptBackup == "" {
		return nil, nil
	}
	list, err := r.ReadObject(op.Paths)
	if err != nil {
		return nil, err
	}
	line, err := ParseMoved(list)
	if err != nil || line == nil || len(line.Files) == 0 {
		return nil, err
	}
	m := &Move{r: r, answer: &Moved{Agent: line.Agent, InPlace: line.InPlace}}
	m.line = movedLine{Action: MovedAction, Agent: line.Agent, Session: line.Session, From: line.From, Resume: line.Resume, Origin: line.Origin, InPlace: line.InPlace}
	main := line.Files[len(line.Files)-1]
	m.answer.File = main.File
	appears := main.Before != nil // the session is there again
	if appears {
		m.answer.Session, m.answer.From, m.answer.Resume = line.Session, line.From, line.Resume
	}
	if !appears && line.From != "" {
		if err := m.goOn(op, before, line, main.File); err != nil {
			return nil, err
		}
	}
	now, err := SumFile(main.File)
	if err != nil {
		return nil, err
	}
	switch {
	case sameSum(now, main.Before) && !sameSum(now, main.After):
		return nil, nil // it is there already
	case !sameSum(now, main.After) && !line.InPlace:
		m.stays(line, "was used since")
		m.line.Files = nil
		return m, nil
	case !sameSum(now, main.After) && !r.Force:
		return nil, &project.RefusedError{What: "the conversation has continued since that restore", Paths: []string{main.File}, Forcible: true,
			Next: "--code-only takes back the files alone; --force takes back the conversation, too, with all that came since"}
	}
	if main.After != nil {
		err := m.refuseRunning(line.Session, main.File, "")
		var running *AgentRunningError
		if errors.As(err, &running) && !line.InPlace {
			m.stays(line, "is open")
			m.line.Files = nil
			return m, nil
		}
		if err != nil {
			return nil, err
		}
	}
	m.answer.Removed = !appears
	if !appears && line.InPlace {
		m.answer.Session = line.Session
		if err := m.sessionGone(line.Agent, line.Session, main.File); err != nil {
			return nil, err
		}
	}
	for _, f := range line.Files {
		if err := m.prepareFile(f); err != nil {
			return nil, err
		}
	}
	if !line.InPlace || r.Op.TranscriptBackup == "" {
		r.Op.Fork = main.File // or a file that is there again: an undo takes it away
	}
	m.answer.Backup = StoreFile(r.Project, r.Op.TranscriptBackup)
	return m, nil
}

// prepareFile prepares to give a file the content that it had before the operation.
func (m *Move) prepareFile(f movedFile) error {
	now, err := SumFile(f.File)
	if err != nil || sameSum(now, f.Before) {
		return err
	}
	back := movedFile{File: f.File, After: f.Before}
	var s *transcript.Staged
	if !m.r.DryRun {
		if back.Before, back.Backup, err = m.r.backUp(f.File); err != nil {
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

// stays says that a fork is not taken away: the session that it came from is the
// one to go on with all the same.
func (m *Move) stays(line *movedLine, why string) {
	if m.answer.Session == "" {
		m.answer.Session, m.answer.File, m.answer.Resume = line.Session, line.Files[len(line.Files)-1].File, line.Resume
	}
	m.answer.Notes = append(m.answer.Notes, "the forked session "+line.Session+" "+why+": it is kept")
}
