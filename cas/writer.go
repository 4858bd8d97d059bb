package cas

import (
	"bytes"
	"fmt"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/pack"
)

// Writer stages objects of one goroutine. It has an open block for whole
// objects and one for deltas, which are compressed already.
type Writer struct {
	b      *Batch
	size   int // of a block
	whole  *stagedBlock
	deltas *stagedBlock
	delta  []byte // for the delta being made
	base   []byte // for its base
	again  []byte // for what the delta leads to
	cut    cutter
	credit int // of PutFile: how many more deltas in vain end the attempts
}

// Writer returns a staging writer for one goroutine.
func (b *Batch) Writer() *Writer {
	w := &Writer{b: b, size: pack.BlockSize}
	if b.dense {
		w.size = pack.DenseBlockSize
	}
	return w
}

// Put stages data under id unless it is known; data is not kept. base, if not
// zero, is an older version to store a delta against where that is smaller.
func (w *Writer) Put(id oid.ID, data []byte, base oid.ID) (added bool, err error) {
	if len(data) > pack.MaxObject {
		return false, fmt.Errorf("an object of %d bytes is too large", len(data))
	}
	if !w.b.claim(id) {
		return false, nil
	}
	if added, err = w.stage(id, data, base); err != nil {
		// Others count on the id by now.
		return false, w.b.fail(err)
	}
	return added, nil
}

// claim notes an object that the batch has not yet, so that another writer need not look; false: it has it.
func (b *Batch) claim(id oid.ID) bool {
	h := b.shard(id)
	h.mu.Lock()
	defer h.mu.Unlock()
	_, added := h.known.Add(id)
	if added {
		h.places = append(h.places, blockPos{})
	}
	return added
}

func (w *Writer) stage(id oid.ID, data []byte, base oid.ID) (added bool, err error) {
	if !w.b.dense {
		known, err := w.b.s.known(id)
		if known || err != nil {
			return false, err
		}
	}
	if base != (oid.ID{}) && base != id {
		done, err := w.putDelta(id, data, base)
		if done || err != nil {
			w.credit++
			return done, err
		}
		w.credit--
	}
	return true, w.putWhole(id, data)
}

// putDelta stages data as a delta if that is clearly smaller.
//
// The base must be in the store. One of the same batch could be flushed later
// than its delta: a crash between would leave a delta that the next save finds
// known, and that cannot be read.
func (w *Writer) putDelta(id oid.ID, data []byte, base oid.ID) (done bool, err error) {
	if p, ok := w.b.place(base); ok && p.block != nil && !w.b.dense {
		return false, nil
	}
	depth, ok := w.b.depth(base)
	if !ok || depth >= pack.MaxDepth {
		return false, nil
	}
	if w.base, err = w.b.Get(w.base[:0], base); err != nil {
		w.base = nil
		return false, nil // a base that cannot be read is no base
	}
	// Sources shrink to a quarter in a block; half of that is clearly smaller.
	delta, ok := pack.AppendDelta(w.delta[:0], w.base, data, len(data)/8-24)
	w.delta = delta
	if !ok {
		return false, nil
	}
	// Making the object again costs a tenth of making the delta.
	if again, err := pack.ApplyDelta(w.again[:0], w.base, delta, len(data)); err != nil || !bytes.Equal(again, data) {
		return false, nil
	} else {
		w.again = again
	}
	if err := w.put(&w.deltas, pack.Entry{ID: id, Length: len(delta), Delta: true, Size: len(data), Base: pack.PrefixOf(base), Depth: uint8(depth + 1)}, delta); err != nil {
		return false, err
	}
	return true, nil
}

// putStored stages a delta as another pack had it, unless the batch has the object.
func (w *Writer) putStored(e pack.Entry, data []byte) error {
	if !w.b.claim(e.ID) {
		return nil
	}
	if err := w.put(&w.deltas, e, data); err != nil {
		return w.b.fail(err)
	}
	return nil
}

