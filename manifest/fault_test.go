package manifest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/manifest/table"
)

// failing lets the first operations of a fold through and fails the next; with crash, all after it
// too, as if the process were gone.
type failing struct {
	table.Files
	left  int
	crash bool
	short bool // a failing write leaves half of its bytes
	calls []string
}

var errFault = errors.New("injected fault")

func (f *failing) step(call, path string) error {
	f.calls = append(f.calls, call+" "+filepath.Base(path))
	f.left--
	if f.left == -1 || f.crash && f.left < 0 {
		return errFault
	}
	return nil
}

func (f *failing) Mkdir(dir string) error {
	if err := f.step("mkdir", dir); err != nil {
		return err
	}
	return f.Files.Mkdir(dir)
}

func (f *failing) WriteFile(file string, data []byte) error {
	if err := f.step("write", file); err != nil {
		if f.short {
			return errors.Join(err, os.WriteFile(file, data[:len(data)/2], 0o600))
		}
		return err
	}
	return f.Files.WriteFile(file, data)
}

func (f *failing) Link(old, new string) error {
	if err := f.step("link", new); err != nil {
		return err
	}
	return f.Files.Link(old, new)
}

func (f *failing) Rename(old, new string) error {
	if err := f.step("rename", new); err != nil {
		return err
	}
	return f.Files.Rename(old, new)
}

func (f *failing) SyncDir(dir string) error {
	if err := f.step("sync", dir); err != nil {
		return err
	}
	return f.Files.SyncDir(dir)
}

func (f *failing) RemoveAll(path string) error {
	if err := f.step("remove", path); err != nil {
		return err
	}
	return f.Files.RemoveAll(path)
}

func (f *failing) ReadDir(dir string) ([]string, error) {
	if err := f.step("list", dir); err != nil {
		return nil, err
	}
	return f.Files.ReadDir(dir)
}

// The order in which a fold makes itself durable.
func TestFoldCalls(t *testing.T) {
	o, w := inTemp(t), diary()
	mustFold(t, o, w.upTo(14))
	files := &failing{Files: table.Disk{}, left: 1000}
	if err := fold(background, o, w, files); err != nil {
		t.Fatal(err)
	}
	want := `list manifests
mkdir 00000002
write 000002.sst
link 000001.sst
write MANIFEST
write GENERATION
sync 00000002
remove current.new
write current.new
sync manifests
rename current
sync manifests
list manifests
sync manifests
remove 00000001`
	if got := strings.Join(files.calls, "\n"); got != want {
		t.Errorf("calls:\n%s\nwant:\n%s", got, want)
	}
}

// Whatever operation of a fold fails, or is the last before the process dies, the
// database answers, and the next fold works.
func TestFoldFaults(t *testing.T) {
	step := 1
	if testing.Short() {
		step = 5
	}
	for _, whole := range []bool{false, true} {
		for _, mode := range []failing{{}, {crash: true}, {short: true}, {crash: true, short: true}} {
			if mode.short && testing.Short() {
				continue
			}
			for k := 0; ; k += step {
				o, w := inTemp(t), diary()
				mustFold(t, o, w.upTo(9))
				if whole {
					w.add(Record{Rewrite: &Rewrite{Checkpoints: []CheckpointID{{1}}, Roots: []oid.ID{w.store(tree{})}}})
				}
				files := mode
				files.Files, files.left = table.Disk{}, k
				err := fold(background, o, w, &files)
				if files.left >= 0 {
					if err != nil {
						t.Fatal(err)
					}
					if k < 10 {
						t.Fatalf("only %d operations", k)
					}
					break
				}
				what := fmt.Sprintf("whole %v, %+v, operation %d %s", whole, mode, k, files.calls[k])
				if err != nil && !errors.Is(err, errFault) {
					t.Fatalf("%s: %v", what, err)
				}
				db, err := Open(background, Options{Dir: o.Dir, ReadOnly: true}, w)
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				if err := db.Damaged(); err != nil {
					t.Errorf("%s: damaged: %v", what, err)
				}
				newModel(w).check(naming{t, what}, db)
				db.Close()
				mustFold(t, o, w)
				check(t, o, w)
				left, _ := filepath.Glob(filepath.Join(o.Dir, "0*"))
				if len(left) != 1 {
					t.Errorf("%s: left %v", what, left)
				}
			}
		}
	}
}

