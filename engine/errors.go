package engine

import (
	"fmt"
	"time"
)

// NotInitializedError: no store for this root.
type NotInitializedError struct{ Root string }

func (e *NotInitializedError) Error() string { return fmt.Sprintf("%s is not initialised", e.Root) }

// RefusedRootError: the root is a directory that rewind does not capture without being told so.
type RefusedRootError struct{ Root, Reason string }

func (e *RefusedRootError) Error() string { return fmt.Sprintf("%s is %s", e.Root, e.Reason) }

// ForeignStoreError: a store that this account did not make or adopt, or that belongs to another user.
type ForeignStoreError struct {
	Store, Reason string
	OtherUser     bool
}

func (e *ForeignStoreError) Error() string { return fmt.Sprintf("the store %s %s", e.Store, e.Reason) }

// MovedError: a global store whose project was moved or replaced.
type MovedError struct{ Store, Root, Registered string }

func (e *MovedError) Error() string {
	return fmt.Sprintf("the store %s belongs to %s, not to %s", e.Store, e.Registered, e.Root)
}

// VanishedError: a known project whose store is gone and could not be rebuilt from its second name.
type VanishedError struct{ Root, Reason string }

func (e *VanishedError) Error() string {
	return fmt.Sprintf("the store of %s has vanished: %s", e.Root, e.Reason)
}

// FutureFormatError: the store was written by a newer version.
type FutureFormatError struct{ Store, Version string }

func (e *FutureFormatError) Error() string {
	return fmt.Sprintf("the store %s has format %s, which this version does not know", e.Store, e.Version)
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

// NoCheckpointError: nothing has that name.
type NoCheckpointError struct{ Spec, Reason string }

func (e *NoCheckpointError) Error() string {
	if e.Reason != "" {
		return fmt.Sprintf("no checkpoint %q: %s", e.Spec, e.Reason)
	}
	return fmt.Sprintf("no checkpoint %q", e.Spec)
}

// AmbiguousError: several checkpoints match.
type AmbiguousError struct {
	Spec    string
	Matches []string
}

func (e *AmbiguousError) Error() string { return fmt.Sprintf("%q is ambiguous", e.Spec) }

// NoPathError: the checkpoint has no such path.
type NoPathError struct{ Path string }

func (e *NoPathError) Error() string { return fmt.Sprintf("no path %q in the checkpoint", e.Path) }

// OutsideError: a path argument lies outside the project.
type OutsideError struct{ Path string }

func (e *OutsideError) Error() string { return fmt.Sprintf("%q is outside the project", e.Path) }

// BadNameError: not a valid checkpoint name.
type BadNameError struct{ Name, Reason string }

func (e *BadNameError) Error() string {
	return fmt.Sprintf("%q cannot be a name: %s", e.Name, e.Reason)
}

// NameTakenError: another checkpoint has the name.
type NameTakenError struct{ Name, Checkpoint string }

func (e *NameTakenError) Error() string {
	return fmt.Sprintf("the name %q is taken by %s", e.Name, e.Checkpoint)
}

// BusyError: a lock was not to be had in time.
type BusyError struct {
	Lock   string
	Waited time.Duration
}

func (e *BusyError) Error() string { return fmt.Sprintf("another process holds the %s lock", e.Lock) }

// DiskFullError: less free space than the floor.
type DiskFullError struct{ Free, Floor int64 }

func (e *DiskFullError) Error() string {
	return fmt.Sprintf("only %d bytes are free on the disk, the floor is %d", e.Free, e.Floor)
}

// RefusedError: going on would lose something; Force goes on where Forcible.
type RefusedError struct {
	What     string
	Paths    []string
	Forcible bool
}

func (e *RefusedError) Error() string { return e.What }

// RemoteError: the store would lie on a file system whose locks and times cannot be trusted.
type RemoteError struct{ Root, FileSystem string }

func (e *RemoteError) Error() string {
	return fmt.Sprintf("%s is on %s, where locks and change times cannot be trusted", e.Root, e.FileSystem)
}

// NothingError: nothing to undo or redo.
type NothingError struct{ What string }

func (e *NothingError) Error() string { return "nothing to " + e.What }

// ReadOnlyError: the store cannot be written.
type ReadOnlyError struct {
	Store string
	Err   error
}

func (e *ReadOnlyError) Error() string {
	return fmt.Sprintf("the store %s cannot be written: %v", e.Store, e.Err)
}
func (e *ReadOnlyError) Unwrap() error { return e.Err }
