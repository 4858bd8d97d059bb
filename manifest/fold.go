package manifest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/manifest/table"
)

// Fold brings the database up to the log's end in a new generation. At most
// one fold runs at a time (a lock file in Dir); another's result is used. When it
// returns, the new generation is durable, and the pointer names it; whatever stops it earlier leaves
// the old one in place. A generation that is damaged, or of another log, is folded again from the
// start, as are trees that were rewritten, so that no table names a path that was forgotten.
func Fold(ctx context.Context, o Options, src Source) error {
	return fold(ctx, o, src, table.Disk{Owner: o.Owner})
}

// Rebuild folds the whole log into a new generation, whatever the current one holds.
func Rebuild(ctx context.Context, o Options, src Source) error {
	return locked(ctx, o, src, table.Disk{Owner: o.Owner}, func(f *folder) error { return f.run(nil) })
}

func fold(ctx context.Context, o Options, src Source, files table.Files) error {
	return locked(ctx, o, src, files, func(f *folder) error {
		cur, err := openCurrent(o.Dir)
		var damaged *DamagedError
		if err != nil && !errors.As(err, &damaged) && !errors.As(err, new(*FormatError)) {
			return err
		}
		err = f.run(cur)
		if err != nil && cur != nil && errors.As(err, &damaged) {
			err = f.run(nil)
		}
		if cur != nil {
			err = errors.Join(err, cur.Close())
		}
		return err
	})
}

// locked runs one fold while it holds the folds' lock.
func locked(ctx context.Context, o Options, src Source, files table.Files, run func(*folder) error) error {
	if o.ReadOnly {
		return &fs.PathError{Op: "fold", Path: o.Dir, Err: fs.ErrPermission}
	}
	release, err := lockDir(ctx, o, files)
	if err != nil {
		return err
	}
	defer release()
	return run(&folder{ctx: ctx, dir: o.Dir, src: src, files: files, load: Remember(src.Dir)})
}

// lockDir makes the directory and takes the folds' lock.
func lockDir(ctx context.Context, o Options, files table.Files) (release func(), err error) {
	switch info, err := os.Lstat(o.Dir); {
	case errors.Is(err, fs.ErrNotExist):
		if err := files.Mkdir(o.Dir); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	case err == nil && !info.IsDir():
		return nil, &fs.PathError{Op: "fold into", Path: o.Dir, Err: syscall.ENOTDIR}
	}
	file := filepath.Join(o.Dir, table.LockFile)
	info, statErr := os.Lstat(file)
	if statErr == nil && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "lock", Path: file, Err: vfs.ErrNotRegular}
	}
	lock := flock.New(file, flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, 10*time.Millisecond); err != nil {
		return nil, fmt.Errorf("waiting for another fold: %w", err)
	}
	// Closing gives the lock up; nothing that could be lost hangs on it.
	release = func() { _ = lock.Unlock() }
	if statErr != nil && o.Owner != nil {
		if err := o.Owner(file); err != nil {
			release()
			return nil, err
		}
	}
	return release, nil
}

// folder makes one generation.
type folder struct {
	ctx    context.Context
	dir    string // of all generations
	src    Source
	files  table.Files
	state  *state
	target string // directory of the new generation
	writer table.Writer
	fresh  table.Runs // what this fold wrote, open
	batch  table.Pending
	load   func(oid.ID) (Dir, error)
}

// run folds onto cur; nil: the whole log.
func (f *folder) run(cur *generation) (err error) {
	if f.state, err = readLog(f.ctx, f.src, cur); err != nil {
		return err
	}
	if f.state.gen == nil {
		cur = nil // of another log
	} else if f.state.needsWhole() {
		return f.run(nil)
	}
	// Readers use the present generation until the pointer is switched, also where it is not built upon.
	var keep uint64
	if data, err := table.ReadSmall(filepath.Join(f.dir, table.PointerFile)); err == nil {
		keep, _, _ = table.ParsePointer(data)
	}
	number, err := f.clean(keep)
	if err != nil {
		return err
	}
	if f.state.last == 0 || cur != nil && f.state.last == cur.meta.last {
		return nil
	}
	f.target = filepath.Join(f.dir, table.GenerationName(number))
	if err := f.files.Mkdir(f.target); err != nil {
		return err
	}
	switched, err := f.write(cur, number)
	if err != nil {
		if !switched {
			// What stays is removed by the next fold.
			_ = f.files.RemoveAll(f.target)
		}
		return err
	}
	_, err = f.clean(number)
	return err
}

// needsWhole reports whether the generation is better folded from the start: trees
// were rewritten, or most of its sets belong to deleted checkpoints.
func (s *state) needsWhole() bool {
	if len(s.rewritten) > 0 || len(s.amended) > 0 || len(s.retouched) > 0 || s.forgotten {
		return true
	}
	positions, safety := s.index.counts()
	return s.gen.meta.dead+uint64(s.died) > uint64(positions+safety)+1000
}

// clean removes all generations but the one to keep; no reader looks for them any more, and one that has them open
// keeps the files. It returns a number higher than all.
func (f *folder) clean(keep uint64) (next uint64, err error) {
	names, err := f.files.ReadDir(f.dir)
	if err != nil {
		return 0, err
	}
	var old []string
	for _, name := range names {
		var number uint64
		if _, err := fmt.Sscanf(name, "%d", &number); err != nil || name != table.GenerationName(number) || number == math.MaxUint64 {
			continue
		}
		next = max(next, number+1)
		if number != keep {
			old = append(old, name)
		}
	}
	if len(old) > 0 {
		// The pointer that was read may not be durable yet: after a power cut it must not be that of
		// a generation that is gone.
		if err := f.files.SyncDir(f.dir); err != nil {
			return 0, err
		}
	}
	for _, name := range old {
		// Where open files cannot be removed, a later fold does it.
		_ = f.files.RemoveAll(filepath.Join(f.dir, name))
	}
	return max(next, 1), nil
}

