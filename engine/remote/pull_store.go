package remote

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/reach"
	"github.com/rewind-cli/rewind/manifest"
)

// groupBytes is how many bytes of segments are put into the store at a time.
const groupBytes = 8 << 20

// pulledLog is a log that is being pulled.
type pulledLog struct {
	*pulling
	l       project.PulledLog
	commits *cas.Store // of the log
	group   []arrived  // fetched, and not in the store yet
	size    int        // of these, in bytes
}

// arrived is a segment that was fetched and checked. Its packs are in files.
type arrived struct {
	name   segmentName
	packs  []stamp
	bundle []byte
}

// begin opens the commits of a log. One that was not pulled before begins with those that are at hand.
func (u *pulling) begin(ctx context.Context, l project.PulledLog, b base, known bool) (*pulledLog, error) {
	if known {
		commits, err := l.Open(u.p, true)
		return &pulledLog{pulling: u, l: l, commits: commits}, err
	}
	if err := os.RemoveAll(l.Dir); err != nil {
		return nil, err
	}
	for _, dir := range []string{filepath.Dir(l.Dir), l.Dir} {
		if err := account.MakeDir(dir, u.p.Owner); err != nil {
			return nil, err
		}
	}
	l.End, l.Seq, l.Commits, l.Newer = "", 0, 0, 0
	commits, err := l.Open(u.p, true)
	if err != nil {
		return nil, err
	}
	w := &pulledLog{pulling: u, l: l, commits: commits}
	if b.last > 0 {
		err = w.copyFrom(ctx, b)
	}
	if err != nil {
		return nil, errors.Join(err, commits.Close())
	}
	return w, nil
}

// copyFrom takes over the commits that are at hand.
func (w *pulledLog) copyFrom(ctx context.Context, b base) error {
	from := w.p.Store
	if b.from != nil {
		var err error
		if from, err = b.from.Open(w.p, false); err != nil {
			return err
		}
		defer from.Close()
	}
	var all []cas.Commit
	for c, err := range from.Commits(1) {
		if err != nil {
			return err
		}
		if c.Seq > b.last {
			break
		}
		all = append(all, c)
	}
	return w.locked(ctx, func() error { return w.add(ctx, all, b.id, b.last) })
}

// locked calls do while no gc and no forget is under way: what it finds in the store, and what it puts there, stays until the log says
// that it is needed.
func (w *pulledLog) locked(ctx context.Context, do func() error) error {
	lock, err := w.p.Lock(ctx, project.SweepLock)
	if err != nil {
		return err
	}
	defer lock.Release()
	release, err := w.p.Use(ctx)
	if err != nil {
		return err
	}
	defer release()
	return do()
}

// add puts commits into the log, and notes that it goes up to a segment, whose id is end and whose newest commit is last.
func (w *pulledLog) add(ctx context.Context, all []cas.Commit, end string, last uint64) error {
	for len(all) > 0 && all[0].Seq <= w.l.Seq {
		all = all[1:]
	}
	if len(all) > 0 {
		wait, cancel := w.p.Wait(ctx)
		defer cancel()
		a, err := w.commits.Append(wait)
		if err != nil {
			return err
		}
		_, err = a.Import(nil, all)
		if err = errors.Join(err, a.Close()); err != nil {
			return err
		}
		w.l.Commits += len(all)
		w.l.Seq = all[len(all)-1].Seq
	}
	if last >= w.l.Seq {
		w.l.End, w.l.Seq = end, last
	}
	w.l.Whole = false // until that was looked at
	w.l.Pulled = w.p.Env.Time().UTC()
	return w.p.WritePulled(w.l)
}

