package conversation

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/zeebo/blake3"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// backupStamp is the format of the time in the name of a plain copy.
const backupStamp = "20060102T150405.000000000"

// backUp makes a plain copy of the file of f, which is of a session, in the store, without what was forgotten. It sets Before, Backup
// and Seen, which stay nil and "" if the file is not there.
func (r *mover) backUp(agent, session string, f *project.MovedFile) error {
	src, info, err := vfs.OpenRegular(f.File, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer src.Close()
	data, err := withoutForgotten(r.ctx, r.Project, agent, session, f.File, src)
	if err != nil {
		return err
	}
	if data != io.Reader(src) {
		if f.Seen, err = SumFile(f.File); err != nil {
			return err
		}
	}
	dir := filepath.Join(r.StoreDir(), BackupName)
	if err := account.MakeDir(dir, r.Owner); err != nil {
		return err
	}
	base := filepath.Base(f.File)
	ext := path.Ext(base)
	stamp := r.Env.Time().UTC().Format(backupStamp)
	name := fmt.Sprintf("%s-%s%s", strings.TrimSuffix(base, ext), stamp, ext)
	s, err := transcript.Stage(filepath.Join(dir, name), false, r.Owner, copyOf(data))
	if err != nil {
		return err
	}
	// An undo gives the file that mode again.
	if err = os.Chmod(s.Temp, info.Mode().Perm()); err == nil {
		err = s.Publish()
	}
	if err != nil {
		s.Discard()
		return err
	}
	f.Before, f.Backup = sumOf(s), BackupName+"/"+name
	return nil
}

// StoreFile is the path of a name below the store; "" stays.
func StoreFile(p *project.Project, name string) string {
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(p.StoreDir(), filepath.FromSlash(name))
}

// TranscriptBackup is the file of the plain copy that an operation made of a
// transcript, "" for none.
func TranscriptBackup(p *project.Project, op manifest.Operation) string {
	return StoreFile(p, op.TranscriptBackup)
}

// copyOf writes all that r has.
func copyOf(r io.Reader) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.Copy(w, r)
		return err
	}
}

func sumOf(s *transcript.Staged) *project.FileSum {
	return &project.FileSum{Size: s.Size, Sum: hex.EncodeToString(s.Sum[:])}
}

func sameSum(a, b *project.FileSum) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// SumFile names the content of a file; nil if there is none.
func SumFile(file string) (*project.FileSum, error) { return sumStart(file, math.MaxInt64) }

// sumStart names the content of a file up to a size.
func sumStart(file string, size int64) (*project.FileSum, error) {
	f, _, err := vfs.OpenRegular(file, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	hash := blake3.New()
	n, err := io.Copy(hash, io.LimitReader(f, size))
	if err != nil {
		return nil, err
	}
	return &project.FileSum{Size: n, Sum: hex.EncodeToString(hash.Sum(nil))}, nil
}
