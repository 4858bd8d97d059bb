package remote

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/remote/bucket"
	"github.com/rewind-cli/rewind/manifest"
)

// reader reads the objects of a remote.
type reader struct {
	b    bucket.Bucket
	keys unlocked
	at   *listed // nil: only single objects are read
	keep string  // a directory for large objects, in which an interrupted clone finds them again; "": none

	mu       sync.Mutex
	requests int
	bytes    int64
}

// keptFrom is the size from which objects are kept. Tests make it small.
var keptFrom int64 = 256 << 10

// get reads an object, and checks that its bytes are those of its name.
func (r *reader) get(ctx context.Context, name string, s stamp) ([]byte, error) {
	file := ""
	if r.keep != "" && s.size >= keptFrom {
		file = filepath.Join(r.keep, s.String())
		if sealed, err := vfs.ReadSmall(file, s.size, vfs.NoFollow); err == nil && stampOf(sealed) == s {
			return sealed, nil
		}
	}
	sealed, err := r.b.Get(ctx, name, s.size)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	r.requests++
	r.bytes += int64(len(sealed))
	r.mu.Unlock()
	if stampOf(sealed) != s {
		return nil, &BadObjectError{name, "its bytes are not those that were pushed"}
	}
	if file != "" {
		_ = os.WriteFile(file, sealed, 0o600) // without it, it is fetched again; what is torn does not fit its name
	}
	return sealed, nil
}

// merge reads a merge.
func (r *reader) merge(ctx context.Context, n segmentName) ([]sealedSegment, error) {
	body, err := r.get(ctx, n.String(), n.stamp)
	if err != nil {
		return nil, err
	}
	return parseMerge(n, body)
}

// opened is an object that was decrypted: a pack, or a segment of a name.
type opened struct {
	name   string
	of     segmentName
	head   head
	bundle []byte
}

// open decrypts an object.
func (r *reader) open(name string, sealed []byte) (o opened, err error) {
	data, by, err := r.keys.Open(sealed)
	if err != nil && r.keys.Newer {
		return o, &KeyError{Reason: name + " is sealed for a newer key of the remote, which this account does not have", For: r.keys.ring.Claims()}
	}
	if err != nil {
		return o, &BadObjectError{name, "the key of the remote does not open it: it is damaged, or sealed for another key"}
	}
	o.name = name
	o.head, o.bundle, err = parseObject(name, data)
	o.head.by = by
	return o, err
}

