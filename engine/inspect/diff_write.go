package inspect

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/patch"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// DiffWriter turns the differing paths into pairs for package patch.
type DiffWriter struct {
	ctx  context.Context
	o    DiffOptions
	load func(oid.ID) (manifest.Dir, error)
	get  getter
	from oid.ID // the tree that the diff leads away from

	entries map[*patch.File]*manifest.Entry
}

// DefaultContext is git's.
const DefaultContext = 3

const headBytes = 8000 // of a large file: they tell whether it is a text

// Write finds the renames and puts down the patches.
func (w *DiffWriter) Write(diffs []FileDiff) ([]FileDiff, error) {
	byPath := make(map[string]*FileDiff, len(diffs))
	var pairs []patch.Pair
	for i := range diffs {
		d := &diffs[i]
		pair := patch.Pair{Old: w.File(d.Path, d.Old), New: w.File(d.Path, d.New)}
		if !d.Hidden && (pair.Old != nil || pair.New != nil) {
			byPath[d.Path] = d
			pairs = append(pairs, pair)
		}
	}
	if w.o.Renames {
		others, err := w.sources(pairs)
		if err != nil {
			return nil, err
		}
		if pairs, err = patch.Detect(w.ctx, pairs, others, w.o.Copies, w.Content); err != nil {
			return nil, err
		}
	}
	gone := map[string]bool{} // they are a rename's
	for _, p := range pairs {
		d := byPath[p.Path()]
		if s := p.Status(); s == patch.Renamed || s == patch.Copied {
			d.Status, d.From, d.Score, d.Old = s, p.Old.Path, p.Score, w.entries[p.Old]
			if s == patch.Renamed {
				gone[p.Old.Path] = true
			}
		}
	}
	diffs = slices.DeleteFunc(diffs, func(d FileDiff) bool { return d.New == nil && gone[d.Path] })
	if !w.o.Patch {
		return diffs, nil
	}
	byPath = nil // the diffs have moved
	at := 0
	for i := range diffs {
		d := &diffs[i]
		if at == len(pairs) || pairs[at].Path() != d.Path || d.Hidden {
			d.Patch = d.remark()
			continue
		}
		if err := w.ctx.Err(); err != nil {
			return nil, err
		}
		if err := w.put(d, pairs[at]); err != nil {
			return nil, err
		}
		at++
	}
	return diffs, nil
}

// compare puts down one diff by itself, whose From and Hidden are set.
func (d *FileDiff) compare(get getter) error {
	w := DiffWriter{ctx: context.Background(), get: get, entries: map[*patch.File]*manifest.Entry{}}
	return w.compare(d)
}

func (w *DiffWriter) compare(d *FileDiff) error {
	d.Status = statusOf(d.Change)
	old := d.Path
	if d.From != "" {
		old = d.From
	}
	pair := patch.Pair{Old: w.File(old, d.Old), New: w.File(d.Path, d.New)}
	if d.Hidden || pair.Old == nil && pair.New == nil {
		d.Patch = d.remark()
		return nil
	}
	var err error
	if pair.Status() == patch.Renamed {
		if pair.Score, err = patch.Score(pair.Old, pair.New, w.Content); err != nil {
			return err
		}
		d.Status, d.Score = patch.Renamed, pair.Score
	}
	return w.put(d, pair)
}

// put puts down one pair, which is what d is about.
func (w *DiffWriter) put(d *FileDiff, p patch.Pair) error {
	written, err := patch.Write(p, w.Content, w.options())
	if err != nil {
		return fmt.Errorf("compare %s: %w", patch.Quote(d.Path), err)
	}
	d.Binary, d.Large = written.Binary, written.Large
	d.Patch = written.Text + d.remark()
	d.Added, d.Deleted, d.Hunks = written.Added, written.Deleted, written.Hunks
	return nil
}

func (w *DiffWriter) options() patch.Options {
	o := patch.Options{Context: w.o.Context, IgnoreSpace: w.o.IgnoreSpace, Binary: w.o.Binary, Head: w.head}
	o.Context = cmp.Or(o.Context, DefaultContext)
	return o
}

