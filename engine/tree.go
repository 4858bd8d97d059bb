package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"rewind/cas"
	"rewind/manifest"
)

// TreeEntry is one path of a tree.
type TreeEntry struct {
	Path string // relative to the root, with /
	manifest.Entry
}

// Tree visits all entries at and below path ("" is the root, which is not
// visited itself), in path order. Error: *NoPathError.
func (p *Project) Tree(ctx context.Context, c manifest.Checkpoint, path string, visit func(TreeEntry) error) error {
	release, err := p.use(ctx)
	if err != nil {
		return err
	}
	defer release()
	if c, err = p.current(ctx, c); err != nil {
		return err
	}
	root, prefix := c.Root, ""
	if path != "" {
		e, err := p.entry(c.Root, path)
		if err != nil {
			return p.classify(err)
		}
		if err := visit(TreeEntry{path, e}); err != nil || e.Kind != manifest.Subdir {
			return err
		}
		root, prefix = e.ID, path+"/"
	}
	return p.classify(manifest.Walk(p.loadDir, root, func(below string, e manifest.Entry) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return visit(TreeEntry{prefix + below, e})
	}))
}

// Entries lists what the patterns (see Patterns; none: everything) mean in a checkpoint, and all below,
// in path order. Error: *NoPathError for a pattern that matches nothing.
func (p *Project) Entries(ctx context.Context, c manifest.Checkpoint, patterns []string) ([]TreeEntry, error) {
	list := []TreeEntry{}
	add := func(e TreeEntry) error {
		list = append(list, e)
		return nil
	}
	if len(patterns) == 1 {
		if path, plain := plainPath(patterns[0]); plain { // only what is below it is read
			err := p.Tree(ctx, c, path, add)
			return list, err
		}
	}
	chosen, err := selectPaths(patterns)
	if err != nil {
		return nil, err
	}
	release, err := p.use(ctx)
	if err != nil {
		return nil, err
	}
	err = matchSome(p.loadDir, patterns, c.Root)
	release()
	if err != nil {
		return nil, p.classify(err)
	}
	err = p.Tree(ctx, c, "", func(e TreeEntry) error {
		if chosen.match(e.Path) {
			return add(e)
		}
		return nil
	})
	return list, err
}

// Entry finds one path of a checkpoint. Error: *NoPathError.
func (p *Project) Entry(ctx context.Context, c manifest.Checkpoint, path string) (manifest.Entry, error) {
	release, err := p.use(ctx)
	if err != nil {
		return manifest.Entry{}, err
	}
	defer release()
	if c, err = p.current(ctx, c); err != nil {
		return manifest.Entry{}, err
	}
	e, err := p.entry(c.Root, path)
	return e, p.classify(err)
}

func (p *Project) entry(root manifest.ID, path string) (manifest.Entry, error) {
	e := manifest.Entry{Kind: manifest.Subdir, ID: root}
	for name := range strings.SplitSeq(path, "/") {
		if e.Kind != manifest.Subdir {
			return e, &NoPathError{Path: path}
		}
		dir, err := p.loadDir(e.ID)
		if err != nil {
			return e, err
		}
		var ok bool
		if e, ok = dir.Lookup(name); !ok {
			return e, &NoPathError{Path: path}
		}
	}
	return e, nil
}

// Content opens a file of a checkpoint. Every byte is verified before it is
// handed out. Close it: until then gc waits with what it would drop.
func (p *Project) Content(ctx context.Context, e manifest.Entry) (io.ReadCloser, error) {
	release, err := p.use(ctx)
	if err != nil {
		return nil, err
	}
	r, err := p.openContent(e)
	if err != nil {
		release()
		return nil, p.classify(err)
	}
	return &heldReader{Reader: r, release: release}, nil
}

type heldReader struct {
	io.Reader
	release func()
}

func (r *heldReader) Close() error {
	r.release()
	return nil
}

// openContent reads an entry's content under a users lock that is held already.
func (p *Project) openContent(e manifest.Entry) (io.ReadCloser, error) {
	return contentOf(p.store.Get, e)
}

// contentOf reads an entry's content from a store or a batch.
func contentOf(get func([]byte, cas.ID) ([]byte, error), e manifest.Entry) (io.ReadCloser, error) {
	switch e.Kind {
	case manifest.File:
		data, err := get(nil, cas.ID(e.ID))
		if err != nil {
			return nil, err
		}
		return io.NopCloser(bytes.NewReader(data)), nil
	case manifest.Chunked:
		data, err := get(nil, cas.ID(e.ID))
		if err != nil {
			return nil, err
		}
		list, err := cas.ParseList(data)
		if err != nil {
			return nil, err
		}
		return io.NopCloser(&chunkReader{get: get, chunks: list.Chunks}), nil
	case manifest.Symlink:
		return io.NopCloser(strings.NewReader(e.Target)), nil
	}
	return nil, errors.New("a directory has no content")
}

// chunkReader reads a chunked file, one verified chunk in memory at a time.
type chunkReader struct {
	get    func([]byte, cas.ID) ([]byte, error)
	chunks []cas.Chunk
	buf    []byte
	rest   []byte
}

func (r *chunkReader) Read(b []byte) (int, error) {
	for len(r.rest) == 0 {
		if len(r.chunks) == 0 {
			return 0, io.EOF
		}
		c := r.chunks[0]
		data, err := r.get(r.buf[:0], c.ID)
		if err != nil {
			return 0, err
		}
		if len(data) != int(c.Size) {
			return 0, fmt.Errorf("chunk %s has %d bytes, its list says %d", c.ID, len(data), c.Size)
		}
		r.buf, r.rest, r.chunks = data, data, r.chunks[1:]
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// Dir is what a directory of a checkpoint holds, without what is below; "" is the
// root. Error: *NoPathError.
func (p *Project) Dir(ctx context.Context, c manifest.Checkpoint, path string) ([]manifest.Entry, error) {
	release, err := p.use(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	e := manifest.Entry{Kind: manifest.Subdir, ID: c.Root}
	if path != "" {
		if e, err = p.entry(c.Root, path); err != nil {
			return nil, p.classify(err)
		}
	}
	if e.Kind != manifest.Subdir {
		return nil, &NoPathError{Path: path}
	}
	dir, err := p.loadDir(e.ID)
	return dir.Entries, p.classify(err)
}
