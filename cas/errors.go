package cas

import (
	"fmt"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
)

// NotFoundError says that no pack holds the object.
type NotFoundError struct{ ID oid.ID }

func (e *NotFoundError) Error() string { return fmt.Sprintf("object %s is not in the store", e.ID) }

// DamagedError says that something is there but its bytes are wrong. ID is
// zero where no single object is meant.
type DamagedError struct {
	ID     oid.ID
	Pack   string // file name of the pack, "" where it is not known
	Offset int64  // of the record in the pack
	Reason string
}

func (e *DamagedError) Error() string {
	text := "damaged"
	if e.ID != (oid.ID{}) {
		text = fmt.Sprintf("object %s is damaged", e.ID)
	}
	if e.Pack != "" {
		text += fmt.Sprintf(" (%s at byte %d)", e.Pack, e.Offset)
	}
	return text + ": " + e.Reason
}

// NotFile reports whether something that is not a file is in the pack's place.
func (e *DamagedError) NotFile() bool { return e.Reason == reasonNoFile }

// BusyError says that a lock was not to be had in time.
type BusyError struct {
	Lock   string // "append" or "users"
	Waited time.Duration
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("the store's %s lock is held by another process (waited %v)", e.Lock, e.Waited.Round(time.Millisecond))
}

// VersionError says that a file is of a format that this program does not know.
type VersionError struct {
	File    string
	Version int
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("%s has format version %d, which is newer than this program", e.File, e.Version)
}

// ReadOnlyError says that an operation wants to write to a store that was
// opened read-only.
type ReadOnlyError struct{ Op string }

func (e *ReadOnlyError) Error() string { return e.Op + ": the store is open read-only" }
