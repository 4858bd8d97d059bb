package app

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/problem"
)

// OutputFile makes the path absolute. It refuses one that cannot be written to before any work is done, and one among
// the files of git, of a store or of the account, whatever links lead there.
func OutputFile(env account.Env, file string) (string, error) {
	if !filepath.IsAbs(file) {
		file = filepath.Join(env.Dir, file)
	}
	if st, err := os.Stat(file); err == nil && st.IsDir() {
		return "", Usagef("%q is a directory", file)
	}
	if _, err := os.Stat(filepath.Dir(file)); err != nil {
		return "", Usagef("%q: no such directory", file)
	}
	real, err := filepath.EvalSymlinks(filepath.Dir(file))
	if err != nil {
		return "", Usagef("%q: %s", file, problem.Text(err))
	}
	own, ownErr := os.Stat(env.AccountDir())
	for dir := filepath.Join(real, filepath.Base(file)); filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
		base := strings.ToLower(filepath.Base(dir))
		if base == ".git" || base == ".agent" && dir != filepath.Join(real, filepath.Base(file)) {
			return "", Usagef("%q is in %s", file, base)
		}
		if st, err := os.Stat(dir); err == nil && ownErr == nil && os.SameFile(st, own) {
			return "", Usagef("%q is in %s", file, env.AccountDir())
		}
	}
	return file, nil
}

// AsideFile is written under another name in the same directory and renamed at
// the end. Nothing is opened before the first byte comes, so that a call that
// fails leaves an older file alone. What is no regular file (a device, a FIFO)
// is written directly.
type AsideFile struct {
	File    string
	tmp     string // "" when written directly
	Private bool   // for the person alone
	f       *os.File
	N       int64
}

func (a *AsideFile) Write(b []byte) (int, error) {
	if a.f == nil {
		if err := a.open(); err != nil {
			return 0, err
		}
	}
	n, err := a.f.Write(b)
	a.N += int64(n)
	return n, err
}

func (a *AsideFile) open() (err error) {
	if st, err := os.Stat(a.File); err == nil && !st.Mode().IsRegular() {
		a.f, err = os.OpenFile(a.File, os.O_WRONLY, 0)
		return err
	}
	var random [6]byte
	rand.Read(random[:]) // never fails
	tmp := filepath.Join(filepath.Dir(a.File), "."+filepath.Base(a.File)+"."+hex.EncodeToString(random[:])+".tmp")
	perm := os.FileMode(0o666)
	if a.Private {
		perm = 0o600
	}
	if a.f, err = os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm); err == nil {
		a.tmp = tmp
	}
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		err = &OutputError{Err: &fs.PathError{Op: "create", Path: a.File, Err: pe.Err}} // the name that was asked for
	}
	return err
}

// Commit puts the file in its place.
func (a *AsideFile) Commit() error {
	if a.f == nil {
		if err := a.open(); err != nil {
			return err
		}
	}
	if a.tmp == "" {
		return a.f.Close()
	}
	if err := errors.Join(a.f.Sync(), a.f.Close()); err != nil {
		a.remove()
		return err
	}
	if err := os.Rename(a.tmp, a.File); err != nil {
		a.remove()
		return err
	}
	return nil
}

func (a *AsideFile) Abort() {
	if a.f != nil {
		a.f.Close()
		a.remove()
	}
}

func (a *AsideFile) remove() {
	if a.tmp != "" {
		// A file that cannot be removed has a name that says what it is.
		_ = os.Remove(a.tmp)
	}
}
