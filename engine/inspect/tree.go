package inspect

import (
	"context"
	"io"
	"strings"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// TreeEntry is one path of a tree.
type TreeEntry struct {
	Path string // relative to the root, with /
	manifest.Entry
}

// Tree visits all entries at and below path ("" is the root, which is not
// visited itself), in path order. Error: *NoPathError.
func Tree(ctx context.Context, p *project.Project, c manifest.Checkpoint, path string, visit func(TreeEntry) error) error {
	release, err := p.Use(ctx)
	if err != nil {
		return err
	}
	defer release()
	if c, err = p.Current(ctx, c); err != nil {
		return err
	}
	root, prefix := c.Root, ""
	if path != "" {
		e, err := EntryIn(p, c.Root, path)
		if err != nil {
			return p.Classify(err)
		}
		if err := visit(TreeEntry{path, e}); err != nil || e.Kind != manifest.Subdir {
			return err
		}
		root, prefix = e.ID, path+"/"
	}
	return p.Classify(manifest.Walk(p.LoadDir, root, func(below string, e manifest.Entry) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return visit(TreeEntry{prefix + below, e})
	}))
}

// Entries lists what the patterns (see Patterns; none: everything) mean in a checkpoint, and all below,
// in path order. Error: *NoPathError for a pattern that matches nothing.
func Entries(ctx context.Context, p *project.Project, c manifest.Checkpoint, patterns []string) ([]TreeEntry, error) {
	list := []TreeEntry{}
	add := func(e TreeEntry) error {
		list = append(list, e)
		return nil
	}
	if len(patterns) == 1 {
		if path, plain := pathspec.PlainPath(patterns[0]); plain { // only what is below it is read
			err := Tree(ctx, p, c, path, add)
			return list, err
		}
	}
	chosen, err := pathspec.Select(patterns)
	if err != nil {
		return nil, err
	}
	release, err := p.Use(ctx)
	if err != nil {
		return nil, err
	}
	err = pathspec.MatchSome(p.LoadDir, patterns, c.Root)
	release()
	if err != nil {
		return nil, p.Classify(err)
	}
	err = Tree(ctx, p, c, "", func(e TreeEntry) error {
		if chosen.Match(e.Path) {
			return add(e)
		}
		return nil
	})
	return list, err
}

// Entry finds one path of a checkpoint. Error: *NoPathError.
func Entry(ctx context.Context, p *project.Project, c manifest.Checkpoint, path string) (manifest.Entry, error) {
	release, err := p.Use(ctx)
	if err != nil {
		return manifest.Entry{}, err
	}
	defer release()
	if c, err = p.Current(ctx, c); err != nil {
		return manifest.Entry{}, err
	}
	e, err := EntryIn(p, c.Root, path)
	return e, p.Classify(err)
}

func EntryIn(p *project.Project, root oid.ID, path string) (manifest.Entry, error) {
	e := manifest.Entry{Kind: manifest.Subdir, ID: root}
	for name := range strings.SplitSeq(path, "/") {
		if e.Kind != manifest.Subdir {
			return e, &project.NoPathError{Path: path}
		}
		dir, err := p.LoadDir(e.ID)
		if err != nil {
			return e, err
		}
		var ok bool
		if e, ok = dir.Lookup(name); !ok {
			return e, &project.NoPathError{Path: path}
		}
	}
	return e, nil
}

// Content opens a file of a checkpoint. Every byte is verified before it is
// handed out. Close it: until then gc waits with what it would drop.
func Content(ctx context.Context, p *project.Project, e manifest.Entry) (io.ReadCloser, error) {
	release, err := p.Use(ctx)
	if err != nil {
		return nil, err
	}
	r, err := project.ContentOf(p.Store.Get, e)
	if err != nil {
		release()
		return nil, p.Classify(err)
	}
	return &project.HeldReader{ReadCloser: r, Release: release}, nil
}

// Dir is what a directory of a checkpoint holds, without what is below; "" is the
// root. Error: *NoPathError.
func Dir(ctx context.Context, p *project.Project, c manifest.Checkpoint, path string) ([]manifest.Entry, error) {
	release, err := p.Use(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	e := manifest.Entry{Kind: manifest.Subdir, ID: c.Root}
	if path != "" {
		if e, err = EntryIn(p, c.Root, path); err != nil {
			return nil, p.Classify(err)
		}
	}
	if e.Kind != manifest.Subdir {
		return nil, &project.NoPathError{Path: path}
	}
	dir, err := p.LoadDir(e.ID)
	return dir.Entries, p.Classify(err)
}
