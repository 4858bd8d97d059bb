package vfs

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Replacement says how Replace puts a file in its place. The zero value is a private, durable file.
type Replacement struct {
	Temp    string             // the temporary file, in the same directory; "": ".tmp-" and a random number
	Mode    fs.FileMode        // of the file; 0: 0600
	Own     func(string) error // gives the new file its owner; may be nil
	NoSync  bool               // the content may be lost with the power
	KeepDir bool               // the new name may: the directory is synced later, or never
	Before  func() error       // called when the content is there, before it gets its name; may be nil
}

// NotDurableError: the file is in its place, but a power cut could take it back.
type NotDurableError struct {
	File string
	Err  error
}

func (e *NotDurableError) Error() string {
	return fmt.Sprintf("%s is written, but perhaps not yet durable: %v", e.File, e.Err)
}

func (e *NotDurableError) Unwrap() error { return e.Err }

// Replace puts what write writes in file's place: a temporary file, fsync, rename, fsync of the
// directory. A crash leaves the old content or the new, and perhaps the temporary file. After an error
// file is as it was and the temporary file is gone, but for a *NotDurableError.
func Replace(fsys FS, file string, r Replacement, write func(File) error) error {
	temp, mode := r.Temp, r.Mode
	if temp == "" {
		temp = filepath.Join(filepath.Dir(file), fmt.Sprintf(".tmp-%d", rand.Uint64()))
	}
	mode = cmp.Or(mode, 0o600)
	f, err := fsys.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	if r.Own != nil {
		err = r.Own(temp)
	}
	if err == nil {
		err = write(f)
	}
	if err == nil && !r.NoSync {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil && r.Before != nil {
		err = r.Before()
	}
	if err == nil {
		err = fsys.Rename(temp, file)
	}
	if err != nil {
		if rerr := fsys.Remove(temp); !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
		return err
	}
	if r.KeepDir {
		return nil
	}
	if err := fsys.SyncDir(filepath.Dir(file)); err != nil {
		return &NotDurableError{file, err}
	}
	return nil
}

// Bytes writes data, for Replace.
func Bytes(data []byte) func(File) error {
	return func(f File) error {
		_, err := f.Write(data)
		return err
	}
}
