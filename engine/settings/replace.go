package settings

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// replaceFile puts content in the file's place: a temporary file beside it,
// fsync, rename, fsync of the directory. The old file's mode is kept, a new
// one gets 0600. A symbolic link is followed, as keepers of dotfiles use them.
func replaceFile(file string, content []byte) (err error) {
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
	tmp, err := os.CreateTemp(dir, ".rewind-*.tmp") // made with 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			tmp.Close()
			os.Remove(tmp.Name()) // best effort: the error that matters is err
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
	if err = os.Rename(tmp.Name(), file); err != nil {
		return err
	}
	return syncDir(dir)
}
