package inspect

import (
	"context"

	"github.com/rewind-cli/rewind/engine/patch"
	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// DiffOptions of rewind diff.
type DiffOptions struct {
	A     manifest.Checkpoint
	B     *manifest.Checkpoint // nil: the working tree
	Paths []string             // paths and globs relative to the root; empty: all
	Patch bool                 // with a patch of each file

	Context     int  // unchanged lines around a change; 0: three, less than 0: none
	IgnoreSpace bool // lines that differ in white space alone are the same
	Binary      bool // patches hold the content of binary files too
	Renames     bool // find renames, and copies with the same content: one FileDiff, under the new path
	Copies      bool // with Renames: copies that were changed, too, of files that differ
	Reverse     bool // from B to A

	// WithPrecious shows the content of files that are marked as precious too.
	WithPrecious bool
}

// FileDiff is one differing path.
type FileDiff struct {
	manifest.Change              // of a rename or a copy, Old is what From was
	Status          patch.Status // with DiffOptions.Renames R and C too
	From            string       // of a rename or a copy: the other path
	Score           int          // of those: percent of the content that is the same
	Patch           string       // in git's format; what git has no form for is a line that begins with #
	Binary          bool         // not compared by lines, with Patch
	Large           bool         // since the texts are too large
	Hidden          bool         // the content differs, and is not shown since it is precious
	Added, Deleted  int          // lines, with Patch
	Hunks           int          // with Patch
	// Instead is what is there now, where it is deleted and cannot be captured; zero for nothing.
	Instead problem.Problem
}

// Diff compares two trees, looking only where they differ, and gives the
// differing paths in path order: files and links, and directories that are
// empty or whose mode changed.
func Diff(ctx context.Context, p *project.Project, o DiffOptions) ([]FileDiff, error) {
	var out []FileDiff
	err := CompareTrees(ctx, p, o, func(w *DiffWriter, diffs []FileDiff) (err error) {
		out, err = w.Write(diffs)
		return err
	})
	return out, err
}

// CompareTrees finds the differing paths, and has them written while both trees can be read.
func CompareTrees(ctx context.Context, p *project.Project, o DiffOptions, write func(*DiffWriter, []FileDiff) error) error {
	t, err := openTrees(ctx, p, o.Paths, o.B == nil)
	if err != nil {
		return err
	}
	defer t.close()
	if o.A, err = p.Current(ctx, o.A); err != nil {
		return err
	}
	b, left, err := t.side(o.B, &o.A)
	if err != nil {
		return err
	}
	if err := pathspec.MatchSome(t.load, o.Paths, o.A.Root, b); err != nil {
		return p.Classify(err)
	}
	out, err := t.diffs(o.A.Root, b, left, o.WithPrecious)
	if err != nil {
		return err
	}
	from := o.A.Root
	if o.Reverse {
		from = b
	}
	for i := range out {
		d := &out[i]
		if d.New == nil {
			for _, p := range left.Instead(nil, d.Path) {
				d.Instead = p
			}
		}
		if o.Reverse {
			d.Old, d.New = d.New, d.Old
			d.Status = statusOf(d.Change)
		}
	}
	return p.Classify(write(t.writer(from, o), out))
}

// ImpliedDir reports whether a change is a directory that came or went with
// what is in it: the files say so already.
func ImpliedDir(c manifest.Change) bool {
	full := func(e *manifest.Entry) bool { return e == nil || e.Kind == manifest.Subdir && e.Files > 0 }
	return full(c.Old) && full(c.New) && (c.Old == nil || c.New == nil)
}

// Totals count what differs: files and links, a rename as one that is modified, and lines.
type Totals struct{ Added, Modified, Deleted, LinesAdded, LinesDeleted int }

// DiffTotals counts what Diff finds, and the lines; but not the paths that others alone changed, of which it says how many it found,
// and of how many others changed what it counts, too.
func DiffTotals(ctx context.Context, p *project.Project, o DiffOptions, others Others) (n Totals, left, also int, err error) {
	o.Patch = true
	files, err := Diff(ctx, p, o)
	for i := range files {
		if others.Alone[files[i].Path] {
			left++
			continue
		}
		if others.Also[files[i].Path] {
			also++
		}
		n.add(&files[i])
	}
	return n, left, also, err
}

func (n *Totals) add(f *FileDiff) {
	dir := func(e *manifest.Entry) bool { return e == nil || e.Kind == manifest.Subdir }
	if dir(f.Old) && dir(f.New) {
		return
	}
	switch f.Status {
	case patch.Added, patch.Copied:
		n.Added++
	case patch.Deleted:
		n.Deleted++
	default:
		n.Modified++
	}
	n.LinesAdded += f.Added
	n.LinesDeleted += f.Deleted
}
