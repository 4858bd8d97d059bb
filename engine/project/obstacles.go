package project

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
)

// Obstacle is a file or directory that keeps a save from writing.
type Obstacle struct {
	Path    string
	Dir     bool   // it is to be a directory
	Err     error  // why it cannot be written; nil: something else is in its place
	Derived bool   // it may be removed: the next save makes it anew
	Without string // what is so without it, where a save works
}

// Obstacles tries what a save writes to, and changes nothing.
func (p *Project) Obstacles() (found []Obstacle) {
	try := func(o Obstacle) {
		info, err := os.Lstat(o.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return // it is made where it is needed
		case err != nil:
		case info.IsDir() != o.Dir || !o.Dir && !info.Mode().IsRegular():
			found = append(found, o)
			return
		case o.Dir:
			err = account.CanWrite(o.Path)
		default:
			err = canOpen(o.Path)
		}
		if err != nil {
			o.Err = err
			found = append(found, o)
		}
	}
	store := p.at.Store
	for _, name := range []string{account.ObjectsName, account.LockName, account.TmpName} {
		try(Obstacle{Path: filepath.Join(store, name), Dir: true})
	}
	for _, name := range account.StoreLocks {
		try(Obstacle{Path: filepath.Join(store, account.LockName, name), Derived: true})
	}
	try(Obstacle{Path: p.StatCacheFile(), Derived: true, Without: "each save reads all files"})
	if file, err := p.Store.NewestLog(); err == nil && file != "" {
		if err := canOpen(file); errors.Is(err, fs.ErrPermission) { // of all else verify tells
			found = append(found, Obstacle{Path: file, Err: err})
		}
	}
	if dir := p.Env.AccountDir(); dir != "" {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real // what is no directory of ours has been refused
		}
		for _, dir := range []string{dir, filepath.Join(dir, "sessions")} {
			try(Obstacle{Path: dir, Dir: true, Without: "what agents do is not noted"})
		}
	}
	var wrong *account.InPlaceError
	if errors.As(account.InPlace(account.MirrorDir(p.Env, p.ID), true, nil), &wrong) {
		found = append(found, Obstacle{Path: wrong.Path, Dir: true})
	}
	return found
}

// canOpen reports why a file cannot be written, nil if it can.
func canOpen(file string) error {
	f, err := os.OpenFile(file, os.O_RDWR|vfs.NoFollow|vfs.NoWait, 0)
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return pe.Err
	} else if err != nil {
		return err
	}
	return f.Close()
}
