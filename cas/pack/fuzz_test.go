package pack

import (
	"bytes"
	"encoding/binary"
	"io"
	"slices"
	"testing"

	"github.com/rewind-cli/rewind/cas/oid"

	"github.com/zeebo/blake3"
)

func FuzzPackHeader(f *testing.F) {
	f.Add(Header{Name: Name{Log, 7}, Store: [16]byte{1}}.Append(nil))
	f.Add(Header{Name: Name{Data, 1 << 63}, Dense: true}.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := parseHeader(b)
		if err == nil && !bytes.Equal(h.Append(nil), b[:HeaderSize]) {
			t.Fatal("not canonical")
		}
	})
}

func FuzzPackName(f *testing.F) {
	f.Add("log-00000001.pack")
	f.Add("data-00000000000000ff.pack")
	f.Add("log-+0000001.pack")
	f.Fuzz(func(t *testing.T, name string) {
		if n, ok := ParseName(name); ok && n.File() != name {
			t.Fatalf("%q is read as %q", name, n.File())
		}
	})
}

func FuzzBlock(f *testing.F) {
	whole := []Entry{{ID: oid.Sum([]byte("a")), Length: 1}, {ID: oid.Sum([]byte("bc")), Length: 2}}
	f.Add(RawBlock(whole, []byte("abc")))
	f.Add(RawBlock([]Entry{{Length: 3, Delta: true, Size: 300, Depth: 1}}, []byte("abc")))
	body := text(1, 1000)
	f.Add(EncodeBlock([]Entry{{ID: oid.Sum(body), Length: len(body)}}, body, false))
	f.Add(smallSample())
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := ParseBlock(b)
		if err != nil {
			return
		}
		if !bytes.Equal(appendBlock(p.codec, p.Entries, p.Body), b) {
			t.Fatal("not canonical")
		}
		if p.total > 1<<20 {
			return
		}
		if p.Decompress() == nil {
			for i := range p.Entries {
				if _, data, err := p.At(i); err != nil || len(data) != p.Entries[i].Length {
					t.Fatal("an object is not where the table says")
				}
			}
		}
	})
}

func FuzzCommit(f *testing.F) {
	c := Commit{Seq: 9, Ordinal: 3, Since: 1000, Data: []byte("payload")}
	c.Seal(blake3.New())
	f.Add(c.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, err := ParseCommit(b); err == nil && !bytes.Equal(c.Append(nil), b) {
			t.Fatal("not canonical")
		}
	})
}

func FuzzRecord(f *testing.F) {
	f.Add(AppendRecord(nil, 1, 44, BlockRecord, []byte("payload")), uint64(1), int64(44))
	f.Fuzz(func(t *testing.T, b []byte, seed uint64, offset int64) {
		if offset < 0 || offset > 1<<40 {
			return
		}
		r, err := parseRecord(b, seed, offset)
		if err == nil && !bytes.Equal(AppendRecord(nil, seed, offset, r.Type, r.Payload), b[:r.End-offset]) {
			t.Fatal("not canonical")
		}
	})
}

func FuzzApplyDelta(f *testing.F) {
	base := text(1, 2000)
	edited := append(append([]byte{}, base[:500]...), base[700:]...)
	plain, _ := AppendDelta(nil, base, edited, len(edited))
	f.Add(base, plain, len(edited))
	moved := append(append([]byte{}, base[1000:]...), base[:1000]...)
	zipped, _ := AppendDelta(nil, base, moved, len(moved))
	f.Add(base, zipped, len(moved))
	f.Fuzz(func(t *testing.T, base, delta []byte, size int) {
		if size < 0 || size > 1<<20 {
			return
		}
		out, err := ApplyDelta([]byte("before"), base, delta, size)
		if err == nil && len(out) != size+len("before") {
			t.Fatalf("%d bytes, want %d", len(out), size)
		}
	})
}

func FuzzIndex(f *testing.F) {
	name := Name{Log, 1}
	c := Contents{Covered: 5000}
	c.AddBlock(HeaderSize, 1000, []Entry{{ID: oid.Sum([]byte("a"))}, {ID: oid.Sum([]byte("b"))}})
	c.AddCommit(1, 1000, 1100)
	c.Covered = 5000
	c.sort()
	f.Add(EncodeIndex(name, [16]byte{}, &c))
	f.Add(EncodeIndex(name, [16]byte{}, &Contents{Covered: HeaderSize}))
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
			x.Find(id)
			x.FindPrefix(PrefixOf(id))
			for range x.Places(PrefixOf(id)) {
			}
		}
		for range x.Commits() {
		}
		x.ObjectsWithin(HeaderSize, x.Covered)
		if x.Intact() {
			c := x.Contents()
			if again := EncodeIndex(name, [16]byte{}, c); x.consistent() && !bytes.Equal(again, b) {
				t.Fatal("not canonical")
			}
		}
	})
}

// consistent reports whether the parts of an index agree and its objects are sorted, as in one that
// was written.
func (x *Index) consistent() bool {
	c := x.Contents()
	found := slices.Clone(c.objects)
	again := EncodeIndex(Name{Log, 1}, [16]byte{}, c)
	return slices.Equal(found, c.objects) && bytes.Equal(again[indexHead+len(x.commits)+len(x.blocks):][:indexFanout], x.fanout)
}

// A walk over any bytes ends, yields only good records, and does not read past the end.
func FuzzWalk(f *testing.F) {
	n := Name{Log, 1}
	seed := n.Seed([16]byte{})
	b := Header{Name: n}.Append(nil)
	b = AppendRecord(b, seed, int64(len(b)), BlockRecord, RawBlock([]Entry{{Length: 3}}, []byte("abc")))
	c := Commit{Seq: 1, Since: uint64(len(b) - HeaderSize), Data: []byte("payload")}
	region := blake3.New()
	region.Write(b[HeaderSize:])
	c.Seal(region)
	b = AppendRecord(b, seed, int64(len(b)), CommitRecord, c.Append(nil))
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		r := bytes.NewReader(b)
		at := int64(0)
		w := NewWalker(r, seed, HeaderSize, int64(len(b)))
		for {
			rec, err := w.Next()
			if err == io.EOF {
				break
			}
			if IsMalformed(err) {
				ok, err := w.Resync()
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
			if rec.Offset < at || rec.End > int64(len(b)) {
				t.Fatalf("record %d to %d after %d of %d", rec.Offset, rec.End, at, len(b))
			}
			at = rec.End
		}
		if rec, c, ok, err := CommitEndingAt(r, seed, int64(len(b)), true); err != nil {
			t.Fatal(err)
		} else if ok {
			if good, err := CommitHolds(r, rec, c); !good || err != nil {
				t.Fatal("a commit that does not hold")
			}
		}
	})
}
