package cas

import (
	"bytes"
	"io"

	"github.com/zeebo/blake3"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/pack"
)

// Bundle collects objects and commits of a store in memory, as the records of a pack without its header,
// for another store to receive. Objects keep their compression as deltas where the other side has the base. It is
// for one goroutine.
type Bundle struct {
	s       *Store
	reader  *Reader
	has     func([16]byte) bool
	buf     []byte
	region  int // start of what the next commit covers
	commits uint64
	whole   open
	deltas  open
}

// open is a block that is being filled.
type open struct {
	entries []pack.Entry
	body    []byte
}

// NewBundle begins one. has says, by the first half of their ids, which objects whoever receives it will have by then: it is asked
// for the bases of deltas, also for what this bundle has.
func (s *Store) NewBundle(has func([16]byte) bool) *Bundle {
	return &Bundle{s: s, reader: s.NewReader(s.Get), has: has}
}

// Add adds an object of the store. Its bytes are checked. Errors: those of Get.
func (b *Bundle) Add(id oid.ID) error {
	whole, err := b.reader.View(id)
	if err != nil {
		return err
	}
	// What is damaged in its first place was read from another one: then it goes as a whole.
	if e, data := b.s.asStored(id); e != nil && e.Delta && b.has(e.Base) {
		b.put(&b.deltas, *e, data)
		return nil
	}
	b.AddBytes(id, whole)
	return nil
}

// AddBlock adds a block as WholeBlocks gives it.
func (b *Bundle) AddBlock(payload []byte) {
	b.flush()
	b.buf = pack.AppendRecord(b.buf, 0, int64(len(b.buf)), pack.BlockRecord, payload)
}

// WholeBlocks visits the blocks that have nothing but objects that are wanted, none of them a delta, as they are stored: a bundle
// takes them without compressing anything again. The bytes are checked against the record's checksum, not against the ids. An object
// may be in several blocks.
func (s *Store) WholeBlocks(wants func(oid.ID) bool, visit func(ids []oid.ID, payload []byte) error) error {
	packs, err := s.snapshot()
	if err != nil {
		return err
	}
	for _, p := range packs {
		err := s.eachTable(p, 0, true, func(ref pack.BlockRef, b *pack.Block) error {
			for i := range b.Entries {
				if b.Entries[i].Delta || !wants(b.Entries[i].ID) {
					return nil
				}
			}
			f, err := p.open()
			if err != nil {
				return err
			}
			payload, err := pack.ReadPayload(f, p.seed, ref)
			if pack.IsMalformed(err) {
				return nil // Add finds another copy, or says that there is none
			}
			if err != nil {
				return err
			}
			return visit(b.IDs(), payload)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// AddBytes adds an object that the store need not have.
func (b *Bundle) AddBytes(id oid.ID, data []byte) {
	b.put(&b.whole, pack.Entry{ID: id, Length: len(data)}, data)
}

// put adds an object to an open block. A delta may need what is in the other one, so that both are closed in turn.
func (b *Bundle) put(k *open, e pack.Entry, data []byte) {
	if len(k.entries) > 0 && (len(k.body)+len(data) > pack.BlockSize || len(k.entries) == pack.MaxEntries) {
		b.flush()
	}
	k.entries = append(k.entries, e)
	k.body = append(k.body, data...)
}

// flush closes the open blocks: whole objects first, since deltas rely on them and never the other way.
func (b *Bundle) flush() {
	for _, k := range []*open{&b.whole, &b.deltas} {
		if len(k.entries) == 0 {
			continue
		}
		var payload []byte
		if k == &b.deltas && len(k.body) < minDeltaZip {
			payload = pack.RawBlock(k.entries, k.body)
		} else {
			payload = pack.EncodeBlock(k.entries, k.body, false)
		}
		b.buf = pack.AppendRecord(b.buf, 0, int64(len(b.buf)), pack.BlockRecord, payload)
		k.entries, k.body = nil, k.body[:0]
	}
}

// Commit adds a commit behind the objects that were added for it.
func (b *Bundle) Commit(c Commit) {
	b.flush()
	r := pack.Commit{Seq: c.Seq, Ordinal: b.commits, Since: uint64(len(b.buf) - b.region), Data: c.Payload}
	region := blake3.New()
	region.Write(b.buf[b.region:])
	r.Seal(region)
	b.buf = pack.AppendRecord(b.buf, 0, int64(len(b.buf)), pack.CommitRecord, r.Append(nil))
	b.region = len(b.buf)
	b.commits++
}

// Size is about how many bytes it has.
func (b *Bundle) Size() int { return len(b.buf) + len(b.whole.body)/3 + len(b.deltas.body) }

// Bytes ends the bundle.
func (b *Bundle) Bytes() []byte {
	b.flush()
	return b.buf
}

// Receive stages the objects of a bundle, each checked against its id, and returns its commits, and the ids of all its
// objects. Errors: *DamagedError for bytes that no Bundle has made, and those of
// the batch.
func (b *Batch) Receive(bundle []byte) (commits []Commit, ids []oid.ID, err error) {
	file := bytes.NewReader(bundle)
	w := pack.NewWalker(file, 0, 0, int64(len(bundle)))
	region := int64(0)
	for {
		at := w.At
		r, err := w.Next()
		if err == io.EOF {
			return commits, ids, nil
		}
		if err == nil && r.Type == pack.BlockRecord {
			ids, err = b.receive(ids, bytes.Clone(r.Payload))
		} else if err == nil {
			var c pack.Commit
			if c, err = pack.ParseCommit(bytes.Clone(r.Payload)); err == nil {
				h := blake3.New()
				h.Write(bundle[region:at])
				if c.Since != uint64(at-region) || !c.Covers(h) {
					err = pack.MalformedError("a commit does not match what is before it")
				}
				commits, region = append(commits, Commit{Seq: c.Seq, Payload: c.Data}), r.End
			}
		}
		if pack.IsMalformed(err) {
			return nil, nil, &DamagedError{Pack: "bundle", Offset: at, Reason: err.Error()}
		}
		if err != nil {
			return nil, nil, err
		}
	}
}

// receive stages one block, and appends the ids of its objects.
func (b *Batch) receive(ids []oid.ID, payload []byte) ([]oid.ID, error) {
	blk, err := pack.DecodeBlock(payload)
	if err != nil {
		return ids, err
	}
	type stored struct {
		e    *pack.Entry
		data []byte
	}
	here := map[pack.Prefix]stored{} // of this block, up to now
	bases := newObjectMemo(func(x pack.Prefix) (*pack.Entry, []byte, error) {
		if o, ok := here[x]; ok {
			return o.e, o.data, nil
		}
		return b.baseOf(x)
	})
	fresh := false
	for e, data := range blk.All() {
		whole := data
		if e.Delta {
			if whole, err = bases.whole(e, data); err != nil {
				return ids, err
			}
			here[pack.PrefixOf(e.ID)] = stored{e, data}
		}
		if oid.Sum(whole) != e.ID {
			return ids, pack.MalformedError("the bytes of an object do not match its id")
		}
		ids = append(ids, e.ID)
		if _, staged := b.place(e.ID); !fresh && !staged {
			has, err := b.s.known(e.ID)
			if err != nil {
				return ids, err
			}
			fresh = !has
		}
	}
	if !fresh {
		return ids, nil
	}
	k := &stagedBlock{entries: blk.Entries}
	if err := b.add(k, payload); err != nil {
		return ids, err
	}
	for i := range blk.Entries {
		if b.claim(blk.Entries[i].ID) {
			b.settle(blk.Entries[i].ID, k, i)
		}
	}
	return ids, nil
}
