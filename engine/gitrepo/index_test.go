package gitrepo

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io/fs"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

// makeIndex writes an index as git does; names are sorted.
func makeIndex(version uint32, oid int, names []string, extensions string) []byte {
	b := append([]byte("DIRC"), 0, 0, 0, byte(version))
	b = binary.BigEndian.AppendUint32(b, uint32(len(names)))
	prev := ""
	for _, name := range names {
		start := len(b)
		b = append(b, make([]byte, indexStat+oid)...)
		binary.BigEndian.PutUint32(b[start+indexMode:], 0o100644)
		b = binary.BigEndian.AppendUint16(b, uint16(min(len(name), 0xfff)))
		if version < 4 {
			b = append(b, name...)
			b = append(b, make([]byte, 8-(len(b)-start)%8)...)
			continue
		}
		same := 0
		for same < len(prev) && same < len(name) && prev[same] == name[same] {
			same++
		}
		b = appendOffset(b, uint64(len(prev)-same))
		b = append(append(b, name[same:]...), 0)
		prev = name
	}
	b = append(b, extensions...)
	return append(b, make([]byte, oid)...)
}

func parseBytes(data []byte, oid int) (*Tracked, error) {
	return indexFile{name: "index", from: bytes.NewReader(data), size: int64(len(data)), oid: oid, shared: func(string) (*openedIndex, error) {
		return nil, fs.ErrNotExist
	}}.read()
}

func appendOffset(b []byte, v uint64) []byte {
	var rev []byte
	for rev = append(rev, byte(v&0x7f)); v >= 0x80; {
		v = v>>7 - 1
		rev = append(rev, byte(v&0x7f)|0x80)
	}
	for i := len(rev) - 1; i >= 0; i-- {
		b = append(b, rev[i])
	}
	return b
}

func manyNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("drivers/net/ethernet/vendor%03d/file_%d.c", i/97, i)
	}
	sort.Strings(names)
	return names
}

// Wherever a file is cut or a byte is changed, the reader answers or refuses.
func TestDamagedIndexesAreRefusedOrRead(t *testing.T) {
	names := []string{"a", "b/c", "b/d/e", strings.Repeat("long", 300), "z"}
	sort.Strings(names)
	for version := uint32(2); version <= 4; version++ {
		good := makeIndex(version, 20, names, "TREE\x00\x00\x00\x03abc")
		tracked, err := parseBytes(good, 20)
		if err != nil || tracked.Len() != len(names) {
			t.Fatalf("version %d: %v", version, err)
		}
		for n := range good {
			if _, err := parseBytes(good[:n], 20); err == nil && n < len(good)-40 {
				t.Errorf("version %d cut to %d of %d bytes: no error", version, n, len(good))
			}
			for _, c := range []byte{0, 1, 0x7f, 0x80, 0xff} {
				bad := bytes.Clone(good)
				bad[n] = c
				if got, err := parseBytes(bad, 20); err == nil {
					checkSorted(t, got)
				}
			}
		}
	}
}

func checkSorted(t *testing.T, set *Tracked) {
	t.Helper()
	for i := range set.Len() {
		if i > 0 && bytes.Compare(set.name(i-1), set.name(i)) >= 0 {
			t.Fatalf("%q before %q", set.name(i-1), set.name(i))
		}
		if !set.Has(set.At(i)) {
			t.Fatalf("%q is not found", set.name(i))
		}
	}
}

// Version 4 repeats a prefix at no cost: a small file must not become a lot of memory.
func TestPrefixBombIsRefused(t *testing.T) {
	names := make([]string, 3000)
	for i := range names {
		names[i] = strings.Repeat("x", 60000) + fmt.Sprintf("%04d", i)
	}
	data := makeIndex(4, 20, names, "")
	if len(data) > 1<<20 {
		t.Fatal("not small")
	}
	if _, err := parseBytes(data, 20); err == nil {
		t.Error("accepted")
	}
}

func TestHugeCountIsRefused(t *testing.T) {
	data := makeIndex(2, 20, []string{"a"}, "")
	binary.BigEndian.PutUint32(data[8:], 0xffffffff)
	if _, err := parseBytes(data, 20); err == nil {
		t.Error("accepted")
	}
}

func TestRequiredExtensionIsNotPassedOver(t *testing.T) {
	for ext, supported := range map[string]bool{"ABCD": true, "sdir": true, "newx": false} {
		_, err := parseBytes(makeIndex(2, 20, []string{"a"}, ext+"\x00\x00\x00\x00"), 20)
		_, refused := err.(*UnsupportedError)
		if refused == supported || supported && err != nil {
			t.Errorf("%s: %v", ext, err)
		}
	}
}

func FuzzIndex(f *testing.F) {
	for version := uint32(2); version <= 4; version++ {
		for _, oid := range []int{20, 32} {
			f.Add(makeIndex(version, oid, []string{"a", "a/b", "a/bc", "b"}, "TREE\x00\x00\x00\x00"), oid == 32)
		}
	}
	f.Add(makeIndex(2, 20, []string{"a"}, "link\x00\x00\x00\x00"), false)
	f.Fuzz(func(t *testing.T, data []byte, long bool) {
		oid := 20
		if long {
			oid = 32
		}
		set, err := parseBytes(data, oid)
		if (set == nil) != (err != nil) {
			t.Fatalf("%v and %v", set, err)
		}
		if err != nil {
			return
		}
		checkSorted(t, set)
		set.Hash()
		for _, dir := range []string{"a", "b/", "\xff"} {
			if sub := set.Sub(dir); (sub.Len() > 0) != set.HasBelow(strings.TrimSuffix(dir, "/")) {
				t.Fatalf("below %q: %d", dir, sub.Len())
			}
		}
	})
}

func FuzzRef(f *testing.F) {
	f.Add([]byte("ref: refs/heads/main\n"), "refs/heads/main")
	f.Add([]byte(strings.Repeat("a", 40)+" refs/heads/main\n^"+strings.Repeat("b", 40)+"\n"), "refs/heads/main")
	f.Add([]byte("ref: refs/../../x"), "refs/x")
	f.Fuzz(func(t *testing.T, data []byte, ref string) {
		if id, next, ok := parseRef(data); ok {
			if (id == "") == (next == "") || id != "" && !isID(id) {
				t.Fatalf("%q %q", id, next)
			}
			if joined := filepath.Join("/git", next); next != "" && !strings.HasPrefix(joined, "/git/refs/") {
				t.Fatalf("%q leads to %s", next, joined)
			}
		}
		if id := findPacked(data, ref); id != "" && !isID(id) {
			t.Fatalf("%q", id)
		}
	})
}

func BenchmarkParseIndex(b *testing.B) {
	for _, version := range []uint32{2, 4} {
		b.Run(fmt.Sprintf("v%d", version), func(b *testing.B) {
			data := makeIndex(version, 20, manyNames(50_000), "")
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := parseBytes(data, 20); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkHas(b *testing.B) {
	set, err := parseBytes(makeIndex(2, 20, manyNames(50_000), ""), 20)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		set.Has("drivers/net/ethernet/vendor200/file_19410.c")
		set.HasBelow("drivers/net/ethernet/vendor200")
	}
}
