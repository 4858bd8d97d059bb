package cas

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"

	"github.com/rewind-cli/rewind/cas/oid"

	"github.com/zeebo/blake3"
)

func FuzzPackHeader(f *testing.F) {
	f.Add(packHeader{name: packName{logPack, 7}, store: [16]byte{1}}.append(nil))
	f.Add(packHeader{name: packName{dataPack, 1 << 63}, flags: flagDense}.append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := parsePackHeader(b)
		if err == nil && !bytes.Equal(h.append(nil), b[:headerSize]) {
			t.Fatal("not canonical")
		}
	})
}

func FuzzPackName(f *testing.F) {
	f.Add("log-00000001.pack")
	f.Add("data-00000000000000ff.pack")
	f.Add("log-+0000001.pack")
	f.Fuzz(func(t *testing.T, name string) {
		if n, ok := parsePackName(name); ok && n.file() != name {
			t.Fatalf("%q is read as %q", name, n.file())
		}
	})
}

func FuzzBlock(f *testing.F) {
	whole := []entry{{id: oid.Sum([]byte("a")), length: 1}, {id: oid.Sum([]byte("bc")), length: 2}}
	f.Add(appendBlock(nil, codecRaw, whole, []byte("abc")))
	f.Add(appendBlock(nil, codecRaw, []entry{{length: 3, delta: true, size: 300, depth: 1}}, []byte("abc")))
	w := &Writer{b: &Batch{s: &Store{}}, size: blockSize}
	body := text(1, 1000)
	f.Add(w.encode([]entry{{id: oid.Sum(body), length: len(body)}}, body, false))
	s := &Store{}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := parseBlock(b)
		if err != nil {
			return
		}
		if !bytes.Equal(appendBlock(nil, p.codec, p.entries, p.body), b) {
			t.Fatal("not canonical")
		}
		if p.total > 1<<20 {
			return
		}
		if d, err := s.decode(b); err == nil {
			for i := range d.entries {
				if _, data, err := d.at(i); err != nil || len(data) != d.entries[i].length {
					t.Fatal("an object is not where the table says")
				}
			}
		}
	})
}

func FuzzCommit(f *testing.F) {
	c := commit{seq: 9, ordinal: 3, since: 1000, data: []byte("payload")}
	c.seal(blake3.New())
	f.Add(c.append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, err := parseCommit(b); err == nil && !bytes.Equal(c.append(nil), b) {
			t.Fatal("not canonical")
		}
	})
}

func FuzzRecord(f *testing.F) {
	f.Add(appendRecord(nil, 1, 44, blockRecord, []byte("payload")), uint64(1), int64(44))
	f.Fuzz(func(t *testing.T, b []byte, seed uint64, offset int64) {
		if offset < 0 || offset > 1<<40 {
			return
		}
		r, err := parseRecord(b, seed, offset)
		if err == nil && !bytes.Equal(appendRecord(nil, seed, offset, r.typ, r.payload), b[:r.end-offset]) {
			t.Fatal("not canonical")
		}
	})
}

func FuzzList(f *testing.F) {
	f.Add(List{}.Append(nil))
	f.Add(List{Size: 5, Chunks: []Chunk{{ID: oid.ID{1}, Size: 2}, {ID: oid.ID{2}, Size: 3}}}.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if l, err := ParseList(b); err == nil && !bytes.Equal(l.Append(nil), b) {
			t.Fatal("not canonical")
		}
	})
}

func FuzzApplyDelta(f *testing.F) {
	base := text(1, 2000)
	edited := append(append([]byte{}, base[:500]...), base[700:]...)
	plain, _ := appendDelta(nil, base, edited, len(edited))
	f.Add(base, plain, len(edited))
	moved := append(append([]byte{}, base[1000:]...), base[:1000]...)
	zipped, _ := appendDelta(nil, base, moved, len(moved))
	f.Add(base, zipped, len(moved))
	f.Fuzz(func(t *testing.T, base, delta []byte, size int) {
		if size < 0 || size > 1<<20 {
			return
		}
		out, err := applyDelta([]byte("before"), base, delta, size)
		if err == nil && len(out) != size+len("before") {
			t.Fatalf("%d bytes, want %d", len(out), size)
		}
	})
}

