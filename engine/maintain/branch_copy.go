package maintain

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/reach"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/engine/rules"
	"github.com/rewind-cli/rewind/manifest"
)

// put copies the objects of checkpoints that the store never had. What was forgotten in the store is left out of them, as is what
// a purge removed: a checkpoint says nothing of such a path. One whose root is not there any more is left out.
func (b *branchOf) put(ctx context.Context, theirs *manifest.Replayed) error {
	ours, err := manifest.Replay(ctx, b.p.Log(), 1, manifest.Skip)
	if err != nil {
		return err
	}
	b.purged = slices.ContainsFunc(ours.Operations(), func(o manifest.Operation) bool { return o.Kind == manifest.OpForget })
	removed, err := b.removed(theirs)
	if err != nil {
		return err
	}
	b.own, b.broken, b.less = map[manifest.CheckpointID]manifest.Checkpoint{}, map[manifest.CheckpointID]bool{}, map[manifest.CheckpointID]bool{}
	b.dirs, b.has = map[forgetKey]*forgotten{}, map[oid.ID]bool{}
	b.writer = b.to.Writer()
	for _, c := range theirs.Checkpoints() {
		if _, known := ours.ByID(c.ID); known || removed[c.ID] {
			continue
		}
		if err := b.readKeys(ours); err != nil {
			return err
		}
		whole, err := b.checkpoint(ctx, &c)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case isMissing(err):
			b.broken[c.ID] = true
		case err != nil:
			return err
		default:
			b.own[c.ID], b.less[c.ID] = c, !whole
		}
	}
	return b.writer.Flush()
}

// removed are the checkpoints that gc or forget took out of the log. A name or a pin that the branch gave one since keeps it from gc.
func (b *branchOf) removed(theirs *manifest.Replayed) (map[manifest.CheckpointID]bool, error) {
	gone, forgotten := map[manifest.CheckpointID]bool{}, map[manifest.CheckpointID]bool{}
	for r, err := range b.p.Log().Records(1) {
		if err != nil && !errors.As(err, new(*manifest.EntryError)) {
			return nil, err
		}
		if d := r.Record.Delete; d != nil {
			for _, id := range d.Checkpoints {
				gone[id], forgotten[id] = true, forgotten[id] || d.Reason == manifest.ReasonForget
			}
		}
	}
	for r, err := range project.LogOf(b.from.Store).Records(1) {
		if err != nil && !errors.As(err, new(*manifest.EntryError)) {
			return nil, err
		}
		if m := r.Record.Mark; m != nil && !forgotten[m.Checkpoint] && !b.from.Dropped(r.Seq) {
			if c, ok := theirs.ByID(m.Checkpoint); ok && (c.Pinned || c.Name != "") {
				gone[c.ID] = false
			}
		}
	}
	return gone, nil
}

// readKeys collects the paths of which the store's checkpoints say that they were forgotten.
func (b *branchOf) readKeys(ours *manifest.Replayed) error {
	if b.keys != nil {
		return nil
	}
	b.keys = map[string]bool{}
	read := map[oid.ID]bool{{}: true}
	for _, c := range ours.Checkpoints() {
		if read[c.Coverage] {
			continue
		}
		read[c.Coverage] = true
		data, err := b.p.ReadObject(c.Coverage)
		if err != nil && !project.IsDamage(err) {
			return err
		}
		maps.Copy(b.keys, rules.ForgottenIn(data))
	}
	return nil
}

// checkpoint copies what a checkpoint needs and changes it so that it needs nothing else; whole: it was not changed.
func (b *branchOf) checkpoint(ctx context.Context, c *manifest.Checkpoint) (whole bool, err error) {
	whole = true
	root, err := b.dir(ctx, "", manifest.Entry{Kind: manifest.Subdir, ID: c.Root})
	if err != nil {
		return false, err
	}
	if len(root.paths) > 0 {
		whole = false
		c.Root, c.Files, c.Bytes = root.entry.ID, root.entry.Files, root.entry.Size
	}
	if err := b.silence(c, root.paths); err != nil {
		return false, err
	}
	if err := b.copy(c.Rules); err != nil {
		return false, err
	}
	c.Git = oid.ID{} // its objects are in no pack that could be copied
	if c.Transcript != nil {
		switch held, err := b.conversation(c.Transcript.Content); {
		case err != nil:
			return false, err
		case !held:
			whole, c.Transcript = false, nil
		}
	}
	return whole, nil
}

// silence takes paths out of what a checkpoint says beside its tree.
func (b *branchOf) silence(c *manifest.Checkpoint, paths []string) error {
	data, err := b.get(nil, c.Coverage)
	if err != nil && !isMissing(err) {
		return err
	}
	goes := &forgetter{paths: map[string]bool{}}
	keys := map[string]bool{}
	var patterns []string
	for _, path := range paths {
		goes.paths[path], keys[rules.ForgottenKey(b.p, path)] = true, true
		patterns = append(patterns, pathspec.EscapeGlob(path))
	}
	data, _ = coverForgotten(b.p, data, keys, func(path string) bool {
		return goes.held(path) || b.keys[rules.ForgottenKey(b.p, path)]
	})
	if c.Coverage, err = b.to.Put(data); err != nil || len(paths) == 0 {
		return err
	}
	if goes.chosen, err = pathspec.Select(patterns); err == nil {
		goes.silence(c)
	}
	return err
}

