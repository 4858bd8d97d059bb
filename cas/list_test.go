package cas

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"github.com/rewind-cli/rewind/cas/oid"
)

func FuzzList(f *testing.F) {
	f.Add(List{}.Append(nil))
	f.Add(List{Size: 5, Chunks: []Chunk{{ID: oid.ID{1}, Size: 2}, {ID: oid.ID{2}, Size: 3}}}.Append(nil))
	f.Add(binary.AppendUvarint(append([]byte{listVersion, 5}, make([]byte, 32)...), math.MaxUint64>>1)) // nothing is allocated by it
	f.Fuzz(func(t *testing.T, b []byte) {
		if l, err := ParseList(b); err == nil && !bytes.Equal(l.Append(nil), b) {
			t.Fatal("not canonical")
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
			all += n.File() + "\n"
		}
		if all != "" && all != text {
			t.Fatal("half of a list is believed")
		}
	})
}
