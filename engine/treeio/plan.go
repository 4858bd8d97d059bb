package treeio

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/manifest"
)

// Options of a restore.
type Options struct {
	FS      rootfs.FS
	Source  Source
	Current oid.ID // the tree that a scan has just found
	Target  oid.ID
	// Select limits what is touched; nil: everything.
	Select Selection
	// InTarget and InScope say whether a path would be captured under the rules
	// of the target and under today's. They are asked before a deletion; nil: yes.
	InTarget, InScope func(path string, dir bool) bool
	// Unseen says why the target may lack a path, or a directory with all below it, that was
	// there: it was not captured then. "": it was not there. Asked before a deletion; nil: "".
	Unseen func(path string, dir bool) problem.Cause
	// Whole says why the target's content of a file is not to be trusted, "" if it is. It is
	// asked before a file is made or replaced; nil: "".
	Whole func(path string) problem.Cause
	// Own are the paths of the store and of the account's directory, where they are below the root. They are never touched.
	Own []string
	// Sessions reports whether agents keep their sessions at a path. It is never touched, and nothing is missing for it; nil: none.
	Sessions func(path string) bool
	Workers  int // 0: 2
	// Progress receives how far NewPlan, Plan.Read and Plan.Apply have come, by one goroutine at a
	// time; may be nil.
	Progress func(Done)
}

func (o *Options) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return 2
}

// Action is what becomes of a path.
type Action uint8

const (
	Create Action = iota + 1
	Replace
	Delete
	Mode // permission bits only
)

func (a Action) String() string {
	return [...]string{"", "create", "replace", "delete", "mode"}[a]
}

// Change is one path that a plan changes. Before and After are its entries; of
// Kind 0 where there is nothing.
type Change struct {
	Path          string
	Action        Action
	Before, After manifest.Entry
	Reason        string

	info     rootfs.Info  // what the plan saw on disk
	attrs    rootfs.Attrs // extended attributes of what is replaced
	held     []heldFile   // what a replaced directory holds
	known    bool         // Before is in the current tree
	early    bool         // a deletion that has to come before the creations beside it
	database string       // of SQLite, that this and other changes belong to: all of them are made, or none
	doubt    bool         // too fresh for its stat to be trusted: compare contents
	temp     string       // reserved name beside the path
	written  rootfs.Info  // the new file
	late     *manifest.Entry
	failed   bool // given up during Apply
}

// Plan is what a restore will do.
type Plan struct {
	Changes []Change          // by path, a directory before what is below it
	Skips   []problem.Problem // by path

	Before oid.ID // the current tree with what Read corrected; after Read
	After  oid.ID // the tree that follows; after Read

	o        Options
	read     bool              // by Read
	writable []modeOf          // directories to be made writable for the time
	passed   map[string]uint32 // modes of directories on disk that the scan passed over
}

type modeOf struct {
	path string
	mode uint32
}

// Causes for leaving a path alone that others go by.
var (
	causeRules    = problem.Cause{Code: problem.TargetRules, Text: "not in scope under the checkpoint's rules"}
	causeToday    = problem.Cause{Code: problem.TodayRules, Text: "not in scope under today's rules"}
	causePrecious = problem.Cause{Code: problem.Precious, Text: "precious: ignored by git, so a restore does not delete it"}
)

// ReasonNested is why a directory with a repository of its own is left alone.
const ReasonNested = "a git repository that the checkpoint does not have"

// Reasons for leaving a path alone.
const (
	reasonHolds      = "the directory contains what no checkpoint has"
	reasonParent     = "a parent is in the way and was not selected"
	reasonNoParent   = "the checkpoint has no directory there, and what it has was not selected"
	reasonUnselected = "the directory contains what was not selected"
	reasonMount      = problem.MountPoint
	reasonStore      = "it belongs to rewind itself"
	reasonSessions   = "an agent keeps its sessions there"
	reasonReserved   = "the name is reserved"
	reasonUnreadable = "unreadable"
	reasonRacing     = "it changed while the restore ran"
	reasonAppeared   = "it appeared while the restore ran"
	reasonDatabase   = "it is one SQLite database with " // and a path, and what of that
	reasonFolds      = "on this file system its name is the same as"
)

// NewPlan compares the trees and the disk. It changes nothing. Errors are
// those of Source and of ctx only; what cannot be looked at is skipped.
func NewPlan(ctx context.Context, o Options) (*Plan, error) {
	p := &Plan{o: o, passed: map[string]uint32{}}
	b := planner{Plan: p, ctx: ctx, euid: os.Geteuid()}
	root := &diskDir{fs: o.FS, there: true}
	defer root.close()
	if err := b.dir("", o.Current, o.Target, root, 0); err != nil {
		return nil, err
	}
	p.sort()
	return p, nil
}

// Empty reports whether there is nothing to do.
func (p *Plan) Empty() bool { return len(p.Changes) == 0 }

func (p *Plan) sort() {
	slices.SortFunc(p.Changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(p.Skips, func(a, b problem.Problem) int { return strings.Compare(a.Path, b.Path) })
}

func (p *Plan) skip(path, reason string, failed bool) {
	p.leave(path, problem.Says(reason), failed)
}

func (p *Plan) leave(path string, cause problem.Cause, failed bool) {
	p.Skips = append(p.Skips, cause.At(path, failed))
}

// diskDir is a directory on disk, opened when it is first looked into.
type diskDir struct {
	fs    rootfs.FS
	path  string
	there bool // it is on disk, as far as the trees tell
	dir   rootfs.Dir
	err   error
}

func (l *diskDir) open() (rootfs.Dir, error) {
	if l.dir == nil && l.err == nil {
		l.dir, l.err = l.fs.OpenDir(l.path)
	}
	return l.dir, l.err
}

func (l *diskDir) close() {
	if l.dir != nil {
		l.dir.Close()
		l.dir = nil
	}
}

// lstat looks at a name; Kind 0: nothing there.
func (l *diskDir) lstat(name string) (rootfs.Info, error) {
	if !l.there {
		return rootfs.Info{}, nil
	}
	d, err := l.open()
	if err == nil {
		var info rootfs.Info
		if info, err = d.Lstat(name); err == nil {
			return info, nil
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return rootfs.Info{}, err
}

// mounted reports whether another file system begins at a name.
func (l *diskDir) mounted(name string) bool {
	if !l.there {
		return false
	}
	d, err := l.open()
	return err == nil && d.Mounted(name)
}

// why puts an error into a skip's words.
func why(err error) string {
	var ne *rootfs.NameError
	var pe *fs.PathError
	switch {
	case errors.As(err, &ne):
		return ne.Reason
	case errors.As(err, &pe) && errors.Is(err, fs.ErrPermission) && reads(pe.Op):
		return reasonUnreadable + ": permission denied"
	case errors.As(err, &pe):
		return pe.Err.Error() // what cannot be changed can well be readable
	}
	return problem.Text(err)
}

// reads reports whether an operation of rootfs only looks.
func reads(op string) bool {
	switch op {
	case "open", "stat", "lstat", "list", "readlink", "read":
		return true
	}
	return false
}
