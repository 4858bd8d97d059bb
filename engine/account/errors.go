package account

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/rewind-cli/rewind/cas/vfs"
)

// ForeignStoreError: a store that this account did not make or adopt, or that belongs to another user.
type ForeignStoreError struct {
	Store, Reason string
	OtherUser     bool
	Going         bool // its removal did not finish
	NoHome        bool // whose it is is not known
	Tracked       bool // git has files of the store in its index
}

func (e *ForeignStoreError) Error() string { return fmt.Sprintf("the store %s %s", e.Store, e.Reason) }

// NotOurs refuses a store that is not in the registry, which lies in the home directory.
func NotOurs(env Env, store string) error {
	if problem := env.HomeProblem(); problem != "" {
		return &ForeignStoreError{Store: store, Reason: "cannot be told to be this account's, because " + problem, NoHome: true}
	}
	return &ForeignStoreError{Store: store, Reason: "was not made on this account"}
}

// InPlaceError: something of another kind is in the place of a file or a directory of ours.
type InPlaceError struct {
	Path string
	Dir  bool   // a directory is to be there, else a file
	Link string // what is there is a link, and where it leads
}

func (e *InPlaceError) Error() string {
	switch {
	case e.Link != "":
		return fmt.Sprintf("%s is a link to %s, which is not there or is no directory of yours", e.Path, e.Link)
	case e.Dir:
		return e.Path + " is not a directory, and rewind needs one there"
	}
	return e.Path + " is not a file, and rewind needs one there"
}

// InPlace is an error that names what is in the place of ours at path, or above it; where nothing is, it is err.
func InPlace(path string, dir bool, err error) error {
	look := os.Stat
	if !dir {
		look = os.Lstat // no link is followed to a file of ours
	}
	for ; ; path, dir, look = filepath.Dir(path), true, os.Stat {
		info, serr := look(path)
		switch {
		case serr == nil && info.IsDir() != dir, serr == nil && !dir && !info.Mode().IsRegular():
			return &InPlaceError{Path: path, Dir: dir}
		case serr == nil || path == filepath.Dir(path) || !vfs.IsMissing(serr):
			return err
		}
	}
}

// FutureFormatError: the store was written by a newer version.
type FutureFormatError struct{ Store, Version string }

func (e *FutureFormatError) Error() string {
	return fmt.Sprintf("the store %s has format %s, which this version of rewind does not support", e.Store, e.Version)
}

// DamagedStoreError: something needed cannot be read.
type DamagedStoreError struct {
	What string
	Err  error
}

func (e *DamagedStoreError) Error() string {
	return fmt.Sprintf("the store is damaged: %s: %v", e.What, e.Err)
}

func (e *DamagedStoreError) Unwrap() error { return e.Err }

// FormatError: the format file of a store is gone or holds something else. The packs may be
// whole: opening the store makes it anew. It is a *DamagedStoreError.
type FormatError struct {
	What string
	Err  error
	Lost string // why it cannot be made anew; "": that was not tried
}

func (e *FormatError) Error() string {
	text := e.Unwrap().Error()
	if e.Lost != "" {
		text += ", and cannot be rebuilt: " + e.Lost
	}
	return text
}

func (e *FormatError) Unwrap() error { return &DamagedStoreError{What: e.What, Err: e.Err} }

// BusyError: a lock was not to be had in time.
type BusyError struct {
	Lock   string
	Waited time.Duration
}

func (e *BusyError) Error() string { return fmt.Sprintf("another process holds the %s lock", e.Lock) }
