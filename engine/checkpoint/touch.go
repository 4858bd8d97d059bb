package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/ignore"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/engine/rules"
	"github.com/rewind-cli/rewind/manifest"
)

const (
	// maxTouch is the largest file, in bytes, whose content goes into a touch: an agent waits for
	// it. A larger one waits for the next checkpoint.
	maxTouch = 16 << 20
	// maxTouches bounds the paths of one call.
	maxTouches = 64
	// restoreWait is how long a touch waits for a restore that is running.
	restoreWait = 500 * time.Millisecond
)

// TouchOptions is one edit of a tool, before or after.
type TouchOptions struct {
	Touch manifest.Touch // what is the same for all paths
	Paths []string       // below the root, of any bytes
	// Since leaves out what was not touched since the newest checkpoint.
	Since bool
	// Explains tells of one path, after the call, whether the call alone made its content of the one before; nil: it is not known.
	Explains func(before, after []byte) bool
	// Valid is asked before the commit: may it still be; nil: it may.
	Valid func() bool
}

// Touch looks at the paths, and at nothing else of the tree, and commits a touch for each that is another than
// the newest checkpoint has it, or that was touched since. Left out is what no checkpoint would capture,
// what is no regular file, or is too large, or changes while it is read: Looked has these. It holds the tree lock shared, and gives up
// where a restore runs: what it would see is neither before nor after. Where there is an error, nothing was seen.
func Touch(ctx context.Context, p *project.Project, o TouchOptions) (Looked, error) {
	if len(o.Paths) == 0 {
		return Looked{}, nil
	}
	if err := p.BeginWriting(ctx); err != nil {
		return Looked{}, err
	}
	brief, cancel := context.WithTimeout(ctx, restoreWait)
	defer cancel()
	still, err := p.LockShared(brief, account.TreeLockName)
	if err != nil {
		if busy := new(account.BusyError); errors.As(err, &busy) {
			return Looked{Unseen: o.Paths}, nil
		}
		return Looked{}, err
	}
	defer still.Release()
	release, err := p.Use(ctx)
	if err != nil {
		return Looked{}, err
	}
	defer release()
	for look := 1; ; look++ {
		looked, err := touchOnce(ctx, p, &o, look < maxLooks)
		if by := new(overtakenError); !errors.As(err, &by) {
			return looked, err
		}
	}
}

// touchOnce looks at the paths. With again, its error is an *overtakenError where that has to be done once more.
func touchOnce(ctx context.Context, p *project.Project, o *TouchOptions, again bool) (Looked, error) {
	t := toucher{p: p, o: o}
	if err := t.begin(ctx); err != nil {
		return Looked{}, err
	}
	defer t.tree.Close()
	most := min(len(o.Paths), maxTouches)
	for _, path := range o.Paths[:most] {
		if err := t.path(path); err != nil {
			return Looked{}, errors.Join(fmt.Errorf("look at %s: %w", path, err), t.tx.Discard())
		}
	}
	t.Unseen = append(t.Unseen, o.Paths[most:]...)
	return t.Looked, t.commit(ctx, again)
}

// Looked is what a look could not tell, by path.
type Looked struct {
	Unseen []string // what it is
	Mixed  []string // that the call alone changed it
}

// toucher is one call of Touch.
type toucher struct {
	p      *project.Project
	o      *TouchOptions
	tx     *commit.Tx
	tree   rootfs.FS
	after  uint64                    // the newest record of the log when the look began
	root   oid.ID                    // tree of the newest checkpoint
	seen   map[string]manifest.Touch // the newest of each path since it
	within *rules.Scopes             // nil: not asked for yet
	found  []manifest.Record
	Looked
}

func (t *toucher) begin(ctx context.Context) (err error) {
	last, err := t.p.Store.Last()
	if err != nil {
		return t.p.Classify(err)
	}
	t.after = last.Seq
	if t.root, t.seen, err = t.known(ctx, last.Seq); err != nil {
		return err
	}
	t.tx = commit.Begin(t.p)
	t.tree, err = rootfs.Open(t.p.Root())
	return err
}

