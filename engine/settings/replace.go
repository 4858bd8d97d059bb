package settings

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// files are the file operations of a change, for tests that make them fail.
type files interface {
	Create(dir string) (temporary, error) // with mode 0600
	Rename(from, to string) error
	Remove(file string) error
	SyncDir(dir string) error
}

// temporary is a new file that nobody knows yet.
type temporary interface {
	Name() string
	Write(b []byte) (int, error)
	Chmod(mode fs.FileMode) error
	Sync() error
	Close() error
}

type osFiles struct{}

func (osFiles) Create(dir string) (temporary, error) { return os.CreateTemp(dir, ".rewind-*.tmp") }
func (osFiles) Rename(from, to string) error         { return os.Rename(from, to) }
func (osFiles) Remove(file string) error             { return os.Remove(file) }
func (osFiles) SyncDir(dir string) error             { return syncDir(dir) }

// lockWait is how long a change waits for another one, lockPoll how often it looks.
const (
	lockWait = 10 * time.Second
	lockPoll = 5 * time.Millisecond
)

// change replaces what edit makes of a config file. Changes of one file take
// turns, by a lock file beside it that dies with its process.
func change(sys files, file string, edit func(old []byte) ([]byte, error)) error {
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	lock := flock.New(file+".lock", flock.SetPermissions(0o600))
	if ok, err := lock.TryLockContext(ctx, lockPoll); errors.Is(err, context.DeadlineExceeded) {
		return &BusyError{file}
	} else if !ok {
		return fmt.Errorf("lock %s: %w", file, err)
	}
	defer lock.Close() // drops the lock
	old, err := readFile(file)
	if err != nil {
		return err
	}
	edited, err := edit(old)
	if err != nil {
		return &NotJSONError{file, err}
	}
	if string(old) == string(edited) {
		return nil
	}
	return replaceFile(sys, file, edited)
}

// replaceFile puts content in the file's place: a temporary file beside it,
// fsync, rename, fsync of the directory. The old file's mode is kept, a new
// one gets 0600. A symbolic link is followed, as keepers of dotfiles use them.
func replaceFile(sys files, file string, content []byte) (err error) {
	if target, err := filepath.EvalSymlinks(file); err == nil {
		file = target
	}
	mode := fs.FileMode(0o600)
	if st, err := os.Stat(file); err == nil {
		mode = st.Mode().Perm()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	dir := filepath.Dir(file)
	tmp, err := sys.Create(dir)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = tmp.Close()
			_ = sys.Remove(tmp.Name()) // best effort: the error that matters is err
		}
	}()
	if _, err = tmp.Write(content); err != nil {
		return err
	}
	if err = tmp.Chmod(mode); err != nil {
		return err
	}
	if err = tmp.Sync(); err != nil {
		return err
	}
	if err = tmp.Close(); err != nil {
		return err
	}
	if err = sys.Rename(tmp.Name(), file); err != nil {
		return err
	}
	if derr := sys.SyncDir(dir); derr != nil {
		return fmt.Errorf("%s is written, but perhaps not yet durable: %w", file, derr)
	}
	return nil
}