// receive fetches what follows a base, and puts it into the store. What came before an error stays.
func (w *pulledLog) receive(ctx context.Context, path []piece, b base) error {
	if len(path) == 0 {
		return nil
	}
	end := path[len(path)-1]
	before := b.id
	count := w.p.Counting("pull", "entry")
	named := w.isNamed(ctx, end.id)
	err := w.reader.log(ctx, path, func(s opened) error {
		if s.of.last <= b.last {
			if s.of.last == b.last && s.of.id() != b.id {
				return &lacksError{BadObjectError{s.name, "what was pulled before is not what it continues"}}
			}
			return nil
		}
		if s.of.parent != before || s.head.before() != before {
			return &BadObjectError{s.name, "it does not continue the segment that its name says"}
		}
		before = s.of.id()
		if !named && !s.head.signed(ofSegment, s.bundle) {
			return &UnsignedError{end.id}
		}
		if err := w.who(s.of.writer, s.head); err != nil {
			return err
		}
		a := arrived{name: s.of, bundle: s.bundle}
		for _, text := range s.head.Packs {
			pack, _ := parseStamp(text) // checked when the head was read
			if err := w.keepPack(ctx, pack); err != nil {
				return err
			}
			a.packs = append(a.packs, pack)
		}
		w.group = append(w.group, a)
		if w.size += len(s.bundle); w.size >= groupBytes || len(a.packs) > 0 {
			if err := w.store(ctx); err != nil {
				return err
			}
		}
		count(int(s.of.last), int(end.last))
		return nil
	})
	if ctx.Err() != nil {
		return errors.Join(err, ctx.Err())
	}
	if serr := w.store(ctx); serr != nil && err == nil {
		err = serr
	}
	return err
}

// before is the id of the segment that a head says it continues; noParent for the first.
func (h head) before() string {
	if s, ok := parseStamp(h.Before); ok {
		return parentOf(s)
	}
	return noParent
}

// isNamed reports whether the person asked for a log, or for a segment of it, by its id.
func (u *pulling) isNamed(ctx context.Context, end string) bool {
	if u.o.Log == "" {
		return false
	}
	log, err := u.named(ctx, u.o.Log)
	return strings.HasPrefix(end, u.o.Log) || err == nil && log.ID == end
}

// who notes whose a writer is.
func (w *pulledLog) who(id writerID, h head) error {
	if h.Machine == "" || w.machines[id] != (machine{}) {
		return nil
	}
	w.machines[id] = machine{h.Machine, h.Root}
	return w.write(machinesName, w.machines)
}

// keepPack fetches a pack into a file, unless an interrupted pull has done so.
func (w *pulledLog) keepPack(ctx context.Context, s stamp) error {
	dir := filepath.Join(w.dir, incomingName)
	file := filepath.Join(dir, s.String())
	if sealed, err := vfs.ReadSmall(file, s.size, vfs.NoFollow); err == nil && stampOf(sealed) == s {
		return nil
	}
	sealed, err := w.reader.get(ctx, s.packName(), s)
	if err != nil {
		return err
	}
	if err := account.MakeDir(dir, w.p.Owner); err != nil {
		return err
	}
	return account.WriteFile(file, sealed, w.p.Owner)
}

// dropIncoming removes the files of packs.
func (u *pulling) dropIncoming() error {
	return os.RemoveAll(filepath.Join(u.dir, incomingName))
}

// store puts what was fetched into the store: the objects, then the commits.
func (w *pulledLog) store(ctx context.Context) error {
	group := w.group
	w.group, w.size = nil, 0
	if len(group) == 0 {
		return nil
	}
	return w.locked(ctx, func() error {
		batch := w.p.Store.NewBatch()
		var commits []cas.Commit
		for _, a := range group {
			some, err := w.unpack(batch, a)
			if err != nil {
				return errors.Join(err, batch.Discard())
			}
			commits = append(commits, some...)
		}
		if err := batch.Keep(); err != nil {
			return err
		}
		end := group[len(group)-1].name
		return w.add(ctx, commits, end.id(), end.last)
	})
}