// known is what the log has up to a sequence number: the tree of the newest checkpoint, and the newest touch of each path since.
func (t *toucher) known(ctx context.Context, last uint64) (root oid.ID, seen map[string]manifest.Touch, err error) {
	newest, end, err := manifest.Newest(ctx, t.p.Log(), last, 0, manifest.Any)
	if err != nil {
		return root, nil, fmt.Errorf("read the log: %w", err)
	}
	seen = map[string]manifest.Touch{}
	if newest == nil {
		return root, seen, nil
	}
	for _, touch := range end.Touches() {
		if touch.Seq > newest.Seq {
			seen[touch.Path] = touch
		}
	}
	return newest.Root, seen, nil
}

// overtaken is an *overtakenError where others have looked at one of the paths meanwhile. Their looks may be the later ones,
// and are in front in the log. The caller holds the append lock.
func (t *toucher) overtaken(ctx context.Context) error {
	last, err := t.p.Store.Last()
	if err != nil || last.Seq == t.after {
		return t.p.Classify(err)
	}
	root, seen, err := t.known(ctx, last.Seq)
	if err != nil {
		return err
	}
	for _, r := range t.found {
		if root != t.root || seen[r.Touch.Path].Seq > t.after {
			return &overtakenError{}
		}
	}
	return nil
}

// path looks at one path.
func (t *toucher) path(path string) error {
	if len(path) > manifest.MaxTouchPath || rootfs.CheckPath(path) != nil {
		t.Unseen = append(t.Unseen, path)
		return nil
	}
	last, touched := t.seen[path]
	if t.o.Since && !touched {
		return nil
	}
	was := last.Entry
	if !touched { // to find it, blocks of manifests are decoded
		switch e, ok, err := manifest.Find(t.tx.Load, t.root, path); {
		case err != nil && !project.IsDamage(err):
			return t.p.Classify(err)
		case ok && err == nil:
			was = &e
		}
	}
	now := time.Now()
	e, changed, ok, err := t.look(path, was)
	if err != nil {
		return err
	}
	if !ok {
		t.Unseen = append(t.Unseen, path)
		return nil
	}
	if same := e == nil && was == nil || e != nil && was != nil && e.Alike(*was); same {
		// Nothing to say, but for what is seen of a path for another call: it is a cut in its history.
		if !touched || last.Call == t.o.Touch.Call && last.After == t.o.Touch.After {
			return nil
		}
	}
	touch := t.o.Touch
	if t.o.Explains != nil && len(t.o.Paths) == 1 {
		alone, known := t.explained(was, e)
		if touch.Alone = alone; known && !alone {
			t.Mixed = append(t.Mixed, path)
		}
	}
	touch.Time, touch.Path, touch.Entry = now.UTC(), path, e
	if changed != 0 {
		touch.Changed = time.Unix(0, changed).UTC()
	}
	t.found = append(t.found, manifest.Record{Touch: &touch})
	return nil
}

