package conversation

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// Publish puts the files in place. What fails is put back by TakeBack.
func (m *Move) Publish() error {
	if m == nil {
		return nil
	}
	for i, f := range m.line.Files {
		now, err := SumFile(f.File)
		if err != nil {
			return err
		}
		if !sameSum(now, cmp.Or(f.Seen, f.Before)) {
			return &project.RefusedError{What: "the transcript " + f.File + " changed a moment ago: the agent is running"}
		}
		m.done = i + 1
		if m.staged[i] != nil {
			err = m.staged[i].Publish()
		} else {
			err = os.Remove(f.File)
		}
		if err != nil {
			return err
		}
	}
	if m.copied != nil {
		// An undo leaves it, because the person may continue in it.
		if err := m.copied.Publish(); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// TakeBack undoes Publish.
func (m *Move) TakeBack() error {
	if m == nil {
		return nil
	}
	return m.r.putBack(m.line.Files[:m.done])
}

// Keep says that the operation is recorded: the move has happened.
func (m *Move) Keep() {
	if m != nil {
		m.kept = true
	}
}

// Close removes what is left of a move that did not happen.
func (m *Move) Close() {
	if m == nil || m.kept {
		return
	}
	if m.copied != nil {
		m.copied.Discard()
	}
	for i, s := range m.staged {
		if s != nil && i >= m.done {
			s.Discard()
		}
		// A backup of a file that was not changed is not needed.
		if f := m.line.Files[i]; f.Backup != "" && m.done == 0 {
			os.Remove(StoreFile(m.r.Project, f.Backup))
		}
	}
}

// putBack brings files from after to before an operation that failed or
// crashed. A file with other content stays, because another program wrote to it.
func (r *mover) putBack(files []project.MovedFile) error {
	var errs []error
	for _, f := range files {
		if f.Temp != "" {
			os.Remove(f.Temp) // ours, if it is there
		}
		now, err := SumFile(f.File)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if sameSum(now, f.Before) || !sameSum(now, f.After) {
			continue
		}
		if f.Before == nil {
			err = os.Remove(f.File)
		} else {
			var s *transcript.Staged
			if s, err = r.stageBackup(f.File, f.Backup, f.Before); err == nil {
				err = s.Publish()
			}
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// stageBackup prepares a file from its plain copy, which must hold what it held.
func (r *mover) stageBackup(file, backup string, want *project.FileSum) (*transcript.Staged, error) {
	src, info, err := vfs.OpenRegular(StoreFile(r.Project, backup), 0)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	_, gone := os.Lstat(file)
	if err := r.makeAgentDir(filepath.Dir(file)); err != nil {
		return nil, err
	}
	s, err := transcript.Stage(file, true, r.agentOwner(), copyOf(src))
	if err != nil {
		return nil, err
	}
	if errors.Is(gone, fs.ErrNotExist) {
		if err := os.Chmod(s.Temp, info.Mode().Perm()); err != nil {
			s.Discard()
			return nil, err
		}
	}
	if !sameSum(sumOf(s), want) {
		s.Discard()
		return nil, &account.DamagedStoreError{What: "the transcript backup " + backup, Err: errors.New("it does not contain what was copied")}
	}
	return s, nil
}

// PutBackMove takes back what a crashed restore did to a conversation, if its
// operation was never recorded.
func PutBackMove(ctx context.Context, p *project.Project, op *manifest.Operation, recorded bool) error {
	if recorded {
		return nil
	}
	line, err := p.Moved(*op)
	if err != nil || line == nil {
		return err
	}
	op.Fork, op.TranscriptBackup = "", ""
	return (&mover{Project: p, ctx: ctx}).putBack(line.Files)
}

// agentOwner gives a file in the agent's directory to whom the home belongs.
func (r *mover) agentOwner() func(string) error { return account.OwnerOf(r.Env.Home) }

// makeAgentDir makes an agent's directory again, which goes with the last
// transcript in it.
func (r *mover) makeAgentDir(dir string) error {
	if err := r.ownDir(dir); err != nil {
		return err
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := r.makeAgentDir(filepath.Dir(dir)); err != nil {
		return err
	}
	return account.MakeDir(dir, r.agentOwner())
}
