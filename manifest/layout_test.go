package manifest

import (
	"bytes"
	"testing"
)

func someLayout() *layout {
	return &layout{version: 7, nextID: 300, runs: [][]tableFile{{{id: 1, size: 4096, footer: 4000, sum: 1 << 60}, {id: 2, size: 9, footer: 1}}, {{id: 299, size: 1 << 30}}, {}}}
}

func TestLayoutRefuses(t *testing.T) {
	good := someLayout().append(nil)
	if _, err := parseLayout(good); err != nil {
		t.Fatal(err)
	}
	tooMany := &layout{runs: make([][]tableFile, maxRuns+1)}
	for what, data := range map[string][]byte{
		"empty":         {},
		"cut short":     good[:len(good)-1],
		"too many runs": tooMany.append(nil),
	} {
		if l, err := parseLayout(data); err == nil {
			t.Errorf("%s: parsed as %+v", what, l)
		}
	}
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 4
		if l, err := parseLayout(bad); err == nil {
			t.Errorf("byte %d flipped: parsed as %+v", i, l)
		}
	}
}

func FuzzParseLayout(f *testing.F) {
	f.Add(someLayout().append(nil)[:20])
	f.Add([]byte{layoutFormat, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f})
	f.Fuzz(func(t *testing.T, data []byte) {
		// The checksum is put right: what a fuzzer cannot guess, a hostile writer can compute.
		sealed := sealLayout(data)
		l, err := parseLayout(sealed)
		if err != nil {
			return
		}
		if again := l.append(nil); !bytes.Equal(again, sealed) {
			t.Errorf("%x becomes %x", sealed, again)
		}
	})
}

func FuzzParseGenerationValues(f *testing.F) {
	old, new := fileEntry("f", 1), Entry{Name: "f", Kind: Symlink, Target: "x"}
	f.Add(appendChange(nil, Change{Path: "d/f", Old: &old, New: &new}))
	f.Add(appendChange(nil, Change{Path: "d/f", New: &Entry{Name: "f", Kind: Subdir, Mode: 0o755}}))
	f.Add(setHeader{base: 9, count: 300}.append(nil))
	f.Add(setHeader{unfolded: true}.append(nil))
	f.Add(meta{last: 1, mark: 2, dead: 3}.append(nil))
	f.Add(pointer(12, []byte("layout")))
	f.Add(appendSession(nil, &sessionAt{seq: 4, session: Session{ID: "s"}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		g := &generation{}
		same := func(what string, again []byte) {
			if !bytes.Equal(again, data) {
				t.Errorf("%s %x becomes %x", what, data, again)
			}
		}
		if c, err := parseChange("d/f", data); err == nil {
			same("change", appendChange(nil, c))
		}
		if h, err := g.parseSetHeader(data); err == nil {
			same("header", h.append(nil))
		}
		if m, ok := parseMeta(data); ok {
			same("meta", m.append(nil))
		}
		if number, sum, err := parsePointer(data); err == nil {
			same("pointer", pointerOf(number, sum))
		}
		if at, err := g.session(data); err == nil && len(at.session.ID) > 0 {
			if again := appendSession(nil, &at); len(again) > len(data) {
				t.Errorf("session %x becomes %x", data, again)
			}
		}
	})
}
