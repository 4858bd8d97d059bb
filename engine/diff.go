package engine

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/checkpoint"
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
	Patch bool                 // with a unified diff of each file

	// WithPrecious shows the content of files that are marked as precious too.
	WithPrecious bool
}

// FileDiff is one differing path.
type FileDiff struct {
	manifest.Change
	Patch          string // unified diff; "" for binary content or without DiffOptions.Patch
	Binary         bool
	Hidden         bool // the content differs, and is not shown since it is precious
	Added, Deleted int  // lines, with Patch
}

// maxPatch is the size in bytes past which a file is not compared line by line.
const maxPatch = 8 << 20

// Diff compares two trees, looking only where they differ, and gives the
// differing paths in path order: files and links, and directories that are
// empty or whose mode changed.
func Diff(ctx context.Context, p *project.Project, o DiffOptions) ([]FileDiff, error) {
	chosen, err := pathspec.Select(o.Paths)
	if err != nil {
		return nil, err
	}
	release, err := p.Use(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if o.A, err = p.Current(ctx, o.A); err != nil {
		return nil, err
	}
	load, get := p.LoadDir, p.Store.Get
	var b oid.ID
	var left problem.Unread // it is there, and not captured: that is no deletion
	if o.B != nil {
		now, err := p.Current(ctx, *o.B)
		if err != nil {
			return nil, err
		}
		b = now.Root
		data, err := p.ReadObject(now.Coverage)
		if err != nil {
			return nil, p.Classify(err)
		}
		problems, err := problem.Decode(data)
		if err != nil {
			return nil, err
		}
		left = problem.UnreadOf(problems)
	} else {
		c, err := checkpoint.CaptureTree(ctx, p, checkpoint.CaptureOptions{})
		if err != nil {
			return nil, err
		}
		defer c.Discard()
		load, get, b = c.Tx.Load, c.Tx.Get, c.Root()
		left = problem.UnreadOf(c.Problems)
	}
	if err := pathspec.MatchSome(load, o.Paths, o.A.Root, b); err != nil {
		return nil, p.Classify(err)
	}
	var out []FileDiff
	err = manifest.Diff(load, o.A.Root, b, chosen.Filter(func(change manifest.Change) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if impliedDir(change) || change.New == nil && left.Has(change.Path) {
			return nil
		}
		d := FileDiff{Change: change}
		if o.Patch {
			d.Hidden = !o.WithPrecious && change.Precious() && !sameContent(change.Old, change.New)
			if err := d.compare(get); err != nil {
				return fmt.Errorf("compare %s: %w", change.Path, err)
			}
		}
		out = append(out, d)
		return nil
	}))
	return out, p.Classify(err)
}

// impliedDir reports whether a change is a directory that came or went with
// what is in it: the files say so already.
func impliedDir(c manifest.Change) bool {
	full := func(e *manifest.Entry) bool { return e == nil || e.Kind == manifest.Subdir && e.Files > 0 }
	return full(c.Old) && full(c.New) && (c.Old == nil || c.New == nil)
}

// sameContent reports whether two sides of a change differ in nothing but their modes.
func sameContent(old, new *manifest.Entry) bool {
	return old != nil && new != nil && old.Kind == new.Kind && old.ID == new.ID && old.Target == new.Target
}

func (d *FileDiff) compare(get func([]byte, oid.ID) ([]byte, error)) error {
	var old, new []byte
	var oldText, newText bool
	if !d.Hidden {
		var err error
		if old, oldText, err = sideText(get, d.Old); err != nil {
			return err
		}
		if new, newText, err = sideText(get, d.New); err != nil {
			return err
		}
	}
	var head strings.Builder
	fmt.Fprintf(&head, "diff --rewind %s %s\n", quotePath("a/"+d.Path), quotePath("b/"+d.Path))
	oldName, newName := "a/"+d.Path, "b/"+d.Path
	switch {
	case d.Old == nil:
		oldName = "/dev/null"
		fmt.Fprintf(&head, "new %s\n", describeMode(d.New))
	case d.New == nil:
		newName = "/dev/null"
		fmt.Fprintf(&head, "deleted %s\n", describeMode(d.Old))
	case d.Old.Mode != d.New.Mode || kindWord(d.Old) != kindWord(d.New):
		fmt.Fprintf(&head, "old %s\nnew %s\n", describeMode(d.Old), describeMode(d.New))
	}
	switch {
	case d.Hidden:
		fmt.Fprintf(&head, "Precious files %s and %s differ\n", quotePath(oldName), quotePath(newName))
		d.Patch = head.String()
		return nil
	case !oldText || !newText:
		d.Binary = true
		fmt.Fprintf(&head, "Binary files %s and %s differ\n", quotePath(oldName), quotePath(newName))
		d.Patch = head.String()
		return nil
	case bytes.Equal(old, new):
		d.Patch = head.String()
		return nil
	}
	// The library prints a header line of its own, which git's readers do not expect.
	text := diff.Diff(quotePath(oldName), old, quotePath(newName), new)
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		text = text[i+1:]
	}
	n := 0
	for line := range bytes.Lines(text) {
		switch n++; {
		case n <= 2: // the names
		case line[0] == '+':
			d.Added++
		case line[0] == '-':
			d.Deleted++
		}
	}
	d.Patch = head.String() + string(text)
	return nil
}

// sideText reads one side's content; text is false for what is not compared by lines.
func sideText(get func([]byte, oid.ID) ([]byte, error), e *manifest.Entry) (data []byte, text bool, err error) {
	if e == nil || e.Kind == manifest.Subdir {
		return nil, true, nil
	}
	if e.Size > maxPatch {
		return nil, false, nil
	}
	r, err := project.ContentOf(get, *e)
	if err != nil {
		return nil, false, err
	}
	defer r.Close()
	if data, err = io.ReadAll(r); err != nil {
		return nil, false, err
	}
	if e.Kind == manifest.Symlink {
		return append(data, '\n'), true, nil
	}
	// As git decides: a NUL byte in the first 8,000 bytes.
	return data, bytes.IndexByte(data[:min(len(data), 8000)], 0) < 0, nil
}

func kindWord(e *manifest.Entry) string {
	switch e.Kind {
	case manifest.Symlink:
		return "symlink"
	case manifest.Subdir:
		return "directory"
	}
	return "file"
}

func describeMode(e *manifest.Entry) string {
	if e.Kind == manifest.Symlink {
		return "symlink"
	}
	return fmt.Sprintf("%s mode %04o", kindWord(e), e.Mode)
}

// quotePath quotes a path as git does, where it has what a line cannot show.
func quotePath(path string) string {
	plain := true
	for i := range len(path) {
		if b := path[i]; b < ' ' || b == '"' || b == '\\' || b >= 0x7f {
			plain = false
		}
	}
	if plain {
		return path
	}
	var out strings.Builder
	out.WriteByte('"')
	for i := range len(path) {
		switch b := path[i]; {
		case b == '"' || b == '\\':
			out.WriteByte('\\')
			out.WriteByte(b)
		case b == '\n':
			out.WriteString(`\n`)
		case b == '\t':
			out.WriteString(`\t`)
		case b < ' ' || b >= 0x7f:
			fmt.Fprintf(&out, `\%03o`, b)
		default:
			out.WriteByte(b)
		}
	}
	out.WriteByte('"')
	return out.String()
}
