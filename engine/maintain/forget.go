package maintain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/notice"
	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/stores"
	"github.com/rewind-cli/rewind/manifest"
)

// Forgotten is what forget did.
type Forgotten struct {
	Paths       []string // that were in some checkpoint or operation
	Checkpoints int      // that said or held something of it
	Freed       int64    // bytes on disk
	// Pending says why bytes are still there, "" if none are. The next command that
	// writes, or gc, finishes it, and Status says so until then.
	Pending string
	LivesOn []LivesOn // where the same content is kept under paths that were not forgotten
	Present []string  // forgotten paths that the working tree has: the next save takes them again
	Still   []string  // files outside the store that hold a text: the agents' own
	Texts   int       // places where a text was marked out
	// Others are other stores of the account with the same origin that may hold the same
	// content still. Where nothing was found here, they have not been looked into.
	Others []stores.Registered
}

// LivesOn is a path with content that was also under a forgotten one.
type LivesOn struct {
	Path        string
	Checkpoints int
}

// Forget takes paths (and globs) out of all checkpoints and operations, for
// good: what they were is rewritten, and no byte of their content stays in the store or
// its mirror, unless it lives on under another path. It cannot be undone. The working
// tree is left alone, also by later restores: of a forgotten path a checkpoint says nothing.
// Errors: *OutsideError, *RefusedError, *BusyError, *DamagedStoreError.
func Forget(ctx context.Context, p *project.Project, paths []string) (*Forgotten, error) {
	chosen, err := pathspec.Select(paths)
	if err != nil {
		return nil, err
	}
	if chosen.All() {
		return nil, &project.RefusedError{What: "forgetting everything would leave empty checkpoints"}
	}
	return forget(ctx, p, func(tx *commit.Tx, said *LogState) (amender, error) {
		f := &forgetter{p: p, tx: tx, chosen: chosen, done: map[forgetKey]*forgotten{}, paths: map[string]bool{}, content: map[oid.ID]bool{}, files: map[oid.ID]bool{}, coverage: map[oid.ID]covered{}}
		return f, f.look(ctx, said)
	})
}

// amender decides what checkpoints and operations say from now on.
type amender interface {
	// checkpoint and operation change what they are given, and report whether they did.
	checkpoint(context.Context, *manifest.Checkpoint) (bool, error)
	operation(context.Context, *manifest.Operation) (bool, error)
	// touch reports whether what a hook saw of a path goes.
	touch(*manifest.Touch) bool
	// finish is called when all were asked, before anything is committed.
	finish(context.Context, *LogState, *Forgotten) error
	// leftovers clears what lies beside the log, once it is committed.
	leftovers(context.Context, *Forgotten) error
	// wanted is what another store is looked through for: objects, and what a record says.
	wanted() (ids []oid.ID, says func(manifest.Record) bool)
}

// forgetWait is how long forget waits for those who read the store.
const forgetWait = 5 * time.Second

// forget amends the log under the locks that keep saves, restores and sweeps
// out, and then sweeps.
func forget(ctx context.Context, p *project.Project, begin func(*commit.Tx, *LogState) (amender, error)) (*Forgotten, error) {
	if err := p.Writing(ctx); err != nil {
		return nil, err
	}
	lock, err := p.Lock(ctx, gcLockName)
	if err != nil {
		return nil, err
	}
	defer lock.Release()
	result := &Forgotten{}
	var a amender
	err = amend(ctx, p, func(tx *commit.Tx, said *LogState) (_ amender, err error) {
		a, err = begin(tx, said)
		return a, err
	}, result)
	if err != nil {
		return nil, p.Classify(err)
	}
	if result.Others, err = othersWith(p, a, result); err != nil {
		return nil, fmt.Errorf("look for other stores that may hold it: %w", err)
	}
	collected, err := collect(ctx, p, GCOptions{only: true, purge: true, wait: min(forgetWait, p.Patience())})
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("no checkpoint contains it any more, but its bytes are still in the store: %w", err)
	case collected.Deferred:
		result.Pending = "another process is reading the store"
	}
	result.Freed = collected.Freed
	return result, nil
}

