package transcript

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rewind-cli/rewind/cas/vfs"

	"github.com/zeebo/blake3"
)

// Staged is the content of a file, whole and synced, under a temporary name in
// the file's directory. Publish puts it in place, Discard takes it away.
type Staged struct {
	Name string // of the file
	Temp string // where the content is until Publish
	Size int64
	Sum  [32]byte // BLAKE3 of the content

	replace bool
}

// Stage writes the content of a file, with the mode of the file that it replaces,
// else 0600. Unless replace is set, the file must not be there. owner may be nil.
func Stage(name string, replace bool, owner func(string) error, write func(io.Writer) error) (_ *Staged, err error) {
	s := &Staged{Name: name, replace: replace}
	if err := s.vacant(); err != nil {
		return nil, err
	}
	vfs.RemoveLeft(filepath.Dir(name), tempPrefix)                                                                // a restore that died before it was recorded is taken back
	f, err := os.CreateTemp(filepath.Dir(name), fmt.Sprintf("%s%d-*%s", tempPrefix, os.Getpid(), vfs.LeftSuffix)) // mode 0600
	if err != nil {
		return nil, err
	}
	s.Temp = f.Name()
	defer func() {
		f.Close()
		if err != nil {
			s.Discard()
		}
	}()
	hash := blake3.New()
	count := &counter{w: io.MultiWriter(f, hash)}
	if err := write(count); err != nil {
		return nil, err
	}
	if info, err := os.Lstat(name); err == nil && info.Mode().IsRegular() {
		if err := os.Chmod(s.Temp, info.Mode().Perm()); err != nil {
			return nil, err
		}
	}
	s.Size = count.n
	hash.Sum(s.Sum[:0])
	if err := f.Sync(); err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	if owner != nil {
		if err := owner(s.Temp); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// The name of a temporary file holds the process that makes it.
const tempPrefix = ".rewind-"

// RemoveLeft removes the temporary files beside a transcript, and beside the files that belong to it, of processes that
// are no more.
func RemoveLeft(file string) {
	beside := strings.TrimSuffix(file, filepath.Ext(file))
	for _, dir := range []string{filepath.Dir(file), beside, filepath.Join(beside, ToolResults), filepath.Join(beside, "subagents")} {
		vfs.RemoveLeft(dir, tempPrefix)
	}
}

// Publish renames the content into place and syncs the directory.
func (s *Staged) Publish() error {
	if err := s.vacant(); err != nil {
		return err
	}
	if err := os.Rename(s.Temp, s.Name); err != nil {
		return err
	}
	return vfs.OS.SyncDir(filepath.Dir(s.Name))
}

// Discard removes the temporary file; after Publish there is none.
func (s *Staged) Discard() {
	os.Remove(s.Temp) // ours; a rest of it does no harm
}

func (s *Staged) vacant() error {
	if s.replace {
		return nil
	}
	_, err := os.Lstat(s.Name)
	switch {
	case err == nil:
		return &fs.PathError{Op: "create", Path: s.Name, Err: fs.ErrExist}
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return err
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}
