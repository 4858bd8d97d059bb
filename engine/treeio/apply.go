package treeio

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"time"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/manifest"
)

// ApplyOptions of Plan.Apply and Journal.Recover.
type ApplyOptions struct {
	Dir  string // the store's restore directory, made if missing; the caller holds the tree lock
	Sink Sink   // takes what changed after the plan; contents are also compared through it
	Note []byte // kept in the journal for the caller, at most 512 KiB
	// Record makes the operation durable. It is called when every path is in
	// place and before anything displaced is removed. An error puts all back. May be nil.
	Record func(*Outcome) error
	Owner  func(file string) error // gives a created file of the store to its owner; may be nil
	NoSync bool                    // durability "fast"
	// KeepLate leaves alone what changed after the plan was read, for a plan that was made from its lines: such a path is
	// a failed skip. Otherwise it goes as well, to Sink and into Outcome.Late.
	KeepLate bool
	Random   func() uint64    // nil: a random number for the names of temporary files
	Now      func() time.Time // nil: time.Now
	Files    vfs.FS           // where the journal is; nil: vfs.OS
}

// Outcome is what Apply did.
type Outcome struct {
	Changes []Change          // in place
	Skips   []problem.Problem // the plan's and what could not be done
	// Late are the present bytes of displaced files that changed after the plan
	// was read: they went to Sink, and Record commits them.
	Late []Edit
	// Unfinished says that something displaced could not be removed: the journal
	// stays, and Journal.Recover tries again.
	Unfinished bool
	// Note replaces ApplyOptions.Note from now on, durably: Record calls it before it begins what is to be put back after a crash, too.
	// It is set by Apply.
	Note func(note []byte) error
	// Exact says that all the plan's changes are in place, so that Plan.After is the tree.
	Exact bool
}

// AbortedError says that a restore failed and everything was put back. Left
// are the paths where that was not possible: each holds what Reason says.
type AbortedError struct {
	Err  error
	Left []problem.Problem
}

func (e *AbortedError) Error() string {
	if len(e.Left) > 0 {
		return fmt.Sprintf("%v; paths that could not be put back: %d", e.Err, len(e.Left))
	}
	return e.Err.Error()
}
func (e *AbortedError) Unwrap() error { return e.Err }

// BegunError is one of ApplyOptions.Record that could not put back what it had begun: the journal stays, so that the next command tries
// again.
type BegunError struct{ Err, Left error }

func (e *BegunError) Error() string {
	return fmt.Sprintf("%v; and it could not be put back: %v", e.Err, e.Left)
}
func (e *BegunError) Unwrap() []error { return []error{e.Err, e.Left} }

// UnfinishedError says that a journal is there already: Open and Recover first.
type UnfinishedError struct{}

func (e *UnfinishedError) Error() string { return "an earlier restore has not finished" }

// applier is one Apply.
type applier struct {
	*Plan
	ApplyOptions
	ctx     context.Context
	journal *journalFile
	skips   skipList
	euid    uint32
	egid    uint32
}

