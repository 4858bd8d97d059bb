package engine

import (
	"errors"
	"path/filepath"

	"rewind/engine/transcript"
	"rewind/manifest"
)

// prepareTalkBack prepares to take back what an operation did to a conversation.
// A fork that somebody wrote to stays; a file rewritten in place that changed
// since is refused without force, and copied first with it.
func (r *restoring) prepareTalkBack(op manifest.Operation) error {
	if op.Fork == "" && op.TranscriptBackup == "" {
		return nil
	}
	list, err := r.readObject(op.Paths)
	if err != nil {
		return err
	}
	line, err := parseMoved(list)
	if err != nil || line == nil || len(line.Files) == 0 {
		return err
	}
	m := &talkMove{r: r, answer: &MovedConversation{Agent: line.Agent, InPlace: line.InPlace}}
	m.line = movedLine{Action: movedAction, Agent: line.Agent, Session: line.Session, From: line.From, Resume: line.Resume, InPlace: line.InPlace}
	r.talk = m
	main := line.Files[len(line.Files)-1]
	m.answer.File = main.File
	appears := main.Before != nil // the session is there again
	if appears {
		m.answer.Session, m.answer.From, m.answer.Resume = line.Session, line.From, line.Resume
	}
	if !appears && line.From != "" {
		m.answer.Resume = r.openOrigin(line, main.File)
	}
	now, err := sumFile(main.File)
	if err != nil {
		return err
	}
	switch {
	case sameSum(now, main.Before) && !sameSum(now, main.After):
		r.talk = nil // it is there already
		return nil
	case !sameSum(now, main.After) && !line.InPlace:
		m.stays(line, "was used since")
		m.line.Files = nil
		return nil
	case !sameSum(now, main.After) && !r.o.Force:
		return &RefusedError{What: "the conversation has gone on since that restore", Paths: []string{main.File}, Forcible: true}
	}
	if main.After != nil {
		err := m.refuseRunning(line.Session, main.File, "")
		var running *AgentRunningError
		if errors.As(err, &running) && !line.InPlace {
			m.stays(line, "is open")
			m.line.Files = nil
			return nil
		}
		if err != nil {
			return err
		}
	}
	m.answer.Removed = !appears
	for _, f := range line.Files {
		now, err := sumFile(f.File)
		if err != nil {
			return err
		}
		if sameSum(now, f.Before) {
			continue
		}
		back := movedFile{File: f.File, After: f.Before}
		var s *transcript.Staged
		if !r.o.DryRun {
			if back.Before, back.Backup, err = r.backUp(f.File); err != nil {
				return err
			}
			if f.Before != nil {
				if s, err = r.stageBackup(f.File, f.Backup, f.Before); err != nil {
					return err
				}
				back.Temp = s.Temp
			}
		}
		m.line.Files, m.staged = append(m.line.Files, back), append(m.staged, s)
		r.op.TranscriptBackup = back.Backup
	}
	if !line.InPlace {
		r.op.Fork = main.File
	}
	m.answer.Backup = r.storeFile(r.op.TranscriptBackup)
	return nil
}

// stays says that a fork is not taken away: the session that it came from is the
// one to go on with all the same.
func (m *talkMove) stays(line *movedLine, why string) {
	m.answer.Session = line.From
	if m.answer.Resume == "" {
		m.answer.Session, m.answer.Resume = line.Session, line.Resume
	}
	m.answer.Notes = append(m.answer.Notes, "the forked session "+line.Session+" "+why+": it stays")
}

// openOrigin is the command that opens the session that a fork came from.
func (r *restoring) openOrigin(line *movedLine, fork string) string {
	if line.Origin != "" {
		return line.Origin
	}
	d, err := transcript.Describe(transcript.Agent(line.Agent), filepath.Join(filepath.Dir(fork), line.From+".jsonl"))
	if err != nil {
		return "" // recorded by an older version, and gone since
	}
	dir, _ := r.workingDir(d.Dir)
	return transcript.Command(transcript.Agent(line.Agent), dir, line.From)
}
