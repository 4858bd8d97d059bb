package treeio

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"sync/atomic"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/manifest"
)

var errRacing = errors.New("it is being written")

// heldFile is one path below a replaced directory, as it was read.
type heldFile struct {
	path string // below the directory
	info rootfs.Info
}

// grain is how fresh a file has to be for its stat to be in doubt: coarse
// clocks tick every 4 to 10 ms, file systems without nanoseconds every 2 s.
func grain(i rootfs.Info) int64 {
	if i.Ctime%int64(time.Second) == 0 && i.Mtime%int64(time.Second) == 0 {
		return int64(2 * time.Second)
	}
	return int64(10 * time.Millisecond)
}

// locker is a directory that knows of names that cannot be changed.
type locker interface{ Locked(name string) error }

// Read reads again all that the plan would overwrite or delete, whatever the
// scan found, and gives it to sink. Then Before and After are set. Changes that
// turn out to be none are dropped; those whose present bytes cannot be read
// become skips. A second call does nothing.
func (p *Plan) Read(ctx context.Context, sink Sink) error {
	if p.read {
		return nil
	}
	p.read = true
	want := func(c *Change) bool { return c.Action == Replace || c.Action == Delete && !isDir(c.Before) }
	groups := groupByDir(p.Changes, want)
	t := p.tally("read", false, want)
	changed := make([]atomic.Bool, len(p.Changes))
	gone := make([]string, len(p.Changes)) // why a change is given up
	err := eachDir(ctx, p.o.FS, p.o.workers(), groups, func(w int, d rootfs.Dir, openErr error, list []int) error {
		for _, i := range list {
			c := &p.Changes[i]
			if err := ctx.Err(); err != nil {
				return err
			}
			t.add(c)
			if openErr != nil {
				gone[i] = why(openErr)
				continue
			}
			_, name := rootfs.Split(c.Path)
			r := reader{sink: sink, src: p.o.Source, worker: w}
			e, err := r.entry(d, name, c.Before)
			if l, ok := d.(locker); ok && err == nil {
				err = l.Locked(name) // a dry run, too, is to know what cannot be done
			}
			if !isDir(e) && !isDir(c.After) {
				// What is in no checkpoint is no less precious than what takes its place.
				e.Precious = e.Precious || c.After.Precious
			}
			var se *sinkError
			if errors.As(err, &se) {
				return se.err
			}
			switch {
			case err != nil:
				gone[i] = why(err)
				continue
			case !c.known || !sameEntry(e, c.Before) || isDir(e) && e.ID != c.Before.ID:
				changed[i].Store(true)
			}
			c.Before, c.info, c.attrs, c.doubt, c.held = e, r.info, r.attrs, r.doubt, r.held
		}
		return nil
	})
	if err != nil {
		return err
	}
	var edits []Edit
	kept := p.Changes[:0]
	lost := map[string]string{} // by database: a file of it that stays
	for i, c := range p.Changes {
		if gone[i] != "" && c.database != "" {
			lost[c.database] = c.Path
		}
	}
	for i, c := range p.Changes {
		switch {
		case gone[i] != "":
			p.skip(c.Path, gone[i], true)
			continue
		case lost[c.database] != "":
			p.skip(c.Path, reasonDatabase+lost[c.database]+", which would stay as it is now", true)
			continue
		case c.Action == Replace && !isDir(c.After):
			same := p.sameContent(c.Before, c.After)
			if same && c.Before.Mode == c.After.Mode { // it is already what it is to become
				if c.database != "" && !c.known { // else the trees would say that the rest of the database has no such file beside it
					edits = append(edits, Edit{Path: c.Path, Entry: c.Before, Whole: true})
				}
				continue
			}
			if same && c.Before.IsFile() && c.info.Nlink == 1 {
				c.Action, c.Reason, c.After = Mode, "different permissions", withMode(c.Before, c.After.Mode)
			}
		}
		if changed[i].Load() {
			edits = append(edits, Edit{Path: c.Path, Entry: c.Before, Whole: true})
		}
		kept = append(kept, c)
	}
	p.Changes = kept
	p.dropBelowSkipped()
	p.sort()
	edits = append(edits, p.passedOver()...)
	if p.Before, err = EditTree(p.o.Source, sink, p.o.Current, edits, p.passed); err != nil {
		return err
	}
	p.After, err = EditTree(p.o.Source, sink, p.Before, EditsOf(p.Changes), p.passed)
	return err
}

