package checkout

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/engine/treeio"
	"github.com/rewind-cli/rewind/manifest"
)

// Walk visits a tree's wanted entries in path order, a directory before what is below it.
type Walk func(visit func(path string, e manifest.Entry) error) error

// Options of a Tree.
type Options struct {
	Path string    // of the directory
	FS   rootfs.FS // the same, opened
	// Open opens the content of a file; every byte is verified. Called by several goroutines.
	Open func(e manifest.Entry) (io.ReadCloser, error)
	// Workers is how many goroutines write, at least one.
	Workers int
	// Replace makes the first Move write again what an interrupted one wrote, in whole or in part, at a wanted path; what
	// somebody has changed there since stays, and is a problem of the path. Without it whatever is there
	// is a problem of the path: two names that the file system takes for one.
	Replace bool
	// Progress receives how many of the files of a Move are written, by one goroutine at a time. May be nil.
	Progress func(files, total, bytes, totalBytes int64)
}

// Tree is a directory that is brought from state to state. One goroutine at a time uses it.
type Tree struct {
	o     Options
	have  map[string]*directory
	moved bool

	edits    atomic.Int64
	mu       sync.Mutex
	problems []problem.Problem
}

// directory is what one directory has, or is to have.
type directory struct {
	mode    uint32
	entries []manifest.Entry
	infos   []rootfs.Info // of what was written, beside entries; zero: nothing was
}

// find gives the place of a name, -1 where there is none.
func (d *directory) find(name string) int {
	if d == nil {
		return -1
	}
	i, ok := slices.BinarySearchFunc(d.entries, name, func(e manifest.Entry, name string) int { return strings.Compare(e.Name, name) })
	if !ok {
		return -1
	}
	return i
}

// Moved is what a Move did.
type Moved struct {
	Files   int64 // files and links of the state
	Bytes   int64 // of them
	Written int64 // files and links that were written
	Shared  int64 // of these, the ones whose content came from the donor
	Edited  int   // paths of Problems that somebody has changed since an interrupted Move wrote them
	// Problems are paths that are not as they should be.
	Problems []problem.Problem
}

// New is a tree in a directory in which nothing was written yet.
func New(o Options) *Tree { return &Tree{o: o, have: map[string]*directory{}} }

// Move brings the directory to the state that walk tells of. An error of the whole, such as a full
// disk or the end of ctx, ends it: the next Move continues from what is there.
func (t *Tree) Move(ctx context.Context, walk Walk, donor *Donor) (Moved, error) {
	t.problems = nil
	m := Moved{}
	want := map[string]*directory{"": {}}
	order := []string{""}
	err := walk(func(path string, e manifest.Entry) error {
		dir, name := rootfs.Split(path)
		if err := rootfs.CheckName(name); err != nil {
			t.add(path, err)
			return nil
		}
		at := want[dir]
		if at == nil {
			return nil // below a name that was refused
		}
		e.Name = name
		at.entries = append(at.entries, e)
		if e.Kind == manifest.Subdir {
			want[path] = &directory{mode: e.Mode}
			order = append(order, path)
		} else {
			m.Files++
			m.Bytes += int64(e.Size)
		}
		return ctx.Err()
	})
	if err != nil {
		return m, err
	}
	for _, d := range want {
		d.infos = make([]rootfs.Info, len(d.entries))
	}
	if err := t.drop(ctx, want); err != nil {
		return m, err
	}
	if err := t.directories(ctx, order, want); err != nil {
		return m, err
	}
	err = t.fill(ctx, order, want, donor, &m)
	t.have, t.moved = want, true // with the stat of what was written, and of nothing else
	if err == nil {
		err = t.modes(order, want)
	}
	m.Problems, m.Edited = t.problems, int(t.edits.Swap(0))
	return m, err
}

// passOver notes a path that failed; what is wrong with the machine ends all.
func (t *Tree) passOver(path string, err error) error {
	if err == nil || problem.OfMachine(err) {
		return err
	}
	t.add(path, err)
	return nil
}

