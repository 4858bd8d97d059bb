package remote

import (
	"context"
	"errors"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/manifest"
)

// object reads, checks and opens one object.
func (c *cloning) object(ctx context.Context, name string, s stamp) (h head, bundle []byte, err error) {
	sealed, err := c.b.Get(ctx, name, s.size)
	if err != nil {
		return h, nil, err
	}
	if stampOf(sealed) != s {
		return h, nil, &BadObjectError{name, "its bytes are not those that were pushed"}
	}
	data, by, err := c.keys.Open(sealed)
	if err != nil {
		return h, nil, &BadObjectError{name, "the key of the remote does not open it: " + err.Error()}
	}
	h, bundle, err = parseObject(name, data)
	h.by = by
	return h, bundle, err
}

// fetched is an object on its way.
type fetched struct {
	name   string
	stamp  stamp
	head   head
	bundle []byte
	err    error
	ready  chan struct{}
}

// atOnce is how many requests are under way; bytesAhead, how many bytes of objects are kept for those that come before.
const (
	atOnce     = 16
	bytesAhead = 128 << 20
)

// fetch gets objects, some at once, and gives them to use in their order.
func (c *cloning) fetch(ctx context.Context, names []string, stamps []stamp, use func(i int, h head, bundle []byte) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	queue := make(chan *fetched, atOnce)
	slots := make(chan struct{}, atOnce)
	go func() {
		defer close(queue)
		for i, name := range names {
			f := &fetched{name: name, stamp: stamps[i], ready: make(chan struct{})}
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return
			}
			go func() {
				f.head, f.bundle, f.err = c.object(ctx, f.name, f.stamp)
				close(f.ready)
			}()
			queue <- f
		}
	}()
	i := 0
	for f := range queue {
		<-f.ready
		<-slots
		if f.err != nil {
			return f.err
		}
		c.done.Requests++
		c.done.Bytes += f.stamp.size
		if err := use(i, f.head, f.bundle); err != nil {
			return err
		}
		i++
	}
	return ctx.Err()
}

// fill puts the log and its objects into the new store, and gives it the remote.
func (c *cloning) fill(ctx context.Context, o CloneOptions, a about, chain []segmentName) error {
	p := c.done.Project
	if err := p.Writing(ctx); err != nil {
		return err
	}
	release, err := p.Use(ctx)
	if err != nil {
		return err
	}
	defer release()
	batch := p.Store.NewBatch()
	var commits []cas.Commit
	r := &received{cloning: c, batch: batch}
	names, stamps := make([]string, len(chain)), make([]stamp, len(chain))
	for i, n := range chain {
		names[i], stamps[i] = n.String(), n.stamp
	}
	count := p.Counting("clone", "segment")
	before := ""
	err = c.fetch(ctx, names, stamps, func(i int, h head, bundle []byte) error {
		n := chain[i]
		if h.Before != before {
			return &BadObjectError{names[i], "it does not continue the segment that its name says"}
		}
		before = n.stamp.String()
		if o.Log == "" && !h.signed(bundle) {
			return &UnsignedError{parentOf(chain[len(chain)-1].stamp)}
		}
		if err := r.packs(ctx, h); err != nil {
			return err
		}
		some, err := r.bundle(names[i], bundle)
		if err != nil {
			return err
		}
		if len(some) == 0 || some[0].Seq != n.first || some[len(some)-1].Seq != n.last {
			return &BadObjectError{names[i], "it does not hold the entries that its name says"}
		}
		if h.Machine != "" {
			c.done.Machine, c.done.Root = h.Machine, h.Root
		}
		commits = append(commits, some...)
		if count != nil {
			count(i+1, len(chain))
		}
		return nil
	})
	if err != nil {
		return errors.Join(err, batch.Discard())
	}
	wait, cancel := p.Wait(ctx)
	defer cancel()
	app, err := p.Store.Append(wait)
	if err != nil {
		return p.Classify(errors.Join(err, batch.Discard()))
	}
	at, err := app.Import(batch, commits)
	if err = errors.Join(err, app.Close()); err != nil {
		return p.Classify(err)
	}
	for _, m := range commits {
		if record, err := manifest.ParseRecord(m.Payload); err == nil && record.Checkpoint != nil {
			c.done.Checkpoints++
		}
	}
	return c.join(ctx, o, a, before, commits[len(commits)-1], at, r.ids)
}

// join gives the new store its remote: what was received need not be sent.
func (c *cloning) join(ctx context.Context, o CloneOptions, a about, before string, newest cas.Commit, at cas.Position, ids []oid.ID) error {
	p := c.done.Project
	r := newRemote(p, o.Name, Config{URL: absolute(p.Env, o.URL), ID: a.ID, Recipient: a.Recipient})
	if err := keepKeys(p.Env, a.ID, c.keys); err != nil {
		return err
	}
	if err := r.create(ctx); err != nil {
		return err
	}
	m := mark{Writer: newWriterID(), Store: p.ID.String(), At: positionText(at), Seq: newest.Seq, Payload: payloadHash(newest),
		Before: before, First: true, Time: p.Env.Time(), Boot: p.Env.BootTime()}
	s, err := r.readSent(&m)
	if err != nil {
		return err
	}
	if err = errors.Join(s.write(ids), s.close()); err != nil {
		return err
	}
	m.Sent, m.Whole = len(ids), len(ids)
	c.done.Remote = r
	return r.write(markName, m)
}

// received is what has come so far.
type received struct {
	*cloning
	batch *cas.Batch
	ids   []oid.ID
}

// packs receives the packs that a segment names.
func (r *received) packs(ctx context.Context, h head) error {
	names, stamps := make([]string, len(h.Packs)), make([]stamp, len(h.Packs))
	for i, text := range h.Packs {
		stamps[i], _ = parseStamp(text) // checked when the head was read
		names[i] = stamps[i].packName()
	}
	return r.fetch(ctx, names, stamps, func(i int, _ head, bundle []byte) error {
		_, err := r.bundle(names[i], bundle)
		return err
	})
}

func (r *received) bundle(name string, bundle []byte) ([]cas.Commit, error) {
	commits, ids, err := r.batch.Receive(bundle)
	var damaged *cas.DamagedError
	if errors.As(err, &damaged) {
		return nil, &BadObjectError{name, damaged.Reason}
	}
	r.ids = append(r.ids, ids...)
	return commits, err
}
