package cas

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/pack"
)

// Batch stages objects for one commit. It is safe for concurrent use.
type Batch struct {
	s      *Store
	stored atomic.Int64
	dense  bool // gc: large blocks, better compression, objects that the store has already
	memory bool // nothing of it ever gets into a pack

	shards [64]shard

	mu     sync.Mutex
	staged []*stagedBlock // in memory, not yet in a pack
	bytes  int            // of staged
	bulk   *bulk          // nil while everything is in memory
	open   int            // writers with an open block
	done   bool
	err    error // of the bulk pack: the batch cannot be committed
}

// shard is a part of the batch's objects.
type shard struct {
	mu     sync.Mutex
	known  oid.Set
	places []blockPos // by the numbers of known
}

// blockPos is where an object of the batch lies; without a block the store has it.
type blockPos struct {
	block *stagedBlock
	pos   int32
}

// stagedBlock is a block of a batch, from its first object to the pack.
type stagedBlock struct {
	mu      sync.Mutex
	open    bool
	entries []pack.Entry // nil once the block is in the batch's pack, which has them
	body    []byte       // while open
	payload []byte       // encoded, while in memory
	at      *location    // in the batch's pack
}

// NewBatch begins to stage objects.
func (s *Store) NewBatch() *Batch { return &Batch{s: s} }

// NewMemoryBatch begins to stage objects that are read and never committed: all of them stay in memory.
func (s *Store) NewMemoryBatch() *Batch { return &Batch{s: s, memory: true} }

func (b *Batch) shard(id oid.ID) *shard { return &b.shards[id[0]&63] }

// Has reports whether the object is in the batch or in the store.
func (b *Batch) Has(id oid.ID) (bool, error) {
	if _, ok := b.place(id); ok {
		return true, nil
	}
	return b.s.Has(id)
}

func (b *Batch) place(id oid.ID) (blockPos, bool) {
	h := b.shard(id)
	h.mu.Lock()
	defer h.mu.Unlock()
	n, ok := h.known.Find(id)
	if !ok {
		return blockPos{}, false
	}
	return h.places[n], true
}

// Get reads an object of the batch or of the store (staged ones included).
func (b *Batch) Get(dst []byte, id oid.ID) ([]byte, error) {
	p, ok := b.place(id)
	if !ok || p.block == nil {
		return b.s.Get(dst, id)
	}
	start := len(dst)
	e, data, err := b.stored1(p)
	if err != nil {
		return nil, err
	}
	if dst, err = pack.AppendObject(dst, e, data, b.baseOf); err != nil {
		return nil, err
	}
	if oid.Sum(dst[start:]) != id {
		return nil, &DamagedError{ID: id, Reason: "its staged bytes do not match its id"}
	}
	return dst, nil
}

// baseOf finds the base of a staged delta, which may be staged itself.
func (b *Batch) baseOf(x pack.Prefix) (*pack.Entry, []byte, error) {
	h := &b.shards[x[0]&63]
	h.mu.Lock()
	n, ok := h.known.FindHalf(x)
	var p blockPos
	if ok {
		p = h.places[n]
	}
	h.mu.Unlock()
	if p.block != nil {
		return b.stored1(p)
	}
	return b.s.baseOf(x)
}

// stored1 returns a staged object as it is stored. The bytes stay valid.
func (b *Batch) stored1(p blockPos) (*pack.Entry, []byte, error) {
	k := p.block
	k.mu.Lock()
	if k.open {
		defer k.mu.Unlock()
		// The body may be moved when the next object comes, but not changed.
		return (&pack.Block{Entries: k.entries, Body: k.body}).At(int(p.pos))
	}
	payload, at := k.payload, k.at
	k.mu.Unlock()
	var blk *pack.Block
	var err error
	if at != nil {
		blk, err = b.s.block(*at)
	} else {
		blk, err = b.s.cache.get(cacheKey{k, 0}, func() (*pack.Block, error) { return pack.DecodeBlock(payload) })
	}
	if err != nil {
		return nil, nil, err
	}
	return blk.At(int(p.pos))
}

