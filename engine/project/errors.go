package project

import (
	"fmt"
	"strings"
	"time"
)

// NotInitializedError: no store for this root. Another directory may have had one at its path.
type NotInitializedError struct {
	Root    string
	History []History // newest first
	Parent  string    // of a worktree: the root of the initialised project that it lies in
	NoList  bool      // the account's registry is lost, and it has mirrors of stores
	Older   string    // where the older program has its files in the project, "" if nowhere
}

// UnfinishedCloneError: a clone into this root was interrupted before anything was in its store, or is under way.
type UnfinishedCloneError struct{ Root string }

func (e *UnfinishedCloneError) Error() string {
	return fmt.Sprintf("a clone into %s is not complete", e.Root)
}

// History is a store that another directory has, or had, at the same path. init --adopt takes it.
type History struct {
	ID       string    // of the store
	LastSave time.Time // zero: not known
}

func (e *NotInitializedError) Error() string { return fmt.Sprintf("%s is not initialised", e.Root) }

// RefusedRootError: the root is a directory that rewind captures only if it is named.
type RefusedRootError struct{ Root, Reason string }

func (e *RefusedRootError) Error() string {
	return fmt.Sprintf("cannot use %s as a project: it is %s", e.Root, e.Reason)
}

// MovedError: a global store whose project was moved or replaced.
type MovedError struct{ Store, Root, Registered, ID string }

func (e *MovedError) Error() string {
	if e.Registered == e.Root {
		return fmt.Sprintf("the store %s belongs to another directory, which was at %s", e.Store, e.Root)
	}
	return fmt.Sprintf("the store %s belongs to %s, not to %s", e.Store, e.Registered, e.Root)
}

// NoStoreError: no store of the account has that id, or several do.
type NoStoreError struct {
	ID      string
	Matches []string
}

func (e *NoStoreError) Error() string {
	if len(e.Matches) > 0 {
		return fmt.Sprintf("several stores of this account have ids that begin with %q", e.ID)
	}
	return fmt.Sprintf("this account has no store %q", e.ID)
}

// LinkError: the path of the store leads through a link, or there is one in the store.
type LinkError struct {
	Path     string
	Other    string // "", or the directory that the store behind the link belongs to
	Forcible bool   // the person may allow it: init --force
}

func (e *LinkError) Error() string {
	if e.Other != "" {
		return fmt.Sprintf("%s leads to the store of %s: two directories cannot share one", e.Path, e.Other)
	}
	return e.Path + " is a link"
}

// ReplacedError: the store was removed while it was used, or another one was put in its place.
type ReplacedError struct{ Store string }

func (e *ReplacedError) Error() string {
	return fmt.Sprintf("%s was removed or replaced while the command used it, and the command stopped there", e.Store)
}

// VanishedError: a known project whose store is gone and could not be rebuilt from its mirror.
type VanishedError struct {
	Root, Reason string
	Err          error  // the reason, where the mirror is there and could not be used
	Mirror       string // where that is
}

func (e *VanishedError) Unwrap() error { return e.Err }

func (e *VanishedError) Error() string {
	return fmt.Sprintf("the store of %s has vanished: %s", e.Root, e.Reason)
}

// MixedStoreError: the store of another project was copied over that of this one.
type MixedStoreError struct {
	Store string
	ID    string // of the store that the directory had, which is whole in its mirror
}

func (e *MixedStoreError) Error() string {
	return fmt.Sprintf("the store %s has packs of two stores: that of another project was copied over it", e.Store)
}

// NoCheckpointError: nothing has that name.
type NoCheckpointError struct {
	Spec, Reason string
	Fewer        bool // prompts than Spec asks for: there are Have
	Have         int
}

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
	name := e.Name
	if len(name) > longestName {
		name = strings.ToValidUTF8(name[:40], "") + "…"
	}
	return fmt.Sprintf("%q cannot be a name: %s", name, e.Reason)
}

// NameTakenError: another checkpoint has the name.
type NameTakenError struct{ Name, Checkpoint string }

func (e *NameTakenError) Error() string {
	return fmt.Sprintf("the name %q is taken by %s", e.Name, e.Checkpoint)
}

// DiskFullError: less free space than the floor.
type DiskFullError struct{ Free, Floor int64 }

func (e *DiskFullError) Error() string {
	return fmt.Sprintf("only %d bytes free on the disk, less than the minimum of %d", e.Free, e.Floor)
}

// RefusedError: the verb would lose something; with Force it proceeds where Forcible.
type RefusedError struct {
	What     string
	Paths    []string
	Forcible bool
	Adopting bool   // a store would take the place of the directory's own
	Next     string // what to do first, where that helps
}

func (e *RefusedError) Error() string { return e.What }

// RemoteError: the store would lie on a file system whose locks and times cannot be trusted.
type RemoteError struct{ Root, FileSystem string }

func (e *RemoteError) Error() string {
	return fmt.Sprintf("%s is on %s, where locks and change times cannot be trusted", e.Root, e.FileSystem)
}

// NothingError: nothing to undo or redo.
type NothingError struct {
	What string
	Next string // what to do instead, where that helps
}

func (e *NothingError) Error() string { return "nothing to " + e.What }

// FewStepsError: more steps were asked for than there are.
type FewStepsError struct {
	What string // the command
	Have int    // from 1
}

func (e *FewStepsError) Error() string {
	if e.Have == 1 {
		return "there is only 1 step to " + e.What
	}
	return fmt.Sprintf("there are only %d steps to %s", e.Have, e.What)
}

// ReadOnlyError: the store cannot be written.
type ReadOnlyError struct {
	Store string
	Err   error
}

func (e *ReadOnlyError) Error() string {
	return fmt.Sprintf("the store %s cannot be written: %v", e.Store, e.Err)
}
func (e *ReadOnlyError) Unwrap() error { return e.Err }