// Apply does what the plan says. Read has come before. If it returns an error,
// everything has been put back (*AbortedError) or nothing was touched.
func (p *Plan) Apply(ctx context.Context, o ApplyOptions) (*Outcome, error) {
	if o.Random == nil {
		o.Random = rand.Uint64
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	r := &record{time: o.Now(), random: o.Random(), note: o.Note, changes: p.Changes, writable: p.writable}
	for i := range p.Changes {
		p.Changes[i].temp = r.tempName(i)
	}
	j, err := createJournal(&o, r)
	if err != nil {
		if errors.Is(err, syscall.EEXIST) {
			return nil, &UnfinishedError{}
		}
		return nil, err
	}
	a := &applier{Plan: p, ApplyOptions: o, ctx: ctx, journal: j, euid: uint32(geteuid()), egid: uint32(getegid())}
	out, err := a.run()
	if err != nil {
		return nil, a.putBack(err)
	}
	a.finish(out)
	return out, nil
}

// run does everything up to the record, after which there is no way back.
func (a *applier) run() (*Outcome, error) {
	for _, w := range a.writable {
		if err := chmodPath(a.o.FS, w.path, w.mode|0o200); err != nil && fatal(err) {
			return nil, err
		}
	}
	if err := a.makeDirs(); err != nil {
		return nil, err
	}
	if err := a.writeTemps(); err != nil {
		return nil, err
	}
	if !a.NoSync && len(a.Changes) > 0 {
		if err := a.o.FS.Sync(); err != nil {
			return nil, err
		}
	}
	if err := a.journal.mark(frameWritten); err != nil {
		return nil, err
	}
	t := a.tally("replace", false, isEarly, isPut, isTaken)
	if err := a.all(t, isEarly, a.displace); err != nil {
		return nil, err
	}
	if err := a.all(t, isPut, a.place); err != nil {
		return nil, err
	}
	if err := a.all(t, isTaken, a.displace); err != nil { // out of sight
		return nil, err
	}
	if err := a.lookOnceMore(); err != nil {
		return nil, err
	}
	if err := a.ctx.Err(); err != nil {
		return nil, err
	}
	out := a.outcome()
	out.Note = func(note []byte) error { return a.journal.append(appendFrame(nil, noteFrame(note))) }
	if a.Record != nil {
		if err := a.Record(out); err != nil {
			return nil, err
		}
	}
	if err := a.journal.committed(a.Changes); err != nil {
		// The operation is recorded: it counts. Should the process die now, the
		// record tells that it is to be finished.
		a.skips.add("", "the journal could not be marked: "+problem.Text(err), false)
	}
	return out, nil
}

func (a *applier) outcome() *Outcome {
	out := &Outcome{Exact: true}
	for i := range a.Changes {
		c := &a.Changes[i]
		if c.failed {
			out.Exact = false
			continue
		}
		if c.late != nil {
			out.Late = append(out.Late, Edit{Path: c.Path, Entry: *c.late, Whole: true})
		}
		out.Changes = append(out.Changes, *c)
	}
	out.Skips = append(a.Skips, a.skips.list...)
	return out
}

// giveUp leaves one path alone. It returns an error if that is a reason to give up everything.
func (a *applier) giveUp(c *Change, err error) error {
	if fatal(err) {
		return err
	}
	if c.database != "" { // the others may be in place
		return fmt.Errorf("%s: %w", c.Path, err)
	}
	c.failed = true
	a.skips.add(c.Path, why(err), true)
	return nil
}

// fatal reports whether a failure is not the path's own.
func fatal(err error) bool {
	var se *sinkError
	var st *stuckError
	return problem.OfMachine(err) || errors.As(err, &se) || errors.As(err, &st)
}

// makeDirs makes new directories, parents first, and puts them in the place of
// files and links that are in their way.
func (a *applier) makeDirs() error {
	for i := range a.Changes {
		c := &a.Changes[i]
		if !isDir(c.After) || c.Action == Mode {
			continue
		}
		if err := a.ctx.Err(); err != nil {
			return err
		}
		err := rootfs.In(a.o.FS, c.Path, func(d rootfs.Dir, name string) error { return a.makeDir(d, name, c) })
		if err != nil {
			if err := a.giveUp(c, err); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *applier) makeDir(d rootfs.Dir, name string, c *Change) error {
	if c.Action == Create {
		if err := d.Mkdir(name); err != nil {
			return err
		}
		return a.own(d, name, c)
	}
	if err := d.Mkdir(c.temp); err != nil {
		return err
	}
	err := a.own(d, c.temp, c)
	if err == nil {
		c.written, err = d.Lstat(c.temp)
	}
	if err == nil {
		err = a.exchange(0, d, name, c)
	}
	if err != nil {
		d.Rmdir(c.temp) // still empty, and what is in its place cannot be lost by a rmdir
	}
	return err
}

// owner is whom something new belongs to: to the owner of what it replaces, or
// for root to that of the directory, so that the person outside a container
// can still use it.
func (a *applier) owner(d rootfs.Dir, c *Change) (uid, gid uint32, change bool, err error) {
	if c.info.Kind != 0 {
		uid, gid = c.info.UID, c.info.GID
		return uid, gid, uid != a.euid || gid != a.egid, nil
	}
	if a.euid != 0 {
		return 0, 0, false, nil
	}
	info, err := d.Stat()
	return info.UID, info.GID, info.UID != a.euid || info.GID != a.egid, err
}

func (a *applier) own(d rootfs.Dir, name string, c *Change) error {
	uid, gid, change, err := a.owner(d, c)
	if err != nil || !change {
		return err
	}
	if err := d.Chown(name, uid, gid); err != nil && a.euid == 0 {
		return err
	}
	return nil
}

func isEarly(c *Change) bool { return c.early }
func isPut(c *Change) bool   { return c.After.Kind != 0 && !isDir(c.After) }
func isTaken(c *Change) bool { return c.Action == Delete && !c.early && !isDir(c.Before) }

// all does something for each change that want accepts, in parallel.
func (a *applier) all(t *tally, want func(*Change) bool, do func(int, rootfs.Dir, string, *Change) error) error {
	return eachDir(a.ctx, a.o.FS, a.o.workers(), groupByDir(a.Changes, want), func(w int, d rootfs.Dir, openErr error, list []int) error {
		for _, i := range list {
			if err := a.one(w, d, openErr, i, do); err != nil {
				return err
			}
			t.add(&a.Changes[i])
		}
		return nil
	})
}

func (a *applier) one(w int, d rootfs.Dir, openErr error, i int, do func(int, rootfs.Dir, string, *Change) error) error {
	c := &a.Changes[i]
	if err := a.ctx.Err(); err != nil {
		return err
	}
	_, name := rootfs.Split(c.Path)
	err := openErr
	if err == nil {
		err = do(w, d, name, c)
	}
	if err != nil {
		return a.giveUp(c, err)
	}
	return nil
}

// dirModes are the changes of directories whose mode has to be set, deepest first.
func (a *applier) dirModes() []*Change {
	var list []*Change
	for i := range slices.Backward(a.Changes) {
		c := &a.Changes[i]
		if !c.failed && isDir(c.After) && (c.Action != Mode || c.Before.Kind == manifest.Subdir) {
			list = append(list, c)
		}
	}
	return list
}
