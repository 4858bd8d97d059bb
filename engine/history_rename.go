package engine

import (
	"bytes"
	"context"
	"io"
	"path"

	"github.com/cespare/xxhash/v2"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// What a rename may be told by, besides the same content: so many lines in a hundred of the longer file are in
// the other too; of so many files at most, none larger than so many bytes.
const (
	renameSimilar = 60
	renameTries   = 200
	renameSize    = 1 << 20
)

func added(c manifest.Change) *manifest.Entry {
	if c.Old == nil {
		return c.New
	}
	return nil
}

func deleted(c manifest.Change) *manifest.Entry {
	if c.New == nil {
		return c.Old
	}
	return nil
}

// counterpart finds the file among the other changes of a checkpoint that e is, or was, by another name: the one
// with the same content, one of the same name before others, else the most similar one. nil for none.
// An empty file is like every other: it has no counterpart.
func counterpart(ctx context.Context, get getter, e manifest.Entry, others func(func(manifest.Change) error) error,
	side func(manifest.Change) *manifest.Entry) (*manifest.Change, error) {
	if e.Kind != manifest.Symlink && e.Size == 0 {
		return nil, nil
	}
	var same, near []manifest.Change
	err := others(func(c manifest.Change) error {
		o := side(c)
		switch {
		case o == nil || kindWord(o) != kindWord(&e):
		case sameContent(o, &e):
			same = append(same, c)
		case e.Kind == manifest.File && o.Kind == manifest.File && min(o.Size, e.Size)*100 >= max(o.Size, e.Size)*renameSimilar/2 && o.Size <= renameSize:
			near = append(near, c)
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	for i := range same {
		if path.Base(same[i].Path) == e.Name {
			return &same[i], nil
		}
	}
	if len(same) > 0 {
		return &same[0], nil
	}
	if e.Kind != manifest.File || e.Size > renameSize || len(near) == 0 {
		return nil, nil
	}
	lines, err := countLines(get, e)
	if err != nil || lines == nil {
		return nil, err
	}
	var best *manifest.Change
	most := renameSimilar - 1
	for i := range near[:min(len(near), renameTries)] {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		other, err := countLines(get, *side(near[i]))
		if err != nil {
			return nil, err
		}
		if n := similarity(lines, other); n > most || n == most && best != nil && path.Base(near[i].Path) == e.Name {
			best, most = &near[i], n
		}
	}
	return best, nil
}

// lineCounts is how often each line, by its hash, is in a text.
type lineCounts struct {
	of    map[uint64]int
	total int
}

// countLines is nil for what is no text.
func countLines(get getter, e manifest.Entry) (*lineCounts, error) {
	r, err := project.ContentOf(get, e)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil || bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 {
		return nil, err
	}
	n := &lineCounts{of: map[uint64]int{}}
	for line := range bytes.Lines(data) {
		n.of[xxhash.Sum64(bytes.TrimRight(line, "\r\n"))]++
		n.total++
	}
	return n, nil
}

// similarity is how many lines of the longer text are in the other too, in percent.
func similarity(a, b *lineCounts) int {
	if a == nil || b == nil || max(a.total, b.total) == 0 {
		return 0
	}
	common := 0
	for line, n := range a.of {
		common += min(n, b.of[line])
	}
	return common * 100 / max(a.total, b.total)
}
