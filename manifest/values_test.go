package manifest

import (
	"bytes"
	"testing"

	"github.com/rewind-cli/rewind/manifest/table"
)

func FuzzParseGenerationValues(f *testing.F) {
	old, new := fileEntry("f", 1), Entry{Name: "f", Kind: Symlink, Target: "x"}
	f.Add(appendChange(nil, Change{Path: "d/f", Old: &old, New: &new}))
	f.Add(appendChange(nil, Change{Path: "d/f", New: &Entry{Name: "f", Kind: Subdir, Mode: 0o755}}))
	f.Add(setHeader{base: 9, count: 300}.append(nil))
	f.Add(setHeader{unfolded: true}.append(nil))
	f.Add(meta{last: 1, mark: 2, dead: 3}.append(nil))
	f.Add(table.PointerTo(12, []byte("layout")))
	f.Add(sequenced(4, Record{Session: &Session{ID: "s"}}))
	f.Add(sequenced(4, Record{Binding: &Binding{Session: "s", Entries: []string{"a"}}}))
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
		if number, sum, err := table.ParsePointer(data); err == nil {
			same("pointer", table.PointerOf(number, sum))
		}
		if b, err := g.binding(data); err == nil {
			if again := sequenced(b.Seq, Record{Binding: b}); len(again) > len(data) {
				t.Errorf("binding %x becomes %x", data, again)
			}
		}
		if at, err := g.session(data); err == nil && len(at.session.ID) > 0 {
			if again := sequenced(at.seq, Record{Session: &at.session}); len(again) > len(data) {
				t.Errorf("session %x becomes %x", data, again)
			}
		}
	})
}