// unpack stages the objects of a segment and of its packs.
func (w *pulledLog) unpack(batch *cas.Batch, a arrived) ([]cas.Commit, error) {
	for _, s := range a.packs {
		sealed, err := vfs.ReadSmall(filepath.Join(w.dir, incomingName, s.String()), s.size, vfs.NoFollow)
		if err != nil {
			return nil, err
		}
		o, err := w.reader.open(s.packName(), sealed)
		if err == nil {
			_, err = w.stage(batch, o.name, o.bundle)
		}
		if err != nil {
			return nil, err
		}
	}
	commits, err := w.stage(batch, a.name.String(), a.bundle)
	if err != nil {
		return nil, err
	}
	if n := len(commits); n == 0 || commits[0].Seq != a.name.first || commits[n-1].Seq != a.name.last {
		return nil, &BadObjectError{a.name.String(), "it does not hold the entries that its name says"}
	}
	return commits, nil
}

func (w *pulledLog) stage(batch *cas.Batch, name string, bundle []byte) ([]cas.Commit, error) {
	commits, _, err := batch.Receive(bundle)
	if damaged, ok := errors.AsType[*cas.DamagedError](err); ok {
		return nil, &lacksError{BadObjectError{name, damaged.Reason}}
	}
	return commits, err
}

// lacksError: a bundle does not fit what the store has: it is damaged, or relies on an object that is not here.
type lacksError struct{ bad BadObjectError }

func (e *lacksError) Error() string { return e.bad.Error() }
func (e *lacksError) Unwrap() error { return &e.bad }

// complete reports whether the store has all objects that the log's checkpoints need. Those that are older than the log's beginning
// here could be gone from it.
func (w *pulledLog) complete(ctx context.Context) bool {
	whole := true
	err := w.locked(ctx, func() error {
		log, err := manifest.Replay(ctx, w.l.Log(w.p, w.commits), 1, manifest.Skip)
		if err != nil {
			return err
		}
		needs := reach.Of(w.p, false)
		for _, c := range log.Checkpoints() {
			if c.Seq <= w.l.Fork {
				break // they are this store's own, or were
			}
			if err := needs.Record(ctx, manifest.Record{Checkpoint: &c}); err != nil {
				return err
			}
			if whole = len(needs.Lost) == 0; !whole {
				return nil
			}
		}
		var buf []byte
		for _, id := range needs.Added() {
			if w.o.Check {
				if buf, err = w.p.Store.Get(buf[:0], id); err != nil {
					whole = false // all are read, so that each damaged one is stored again
				}
				continue
			}
			has, err := w.p.Store.Has(id)
			if err != nil || !has {
				whole = false
				return err
			}
		}
		return nil
	})
	return err == nil && whole
}

// again fetches all that a log has, from its first segment on: what the store has of it is not whole.
func (w *pulledLog) again(ctx context.Context, t tip) error {
	path, err := w.chain(ctx, noParent, t.end.id())
	if err == nil {
		err = w.receive(ctx, path, base{id: noParent})
	}
	if err == nil {
		w.l.Whole = w.complete(ctx)
	}
	if err == nil && !w.l.Whole {
		err = &BadObjectError{t.end.String(), "objects that its checkpoints need are not in the remote"}
	}
	return err
}

// finish notes what the log has, for who lists it.
func (w *pulledLog) finish(ctx context.Context) error {
	if w.l.End == "" { // nothing of it came
		return os.RemoveAll(w.l.Dir)
	}
	log, err := manifest.Replay(ctx, w.l.Log(w.p, w.commits), 1, manifest.Skip)
	if err != nil {
		return err
	}
	w.l.Newer = 0
	for _, c := range log.Checkpoints() { // the newest first
		if w.l.Newest.Before(c.Time) {
			w.l.Newest = c.Time
		}
		if c.Seq > w.l.Fork && c.Kind != manifest.Safety {
			w.l.Newer++
		}
	}
	return errors.Join(w.p.WritePulled(w.l), w.l.Fold(ctx, w.p, w.commits))
}
