package inspect

import (
	"cmp"
	"context"
	"path"
	"slices"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/patch"
	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// CompareOptions of Compare.
type CompareOptions struct {
	Base  *manifest.Checkpoint // nil: the empty tree
	A, B  *manifest.Checkpoint // nil: the working tree
	Paths []string             // paths and globs relative to the root; empty: all
	// Context, IgnoreSpace, Renames and WithPrecious are those of DiffOptions.
	Context      int
	IgnoreSpace  bool
	Renames      bool
	WithPrecious bool
}

// Comparison is what two states made of what they have in common. Each list is in path order.
type Comparison struct {
	OnlyA, OnlyB    []Compared // one side changed it
	Same, Different []Compared // both did
}

// Compared is a path that at least one side changed.
type Compared struct {
	Path string    // as the base calls it, or, of what is new, the side that made it
	A, B *FileDiff // against the base, with the patch; nil: unchanged
}

// Compare says what each of two states changed against a base, and where they agree. What a side renamed
// counts under its old path, together with what the other side did to that.
// Errors: *NoPathError.
func Compare(ctx context.Context, p *project.Project, o CompareOptions) (*Comparison, error) {
	c, err := openTrees(ctx, p, o.Paths, o.A == nil || o.B == nil)
	if err != nil {
		return nil, err
	}
	defer c.close()
	var base oid.ID
	if o.Base != nil {
		at, err := p.Current(ctx, *o.Base)
		if err != nil {
			return nil, err
		}
		base, o.Base = at.Root, &at
	}
	a, aLeft, err := c.side(o.A, o.Base)
	if err != nil {
		return nil, err
	}
	b, bLeft, err := c.side(o.B, o.Base)
	if err != nil {
		return nil, err
	}
	if err := pathspec.MatchSome(c.load, o.Paths, base, a, b); err != nil {
		return nil, p.Classify(err)
	}
	ofA, err := c.diffs(base, a, aLeft, o.WithPrecious)
	if err != nil {
		return nil, err
	}
	ofB, err := c.diffs(base, b, bLeft, o.WithPrecious)
	if err != nil {
		return nil, err
	}
	out, err := comparison{c, o, base}.sort(ofA, ofB)
	return out, p.Classify(err)
}

type comparison struct {
	*trees
	o    CompareOptions
	base oid.ID
}

func (c comparison) writer(patched bool) *DiffWriter {
	return c.trees.writer(c.base, DiffOptions{
		Context: c.o.Context, IgnoreSpace: c.o.IgnoreSpace, Renames: c.o.Renames, WithPrecious: c.o.WithPrecious, Patch: patched,
	})
}

// sort puts the changes of both sides beside each other.
func (c comparison) sort(a, b []FileDiff) (*Comparison, error) {
	plainA, plainB := slices.Clone(a), slices.Clone(b)
	var err error
	if c.o.Renames {
		if a, err = c.writer(false).Write(a); err != nil {
			return nil, err
		}
		if b, err = c.writer(false).Write(b); err != nil {
			return nil, err
		}
		a, b = uncopied(a), uncopied(b)
		// A rename to a path that the other side made otherwise is reported as what happened to both paths.
		for again := true; again; {
			clashA, clashB := clashes(a, b), clashes(b, a)
			a, b = dissolve(a, plainA, clashA), dissolve(b, plainB, clashB)
			again = len(clashA)+len(clashB) > 0
		}
	}
	rows := map[string]*Compared{}
	take := func(list []FileDiff, side func(*Compared) **FileDiff) error {
		w := c.writer(true)
		for i := range list {
			if err := c.ctx.Err(); err != nil {
				return err
			}
			d := &list[i]
			d.Patch = ""
			if err := w.compare(d); err != nil {
				return err
			}
			key := baseName(d)
			r := rows[key]
			if r == nil {
				r = &Compared{Path: key}
				rows[key] = r
			}
			*side(r) = d
		}
		return nil
	}
	if err := take(a, func(r *Compared) **FileDiff { return &r.A }); err != nil {
		return nil, err
	}
	if err := take(b, func(r *Compared) **FileDiff { return &r.B }); err != nil {
		return nil, err
	}
	out := &Comparison{}
	stands := inTheWay(rows)
	for _, r := range rows {
		switch {
		case stands[r.Path]:
			out.Different = append(out.Different, *r)
		case r.B == nil:
			out.OnlyA = append(out.OnlyA, *r)
		case r.A == nil:
			out.OnlyB = append(out.OnlyB, *r)
		case r.A.Path == r.B.Path && sameEntry(r.A.New, r.B.New):
			out.Same = append(out.Same, *r)
		default:
			out.Different = append(out.Different, *r)
		}
	}
	for _, list := range [][]Compared{out.OnlyA, out.OnlyB, out.Same, out.Different} {
		slices.SortFunc(list, func(x, y Compared) int { return cmp.Compare(x.Path, y.Path) })
	}
	return out, nil
}

// inTheWay are the rows in which one side has a file where the other has a directory.
func inTheWay(rows map[string]*Compared) map[string]bool {
	below := func(side func(*Compared) *FileDiff) (files map[string]string, dirs map[string][]string) {
		files, dirs = map[string]string{}, map[string][]string{} // by what is there now: the rows
		for key, r := range rows {
			d := side(r)
			if d == nil || d.New == nil {
				continue
			}
			if d.New.Kind != manifest.Subdir {
				files[d.Path] = key
			}
			for dir := path.Dir(d.Path); dir != "."; dir = path.Dir(dir) {
				dirs[dir] = append(dirs[dir], key)
			}
		}
		return files, dirs
	}
	filesA, dirsA := below(func(r *Compared) *FileDiff { return r.A })
	filesB, dirsB := below(func(r *Compared) *FileDiff { return r.B })
	out := map[string]bool{}
	mark := func(files map[string]string, dirs map[string][]string) {
		for at, key := range files {
			for _, other := range dirs[at] {
				out[key], out[other] = true, true
			}
		}
	}
	mark(filesA, dirsB)
	mark(filesB, dirsA)
	return out
}

// baseName is the path that the base has it at; of what is new, its own.
func baseName(d *FileDiff) string {
	if d.Status == patch.Renamed {
		return d.From
	}
	return d.Path
}

// uncopied makes copies plain additions: what they were copied from is as it was.
func uncopied(list []FileDiff) []FileDiff {
	for i := range list {
		if d := &list[i]; d.Status == patch.Copied {
			d.Status, d.From, d.Score, d.Old = patch.Added, "", 0, nil
		}
	}
	return list
}

// clashes are the renames of a whose new path b made of something else.
func clashes(a, b []FileDiff) map[string]bool {
	at := map[string]string{}
	for i := range b {
		at[b[i].Path] = baseName(&b[i])
	}
	out := map[string]bool{}
	for i := range a {
		if d := &a[i]; d.Status == patch.Renamed {
			if from, ok := at[d.Path]; ok && from != d.From {
				out[d.Path] = true
			}
		}
	}
	return out
}

// dissolve puts renames back into what they are without: a deletion and an addition.
func dissolve(list, plain []FileDiff, paths map[string]bool) []FileDiff {
	if len(paths) == 0 {
		return list
	}
	back := map[string]bool{}
	list = slices.DeleteFunc(list, func(d FileDiff) bool {
		if !paths[d.Path] || d.Status != patch.Renamed {
			return false
		}
		back[d.Path], back[d.From] = true, true
		return true
	})
	for _, d := range plain {
		if back[d.Path] {
			list = append(list, d)
		}
	}
	return list
}

func sameEntry(a, b *manifest.Entry) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.Kind == manifest.Subdir && b.Kind == manifest.Subdir {
		return a.Mode == b.Mode
	}
	return a.Alike(*b)
}