// damages visits every file below dir in broken forms.
func damages(t *testing.T, dir string, step int, try func(what string)) {
	for file, content := range listing(t, dir) {
		path := filepath.Join(dir, file)
		if filepath.Base(file) == table.LockFile {
			continue
		}
		put := func(what string, data []byte) {
			// A new file each time: tables are linked, and maps of others must not fault.
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			if data != nil {
				if err := os.WriteFile(path, data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			try(file + " " + what)
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		put("removed", nil)
		put("empty", []byte{})
		put("longer", []byte(content+"x"))
		for at := 0; at < len(content); at += step {
			put(fmt.Sprintf("cut at %d", at), []byte(content[:at]))
			flipped := []byte(content)
			flipped[at] ^= 0x10
			put(fmt.Sprintf("flipped at %d", at), flipped)
		}
	}
}

// No damage of a generation's files changes an answer, and none ends the process.
func TestDamagedGeneration(t *testing.T) {
	step := 5
	if os.Getenv("REWIND_SOAK") != "" {
		step = 1
	} else if testing.Short() {
		step = 31
	}
	o, w := inTemp(t), newWorld()
	tr := tree{}
	for i := range 40 {
		tr[fmt.Sprintf("f%02d", i)] = file(byte(i))
	}
	for i := range 6 {
		tr["f01"] = file(byte(i))
		w.add(Record{Checkpoint: &Checkpoint{ID: CheckpointID{1, byte(i)}, Root: w.store(tr), Time: at(i), Session: "s"}})
		if i == 3 || i == 5 {
			mustFold(t, o, w)
		}
	}
	want := newModel(w)
	o.ReadOnly = true
	noticed, tried := 0, 0
	damages(t, o.Dir, step, func(what string) {
		db, err := Open(background, o, w)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		defer db.Close()
		want.check(naming{t, what}, db)
		// Badger's manifest is for Badger only, and some bits of a zstd frame mean nothing.
		if !strings.Contains(what, table.BadgerName) {
			tried++
		}
		if db.Damaged() != nil {
			noticed++
		}
	})
	if noticed < tried*98/100 {
		t.Errorf("%d of %d damages noticed", noticed, tried)
	}
}

type naming struct {
	*testing.T
	what string
}

func (n naming) Fatalf(format string, args ...any) {
	n.Helper()
	n.T.Fatalf(n.what+": "+format, args...)
}

// Damage in the middle of a long answer: it goes on from the log, with nothing twice and nothing left out.
func TestStreamGoesOnAfterDamage(t *testing.T) {
	o, w := inTemp(t), newWorld()
	for i := range 300 {
		w.add(Record{Checkpoint: &Checkpoint{ID: CheckpointID{byte(i), byte(i >> 8), 1}, Time: at(i), Session: "s",
			Description: fmt.Sprintf("%x", sha256.Sum256([]byte{byte(i), byte(i >> 8)}))}})
	}
	mustFold(t, o, w)
	o.ReadOnly = true
	tables, _ := filepath.Glob(filepath.Join(o.Dir, "*", "*.sst"))
	content, err := os.ReadFile(tables[0])
	if err != nil {
		t.Fatal(err)
	}
	want := newModel(w)
	midway := 0
	for at := 100; at < len(content); at += len(content) / 60 {
		bad := bytes.Clone(content)
		bad[at] ^= 0x55
		if err := os.Remove(tables[0]); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(tables[0], bad, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := Open(background, o, w)
		if err != nil {
			t.Fatal(err)
		}
		sound := db.Damaged() == nil
		var got []Checkpoint
		for c, err := range db.Checkpoints(Query{}) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, c)
			if sound && db.Damaged() != nil && len(got) > 1 {
				midway, sound = midway+1, false
			}
		}
		equal(t, "Checkpoints", got, want.query(Query{}))
		db.Close()
	}
	if midway < 5 {
		t.Errorf("only %d answers met damage on their way", midway)
	}
}

// Damage that a query meets: the answer is right, the pointer is dropped, the next fold is whole.
func TestQueryHealsDamage(t *testing.T) {
	o, w := inTemp(t), diary()
	mustFold(t, o, w)
	tables, _ := filepath.Glob(filepath.Join(o.Dir, "*", "*.sst"))
	data, err := os.ReadFile(tables[0])
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/4] ^= 1
	if err := os.Remove(tables[0]); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(tables[0], data, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := Open(background, o, w)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	newModel(w).check(t, db)
	if db.Damaged() == nil {
		t.Fatal("nothing was said")
	}
	if _, err := os.Stat(filepath.Join(o.Dir, table.PointerFile)); err == nil {
		t.Log("the damage was met when opening")
	}
	mustFold(t, o, w)
	check(t, o, w)
}
