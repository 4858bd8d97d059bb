package conversation

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// toOrigin finds the session to continue after the fork of op is taken away: the session that the fork was made of. If an
// earlier operation had made another fork of that session, and the session was not used in between, it is that other fork,
// since the tree is in its state.
func (m *Move) toOrigin(op manifest.Operation, before []manifest.Operation, line *project.MovedLine, fork string) error {
	next, err := m.r.earlierFork(op, before, line.From)
	if err != nil {
		return err
	}
	if next != nil {
		return m.open(line.Agent, next.ToContinue(), fork, next.Resume)
	}
	return m.open(line.Agent, line.From, fork, line.Origin)
}

// toForkAgain finds the session to continue after a redo brought a fork back: the session that the undo left, if that is still
// there, else the fork.
func (m *Move) toForkAgain(line *project.MovedLine, fork string) error {
	if line.Was != "" && line.Was != line.Session {
		if was, err := session.Named(m.r.ctx, m.r.Project, line.Was); err == nil && was.OnDisk {
			return m.open(line.Agent, line.Was, fork, "")
		}
	}
	m.answer.Session, m.answer.Resume, m.line.Next = line.Session, line.Resume, line.Session
	return nil
}

// left is the session that an undo of op leaves. It is the fork that op made, unless an operation above forked that fork, or
// the session that op had forked, and the fork was not used since: then it is the newer fork.
func (r *mover) left(line *project.MovedLine, op manifest.Operation, above []manifest.Operation) (string, error) {
	session := line.ToContinue()
	for _, o := range above {
		l, err := r.Moved(o)
		if err != nil {
			return "", err
		}
		if l == nil || l.InPlace || l.From != session && l.From != line.From || l.Was != "" {
			continue
		}
		used, err := r.usedBetween(line.Agent, session, o, manifest.Operation{Time: r.Env.Time()})
		if err != nil {
			return "", err
		}
		if !used {
			session = l.ToContinue()
		}
	}
	return session, nil
}

// earlierFork is the fork of a session that the newest operation before op made, if the session was not used between the two;
// nil if there is none.
func (r *mover) earlierFork(op manifest.Operation, before []manifest.Operation, from string) (*project.MovedLine, error) {
	for _, o := range slices.Backward(before) {
		if o.TranscriptBackup != "" && o.Fork == "" {
			return nil, nil // rewritten in place: it is the session itself
		}
		if o.Fork == "" {
			continue // the files alone
		}
		line, err := r.Moved(o)
		if err != nil {
			return nil, nil // not kept any more
		}
		if line == nil || line.InPlace || line.From != from || line.Was != "" {
			return nil, nil
		}
		if _, err := os.Stat(o.Fork); err != nil {
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

// usedBetween reports whether a session was opened or had a prompt between two operations.
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

// open makes a session the one to continue, wherever its transcript is now. fork is a transcript that lies beside it, and
// resume the command that opened the session before.
func (m *Move) open(name, id, fork, resume string) error {
	r, agent := m.r, transcript.Agent(name)
	m.answer.Session, m.line.Next = id, id
	was, err := session.Named(r.ctx, r.Project, id)
	if errors.As(err, new(*session.UnclearError)) {
		was = session.Info{Path: transcript.FileOf(agent, filepath.Dir(fork), id, r.Env.Time())}
	} else if err != nil {
		return err
	}
	m.answer.File, m.answer.Resume = was.Path, resume
	d, err := transcript.Describe(agent, was.Path)
	if err != nil {
		return m.sessionGone(name, id, was.Path)
	}
	dir, moved := workingDir(r.Project, d.Dir)
	m.answer.Resume = transcript.Command(agent, dir, id)
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
	src, _, err := vfs.OpenRegular(was.Path, 0)
	if err != nil {
		return err
	}
	defer src.Close()
	m.copied, err = transcript.Stage(copied, false, r.agentOwner(), copyOf(src))
	m.answer.File = copied
	return err
}

// sessionGone answers how to resume a session whose transcript is already gone, or which this move removes.
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
