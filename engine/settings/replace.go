package settings

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/rewind-cli/rewind/cas/vfs"

	"github.com/gofrs/flock"
)

// lockWait is how long a change waits for another one, lockPoll how often it looks.
const (
	lockWait = 10 * time.Second
	lockPoll = 5 * time.Millisecond
)

// change replaces what edit makes of a config file. Changes of one file take
// turns, by a lock file beside it that dies with its process.
func change(file string, edit func(old []byte) ([]byte, error)) error {
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
	return replaceFile(file, edited)
}

// replaceFile puts content in the file's place. The old file's mode is kept, a new one gets 0600. A
// symbolic link is followed, as keepers of dotfiles use them.
func replaceFile(file string, content []byte) error {
	if target, err := filepath.EvalSymlinks(file); err == nil {
		file = target
	}
	mode := fs.FileMode(0o600)
	if st, err := os.Stat(file); err == nil {
		mode = st.Mode().Perm()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return vfs.Replace(vfs.OS, file, vfs.Replacement{Mode: mode}, vfs.Bytes(content))
}