// othersWith lists the stores with the origin of this one that may hold what was taken out, or,
// where there was nothing to take out, all of them.
func othersWith(p *project.Project, a amender, result *Forgotten) (out []stores.Registered, err error) {
	relatives, err := stores.Relatives(p)
	if err != nil {
		return nil, err
	}
	ids, says := a.wanted()
	for _, r := range relatives {
		if !result.Found() || r.MayHold(ids, says) {
			out = append(out, r.Registered)
		}
	}
	return out, nil
}

// Found reports whether there was anything to forget.
func (f *Forgotten) Found() bool { return len(f.Paths) > 0 || f.Texts > 0 }

// amend commits what the amender makes of the log.
func amend(ctx context.Context, p *project.Project, begin func(*commit.Tx, *LogState) (amender, error), result *Forgotten) error {
	tree, err := p.Lock(ctx, account.TreeLockName)
	if err != nil {
		return err
	}
	defer tree.Release()
	release, err := p.Use(ctx)
	if err != nil {
		return err
	}
	defer release()
	if j, err := restore.Open(p.RestoreDir()); err != nil {
		return project.JournalError(err)
	} else if j != nil {
		return &project.RefusedError{What: "a restore was interrupted, and its leftovers may contain what is to be forgotten", Next: "run rewind undo-restore, then forget again"}
	}
	if err := p.Store.Complete(); err != nil {
		return err
	}
	said, err := ReadLog(ctx, p)
	if err != nil {
		return err
	}
	tx := commit.Begin(p)
	defer func() { _ = tx.Discard() }() // what it leaves is swept
	a, err := begin(tx, said)
	if err != nil {
		return err
	}
	record := manifest.Amend{Time: p.Env.Time().UTC()}
	count := p.Counting("forget", "checkpoint")
	for i, c := range said.Checkpoints {
		if count != nil {
			count(i, len(said.Checkpoints))
		}
		changed, err := a.checkpoint(ctx, &c)
		if err != nil {
			return fmt.Errorf("checkpoint %s: %w", c.ID, err)
		}
		if changed {
			record.Records = append(record.Records, manifest.Sequenced{Seq: c.Seq, Record: manifest.Record{Checkpoint: &c}})
			result.Checkpoints++
		}
	}
	if count != nil {
		count(len(said.Checkpoints), len(said.Checkpoints))
	}
	for _, o := range said.Operations[:min(len(said.Operations), project.KeptOperations)] {
		changed, err := a.operation(ctx, &o)
		if err != nil {
			return fmt.Errorf("operation %d: %w", o.Seq, err)
		}
		if changed {
			record.Records = append(record.Records, manifest.Sequenced{Seq: o.Seq, Record: manifest.Record{Operation: &o}})
		}
	}
	for _, t := range said.Touches {
		if a.touch(&t) {
			record.Records = append(record.Records, manifest.Sequenced{Seq: t.Seq, Record: manifest.Record{Touch: &manifest.Touch{}}})
		}
	}
	if err := a.finish(ctx, said, result); err != nil {
		return err
	}
	if len(record.Records) > 0 {
		if err := p.NoteForgetting(project.ForgettingNote{Since: record.Time, Log: said.last}); err != nil {
			return err
		}
		_, err := tx.Commit(ctx, func() ([]manifest.Record, error) {
			// The last record is none that is replaced: sequence numbers never go back.
			return []manifest.Record{{Amend: &record}, {Operation: &manifest.Operation{Kind: manifest.OpForget, Time: record.Time}}}, nil
		}, func(cas.Position) error { // the first names the old trees, the second says what was typed
			return errors.Join(account.RemoveIfThere(p.StatCacheFile()), account.RemoveIfThere(filepath.Join(p.StoreDir(), account.RestoreHistoryName)))
		})
		if err != nil {
			return err
		}
	}
	return a.leftovers(ctx, result)
}

