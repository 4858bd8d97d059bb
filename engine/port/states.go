package port

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/checkout"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/manifest"
)

// State is a tree that the project has had, with the checkpoint that brought it.
type State struct {
	project.Listed // the first checkpoint that has it; zero, but for Root, for the working tree

	Last project.Listed // the last checkpoint before the tree was another
	Now  bool           // the working tree, where it is not as the newest checkpoint
}

// StatesOptions choose the states of a bisect.
type StatesOptions struct {
	// Good and Bad are its ends. Nil: the oldest checkpoint, and the working tree or the newest.
	Good, Bad *manifest.Checkpoint
}

// States are the different trees between two checkpoints in the order of the log, and one scratch
// directory that is brought from one to the other. The log's order is what counts, whatever forks and
// restores came between; safety checkpoints are none of them. It holds the users lock until Close.
type States struct {
	List []State // the oldest first; neighbours differ

	p       *project.Project
	now     *checkpoint.Captured
	scanned int64
	tree    rootfs.FS // the working tree; shares reports whether the scratch can have its files
	shares  bool
	dir     string // of the scratch: made for us, with the copy in it
	scratch rootfs.FS
	copy    *checkout.Tree
	release func()
}

// NoStatesError: there are not two different states between the ends.
type NoStatesError struct{ Reason string }

func (e *NoStatesError) Error() string { return e.Reason }

// OpenStates finds the states and makes the scratch directory below parent, which is absolute.
func OpenStates(ctx context.Context, p *project.Project, parent string, o StatesOptions) (s *States, err error) {
	s = &States{p: p}
	if s.release, err = p.Use(ctx); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = s.Close(false)
			s = nil
		}
	}()
	start, err := p.StartTime()
	if err != nil {
		return s, err
	}
	s.scanned = start.UnixNano()
	if s.now, err = checkpoint.CaptureTree(ctx, p, checkpoint.CaptureOptions{}); err != nil {
		return s, err
	}
	s.now.Tx.KeepDirs()
	if err = s.find(ctx, o); err != nil {
		return s, err
	}
	if s.tree, err = rootfs.Open(p.Root()); err != nil {
		return s, err
	}
	if parent, err = realPath(parent); err != nil {
		return s, err
	}
	if err = checkoutPlace(p, filepath.Join(parent, "rewind-bisect")); err != nil {
		return s, err
	}
	if s.dir, err = os.MkdirTemp(parent, "rewind-bisect-"); err != nil {
		return s, err
	}
	if err = os.Mkdir(s.Dir(), 0o755); err != nil {
		return s, err
	}
	if s.scratch, err = rootfs.Open(s.Dir()); err != nil {
		return s, err
	}
	s.shares = checkout.Shares(s.tree, s.scratch, func(visit func(string, manifest.Entry) error) error {
		return manifest.Walk(s.now.Tx.Load, s.now.Root(), visit)
	})
	s.copy = checkout.New(checkout.Options{
		Path: s.Dir(), FS: s.scratch, Workers: runtime.GOMAXPROCS(0), Progress: filesProgress(p), Open: s.now.Tx.Open,
	})
	return s, nil
}

// find lists the states between the ends.
func (s *States) find(ctx context.Context, o StatesOptions) error {
	var all []State // newest first
	newest, found := oid.ID{}, false
	err := s.p.Look(ctx, func(db *manifest.DB) error {
		for c, err := range db.Checkpoints(manifest.Query{}) {
			if err != nil {
				return err
			}
			if !found {
				newest, found = c.Root, true
			}
			if o.Bad != nil && c.Seq > o.Bad.Seq {
				continue
			}
			if o.Good != nil && c.Seq < o.Good.Seq {
				break
			}
			all = append(all, State{Listed: project.Listed{Checkpoint: c, N: db.Position(c.Seq)}})
		}
		return nil
	})
	if err != nil {
		return s.p.Classify(err)
	}
	for _, end := range []*manifest.Checkpoint{o.Good, o.Bad} { // a safety checkpoint can be one
		if end != nil && !slices.ContainsFunc(all, func(st State) bool { return st.Seq == end.Seq }) {
			all = append(all, State{Listed: project.Listed{Checkpoint: *end}})
		}
	}
	slices.SortFunc(all, func(a, b State) int { return cmp.Compare(a.Seq, b.Seq) })
	if o.Bad == nil && s.now.Root() != newest {
		all = append(all, State{Listed: project.Listed{Checkpoint: manifest.Checkpoint{Root: s.now.Root()}}, Now: true})
	}
	for _, st := range all {
		if n := len(s.List); n == 0 || s.List[n-1].Root != st.Root {
			st.Last = st.Listed
			s.List = append(s.List, st)
		} else if !st.Now {
			s.List[n-1].Last = st.Listed
		}
	}
	switch {
	case !found:
		return &NoStatesError{"there are no checkpoints"}
	case o.Good != nil && o.Bad != nil && o.Good.Seq > o.Bad.Seq:
		return &NoStatesError{"the good checkpoint is newer than the bad one"}
	case len(s.List) < 2:
		return &NoStatesError{"all states between the two ends are the same"}
	}
	return nil
}

// Dir is the scratch copy of the project's root.
func (s *States) Dir() string { return filepath.Join(s.dir, filepath.Base(s.p.Root())) }

// MoveTo brings the scratch copy to a state.
func (s *States) MoveTo(ctx context.Context, i int) ([]problem.Problem, error) {
	root := s.List[i].Root
	var donor *checkout.Donor
	if s.shares {
		var err error
		if donor, err = donorOf(s.tree, s.now, s.scanned, root); err != nil {
			return nil, s.p.Classify(err)
		}
	}
	moved, err := s.copy.Move(ctx, func(visit func(string, manifest.Entry) error) error {
		return manifest.Walk(s.now.Tx.Load, root, visit)
	}, donor)
	return moved.Problems, s.p.Classify(err)
}

// Changes are those from one state to another, in path order, without directories that came or went
// with what is in them.
func (s *States) Changes(from, to int) (list []manifest.Change, err error) {
	err = manifest.Diff(s.now.Tx.Load, s.List[from].Root, s.List[to].Root, func(c manifest.Change) error {
		if !inspect.ImpliedDir(c) {
			list = append(list, c)
		}
		return nil
	})
	return list, s.p.Classify(err)
}

// Close ends it, and removes the scratch directory unless it is to be kept.
func (s *States) Close(keep bool) error {
	var errs []error
	for _, fs := range []rootfs.FS{s.scratch, s.tree} {
		if fs != nil {
			errs = append(errs, fs.Close())
		}
	}
	if s.now != nil {
		errs = append(errs, s.now.Discard())
	}
	if s.dir != "" && !keep {
		errs = append(errs, removeAll(s.dir))
	}
	s.release()
	return errors.Join(errs...)
}

// removeAll removes a directory, with what is in directories that are not writable too.
func removeAll(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	root, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return err
	}
	defer root.Close()
	var open func(path string)
	open = func(path string) {
		if info, err := root.Lstat(path); err != nil || !info.IsDir() {
			return
		}
		_ = root.Chmod(path, 0o700)
		d, err := root.Open(path)
		if err != nil {
			return
		}
		names, _ := d.Readdirnames(-1)
		d.Close()
		for _, name := range names {
			open(filepath.Join(path, name))
		}
	}
	open(filepath.Base(dir))
	return os.RemoveAll(dir)
}