// look is what there is, nil for nothing, and its change time, of nothing that of the directory: nanoseconds since
// 1970, 0 where it is not known. ok is false for what no touch tells of. was is what there was.
func (t *toucher) look(path string, was *manifest.Entry) (e *manifest.Entry, changed int64, ok bool, err error) {
	parent, name := rootfs.Split(path)
	dir, err := t.tree.OpenDir(parent)
	var info rootfs.Info
	opened := err == nil
	if opened {
		defer dir.Close()
		info, err = dir.Lstat(name)
	}
	switch {
	case vfs.IsMissing(err), errors.Is(err, rootfs.ErrNotDir):
		if opened {
			if above, err := dir.Stat(); err == nil {
				changed = above.Ctime
			}
		}
		return nil, changed, was == nil || was.Kind != manifest.Subdir, nil
	case errors.Is(err, rootfs.ErrLink), errors.Is(err, rootfs.ErrMount), errors.Is(err, fs.ErrPermission):
		return nil, 0, false, nil
	case err != nil:
		return nil, 0, false, err
	}
	limit := int64(maxTouch)
	if most := t.p.Settings().MaxFileSize; most > 0 {
		limit = min(limit, most)
	}
	if info.Kind != rootfs.Regular || info.Size > limit || dir.Mounted(name) {
		return nil, 0, false, nil
	}
	decision, err := t.decide(path)
	if err != nil {
		return nil, 0, false, err
	}
	switch decision {
	case ignore.Skip, ignore.Descend:
		return nil, 0, false, nil
	case ignore.IfSmall:
		limit = min(limit, 1<<20)
	case ignore.Precious:
		limit = min(limit, 10<<20)
	}
	if info.Size > limit {
		return nil, 0, false, nil
	}
	e, changed, ok, err = t.read(dir, name, was)
	if ok {
		e.Precious = decision == ignore.Precious || decision == ignore.Marked
	}
	return e, changed, ok, err
}

// read puts a file's content, as a delta of what there was.
func (t *toucher) read(dir rootfs.Dir, name string, was *manifest.Entry) (*manifest.Entry, int64, bool, error) {
	var prev oid.ID
	if was != nil && was.Kind == manifest.File {
		prev = was.ID
	}
	f, info, err := dir.OpenFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, rootfs.ErrLink), errors.Is(err, rootfs.ErrNotRegular), errors.Is(err, rootfs.ErrMount):
		return nil, 0, false, nil // it changes just now, or cannot be captured
	case err != nil:
		return nil, 0, false, err
	}
	defer f.Close()
	kind, id, size, err := t.tx.Content(0, f, info.Size, prev)
	if err != nil {
		return nil, 0, false, t.p.Classify(err)
	}
	again, err := dir.Lstat(name)
	if err != nil || !again.Same(info) || again.Ctime != info.Ctime || size != info.Size {
		return nil, 0, false, nil // it is being written
	}
	return &manifest.Entry{Name: name, Kind: kind, Mode: info.Mode, Size: uint64(size), ID: id}, again.Ctime, true, nil
}

// maxExplained is the largest text, in bytes, that is looked at for what the call did not make.
const maxExplained = 1 << 20

// explained reports whether the call made the one entry's content of the other's. known is false for content that
// is too large, or cannot be read. A call that gives the text it writes removes nothing.
func (t *toucher) explained(was, is *manifest.Entry) (alone, known bool) {
	if is == nil {
		return false, true
	}
	if was != nil && (was.Kind == manifest.Subdir || was.Kind == manifest.Symlink || was.Size > maxExplained) || is.Size > maxExplained {
		return false, false
	}
	read := func(e *manifest.Entry) ([]byte, error) {
		if e == nil {
			return nil, nil
		}
		f, err := t.tx.Open(*e)
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(f)
		return data, errors.Join(err, f.Close())
	}
	before, err := read(was)
	after, err2 := read(is)
	if err != nil || err2 != nil {
		return false, false
	}
	return t.o.Explains(before, after), true
}

// decide is what the rules of today say.
func (t *toucher) decide(path string) (ignore.Decision, error) {
	if t.within == nil {
		within, err := scopesNow(t.p)
		if err != nil {
			return ignore.Skip, err
		}
		t.within = within
	}
	return t.within.Decide(path, false), nil
}

func (t *toucher) commit(ctx context.Context, again bool) error {
	if len(t.found) == 0 {
		return t.tx.Discard()
	}
	_, err := t.tx.Commit(ctx, func() ([]manifest.Record, error) {
		if again {
			if err := t.overtaken(ctx); err != nil {
				return nil, err
			}
		}
		if t.o.Valid != nil && !t.o.Valid() {
			return nil, nil
		}
		return t.found, nil
	}, nil)
	return errors.Join(err, t.tx.Discard())
}