// dir copies a directory, without the paths in it that do not come.
func (b *branchOf) dir(ctx context.Context, path string, e manifest.Entry) (*forgotten, error) {
	key := forgetKey{path, e.ID}
	if done, ok := b.dirs[key]; ok {
		return done, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	data, err := b.get(nil, e.ID)
	if err != nil {
		return nil, err
	}
	dir, err := manifest.ParseDir(data)
	if err != nil {
		return nil, err
	}
	var out manifest.Dir
	var taken []string
	e.Files, e.Size = 0, 0
	for _, child := range dir.Entries {
		below := rootfs.Join(path, child.Name)
		comes := !b.keys[rules.ForgottenKey(b.p, below)]
		var inside []string
		if comes && child.Kind == manifest.Subdir {
			d, err := b.dir(ctx, below, child)
			if comes = !isMissing(err); comes && err != nil {
				return nil, err
			}
			if comes {
				child, inside = d.entry, d.paths
				e.Files += child.Files
			}
		} else if comes {
			if comes, err = b.content(child); err != nil {
				return nil, err
			}
			if comes {
				e.Files++
			}
		}
		if !comes {
			taken = append(taken, below)
			continue
		}
		taken = append(taken, inside...)
		e.Size += child.Size
		out.Entries = append(out.Entries, child)
	}
	if len(taken) > 0 {
		data = out.Append(nil)
		e.ID = oid.Sum(data)
	}
	if _, err := b.writer.Put(e.ID, data, oid.ID{}); err != nil {
		return nil, err
	}
	done := &forgotten{entry: e, paths: taken}
	b.dirs[key] = done
	return done, nil
}

// content copies the content of a file, and reports whether all of it may come.
func (b *branchOf) content(e manifest.Entry) (comes bool, err error) {
	if e.Kind == manifest.Symlink {
		return true, nil
	}
	if e.Size == 0 {
		return true, b.copy(e.ID)
	}
	if comes, err = b.object(e.ID); !comes || err != nil || e.Kind != manifest.Chunked {
		return comes, err
	}
	return b.chunks(e.ID)
}

// chunks copies those of a list.
func (b *branchOf) chunks(id oid.ID) (comes bool, err error) {
	data, err := b.get(nil, id)
	if err != nil {
		return false, err
	}
	list, err := cas.ParseList(data)
	if err != nil {
		return false, err
	}
	for _, c := range list.Chunks {
		if comes, err := b.object(c.ID); !comes || err != nil {
			return comes, err
		}
	}
	return true, nil
}

// conversation copies a stored conversation, and reports whether all of it may come.
func (b *branchOf) conversation(content oid.ID) (comes bool, err error) {
	m := reach.New(reach.Options{Get: b.get, Strict: true})
	if err := m.Conversation(content); err != nil {
		if isMissing(err) {
			err = nil
		}
		return false, err
	}
	for _, id := range m.Added() {
		if comes, err := b.object(id); !comes || err != nil {
			return comes, err
		}
	}
	return true, nil
}

// object copies an object that the store lacks, and reports whether it may come: not if a purge removed it.
func (b *branchOf) object(id oid.ID) (comes bool, err error) {
	if comes, ok := b.has[id]; ok {
		return comes, nil
	}
	if comes, err = b.p.Store.Has(id); err == nil && (!comes || b.older) {
		gone := false
		if b.purged {
			gone, err = b.from.Forgotten(id)
		}
		if comes = false; err == nil && !gone {
			err = b.copy(id)
			if comes = err == nil; isMissing(err) {
				err = nil
			}
		}
	}
	if err == nil {
		b.has[id] = comes
	}
	return comes, err
}

func isMissing(err error) bool {
	return errors.As(err, new(*cas.NotFoundError)) || errors.As(err, new(*cas.DamagedError))
}

// get reads an object of the mirror or of the store.
func (b *branchOf) get(dst []byte, id oid.ID) ([]byte, error) {
	if id == (oid.ID{}) {
		return dst, nil
	}
	data, err := b.from.Get(dst, id)
	if err != nil {
		return b.p.Store.Get(dst, id)
	}
	return data, nil
}

// copy copies an object, zero for none, whatever became of it in the store.
func (b *branchOf) copy(id oid.ID) error {
	if has, err := b.p.Store.Has(id); has || err != nil || id == (oid.ID{}) {
		return err
	}
	data, err := b.from.Get(nil, id)
	if err == nil {
		_, err = b.writer.Put(id, data, oid.ID{})
	}
	return err
}
