package conversation

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// goOn finds the session to go on with when the fork of op is gone: the one that it
// was made of, unless an operation before had made another fork of that, and nobody
// went on in the old one meanwhile: the tree is as that fork has it.
func (m *Move) goOn(op manifest.Operation, before []manifest.Operation, line *movedLine, fork string) error {
	next, err := m.r.earlierFork(op, before, line.From)
	if err != nil {
		return err
	}
	if next != nil {
		m.answer.Session, m.answer.File, m.answer.Resume = next.Session, next.Files[len(next.Files)-1].File, next.Resume
		m.line.Next = next.Session
		return nil
	}
	return m.toOrigin(line, fork)
}

// earlierFork is what the newest operation before op made of a session, if that
// session was not used between the two; nil for nothing.
func (r *mover) earlierFork(op manifest.Operation, before []manifest.Operation, from string) (*movedLine, error) {
	for i := len(before) - 1; i >= 0; i-- {
		o := before[i]
		if o.TranscriptBackup != "" && o.Fork == "" {
			return nil, nil // rewritten in place: it is the session itself
		}
		if o.Fork == "" {
			continue // the files alone
		}
		list, err := r.ReadObject(o.Paths)
		if err != nil {
			return nil, nil // not kept any more
		}
		line, err := ParseMoved(list)
		if err != nil || line == nil || line.InPlace || line.From != from || len(line.Files) == 0 {
			return nil, err
		}
		if _, err := os.Stat(line.Files[len(line.Files)-1].File); err != nil {
			return nil, nil
		}
		used, err := r.usedBetween(line.Agent, from, o, op)
		if err != nil || used {
			return nil, err
		}
		return line, nil
	}
	return nil, nil
}

// usedBetween reports whether somebody was at work in a session between two operations.
func (r *mover) usedBetween(agent, session string, a, b manifest.Operation) (used bool, err error) {
	for _, o := range r.Openings() {
		if o.Agent == agent && o.Session == session && o.Time.After(a.Time) && o.Time.Before(b.Time) {
			return true, nil
		}
	}
	err = r.Query(r.ctx, func(db *manifest.DB) error {
		for c, err := range db.Checkpoints(manifest.Query{Session: session, Before: b.Seq, Kinds: []manifest.CheckpointKind{manifest.Prompt}}) {
			if err != nil {
				return err
			}
			used = c.Seq > a.Seq && c.Agent == agent
			return nil
		}
		return nil
	})
	return used, err
}

// toOrigin goes on with the session that a fork came from, wherever its transcript is now.
func (m *Move) toOrigin(line *movedLine, fork string) error {
	r, agent := m.r, transcript.Agent(line.Agent)
	m.answer.Session, m.line.Next = line.From, line.From
	was, err := SessionNamed(r.ctx, r.Project, line.From)
	if errors.As(err, new(*NoSessionError)) {
		was = SessionInfo{Path: transcript.FileOf(agent, filepath.Dir(fork), line.From, r.Env.Time())}
	} else if err != nil {
		return err
	}
	m.answer.File, m.answer.Resume = was.Path, line.Origin
	d, err := transcript.Describe(agent, was.Path)
	if err != nil {
		return m.sessionGone(line.Agent, line.From, was.Path)
	}
	dir, moved := workingDir(r.Project, d.Dir)
	m.answer.Resume = transcript.Command(agent, dir, line.From)
	if !moved {
		return nil
	}
	// Older clients look for it in the folder of the new path alone.
	folder := transcript.FolderFor(agent, was.Path, d.Dir, dir)
	if folder == "" || folder == filepath.Dir(was.Path) {
		return nil
	}
	copied := filepath.Join(folder, filepath.Base(was.Path))
	if _, err := os.Lstat(copied); err == nil || r.DryRun {
		return nil
	}
	if err := r.makeAgentDir(folder); err != nil {
		return err
	}
	src, err := os.Open(was.Path)
	if err != nil {
		return err
	}
	defer src.Close()
	m.copied, err = transcript.Stage(copied, false, r.agentOwner(), func(w io.Writer) error {
		_, err := io.Copy(w, src)
		return err
	})
	m.answer.File = copied
	return err
}

// sessionGone says how a session comes back whose transcript is not there any more,
// or goes with this move.
func (m *Move) sessionGone(name, session, file string) error {
	r, agent := m.r, transcript.Agent(name)
	m.answer.Resume = ""
	gone := "the transcript of session " + session + " is gone"
	if file == "" {
		file = transcript.FileOf(agent, filepath.Dir(m.answer.File), session, r.Env.Time())
	}
	v, err := conversationOf(r.ctx, r.Project, name, session, file, nil)
	if err != nil {
		return err
	}
	s, err := v.best()
	if err != nil {
		m.answer.Notes = append(m.answer.Notes, gone+", and no checkpoint contains it")
		return nil
	}
	dir, _ := workingDir(r.Project, s.index.Dir(file))
	again := "rewind restore last --context-only --in-place --session " + session
	m.answer.Resume = transcript.InDir(dir, again+" && "+transcript.Command(agent, "", session))
	m.answer.Again = again
	m.answer.Notes = append(m.answer.Notes, gone+": "+again+" writes it again")
	return nil
}