// StoredBytes is what the batch has added so far: compressed, with headers.
func (b *Batch) StoredBytes() int64 { return b.stored.Load() }

// add takes a closed block over from its writer.
func (b *Batch) add(k *stagedBlock, payload []byte) error {
	b.stored.Add(pack.RecordSize(len(payload)))
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return b.err
	}
	if b.done {
		return errors.New("the batch is committed or discarded")
	}
	if b.memory || b.bulk == nil && b.bytes+len(payload) <= b.s.limits.bulk && !b.dense {
		b.bytes += len(payload)
		b.staged = append(b.staged, k)
		k.mu.Lock()
		k.open, k.body, k.payload = false, nil, payload
		k.mu.Unlock()
		return nil
	}
	if b.bulk == nil {
		b.bulk = &bulk{s: b.s, dense: b.dense}
		for _, old := range b.staged {
			if b.err = b.bulk.add(old, old.payload); b.err != nil {
				return b.err
			}
		}
		b.staged, b.bytes = nil, 0
	}
	b.err = b.bulk.add(k, payload)
	return b.err
}

// Join puts the blocks of deltas that writers have flushed together into one, in which an id that several of them name is there
// once. Nothing happens where there is more than fits. A commit does it, too: who asks before that what is stored calls it first.
func (b *Batch) Join() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.join()
}

func (b *Batch) join() error {
	if b.memory || b.dense || b.bulk != nil || b.done {
		return nil
	}
	var others []*stagedBlock
	var size int64 // of the records that are joined
	small := &stagedBlock{}
	for _, k := range b.staged {
		if !allDeltas(k.entries) {
			others = append(others, k)
			continue
		}
		blk, err := pack.DecodeBlock(k.payload)
		if err != nil {
			return err
		}
		small.entries, small.body = append(small.entries, blk.Entries...), append(small.body, blk.Body...)
		size += pack.RecordSize(len(k.payload))
	}
	payload, ok := pack.SmallBlock(small.entries, small.body)
	if !ok || pack.RecordSize(len(payload)) >= size {
		return nil
	}
	small.body, small.payload = nil, payload
	b.stored.Add(pack.RecordSize(len(payload)) - size)
	b.staged, b.bytes = append(others, small), len(payload)
	for _, k := range others {
		b.bytes += len(k.payload)
	}
	return nil
}

func allDeltas(entries []pack.Entry) bool {
	return !slices.ContainsFunc(entries, func(e pack.Entry) bool { return !e.Delta })
}

// fail remembers why the batch cannot be committed.
func (b *Batch) fail(err error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.err = err
	}
	return err
}

// Discard drops what is staged and removes the batch's own pack if nothing of
// it was flushed. After a commit it does nothing.
func (b *Batch) Discard() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.done {
		return nil
	}
	b.done = true
	b.staged = nil
	if b.bulk == nil {
		return nil
	}
	return b.bulk.discard()
}

// seal makes what the batch streamed durable and returns what it holds in
// memory. The batch takes nothing more.
func (b *Batch) seal() ([]*stagedBlock, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.err != nil:
		return nil, b.err
	case b.done:
		return nil, errors.New("the batch is committed or discarded")
	case b.memory:
		return nil, errors.New("the batch is for reading only")
	case b.open > 0:
		return nil, errors.New("a writer of the batch was not flushed")
	}
	if b.bulk != nil {
		b.forget() // the index that is written now takes as much memory
		if b.err = b.bulk.finish(); b.err != nil {
			return nil, b.err
		}
	}
	if b.err = b.join(); b.err != nil {
		return nil, b.err
	}
	return b.staged, nil
}

// committed says that all objects of the batch are the store's.
func (b *Batch) committed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done, b.staged = true, nil
	b.forget()
	b.s.mu.Lock()
	b.s.ready = false // the next look-up sees what is new
	b.s.mu.Unlock()
}

// forget lets go of where the objects lie: nobody asks for one any more, or finds it in the store.
func (b *Batch) forget() {
	for i := range b.shards {
		h := &b.shards[i]
		h.mu.Lock()
		h.known, h.places = oid.Set{}, nil
		h.mu.Unlock()
	}
}
