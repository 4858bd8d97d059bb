package engine

import (
	"context"
	"fmt"
	"slices"

	"rewind/cas"
	"rewind/manifest"
)

// Forgotten is what forget did.
type Forgotten struct {
	Paths       []string // that were in some checkpoint
	Checkpoints int      // that held one of them
	Freed       int64    // bytes on disk
}

// Forget takes paths (and globs) out of all checkpoints, for good: the trees
// are rewritten, and gc drops their bytes from the packs and their names from
// the database. It cannot be undone.
func (p *Project) Forget(ctx context.Context, paths []string) (*Forgotten, error) {
	chosen, err := selectPaths(paths)
	if err != nil {
		return nil, err
	}
	if chosen.all() {
		return nil, &RefusedError{What: "forgetting everything would leave empty checkpoints"}
	}
	if err := p.writing(ctx); err != nil {
		return nil, err
	}
	result, err := p.rewrite(ctx, chosen)
	if err != nil || result.Checkpoints == 0 {
		return result, err
	}
	collected, err := p.GC(ctx, GCOptions{only: true})
	if err != nil {
		return nil, fmt.Errorf("the paths are forgotten, but their bytes are still there: %w", err)
	}
	result.Freed = collected.Freed
	return result, nil
}

// rewrite gives every checkpoint that holds a chosen path a tree without it.
func (p *Project) rewrite(ctx context.Context, chosen selection) (*Forgotten, error) {
	release, err := p.use(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	state, err := p.readLog(ctx)
	if err != nil {
		return nil, err
	}
	f := &forgetter{p: p, chosen: chosen, done: map[forgetKey]manifest.Entry{}, paths: map[string]bool{}}
	f.batch = p.store.NewBatch()
	f.writer = f.batch.Writer()
	r := manifest.Rewrite{Time: p.env.now().UTC()}
	for _, c := range state.checkpoints {
		e, err := f.dir(ctx, "", manifest.Entry{Kind: manifest.Subdir, ID: c.Root})
		if err != nil {
			return nil, p.classify(fmt.Errorf("checkpoint %s: %w", c.ID, err))
		}
		if e.ID != c.Root {
			r.Checkpoints = append(r.Checkpoints, c.ID)
			r.Roots = append(r.Roots, e.ID)
		}
	}
	result := &Forgotten{Checkpoints: len(r.Checkpoints)}
	for path := range f.paths {
		result.Paths = append(result.Paths, path)
	}
	slices.Sort(result.Paths)
	if len(r.Checkpoints) == 0 {
		return result, f.batch.Discard()
	}
	if err := f.writer.Flush(); err != nil {
		return nil, err
	}
	return result, f.commit(ctx, r)
}

func (f *forgetter) commit(ctx context.Context, r manifest.Rewrite) error {
	lockCtx, cancel := f.p.wait(ctx)
	defer cancel()
	a, err := f.p.store.Append(lockCtx)
	if err != nil {
		return f.p.classify(err)
	}
	defer a.Close()
	if _, err := a.Commit(f.batch, manifest.Record{Rewrite: &r}.Append(nil)); err != nil {
		return err
	}
	// The stat cache names the old trees.
	return removeIfThere(f.p.headFile())
}

// forgetter rewrites directories, each place of a directory once.
type forgetter struct {
	p      *Project
	chosen selection
	batch  *cas.Batch
	writer *cas.Writer
	done   map[forgetKey]manifest.Entry
	paths  map[string]bool
}

// forgetKey: what is chosen depends on where a directory is, not only on its content.
type forgetKey struct {
	path string
	id   manifest.ID
}

func (f *forgetter) dir(ctx context.Context, path string, e manifest.Entry) (manifest.Entry, error) {
	key := forgetKey{path, e.ID}
	if done, ok := f.done[key]; ok {
		return done, nil
	}
	if err := ctx.Err(); err != nil {
		return e, err
	}
	dir, err := f.p.loadDir(e.ID)
	if err != nil {
		return e, err
	}
	var out manifest.Dir
	changed := false
	e.Files, e.Size = 0, 0
	for _, child := range dir.Entries {
		below := child.Name
		if path != "" {
			below = path + "/" + child.Name
		}
		if f.chosen.match(below) {
			f.paths[below], changed = true, true
			continue
		}
		if child.Kind == manifest.Subdir {
			id := child.ID
			if child, err = f.dir(ctx, below, child); err != nil {
				return e, err
			}
			changed = changed || child.ID != id
			e.Files += child.Files
		} else {
			e.Files++
		}
		e.Size += child.Size
		out.Entries = append(out.Entries, child)
	}
	if changed {
		data := out.Append(nil)
		id := cas.Sum(data)
		if _, err := f.writer.Put(id, data, cas.ID{}); err != nil {
			return e, err
		}
		e.ID = manifest.ID(id)
	}
	f.done[key] = e
	return e, nil
}