// passedOver are the directories that the scan passed over and in which, or to
// which, the plan does something: without them it would look as if it made them.
func (p *Plan) passedOver() []Edit {
	var edits []Edit
	seen := map[string]bool{"": true}
	for i := range p.Changes {
		for dir := p.Changes[i].Path; !seen[dir]; dir, _ = rootfs.Split(dir) {
			seen[dir] = true
			if mode, ok := p.passed[dir]; ok {
				_, name := rootfs.Split(dir)
				edits = append(edits, Edit{Path: dir, Entry: manifest.Entry{Name: name, Kind: manifest.Subdir, Mode: mode}})
			}
		}
	}
	return edits
}

// dropBelowSkipped takes out what can no longer be: creations below a
// directory that cannot take its place, deletions of directories that keep something.
func (p *Plan) dropBelowSkipped() {
	if len(p.Skips) == 0 {
		return
	}
	skipped := map[string]bool{}
	holds := map[string]bool{}
	for _, s := range p.Skips {
		skipped[s.Path] = true
		for dir, _ := rootfs.Split(s.Path); dir != "" && !holds[dir]; dir, _ = rootfs.Split(dir) {
			holds[dir] = true
		}
	}
	p.Changes = slices.DeleteFunc(p.Changes, func(c Change) bool {
		if c.Action == Delete && isDir(c.Before) {
			return holds[c.Path]
		}
		for dir, _ := rootfs.Split(c.Path); dir != ""; dir, _ = rootfs.Split(dir) {
			if skipped[dir] && c.info.Kind == 0 {
				return true
			}
		}
		return false
	})
}

// EditsOf are the edits that lead from the tree before the changes to the one after.
func EditsOf(changes []Change) []Edit {
	edits := make([]Edit, 0, len(changes))
	for i := range changes {
		if !changes[i].failed {
			edits = append(edits, Edit{Path: changes[i].Path, Entry: changes[i].After})
		}
	}
	return edits
}

// sinkError is a failure of the sink, which ends the whole restore, as opposed
// to one of the path.
type sinkError struct{ err error }

func (e *sinkError) Error() string { return e.err.Error() }

// reader reads the present content of one path.
type reader struct {
	sink   Sink
	src    Source
	worker int

	info  rootfs.Info
	attrs rootfs.Attrs
	doubt bool
	held  []heldFile
}

// entry reads a name: content into the sink, stat and attributes into r. prev
// is what it was, and gives its mark; of a directory, nothing but what prev holds may be in it.
func (r *reader) entry(d rootfs.Dir, name string, prev manifest.Entry) (manifest.Entry, error) {
	e, err := r.unmarked(d, name, prev)
	e.Precious = prev.Precious && err == nil && !isDir(e)
	return e, err
}

func (r *reader) unmarked(d rootfs.Dir, name string, prev manifest.Entry) (manifest.Entry, error) {
	for try := range 3 {
		if try == 0 && prev.IsFile() { // most likely it still is one
			e, err := r.file(d, name, prev)
			if err == errRacing || errors.Is(err, rootfs.ErrLink) || errors.Is(err, rootfs.ErrNotRegular) {
				continue
			}
			return e, err
		}
		info, err := d.Lstat(name)
		if err != nil {
			return manifest.Entry{}, err
		}
		var e manifest.Entry
		switch info.Kind {
		case rootfs.Regular:
			e, err = r.file(d, name, prev)
		case rootfs.Link:
			r.info = info
			e = manifest.Entry{Name: name, Kind: manifest.Symlink}
			e.Target, err = d.Readlink(name)
		case rootfs.Directory:
			return r.dir(d, name, prev, info, "", 0)
		default:
			return manifest.Entry{}, errors.New("a " + info.Kind.String())
		}
		if err == errRacing {
			continue
		}
		return e, err
	}
	return manifest.Entry{}, errRacing
}