// File is an entry as git has it, nil for a directory, which git has not.
func (w *DiffWriter) File(path string, e *manifest.Entry) *patch.File {
	if e == nil || e.Kind == manifest.Subdir {
		return nil
	}
	f := &patch.File{Path: path, Mode: patchMode(e), Key: string(e.ID[:]), Size: int64(e.Size)}
	if e.Kind == manifest.Symlink {
		f.Key, f.Size = e.Target, int64(len(e.Target))
	}
	w.entries[f] = e
	return f
}

func patchMode(e *manifest.Entry) uint32 {
	switch {
	case e.Kind == manifest.Symlink:
		return patch.Symlink
	case e.Mode&0o100 != 0:
		return patch.Executable
	}
	return patch.Regular
}

func (w *DiffWriter) Content(f *patch.File) ([]byte, error) { return w.read(f, math.MaxInt64) }

func (w *DiffWriter) head(f *patch.File) ([]byte, error) { return w.read(f, headBytes) }

func (w *DiffWriter) read(f *patch.File, most int64) ([]byte, error) {
	r, err := project.ContentOf(w.get, *w.entries[f])
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, most))
}

// sources are the files of a tree that have the content of one that came.
func (w *DiffWriter) sources(pairs []patch.Pair) ([]*patch.File, error) {
	wanted := map[string]bool{}
	differs := map[string]bool{}
	for _, p := range pairs {
		differs[p.Path()] = true
		if p.Status() == patch.Added && p.New.Size > 0 && p.New.Mode != patch.Symlink {
			wanted[p.New.Key] = true
		}
	}
	if len(wanted) == 0 || w.from.IsZero() {
		return nil, nil
	}
	var out []*patch.File
	err := manifest.Walk(w.load, w.from, func(path string, e manifest.Entry) error {
		if wanted[string(e.ID[:])] && e.Kind != manifest.Subdir && !differs[path] && (w.o.WithPrecious || !e.Precious) {
			out = append(out, w.File(path, &e))
		}
		return w.ctx.Err()
	})
	return out, err
}

// remark tells what the patch does not: git has no form for directories, for permission
// bits other than the owner's x, and for what is hidden. git apply and patch pass over what is no part of a patch.
func (d *FileDiff) remark() string {
	name := patch.Quote(d.Path)
	say := func(format string, args ...any) string { return "# " + fmt.Sprintf(format, args...) + "\n" }
	isDir := func(e *manifest.Entry) bool { return e != nil && e.Kind == manifest.Subdir }
	var out string
	switch {
	case isDir(d.Old) && isDir(d.New):
		out += say("directory %s: mode %04o changed to %04o", name, d.Old.Mode, d.New.Mode)
	case isDir(d.Old) && d.New == nil:
		out += say("directory %s: deleted", name)
	case isDir(d.New) && (d.Old == nil || d.New.Files == 0):
		out += say("directory %s: new, mode %04o", name, d.New.Mode)
	}
	if d.Hidden {
		old, new := patch.Quote("a/"+d.Path), patch.Quote("b/"+d.Path)
		if d.Old == nil {
			old = "/dev/null"
		}
		if d.New == nil {
			new = "/dev/null"
		}
		out += "Precious files " + old + " and " + new + " differ\n"
	}
	if d.Large {
		out += say("file %s: too large to be shown line by line", name)
	}
	if d.Old != nil && d.New != nil && !isDir(d.Old) && !isDir(d.New) && d.Old.Mode != d.New.Mode && patchMode(d.Old) == patchMode(d.New) {
		out += say("file %s: mode %04o changed to %04o", name, d.Old.Mode, d.New.Mode)
	}
	return out
}

// statusOf is git's letter of a change.
func statusOf(c manifest.Change) patch.Status {
	switch {
	case c.Old == nil:
		return patch.Added
	case c.New == nil:
		return patch.Deleted
	case KindWord(c.Old) != KindWord(c.New):
		return patch.Retyped
	}
	return patch.Modified
}

func KindWord(e *manifest.Entry) string {
	switch e.Kind {
	case manifest.Symlink:
		return "symlink"
	case manifest.Subdir:
		return "directory"
	}
	return "file"
}