func FuzzIndex(f *testing.F) {
	name := packName{logPack, 1}
	c := contents{covered: 5000}
	c.addBlock(headerSize, 1000, []entry{{id: oid.Sum([]byte("a"))}, {id: oid.Sum([]byte("b"))}})
	c.addCommit(1, 1000, 1100)
	c.covered = 5000
	c.sort()
	f.Add(appendIndex(nil, name, [16]byte{}, &c))
	f.Add(appendIndex(nil, name, [16]byte{}, &contents{covered: headerSize}))
	f.Fuzz(func(t *testing.T, b []byte) {
		// The head's checksum is set right, so that what is behind it is reached.
		if len(b) >= indexHead {
			n := int64(binary.LittleEndian.Uint32(b[12:])) * indexCommit
			if indexHead+n <= int64(len(b)) {
				binary.LittleEndian.PutUint64(b[64:], headSum(b, b[indexHead:indexHead+n]))
			}
		}
		x, err := parseIndex(b, name, [16]byte{})
		if err != nil {
			return
		}
		for _, o := range []string{"a", "b", "c"} {
			id := oid.Sum([]byte(o))
			x.search(id[:])
			x.search(id[:16])
		}
		for i := range x.commitCount() {
			x.commit(i)
		}
		if x.intact() {
			c := x.contents()
			if again := appendIndex(nil, name, [16]byte{}, c); x.consistent() && !bytes.Equal(again, b) {
				t.Fatal("not canonical")
			}
		}
	})
}

// consistent reports whether the parts of an index agree, as those of one that
// was written do.
func (x *index) consistent() bool {
	c := x.contents()
	return bytes.Equal(appendIndex(nil, packName{logPack, 1}, [16]byte{}, c)[indexHead+len(x.commits)+len(x.blocks):][:indexFanout], x.fanout)
}

// A walk over any bytes ends, yields only good records, and does not read past the end.
func FuzzWalk(f *testing.F) {
	n := packName{logPack, 1}
	seed := n.seed([16]byte{})
	b := packHeader{name: n}.append(nil)
	b = appendRecord(b, seed, int64(len(b)), blockRecord, appendBlock(nil, codecRaw, []entry{{length: 3}}, []byte("abc")))
	c := commit{seq: 1, since: uint64(len(b) - headerSize), data: []byte("payload")}
	region := blake3.New()
	region.Write(b[headerSize:])
	c.seal(region)
	b = appendRecord(b, seed, int64(len(b)), commitRecord, c.append(nil))
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		r := bytes.NewReader(b)
		at := int64(0)
		w := newWalker(r, seed, headerSize, int64(len(b)))
		for {
			rec, err := w.next()
			if err == io.EOF {
				break
			}
			if isMalformed(err) {
				ok, err := w.resync()
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					break
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if rec.offset < at || rec.end > int64(len(b)) {
				t.Fatalf("record %d to %d after %d of %d", rec.offset, rec.end, at, len(b))
			}
			at = rec.end
		}
		if rec, c, ok, err := commitEndingAt(r, seed, int64(len(b)), true); err != nil {
			t.Fatal(err)
		} else if ok {
			if good, err := commitHolds(r, rec, c); !good || err != nil {
				t.Fatal("a commit that does not hold")
			}
		}
	})
}

func FuzzGeneration(f *testing.F) {
	f.Add("12\n")
	f.Add("012\n")
	f.Fuzz(func(t *testing.T, text string) {
		if n, ok := parseGeneration(text); ok && n >= 1<<63 {
			t.Fatal("collides with those of damaged files")
		}
	})
}

func FuzzCondemned(f *testing.F) {
	f.Add("log-00000001.pack\ndata-00000000000000ff.pack\n")
	f.Add("log-00000001.pack")
	f.Fuzz(func(t *testing.T, text string) {
		all := ""
		for _, n := range parseCondemned(text) {
			all += n.file() + "\n"
		}
		if all != "" && all != text {
			t.Fatal("half of a list is believed")
		}
	})
}