// forgetter takes paths out of trees, each place of a directory once.
type forgetter struct {
	p        *project.Project
	tx       *commit.Tx
	chosen   pathspec.Selection
	done     map[forgetKey]*forgotten
	paths    map[string]bool
	names    map[string]bool // the last parts of paths, once asked for
	content  map[oid.ID]bool // ids of what was forgotten
	files    map[oid.ID]bool // those of them that are of files' bytes
	keys     map[string]bool // of the paths that were held, and of what was said of them
	coverage map[oid.ID]covered
	said     int // checkpoints that held or named something of it
}

// look finds what checkpoints and operations hold of the chosen paths, before anything is
// rewritten: what no one holds is not forgotten, and what one holds all others say nothing of.
func (f *forgetter) look(ctx context.Context, said *LogState) error {
	var roots []oid.ID
	for _, c := range said.Checkpoints {
		roots = append(roots, c.Root)
	}
	for _, o := range said.Operations[:min(len(said.Operations), project.KeptOperations)] {
		roots = append(roots, o.Before, o.After)
	}
	for _, root := range roots {
		if root == (oid.ID{}) {
			continue
		}
		if _, err := f.dir(ctx, "", manifest.Entry{Kind: manifest.Subdir, ID: root}); err != nil {
			return err
		}
	}
	for _, c := range said.Checkpoints {
		f.named(&c)
	}
	for _, t := range said.Touches {
		if !f.touch(&t) {
			continue
		}
		if !f.held(t.Path) {
			f.paths[t.Path] = true
		}
		if t.Entry != nil {
			if err := f.take(ctx, *t.Entry); err != nil && !project.IsDamage(err) {
				return err
			}
		}
	}
	f.keys = map[string]bool{}
	for path := range f.paths {
		f.keys[ForgottenKey(f.p, path)] = true
	}
	return nil
}

// held reports whether a path, or a directory above it, is one that was forgotten.
func (f *forgetter) held(path string) bool {
	for at := path; at != ""; at, _ = project.SplitPath(at) {
		if f.paths[at] {
			return true
		}
	}
	return false
}

// touch: one of a chosen path, or of what is below it, goes.
func (f *forgetter) touch(t *manifest.Touch) bool {
	for at := t.Path; at != ""; at, _ = project.SplitPath(at) {
		if f.chosen.Match(at) {
			return true
		}
	}
	return false
}

// forgetKey: what is chosen depends on where a directory is, not only on its content.
type forgetKey struct {
	path string
	id   oid.ID
}

// forgotten is a directory without the chosen paths, and which of them it held.
type forgotten struct {
	entry manifest.Entry
	paths []string
}

