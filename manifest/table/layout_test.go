package table

import (
	"bytes"
	"testing"
)

func someLayout() *Layout {
	return &Layout{Version: 7, NextID: 300, Runs: [][]File{{{id: 1, size: 4096, footer: 4000, sum: 1 << 60}, {id: 2, size: 9, footer: 1}}, {{id: 299, size: 1 << 30}}, {}}}
}

func TestLayoutRefuses(t *testing.T) {
	good := someLayout().Append(nil)
	if _, err := ParseLayout(good); err != nil {
		t.Fatal(err)
	}
	tooMany := &Layout{Runs: make([][]File, MaxRuns+1)}
	for what, data := range map[string][]byte{
		"empty":         {},
		"cut short":     good[:len(good)-1],
		"too many runs": tooMany.Append(nil),
	} {
		if l, err := ParseLayout(data); err == nil {
			t.Errorf("%s: parsed as %+v", what, l)
		}
	}
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 4
		if l, err := ParseLayout(bad); err == nil {
			t.Errorf("byte %d flipped: parsed as %+v", i, l)
		}
	}
}

func FuzzParseLayout(f *testing.F) {
	f.Add(someLayout().Append(nil)[:20])
	f.Add([]byte{layoutFormat, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f})
	f.Fuzz(func(t *testing.T, data []byte) {
		// The checksum is put right: what a fuzzer cannot guess, a hostile writer can compute.
		sealed := sealLayout(data)
		l, err := ParseLayout(sealed)
		if err != nil {
			return
		}
		if again := l.Append(nil); !bytes.Equal(again, sealed) {
			t.Errorf("%x becomes %x", sealed, again)
		}
	})
}