// depth is the number of bases behind an object, in whichever place of it they are the most; ok is false where it is unknown.
func (b *Batch) depth(id oid.ID) (depth int, ok bool) {
	if p, ok := b.place(id); ok && p.block != nil {
		e, _, err := b.stored1(p)
		if err != nil {
			return 0, false
		}
		if e.Delta {
			depth = int(e.Depth)
		}
		if !b.dense {
			return depth, true
		}
	} else if known, err := b.s.known(id); err != nil || !known {
		return 0, false
	}
	elsewhere, ok := b.s.deepest(pack.PrefixOf(id))
	return max(depth, elsewhere), ok
}

// deepest is the number of bases behind an object of the store: the largest of those that its places say and of those found now. The
// bases can be in other places now than when it was stored. ok is false where they lead nowhere.
func (s *Store) deepest(x pack.Prefix) (depth int, ok bool) {
	for _, at := range s.locations(x) {
		e, _, err := s.stored(at, x)
		if err != nil {
			return 0, false
		}
		if e.Delta {
			depth = max(depth, int(e.Depth))
		}
	}
	for found := 0; found <= pack.MaxDepth; found++ {
		e, _, err := s.baseOf(x)
		if err != nil {
			return 0, false
		}
		if !e.Delta {
			return max(depth, found), true
		}
		x = e.Base
	}
	return 0, false
}

func (w *Writer) putWhole(id oid.ID, data []byte) error {
	if len(data) >= w.size {
		// A block of its own, compressed from where the bytes lie.
		k := &stagedBlock{entries: []pack.Entry{{ID: id, Length: len(data)}}}
		if err := w.b.add(k, pack.EncodeBlock(k.entries, data, w.b.dense)); err != nil {
			return err
		}
		w.b.settle(id, k, 0)
		return nil
	}
	return w.put(&w.whole, pack.Entry{ID: id, Length: len(data)}, data)
}

// put adds an object as it is stored to an open block.
func (w *Writer) put(open **stagedBlock, e pack.Entry, data []byte) error {
	if k := *open; k != nil && (len(k.body)+len(data) > w.size || len(k.entries) == pack.MaxEntries) {
		if err := w.close(open); err != nil {
			return err
		}
	}
	k := *open
	if k == nil {
		k = &stagedBlock{open: true}
		if open == &w.whole {
			k.body = make([]byte, 0, w.size)
		}
		*open = k
		w.b.mu.Lock()
		w.b.open++
		w.b.mu.Unlock()
	}
	k.mu.Lock()
	k.entries = append(k.entries, e)
	k.body = append(k.body, data...)
	pos := len(k.entries) - 1
	k.mu.Unlock()
	w.b.settle(e.ID, k, pos)
	return nil
}

// settle notes where an object lies.
func (b *Batch) settle(id oid.ID, k *stagedBlock, pos int) {
	h := b.shard(id)
	h.mu.Lock()
	if n, ok := h.known.Find(id); ok {
		h.places[n] = blockPos{k, int32(pos)}
	}
	h.mu.Unlock()
}

// close compresses an open block and hands it to the batch.
func (w *Writer) close(open **stagedBlock) error {
	k := *open
	if k == nil {
		return nil
	}
	*open = nil
	w.b.mu.Lock()
	w.b.open--
	w.b.mu.Unlock()
	if open == &w.deltas && len(k.body) < minDeltaZip {
		return w.b.add(k, pack.RawBlock(k.entries, k.body))
	}
	return w.b.add(k, pack.EncodeBlock(k.entries, k.body, w.b.dense))
}

// minDeltaZip is the size below which a block of deltas is stored as it is:
// they are compressed already.
const minDeltaZip = 16 << 10

// Flush hands the writer's open blocks to the batch. Commit wants all writers flushed.
func (w *Writer) Flush() error {
	if err := w.close(&w.whole); err != nil {
		return err
	}
	return w.close(&w.deltas)
}
