package pack

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/rewind-cli/rewind/cas/oid"
)

// chain is what a save of an edited file writes: its delta, and those of the directories above it, each with the id of the one below.
func chain(depth int) (entries []Entry, body []byte) {
	below := oid.Sum([]byte("content"))
	entries = append(entries, Entry{ID: below, Length: 6, Delta: true, Size: 4002, Base: Prefix{1}, Depth: 1})
	body = append(body, 0xd0, 0x0f, 0xd0, 0x0f, deltaPlain, 'x')
	entries[0].Size = 2000 + 2000 + 1
	for i := range depth {
		delta := binary.AppendUvarint(nil, 800)
		delta = append(binary.AppendUvarint(delta, 1200), deltaPlain, 3, 4)
		delta = append(delta, below[:]...)
		below = oid.Sum(delta)
		entries = append(entries, Entry{ID: below, Length: len(delta), Delta: true, Size: 2034, Base: Prefix{2, byte(i)}, Depth: 9})
		body = append(body, delta...)
	}
	return entries, body
}

func smallSample() []byte {
	entries, body := chain(2)
	payload, _ := SmallBlock(entries, body)
	return payload
}

// TestSmallBlockNamesAnObjectOnce: each directory takes its id, half of its base's, and a dozen bytes.
func TestSmallBlockNamesAnObjectOnce(t *testing.T) {
	sizes := map[int]int{}
	for _, depth := range []int{1, 5} {
		entries, body := chain(depth)
		payload, ok := SmallBlock(entries, body)
		if !ok {
			t.Fatal("no block of small deltas")
		}
		sizes[depth] = len(payload)
		b, err := DecodeBlock(payload)
		if err != nil || !slices.Equal(b.Entries, entries) || !bytes.Equal(b.Body, body) {
			t.Fatalf("another block: %v", err)
		}
		for i := range entries {
			if bytes.Count(payload, entries[i].ID[:]) != 1 {
				t.Errorf("object %d is named more than once", i)
			}
		}
	}
	if each := (sizes[5] - sizes[1]) / 4; each > 32+16+12 {
		t.Errorf("%d bytes for each directory", each)
	}
}

// TestSmallBlockIsWhatItWas: whatever deltas are put together, they are the same when they are read.
func TestSmallBlockIsWhatItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var ids []oid.ID
		for i := range rapid.IntRange(1, 5).Draw(t, "objects") {
			ids = append(ids, oid.Sum([]byte{byte(i)}))
		}
		var entries []Entry
		var body []byte
		for _, id := range ids {
			base := text(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(0, 3000).Draw(t, "size"))
			at := rapid.IntRange(0, len(base)).Draw(t, "at")
			data := bytes.Clone(base[:at])
			for range rapid.IntRange(0, 3).Draw(t, "ids") {
				data = append(data, rapid.SliceOfN(rapid.Byte(), 0, 10).Draw(t, "between")...)
				id := rapid.SampledFrom(ids).Draw(t, "id")
				data = append(data, id[:]...)
			}
			data = append(data, base[min(len(base), at+rapid.IntRange(0, 40).Draw(t, "cut")):]...)
			if rapid.Bool().Draw(t, "edit") {
				data = edit(t, data)
			}
			delta, _ := AppendDelta(nil, base, data, len(data)*2+1000)
			entries = append(entries, Entry{ID: id, Length: len(delta), Delta: true, Size: len(data), Base: Prefix{9}, Depth: 3})
			body = append(body, delta...)
		}
		payload, ok := SmallBlock(entries, body)
		if ok != (len(body) <= smallBody) {
			t.Fatal("taken, or not taken")
		}
		if ok && len(payload) > len(RawBlock(entries, body)) {
			t.Fatal("it is larger than it was")
		}
	})
}

func TestSmallBlockTakesNothingElse(t *testing.T) {
	entries, body := chain(1)
	whole := Entry{ID: oid.Sum([]byte("w")), Length: 1}
	for what, b := range map[string]struct {
		entries []Entry
		body    []byte
	}{
		"nothing":          {nil, nil},
		"a whole object":   {append(slices.Clone(entries), whole), append(bytes.Clone(body), 'w')},
		"no delta":         {[]Entry{{Length: 3, Delta: true, Size: 3, Depth: 1}}, []byte{0x80, 0x80, 0x80}},
		"another size":     {[]Entry{{Length: 4, Delta: true, Size: 9, Depth: 1}}, []byte{1, 1, deltaPlain, 'x'}},
		"another method":   {[]Entry{{Length: 4, Delta: true, Size: 3, Depth: 1}}, []byte{1, 1, deltaShort, 'x'}},
		"too many bytes":   {[]Entry{{Length: smallBody + 1, Delta: true, Depth: 1}}, make([]byte, smallBody+1)},
		"a size too small": {[]Entry{{Length: 4, Delta: true, Size: 1, Depth: 1}}, []byte{1, 1, deltaZstd, 'x'}},
	} {
		if _, ok := SmallBlock(b.entries, b.body); ok {
			t.Errorf("%s is taken", what)
		}
	}
}

// TestHostileSmallBlock: what no writer writes is refused, and nothing is allocated by a size that somebody made up.
func TestHostileSmallBlock(t *testing.T) {
	block := func(bodies ...string) []byte {
		var entries []Entry
		var body []byte
		for i, b := range bodies {
			entries = append(entries, Entry{ID: oid.Sum([]byte{byte(i)}), Length: len(b), Delta: true, Depth: 1})
			body = append(body, b...)
		}
		return appendBlock(codecSmall, entries, body)
	}
	for what, b := range map[string]string{
		"empty":                         "",
		"one length":                    "\x01",
		"no method":                     "\x01\x01",
		"another method":                "\x01\x01\x03",
		"no length behind zstd":         "\x01\x01\x01",
		"a huge length behind zstd":     "\x01\x01\x01\xff\xff\xff\xff\xff\x7f",
		"a huge head":                   "\xff\xff\xff\xff\xff\x7f\x01\x00",
		"no run":                        "\x01\x01\x02",
		"a run beyond the end":          "\x01\x01\x02\x05ab",
		"a run alone":                   "\x01\x01\x02\x02ab",
		"an empty run alone":            "\x01\x01\x02\x00",
		"an empty run at the end":       "\x01\x01\x02\x00\x00\x00",
		"a number of no object":         "\x01\x01\x02\x00\x01",
		"a number in two bytes":         "\x01\x01\x02\x00\x80\x00",
		"a number that is cut short":    "\x01\x01\x02\x00\x80",
		"a run whose length is missing": "\x01\x01\x02\x00\x00\x80",
	} {
		var err error
		payload := block(b)
		if n := allocated(func() { _, err = DecodeBlock(payload) }); err == nil || n > 1<<16 {
			t.Errorf("%s: %v, %d bytes allocated", what, err, n)
		}
	}
	if b, err := DecodeBlock(block("\x01\x01\x02\x00\x00")); err != nil || b.Entries[0].Size != 34 || len(b.Body) != 35 {
		t.Error("an id alone is refused", err)
	}
	good := smallSample()
	for n := range len(good) {
		if _, err := DecodeBlock(good[:n]); err == nil {
			t.Errorf("%d of %d bytes are taken for the whole", n, len(good))
		}
	}
}

func TestHeaderOfAnEarlierVersion(t *testing.T) {
	older := Header{Name: Name{Log, 1}, Older: true}
	h, err := parseHeader(older.Append(nil))
	if err != nil || h != older {
		t.Fatalf("%+v, %v", h, err)
	}
}