// write fills the target, makes it durable, and switches the pointer to it. switched also
// comes with an error: when only the pointer's durability is in doubt.
func (f *folder) write(cur *generation, number uint64) (switched bool, err error) {
	defer func() { err = errors.Join(err, f.fresh.Close()) }()
	f.fresh, f.batch = nil, table.Pending{}
	f.writer = table.Writer{Files: f.files, Dir: f.target, NextID: 1, Version: 1}
	defer f.writer.Discard()
	var old table.Runs
	dead := uint64(f.state.died)
	if cur != nil {
		old = cur.Runs
		f.writer.NextID, f.writer.Version = cur.layout.NextID, cur.layout.Version+1
		dead += cur.meta.dead
	}
	if err := f.emit(meta{last: f.state.last, mark: f.state.mark(), dead: dead}); err != nil {
		return false, err
	}
	final, err := f.mergeRuns(append(slices.Clone(old), f.fresh...))
	if err != nil {
		return false, err
	}
	l := &table.Layout{Version: f.writer.Version, NextID: f.writer.NextID}
	for _, r := range final {
		var tables []table.File
		for _, t := range r {
			if t.Dir != f.target {
				if err := f.files.Link(filepath.Join(t.Dir, t.Name()), filepath.Join(f.target, t.Name())); err != nil {
					return false, err
				}
			}
			tables = append(tables, t.File)
		}
		l.Runs = append(l.Runs, tables)
	}
	return f.publish(l, number)
}

func (f *folder) publish(l *table.Layout, number uint64) (switched bool, err error) {
	badger, err := l.BadgerManifest()
	if err != nil {
		return false, err
	}
	data := l.Append(nil)
	for _, step := range []func() error{
		func() error { return f.files.WriteFile(filepath.Join(f.target, table.BadgerName), badger) },
		func() error { return f.files.WriteFile(filepath.Join(f.target, table.LayoutFile), data) },
		func() error { return f.files.SyncDir(f.target) },
		func() error { return f.files.RemoveAll(filepath.Join(f.dir, table.PointerNewFile)) },
		func() error {
			return f.files.WriteFile(filepath.Join(f.dir, table.PointerNewFile), table.PointerTo(number, data))
		},
		// The new directory's name is durable before the pointer's.
		func() error { return f.files.SyncDir(f.dir) },
		func() error {
			return f.files.Rename(filepath.Join(f.dir, table.PointerNewFile), filepath.Join(f.dir, table.PointerFile))
		},
	} {
		if err := step(); err != nil {
			return false, err
		}
	}
	return true, f.files.SyncDir(f.dir)
}

// mergeRuns merges the newest runs while the next older one is not much larger: so
// there are about log4(size) runs, and a key is written again as many times.
func (f *folder) mergeRuns(rs table.Runs) (table.Runs, error) {
	first := len(rs) - 1
	if first < 0 {
		return rs, nil
	}
	for size := rs[first].Size(); first > 0 && (first >= table.MaxRuns || rs[first-1].Size() <= 4*size); {
		first--
		size += rs[first].Size()
	}
	if first == len(rs)-1 {
		return rs, nil
	}
	f.writer.Version++
	f.writer.Expect = 0
	for _, r := range rs[first:] {
		f.writer.Expect += 2 * r.Size()
	}
	n := 0
	all := func([]byte) bool { return true }
	err := rs[first:].Ascend(nil, all, func(key, value []byte) error {
		if n++; n%10000 == 0 && f.ctx.Err() != nil {
			return f.ctx.Err()
		}
		if first == 0 && len(value) == 0 {
			return nil // nothing older that it would have to hide
		}
		return f.writer.Add(key, value)
	})
	if err != nil {
		return nil, err
	}
	merged, err := f.finishRun()
	if err != nil {
		return nil, err
	}
	for _, r := range rs[first:] {
		for _, t := range r {
			if t.Dir == f.target {
				if err := f.files.RemoveAll(filepath.Join(t.Dir, t.Name())); err != nil {
					return nil, err
				}
			}
		}
	}
	return append(slices.Clone(rs[:first]), merged), nil
}

// finishRun opens what was written since the last run.
func (f *folder) finishRun() (table.Run, error) {
	if err := f.writer.Flush(); err != nil {
		return nil, err
	}
	open, err := table.OpenRuns(f.target, [][]table.File{f.writer.Made})
	if err != nil {
		return nil, err
	}
	f.writer.Made = nil
	f.fresh = append(f.fresh, open...)
	return open[0], nil
}

// spill writes the pending keys as a run.
func (f *folder) spill() error {
	if len(f.batch.Entries) == 0 {
		return nil
	}
	f.writer.Version++
	f.writer.Expect = uint64(len(f.batch.Data))
	if err := f.batch.Ascend(f.writer.Add); err != nil {
		return err
	}
	f.batch.Truncate(0) // its memory is used again
	_, err := f.finishRun()
	return err
}

// takeBack removes the runs that were written since there were n.
func (f *folder) takeBack(n int) error {
	err := f.fresh[n:].Close()
	for _, r := range f.fresh[n:] {
		for _, t := range r {
			err = errors.Join(err, f.files.RemoveAll(filepath.Join(t.Dir, t.Name())))
		}
	}
	f.fresh = f.fresh[:n]
	return err
}
