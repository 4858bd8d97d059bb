package treeio

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/manifest"
)

// Journal is a restore that did not finish.
type Journal struct {
	Time      time.Time
	Note      []byte // what ApplyOptions.Note was
	Later     []byte // what Outcome.Note was given last, nil for nothing
	Committed bool   // its operation was recorded: it can only go forward
	Touched   bool   // something may have been touched; if not, Recover only removes the journal
	Paths     int

	dir string
	r   *record
}

// Open finds the journal in the store's restore directory; nil if there is
// none. What is no regular file is only removed. Errors: *JournalError for one that no crash explains.
func Open(dir string) (*Journal, error) {
	data, err := vfs.ReadRegular(filepath.Join(dir, journalName), vfs.NoFollow)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if errors.Is(err, vfs.ErrNotRegular) {
		return &Journal{dir: dir}, nil // no restore wrote that
	}
	if err != nil {
		return nil, err
	}
	r, err := parseJournal(data)
	if err != nil {
		return nil, err
	}
	return &Journal{Time: r.time, Note: r.note, Later: r.later, Committed: r.committed, Touched: r.sealed, Paths: len(r.changes), dir: dir, r: r}, nil
}

// Suspect leaves an empty journal where there is none: the one of a restore that was killed may be lost, and
// whoever deals with journals next looks for what it left.
func Suspect(dir string, owner func(string) error) error {
	file := filepath.Join(dir, journalName)
	f, err := vfs.OS.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if owner != nil {
		err = owner(file)
	}
	return errors.Join(err, f.Close())
}

// Back are the edits that putting the restore back makes.
func (j *Journal) Back() []Edit {
	if j.r == nil {
		return nil
	}
	edits := make([]Edit, 0, len(j.r.changes))
	for _, c := range j.r.changes {
		edits = append(edits, Edit{Path: c.Path, Entry: c.Before, Whole: c.Action == Replace && isDir(c.Before)})
	}
	return edits
}

// Foresee are the files that putting the restore back would leave alone: they hold neither what they held before nor what
// they were to hold. at gives what is at a path now; nil: nothing.
func (j *Journal) Foresee(at func(path string) (*manifest.Entry, error)) (left []problem.Problem, err error) {
	if j.r == nil {
		return nil, nil
	}
	for i := range slices.Backward(j.r.changes) {
		c := &j.r.changes[i]
		if c.failed || c.Action == Mode || (isDir(c.Before) || absent(c.Before)) && (isDir(c.After) || absent(c.After)) {
			continue
		}
		now, err := at(c.Path)
		if err != nil {
			return nil, err
		}
		if now != nil && !Same(now, &c.Before) && !Same(now, &c.After) {
			left = append(left, problem.Says(reasonNeither).At(c.Path, true))
		}
	}
	return left, nil
}

// Recovered is what Recover did.
type Recovered struct {
	Forward bool
	Left    []problem.Problem // paths that hold neither, left unchanged
	// Late are displaced contents that are in no checkpoint; Record of the
	// options has received them.
	Late []Edit
	// Done are the edits that the restore made, when it went forward.
	Done []Edit
}

// Recover finishes the restore (forward) or puts it back. The caller holds the
// tree lock. It can be interrupted and called again. o.Record, if set, is
// called before the last displaced bytes go, with what was found late.
func (j *Journal) Recover(ctx context.Context, fsys rootfs.FS, src Source, forward bool, o ApplyOptions) (*Recovered, error) {
	o.Dir = j.dir
	out := &Recovered{Forward: forward}
	if !j.Touched {
		out.Forward = false
		return out, removeJournal(&o)
	}
	if j.Committed && !forward {
		return nil, errors.New("a recorded restore can only be finished")
	}
	for _, w := range j.r.writable {
		_ = chmodPath(fsys, w.path, w.mode|0o200) // what needs it fails, and says so
	}
	s := &recovery{fs: fsys, src: src, sink: o.Sink, forward: forward}
	if !j.r.written {
		if err := s.dropPartial(j.r.changes); err != nil {
			return nil, err
		}
		if err := j.markWritten(&o); err != nil {
			return nil, err
		}
	}
	s.all(j.r.changes)
	if s.broken != nil { // a full disk, say: the journal stays for the next time
		return nil, fmt.Errorf("deal with a restore that did not finish: %w", s.broken)
	}
	a := &applier{Plan: &Plan{Changes: j.r.changes, writable: j.r.writable, o: Options{FS: fsys}}}
	a.closeWritable(func(c *Change) uint32 { return s.want(c).Mode }) // what fails is in its skips
	out.Left, out.Late = append(s.left, a.skips.list...), s.late
	if forward {
		out.Done = EditsOf(j.r.changes)
	}
	if o.Record != nil {
		if err := o.Record(&Outcome{Late: s.late, Skips: out.Left, Exact: len(out.Left) == 0}); err != nil {
			return nil, err
		}
	}
	if err := s.dropLate(j.r.changes); err != nil {
		return nil, err
	}
	return out, removeJournal(&o)
}

// markWritten notes that there are no partial temporary files any more. A torn
// mark at the journal's end is cut off first.
func (j *Journal) markWritten(o *ApplyOptions) error {
	f, err := o.files().OpenFile(filepath.Join(j.dir, journalName), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Truncate(int64(j.r.size)); err != nil {
		return err
	}
	return (&journalFile{f: f, o: o}).mark(frameWritten)
}

// dropLate removes displaced files that have been captured.
func (s *recovery) dropLate(changes []Change) error {
	late := map[string]bool{}
	for _, e := range s.late {
		late[e.Path] = true
	}
	for i := range changes {
		c := &changes[i]
		if !late[c.Path] {
			continue
		}
		err := rootfs.In(s.fs, c.Path, func(d rootfs.Dir, _ string) error { return d.Unlink(c.temp) })
		if rootfs.Gone(err) != nil {
			return err
		}
	}
	return nil
}