func (f *forgetter) checkpoint(ctx context.Context, c *manifest.Checkpoint) (bool, error) {
	was := *c
	d, err := f.dir(ctx, "", manifest.Entry{Kind: manifest.Subdir, ID: c.Root})
	if err != nil {
		return false, err
	}
	if len(d.paths) > 0 {
		c.Root, c.Files, c.Bytes = d.entry.ID, d.entry.Files, d.entry.Size
	}
	told, err := f.cover(c.Coverage)
	if err != nil {
		return false, err
	}
	c.Coverage = told.id
	if len(d.paths) > 0 || told.named {
		f.said++
	}
	f.silence(c)
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
	if err != nil {
		return false, err
	}
	if o.Paths, err = f.tx.Put(dropPaths(list, f.chosen.Match)); err != nil {
		return false, err
	}
	o.Args = dropTyped(o.Args)
	o.Choices = string(dropPaths([]byte(o.Choices), f.chosen.Match))
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
	if err != nil {
		return nil, err
	}
	var out manifest.Dir
	var taken []string
	e.Files, e.Size = 0, 0
	for _, child := range dir.Entries {
		below := child.Name
		if path != "" {
			below = path + "/" + child.Name
		}
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
			child = d.entry
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
	done := &forgotten{e, taken}
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
		f.files[e.ID] = true
	}
	switch e.Kind {
	case manifest.Chunked:
		chunks, err := chunksOf(f.p, e.ID)
		for _, id := range chunks {
			f.content[id], f.files[id] = true, true
		}
		return err
	case manifest.Subdir:
		dir, err := f.p.LoadDir(e.ID)
		if err != nil {
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

// wanted is the content of files: directories, and what is empty, are alike everywhere.
func (f *forgetter) wanted() (ids []oid.ID, says func(manifest.Record) bool) {
	return slices.Collect(maps.Keys(f.files)), nil
}

// finish finds where forgotten content lives on.
func (f *forgetter) finish(ctx context.Context, said *LogState, result *Forgotten) error {
	for path := range f.paths {
		result.Paths = append(result.Paths, path)
		if _, err := os.Lstat(filepath.Join(f.p.Root(), filepath.FromSlash(path))); !errors.Is(err, fs.ErrNotExist) && !account.IsNotDir(err) {
			result.Present = append(result.Present, path)
		}
	}
	result.Checkpoints = f.said // the others only say from now on that they know nothing of it
	slices.Sort(result.Paths)
	slices.Sort(result.Present)
	if len(f.content) == 0 {
		return nil
	}
	count := map[string]int{}
	clean := map[oid.ID]bool{}
	for _, c := range said.Checkpoints {
		d := f.done[forgetKey{"", c.Root}]
		if err := f.find(ctx, "", d.entry.ID, clean, func(path string) { count[path]++ }); err != nil {
			return err
		}
	}
	for path, n := range count {
		result.LivesOn = append(result.LivesOn, LivesOn{path, n})
	}
	slices.SortFunc(result.LivesOn, func(a, b LivesOn) int { return slices.Compare([]byte(a.Path), []byte(b.Path)) })
	return nil
}

// find calls found for what in a tree holds forgotten content. It notes directories without any in clean.
func (f *forgetter) find(ctx context.Context, path string, id oid.ID, clean map[oid.ID]bool, found func(string)) error {
	if clean[id] {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	dir, err := f.tx.Load(id)
	if err != nil {
		return err
	}
	any := false
	for _, e := range dir.Entries {
		below := e.Name
		if path != "" {
			below = path + "/" + e.Name
		}
		hit := e.Kind != manifest.Symlink && e.Kind != manifest.Subdir && e.Size > 0 && f.content[e.ID]
		switch {
		case e.Kind == manifest.Subdir:
			if err := f.find(ctx, below, e.ID, clean, found); err != nil {
				return err
			}
			any = any || !clean[e.ID]
		case e.Kind == manifest.Chunked && !hit && !clean[e.ID]:
			chunks, err := chunksOf(f.p, e.ID)
			if err != nil {
				return err
			}
			hit = slices.ContainsFunc(chunks, func(id oid.ID) bool { return f.content[id] })
			clean[e.ID] = !hit
		}
		if hit {
			any = true
			found(below)
		}
	}
	clean[id] = !any
	return nil
}

// leftovers removes what hooks kept of the chosen paths, and what agents were to be told of them.
func (f *forgetter) leftovers(ctx context.Context, _ *Forgotten) error {
	errs := []error{rewritePending(ctx, f.p, f.window), notice.Forget(ctx, f.p, f.chosen.Match, false)}
	for _, n := range checkpoint.Preimages(f.p, time.Time{}) {
		if !f.chosen.Match(n.Path) {
			continue
		}
		if n.File != "" {
			errs = append(errs, account.RemoveIfThere(n.File))
		}
		errs = append(errs, account.RemoveIfThere(n.Note))
	}
	return errors.Join(errs...)
}