func (t *Tree) add(path string, err error) {
	reason := problem.Text(err)
	if errors.Is(err, errEdited) {
		t.edits.Add(1)
	}
	if p := (*fs.PathError)(nil); errors.As(err, &p) { // the path is said beside it
		reason = problem.Text(p.Err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.problems = append(t.problems, problem.Says(reason).At(path, true))
}

// drop takes away what was written and is wanted no more. A directory with something else in it stays.
func (t *Tree) drop(ctx context.Context, want map[string]*directory) error {
	paths := make([]string, 0, len(t.have))
	for path := range t.have {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	for _, path := range slices.Backward(paths) { // what is below a directory before it
		if err := ctx.Err(); err != nil {
			return err
		}
		d, err := t.open(path)
		if err != nil {
			continue // somebody has put something else there: directories and files see to it
		}
		for _, e := range t.have[path].entries {
			if i := want[path].find(e.Name); i >= 0 && (want[path].entries[i].Kind == manifest.Subdir) == (e.Kind == manifest.Subdir) {
				continue
			}
			if e.Kind == manifest.Subdir {
				_ = d.Rmdir(e.Name)
			} else if info, err := d.Lstat(e.Name); err == nil && info.Kind != rootfs.Directory {
				if err := d.Unlink(e.Name); err != nil {
					t.add(rootfs.Join(path, e.Name), err)
				}
			}
		}
		d.Close()
	}
	return nil
}

// open opens a directory of ours, and makes it one that can be changed.
func (t *Tree) open(path string) (rootfs.Dir, error) {
	d, err := t.o.FS.OpenDir(path)
	if err != nil || path == "" || !t.moved {
		return d, err
	}
	info, err := d.Stat()
	if err == nil && info.Mode&0o700 != 0o700 {
		err = rootfs.In(t.o.FS, path, func(parent rootfs.Dir, name string) error { return parent.Chmod(name, info.Mode|0o700) })
	}
	if err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// directories makes those that are missing, and puts them in the place of what is something else.
func (t *Tree) directories(ctx context.Context, order []string, want map[string]*directory) error {
	for _, path := range order[1:] {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := t.passOver(path, t.directory(path)); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tree) directory(path string) error {
	dir, name := rootfs.Split(path)
	d, err := t.open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	err = d.Mkdir(name)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := d.Lstat(name)
	switch {
	case err != nil:
		return err
	case info.Kind != rootfs.Directory:
		if !t.moved && !t.o.Replace {
			return errTaken
		}
		if !t.moved {
			return errEdited
		}
		if err := d.Unlink(name); err != nil {
			return err
		}
		return d.Mkdir(name)
	case !t.moved && !t.o.Replace:
		return errTaken
	case info.Mode&0o700 != 0o700:
		return d.Chmod(name, info.Mode|0o700)
	}
	return nil
}

// errTaken: of two names that the file system takes for one, the first was written.
var errTaken = errors.New("the file system takes its name for that of another path")

// fill writes files and links, by several goroutines, each a directory at a time.
func (t *Tree) fill(ctx context.Context, order []string, want map[string]*directory, donor *Donor, m *Moved) error {
	var mu sync.Mutex
	seen, bytes, files, total := int64(0), int64(0), m.Files, m.Bytes
	return treeio.Parallel(t.o.Workers, len(order), func(_, i int) error {
		return t.fillDir(ctx, order[i], want[order[i]], donor, func(e manifest.Entry, wrote, cloned bool) {
			mu.Lock()
			defer mu.Unlock()
			if wrote {
				m.Written++
			}
			if cloned {
				m.Shared++
			}
			if t.o.Progress != nil {
				seen, bytes = seen+1, bytes+int64(e.Size)
				t.o.Progress(seen, files, bytes, total)
			}
		})
	})
}

// fillDir brings the files and links of one directory to what is wanted.
func (t *Tree) fillDir(ctx context.Context, path string, want *directory, donor *Donor, done func(e manifest.Entry, wrote, cloned bool)) error {
	d, err := t.o.FS.OpenDir(path)
	if err != nil {
		return t.passOver(path, err)
	}
	defer d.Close()
	from := donor.open(path)
	defer from.close()
	had := t.have[path]
	for i, e := range want.entries {
		if e.Kind == manifest.Subdir {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if h := had.find(e.Name); h >= 0 && had.entries[h].Alike(e) {
			if info, err := d.Lstat(e.Name); err == nil && had.infos[h] != (rootfs.Info{}) && info.Same(had.infos[h]) && info.Ctime == had.infos[h].Ctime {
				want.infos[i] = info
				done(e, false, false)
				continue
			}
		}
		info, cloned, err := t.write(d, e, from)
		if err := t.passOver(rootfs.Join(path, e.Name), err); err != nil {
			return err
		}
		want.infos[i] = info
		done(e, true, cloned)
	}
	return nil
}

// modes sets those of the directories, what is below first.
func (t *Tree) modes(order []string, want map[string]*directory) error {
	for _, path := range slices.Backward(order[1:]) {
		err := rootfs.In(t.o.FS, path, func(d rootfs.Dir, name string) error { return d.Chmod(name, want[path].mode) })
		if err := t.passOver(path, err); err != nil {
			return err
		}
	}
	return nil
}