// placed is a content that knows where it is.
type placed struct {
	io.Reader
	path string
}

func (p placed) Path() string { return p.path }

func (r *reader) file(d rootfs.Dir, name string, prev manifest.Entry) (manifest.Entry, error) {
	start := time.Now().UnixNano()
	f, info, err := d.OpenFile(name)
	if err != nil {
		return manifest.Entry{}, err
	}
	defer f.Close()
	var hint oid.ID
	if prev.IsFile() {
		hint = prev.ID
	}
	kind, id, n, err := r.sink.Content(r.worker, placed{io.LimitReader(f, info.Size), path.Join(d.Path(), name)}, info.Size, hint)
	if err != nil {
		var pe *fs.PathError
		if errors.As(err, &pe) && pe.Op == "read" {
			return manifest.Entry{}, err // the file's fault, not the sink's
		}
		return manifest.Entry{}, &sinkError{err}
	}
	if r.attrs, err = rootfs.ReadAttrs(f); err != nil {
		return manifest.Entry{}, err
	}
	after, err := d.Lstat(name)
	if err != nil {
		return manifest.Entry{}, err
	}
	if after != info || n != info.Size {
		return manifest.Entry{}, errRacing
	}
	r.info = info
	r.doubt = max(info.Ctime, info.Mtime) > start-grain(info)
	return manifest.Entry{Name: name, Kind: kind, Mode: info.Mode, Size: uint64(n), ID: id}, nil
}

// dir reads a whole directory; at is its path below the first one.
func (r *reader) dir(d rootfs.Dir, name string, prev manifest.Entry, info rootfs.Info, at string, depth int) (manifest.Entry, error) {
	if depth > manifest.MaxDepth {
		return manifest.Entry{}, &manifest.DepthError{Path: at}
	}
	var known manifest.Dir
	if isDir(prev) {
		var err error
		if known, err = loadDir(r.src, prev.ID); err != nil {
			return manifest.Entry{}, err
		}
	}
	sub, err := d.Subdir(name)
	if err != nil {
		return manifest.Entry{}, err
	}
	defer sub.Close()
	names, err := sub.Names()
	if err != nil {
		return manifest.Entry{}, err
	}
	slices.Sort(names)
	e := manifest.Entry{Name: name, Kind: manifest.Subdir, Mode: info.Mode}
	var m manifest.Dir
	for _, name := range names {
		was, ok := known.Lookup(name)
		if !ok {
			return manifest.Entry{}, errHolds
		}
		below := rootfs.Join(at, name)
		i, err := sub.Lstat(name)
		if err != nil {
			return manifest.Entry{}, err
		}
		var child manifest.Entry
		if i.Kind == rootfs.Directory {
			if child, err = r.dir(sub, name, was, i, below, depth+1); err != nil {
				return manifest.Entry{}, err
			}
		} else {
			one := reader{sink: r.sink, src: r.src, worker: r.worker}
			if child, err = one.entry(sub, name, was); err != nil {
				return manifest.Entry{}, err
			}
			if isDir(child) {
				return manifest.Entry{}, errRacing
			}
			r.doubt = r.doubt || one.doubt
			i = one.info
		}
		m.Entries = append(m.Entries, child)
		r.held = append(r.held, heldFile{below, i})
	}
	r.info, r.attrs = info, nil
	e.Files, e.Size = m.Totals()
	e.ID, err = r.sink.Dir(r.worker, m.Append(nil), prev.ID)
	if err != nil {
		return manifest.Entry{}, &sinkError{err}
	}
	return e, nil
}
