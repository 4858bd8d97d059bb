package cas

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/rewind-cli/rewind/cas/oid"
)

// database is a file that begins as one of SQLite with a page size as its header has it, and n bytes long.
func database(seed uint64, pageSize uint16, n int) []byte {
	data := text(seed, n)
	copy(data, "SQLite format 3\x00")
	binary.BigEndian.PutUint16(data[16:], pageSize)
	return data
}

// putFile saves a file in a commit of its own, and returns what that took.
func putFile(t testing.TB, s *Store, data []byte, prev oid.ID) (id oid.ID, list List, stored int64) {
	t.Helper()
	b := s.NewBatch()
	w := b.Writer()
	id, list, err := w.PutFile(bytes.NewReader(data), prev)
	if err != nil {
		t.Fatal(err)
	}
	commitBatch(t, s, b, w, "file")
	return id, list, b.StoredBytes()
}

// readFile reads a file back through its list.
func readFile(t testing.TB, s *Store, id oid.ID) []byte {
	t.Helper()
	raw, err := s.Get(nil, id)
	if err != nil {
		t.Fatal(err)
	}
	list, err := ParseList(raw)
	if err != nil {
		t.Fatal(err)
	}
	var data []byte
	for _, c := range list.Chunks {
		if data, err = s.Get(data, c.ID); err != nil {
			t.Fatal(err)
		}
	}
	if oid.Sum(data) != list.Sum {
		t.Fatal("the file does not have the sum of its list")
	}
	return data
}

// TestDatabaseIsCutInPages: what begins as a database of SQLite is cut into runs of whole pages; what only looks like
// one is cut by its content, as any other file.
func TestDatabaseIsCutInPages(t *testing.T) {
	s := testStore(t)
	const size = 2<<20 + 4096
	whole := database(1, 4096, size)
	for name, c := range map[string]struct {
		data  []byte
		pages bool
	}{
		"512":               {database(1, 512, size), true},
		"4096":              {whole, true},
		"32768":             {database(1, 32768, size), true},
		"65536":             {database(1, 1, size), true},
		"0":                 {database(1, 0, size), false},
		"256":               {database(1, 256, size), false},
		"3":                 {database(1, 3, size), false},
		"5000":              {database(1, 5000, size), false},
		"another magic":     {append([]byte("X"), whole[1:]...), false},
		"cut after 17":      {whole[:17], false},
		"magic alone":       {whole[:16], false},
		"header alone":      {whole[:18], true},
		"a whole run":       {whole[:pageRun], true},
		"nothing":           {nil, false},
		"a run and a byte":  {whole[:pageRun+1], true},
		"one byte too few":  {whole[:pageRun-1], true},
		"half a run behind": {whole[:3*pageRun/2], true},
	} {
		id, list, _ := putFile(t, s, c.data, oid.ID{})
		if got := readFile(t, s, id); !bytes.Equal(got, c.data) {
			t.Errorf("%s: the file is not what it was", name)
		}
		runs := len(list.Chunks) == (len(c.data)+pageRun-1)/pageRun
		for i, k := range list.Chunks {
			runs = runs && (k.Size == pageRun || i == len(list.Chunks)-1)
		}
		if small := len(c.data) <= minChunk; runs != c.pages && !small {
			t.Errorf("%s: cut in runs of pages: %v", name, runs)
		}
	}
}

// TestChangedChunksTakeTheirChange: a version of a large file with a few changes takes little more than these, with its list,
// whether it is a database or a text, and its id does not depend on which version was there before.
func TestChangedChunksTakeTheirChange(t *testing.T) {
	for name, c := range map[string]struct {
		first []byte
		most  int64
	}{"database": {database(1, 4096, 2<<20), 32 << 10}, "other": {text(1, 2<<20), 64 << 10}} {
		t.Run(name, func(t *testing.T) {
			s := testStore(t)
			r := rand.New(rand.NewPCG(1, 2))
			data := c.first
			prev, _, _ := putFile(t, s, data, oid.ID{})
			for version := range 70 { // more than a chain of deltas has
				for range 10 {
					copy(data[100+r.IntN(len(data)-200):], noise(r.Uint64(), 64))
				}
				if name != "database" { // bytes that come move all that is behind them
					at := 100 + r.IntN(len(data)-200)
					data = append(data[:at:at], append(noise(r.Uint64(), 10), data[at:]...)...)
				}
				id, _, stored := putFile(t, s, data, prev)
				if version < 10 && stored > c.most {
					t.Errorf("version %d: ten changes of 64 bytes take %d", version, stored)
				}
				prev = id
			}
			if got := readFile(t, s, prev); !bytes.Equal(got, data) {
				t.Fatal("the newest version is not what it was")
			}
			if alone, _, _ := putFile(t, testStore(t), data, oid.ID{}); alone != prev {
				t.Error("the same file has another id where no version was before it")
			}
			if again, _, stored := putFile(t, s, data, prev); again != prev || stored != 0 {
				t.Errorf("the same file once more: another id, or %d bytes", stored)
			}
		})
	}
}

// TestFileOfAnotherKindBefore: whatever the version before is, or claims to be, the file is what it was.
func TestFileOfAnotherKindBefore(t *testing.T) {
	s := testStore(t)
	data := database(1, 4096, 2<<20)
	liar := List{Size: 3, Chunks: []Chunk{{ID: oid.ID{1}, Size: 1}, {ID: oid.Sum(data[:100]), Size: 2}}}.Append(nil)
	before := [][]byte{text(3, 1000), data[:100], liar, {listVersion}}
	save(t, s, "before", before...)
	for i, b := range append(before, text(9, 10)) { // the last one is not there
		version := database(uint64(i+5), 4096, 2<<20)
		id, _, _ := putFile(t, s, version, oid.Sum(b))
		if !bytes.Equal(readFile(t, s, id), version) {
			t.Errorf("%d: the file is not what it was", i)
		}
	}
}

// TestAllAnew: a file of which nothing is as before is stored whole, and few deltas are tried in vain.
func TestAllAnew(t *testing.T) {
	s := testStore(t)
	prev, _, first := putFile(t, s, database(1, 4096, 8<<20), oid.ID{})
	data := append(database(2, 4096, 4096), noise(2, 8<<20)...)
	b := s.NewBatch()
	w := b.Writer()
	id, _, err := w.PutFile(bytes.NewReader(data), prev)
	if err != nil {
		t.Fatal(err)
	}
	if w.credit > 0 {
		t.Errorf("deltas are tried to the end: %d more in vain", w.credit)
	}
	commitBatch(t, s, b, w, "all anew")
	if stored := b.StoredBytes(); stored < 8<<20 || stored < first {
		t.Errorf("%d bytes of noise were stored as %d", len(data), stored)
	}
	if !bytes.Equal(readFile(t, s, id), data) {
		t.Error("the file is not what it was")
	}
}

// TestUnreadableFile: an error of reading is the file's, wherever it comes.
func TestUnreadableFile(t *testing.T) {
	for _, n := range []int{0, 10, 18, 5000, pageRun, 3 * pageRun} {
		for _, data := range [][]byte{database(1, 4096, n+18)[:n], text(1, n)} {
			w := testStore(t).NewBatch().Writer()
			r := io.MultiReader(bytes.NewReader(data), failing{})
			if _, _, err := w.PutFile(r, oid.ID{}); err != io.ErrClosedPipe {
				t.Errorf("after %d bytes: %v", n, err)
			}
		}
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }
