package maintain

import (
	"context"
	"strings"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/engine/rules"
	"github.com/rewind-cli/rewind/manifest"
)

// forgetKey: what is chosen depends on where a directory is, not only on its content.
type forgetKey struct {
	path string
	id   oid.ID
}

// forgotten is a directory without the chosen paths, and which of them it held.
type forgotten struct {
	entry manifest.Entry
	paths []string
	torn  bool // a directory is lost: what it held is not known
}

func (f *forgetter) checkpoint(ctx context.Context, c *manifest.Checkpoint) (bool, error) {
	was := *c
	d, err := f.dir(ctx, "", manifest.Entry{Kind: manifest.Subdir, ID: c.Root})
	if err != nil {
		return false, err
	}
	if d.torn {
		f.unread = append(f.unread, *c)
	}
	if len(d.paths) > 0 {
		c.Root, c.Files, c.Bytes = d.entry.ID, d.entry.Files, d.entry.Size
		c.Git = oid.ID{} // its index can name the paths in a form that is not searched
	}
	told, err := f.cover(c.Coverage)
	if err != nil {
		return false, err
	}
	c.Coverage = told.id
	if len(d.paths) > 0 || told.named {
		f.affected++
	}
	f.silence(c)
	if _, err := f.conversations.checkpoint(ctx, c); err != nil {
		return false, err
	}
	return *c != was, nil
}

func (f *forgetter) operation(ctx context.Context, o *manifest.Operation) (bool, error) {
	was := *o
	for _, root := range []*oid.ID{&o.Before, &o.After} {
		if *root == (oid.ID{}) {
			continue
		}
		d, err := f.dir(ctx, "", manifest.Entry{Kind: manifest.Subdir, ID: *root})
		if err != nil {
			return false, err
		}
		*root = d.entry.ID
	}
	list, err := f.p.ReadObject(o.Paths)
	if err != nil && !project.IsLost(err) {
		return false, err
	}
	keys := strings.Fields(o.Forgotten)
	left := dropPaths(list, func(path string) bool {
		goes := f.chosen.Match(path)
		if goes {
			keys = append(keys, rules.ForgottenKey(f.p, path))
		}
		return goes
	})
	if err == nil {
		if o.Paths, err = f.tx.Put(left); err != nil {
			return false, err
		}
	}
	o.Forgotten = strings.Join(keys, " ")
	o.Args = dropTyped(o.Args)
	o.Choices = string(dropPaths([]byte(o.Choices), f.chosen.Match))
	if _, err := f.conversations.operation(o); err != nil {
		return false, err
	}
	return *o != was, nil
}

func (f *forgetter) dir(ctx context.Context, path string, e manifest.Entry) (*forgotten, error) {
	key := forgetKey{path, e.ID}
	if done, ok := f.done[key]; ok {
		return done, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	dir, err := f.p.LoadDir(e.ID)
	if project.IsLost(err) {
		f.done[key] = &forgotten{entry: e, torn: true}
		return f.done[key], nil
	} else if err != nil {
		return nil, err
	}
	var out manifest.Dir
	var taken []string
	torn := false
	e.Files, e.Size = 0, 0
	for _, child := range dir.Entries {
		below := rootfs.Join(path, child.Name)
		if f.chosen.Match(below) {
			f.paths[below] = true
			taken = append(taken, below)
			if err := f.take(ctx, child); err != nil {
				return nil, err
			}
			continue
		}
		if child.Kind == manifest.Subdir {
			d, err := f.dir(ctx, below, child)
			if err != nil {
				return nil, err
			}
			child, torn = d.entry, torn || d.torn
			taken = append(taken, d.paths...)
			e.Files += child.Files
		} else {
			e.Files++
		}
		e.Size += child.Size
		out.Entries = append(out.Entries, child)
	}
	if len(taken) > 0 {
		if e.ID, err = f.tx.Put(out.Append(nil)); err != nil {
			return nil, err
		}
	}
	done := &forgotten{e, taken, torn}
	f.done[key] = done
	return done, nil
}

// take notes the content of what is forgotten.
func (f *forgetter) take(ctx context.Context, e manifest.Entry) error {
	if e.Kind == manifest.Symlink || f.content[e.ID] {
		return ctx.Err()
	}
	f.content[e.ID] = true
	if e.Kind != manifest.Subdir && e.Size > 0 {
		f.bytes[e.ID] = true
		f.files = append(f.files, e)
		if !f.seen.full(int64(e.Size)) {
			data, err := f.p.ReadObject(e.ID)
			if err != nil && !project.IsLost(err) {
				return err
			}
			f.seen.version(data)
		}
	}
	switch e.Kind {
	case manifest.Chunked:
		chunks, err := chunksOf(f.p, e.ID)
		for _, id := range chunks {
			f.content[id], f.bytes[id] = true, true
		}
		if project.IsLost(err) {
			return nil
		}
		return err
	case manifest.Subdir:
		dir, err := f.p.LoadDir(e.ID)
		if err != nil && !project.IsLost(err) {
			return err
		}
		for _, child := range dir.Entries {
			if err := f.take(ctx, child); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

func chunksOf(p *project.Project, id oid.ID) ([]oid.ID, error) {
	data, err := p.ReadObject(id)
	if err != nil {
		return nil, err
	}
	list, err := cas.ParseList(data)
	if err != nil {
		return nil, err
	}
	ids := make([]oid.ID, len(list.Chunks))
	for i, c := range list.Chunks {
		ids[i] = c.ID
	}
	return ids, nil
}