// segments reads a piece of a log. A merge that is not what it should be is passed over where the segments that it holds are still there.
func (r *reader) segments(ctx context.Context, p piece) ([]sealedSegment, error) {
	n := p.object
	if !n.merge() {
		sealed, err := r.get(ctx, n.String(), n.stamp)
		return []sealedSegment{{n, sealed}}, err
	}
	all, err := r.merge(ctx, n)
	if err == nil {
		i := slices.IndexFunc(all, func(s sealedSegment) bool { return parentOf(s.stamp) == p.id })
		return all[:i+1], nil
	}
	var bad *BadObjectError
	if !errors.As(err, &bad) && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	r.mu.Lock()
	r.at.bad[n.String()] = true
	instead, _ := r.at.path(n.parent, p.id)
	r.mu.Unlock()
	if instead == nil {
		return nil, err
	}
	all = nil
	for _, q := range instead {
		some, err := r.segments(ctx, q)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// log reads the pieces of a log and gives use their segments, oldest first.
func (r *reader) log(ctx context.Context, pieces []piece, use func(opened) error) error {
	return inOrder(ctx, len(pieces), func(ctx context.Context, i int) ([]opened, error) {
		all, err := r.segments(ctx, pieces[i])
		if err != nil {
			return nil, err
		}
		return r.openAll(ctx, all)
	}, func(_ int, some []opened) error {
		for _, o := range some {
			if err := use(o); err != nil {
				return err
			}
		}
		return nil
	})
}

func (r *reader) openAll(ctx context.Context, all []sealedSegment) (out []opened, err error) {
	err = inOrder(ctx, len(all), func(_ context.Context, i int) (opened, error) {
		o, err := r.open(all[i].String(), all[i].sealed)
		o.of = all[i].segmentName
		return o, err
	}, func(_ int, o opened) error {
		out = append(out, o)
		return nil
	})
	return out, err
}

// atOnce is how many requests are under way.
const atOnce = 16

// inOrder gets n things, some at once, and gives them to use in their order. When it returns, none is under way.
func inOrder[T any](ctx context.Context, n int, get func(ctx context.Context, i int) (T, error), use func(i int, v T) error) error {
	type coming struct {
		v     T
		err   error
		ready chan struct{}
	}
	var all sync.WaitGroup
	defer all.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	queue := make(chan *coming, atOnce)
	slots := make(chan struct{}, atOnce)
	all.Go(func() {
		defer close(queue)
		for i := range n {
			f := &coming{ready: make(chan struct{})}
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return
			}
			all.Go(func() {
				defer close(f.ready)
				f.v, f.err = get(ctx, i)
			})
			queue <- f
		}
	})
	i := 0
	for f := range queue {
		<-f.ready
		<-slots
		if f.err != nil {
			return f.err
		}
		if err := use(i, f.v); err != nil {
			return err
		}
		i++
	}
	return ctx.Err()
}

// fill puts the log and its objects into the new store, and gives it the remote.
func (c *cloning) fill(ctx context.Context, o CloneOptions, a about, path []piece) error {
	p := c.done.Project
	if err := p.BeginWriting(ctx); err != nil {
		return err
	}
	release, err := p.Use(ctx)
	if err != nil {
		return err
	}
	defer release()
	batch := p.Store.NewBatch()
	var commits []cas.Commit
	r := &received{cloning: c, batch: batch, writers: map[writerID]machine{}}
	count := p.Counting("clone", "entry")
	before := ""
	entries := int(path[len(path)-1].last)
	err = c.log(ctx, path, func(s opened) error {
		n, h := s.of, s.head
		if h.Before != before {
			return &BadObjectError{s.name, "it does not continue the segment that its name says"}
		}
		before = n.stamp.String()
		if o.Log == "" && !h.signed(ofSegment, s.bundle) {
			return &UnsignedError{path[len(path)-1].id}
		}
		if err := r.packs(ctx, h); err != nil {
			return err
		}
		some, err := r.bundle(s.name, s.bundle)
		if err != nil {
			return err
		}
		if len(some) == 0 || some[0].Seq != n.first || some[len(some)-1].Seq != n.last {
			return &BadObjectError{s.name, "it does not hold the entries that its name says"}
		}
		if h.Machine != "" {
			c.done.Machine, c.done.Root = h.Machine, h.Root
			r.writers[n.writer] = machine{h.Machine, h.Root}
		}
		commits = append(commits, some...)
		count(int(n.last), entries)
		return nil
	})
	if err != nil {
		return errors.Join(err, batch.Discard())
	}
	newest := commits[len(commits)-1]
	var m mark
	if !a.Share {
		if m, err = c.join(ctx, o, a, before, newest, r); err != nil {
			return errors.Join(err, batch.Discard())
		}
	}
	wait, cancel := p.Wait(ctx)
	defer cancel()
	app, err := p.Store.Append(wait)
	if err != nil {
		return p.Classify(errors.Join(err, batch.Discard()))
	}
	at, err := app.Import(batch, commits) // all else is there already: a store that has a log is whole
	if err = errors.Join(err, app.Close()); err != nil {
		return p.Classify(err)
	}
	for _, m := range commits {
		if record, err := manifest.ParseRecord(m.Payload); err == nil && record.Checkpoint != nil {
			c.done.Checkpoints++
		}
	}
	if a.Share {
		return nil
	}
	m.At = positionText(at) // saves requests of the next push
	return c.done.Remote.write(markName, m)
}

// join gives the new store its remote, and the mark of its next push: what was received need not be sent.
func (c *cloning) join(ctx context.Context, o CloneOptions, a about, before string, newest cas.Commit, got *received) (m mark, err error) {
	p := c.done.Project
	r := newRemote(p, o.Name, Config{URL: absolute(p.Env, o.URL), ID: a.ID, Recipient: a.Recipient})
	c.keys.config(&r.Config)
	if err := keepKeys(p.Env, a.ID, c.keys.Keys, o.Key.File); err != nil {
		return m, err
	}
	if err := r.create(ctx); err != nil {
		return m, err
	}
	m = mark{Writer: newWriterID(), Store: p.ID.String(), Seq: newest.Seq, Payload: commitHash(newest),
		Before: before, First: true, Time: p.Env.Time(), Boot: r.started()}
	s, err := r.readSent(&m)
	if err != nil {
		return m, err
	}
	if err = errors.Join(s.write(got.ids), s.close()); err != nil {
		return m, err
	}
	m.Sent, m.Whole = len(got.ids), len(got.ids)
	c.done.Remote = r
	if len(got.named) > 0 {
		if err := r.notePacks(got.named); err != nil {
			return m, err
		}
	}
	return m, errors.Join(r.write(machinesName, got.writers), r.write(markName, m))
}

// received is what has come so far.
type received struct {
	*cloning
	batch   *cas.Batch
	ids     []oid.ID
	named   []string             // stamps of packs
	writers map[writerID]machine // whose the segments were
}

// packs receives the packs that a segment names.
func (r *received) packs(ctx context.Context, h head) error {
	names, stamps := make([]string, len(h.Packs)), make([]stamp, len(h.Packs))
	for i, text := range h.Packs {
		stamps[i], _ = parseStamp(text) // checked when the head was read
		names[i] = stamps[i].packName()
	}
	r.named = append(r.named, h.Packs...)
	return inOrder(ctx, len(names), func(ctx context.Context, i int) (o opened, err error) {
		sealed, err := r.get(ctx, names[i], stamps[i])
		if err != nil {
			return o, err
		}
		return r.open(names[i], sealed)
	}, func(_ int, o opened) error {
		_, err := r.bundle(o.name, o.bundle)
		return err
	})
}

func (r *received) bundle(name string, bundle []byte) ([]cas.Commit, error) {
	commits, ids, err := r.batch.Receive(bundle)
	if damaged, ok := errors.AsType[*cas.DamagedError](err); ok {
		return nil, &BadObjectError{name, damaged.Reason}
	}
	r.ids = append(r.ids, ids...)
	return commits, err
}
