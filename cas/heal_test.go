package cas

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/pack"
)

// rewrites are what programs make of a pack that they write anew.
var rewrites = []struct {
	name string
	make func([]byte) []byte
}{
	{"sed s/a/Q/", func(b []byte) []byte {
		lines := bytes.SplitAfter(bytes.Clone(b), []byte("\n"))
		for i := range lines {
			lines[i] = bytes.Replace(lines[i], []byte("a"), []byte("Q"), 1)
		}
		return bytes.Join(lines, nil)
	}},
	{"sed s/\\r$//", func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")) }},
	{"its header", func(b []byte) []byte { return append([]byte("X"), b[1:]...) }},
	{"a byte in the middle", func(b []byte) []byte {
		c := bytes.Clone(b)
		c[len(c)/2] ^= 0x40
		return c
	}},
	{"cut in half", func(b []byte) []byte { return b[:len(b)/2] }},
	{"nothing is left", func([]byte) []byte { return nil }},
	{"zeros", func(b []byte) []byte { return make([]byte, len(b)) }},
	{"text", func([]byte) []byte { return regexp.MustCompile("(?m)^").ReplaceAll(text(9, 3000), []byte("# ")) }},
	{"more behind it", func(b []byte) []byte { return append(bytes.Clone(b), "\nmore\n"...) }},
}

// anew writes a file anew, as sed -i does: its other names keep what was there.
func anew(t *testing.T, file string, change func([]byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	write(t, file+".sed", change(data))
	if err := os.Rename(file+".sed", file); err != nil {
		t.Fatal(err)
	}
}

// twinStore is a store with a log pack and a data pack.
func twinStore(t *testing.T) (s *Store, objects [][]byte, log []string) {
	s = testStore(t, func(o *Options) { o.NoSync = true })
	s.limits = smallLimits
	for i := range 4 {
		objects = append(objects, text(uint64(i), 2000))
		save(t, s, fmt.Sprintf("commit %d", i+1), objects[i])
	}
	b := s.NewBatch()
	w := b.Writer()
	for i := range 6 {
		o := noise(uint64(i), smallLimits.bulk/3)
		objects = append(objects, o)
		if _, err := w.Put(oid.Sum(o), o, oid.ID{}); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil { // each is a block of its own
			t.Fatal(err)
		}
	}
	commitBatch(t, s, b, nil, "commit 5")
	if err := s.RefreshIndexes(); err != nil {
		t.Fatal(err)
	}
	return s, objects, payloads(t, s, 0)
}

// A pack that was written anew and damaged comes back from the mirror, whatever is done first, and the mirror's copy is
// never given up for it.
func TestRewrittenPacks(t *testing.T) {
	first := map[string]func(*testing.T, *Store){
		"a look": func(t *testing.T, s *Store) {
			if done, err := s.CatchUp(t.Context()); !done || err != nil {
				t.Error("nothing came back:", err)
			}
		},
		"a save": func(t *testing.T, s *Store) {
			save(t, s, "commit 6")
			if _, err := s.CatchUp(t.Context()); err != nil {
				t.Error(err)
			}
		},
		"gc": func(t *testing.T, s *Store) {
			if err := s.Complete(t.Context()); err != nil {
				t.Error(err)
			}
			sweep(t, s)
		},
		"a repair": func(t *testing.T, s *Store) {
			if err := s.Repair(t.Context(), func(r Repaired) {
				if r.What != FixReturned {
					t.Errorf("%s: %v", r.Pack, r.What)
				}
			}, nil); err != nil {
				t.Error(err)
			}
		},
	}
	n := 0
	for _, what := range slices.Sorted(maps.Keys(first)) {
		run := first[what]
		for _, damage := range rewrites {
			for _, only := range []pack.Kind{0, pack.Log, pack.Data} {
				if n++; n%every(5) != 0 {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%d", what, damage.name, only), func(t *testing.T) {
					s, objects, log := twinStore(t)
					names, err := s.names()
					if err != nil {
						t.Fatal(err)
					}
					changed := 0
					for _, n := range names {
						if only == 0 || n.Kind == only {
							anew(t, filepath.Join(s.o.Dir, n.File()), func(b []byte) []byte {
								if c := damage.make(b); !bytes.Equal(b, c) {
									changed++
									return c
								}
								return b
							})
						}
					}
					if changed == 0 {
						t.Fatal("nothing is damaged")
					}
					again := reopen(t, s.o)
					again.limits = smallLimits
					run(t, again)
					if t.Failed() {
						return
					}
					for _, s := range []*Store{again, reopen(t, s.o), mirrorAlone(t, s.o)} {
						if got := payloads(t, s, 0); len(got) < len(log) || fmt.Sprint(got[:len(log)]) != fmt.Sprint(log) {
							t.Errorf("the log is %v, want %v", got, log)
						}
						for _, o := range objects {
							mustGet(t, s, o)
						}
						check(t, s)
					}
					if err := again.Mirrored(); err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
}

// sweep drops nothing.
func sweep(t *testing.T, s *Store) {
	t.Helper()
	plan, err := s.PlanRepack(RepackOptions{Recompress: true}, func(oid.ID) bool { return true }, func(Commit) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	if done, err := plan.Apply(context.Background(), func(Commit) error { return nil }); !done || err != nil {
		t.Fatal(done, err)
	}
}

// mirrorAlone is a store made of what the mirror has.
func mirrorAlone(t *testing.T, o Options) *Store {
	t.Helper()
	copied := o
	copied.Mirror = ""
	copied.Dir, copied.LockDir = filepath.Join(t.TempDir(), "objects"), t.TempDir()
	if err := os.CopyFS(copied.Dir, os.DirFS(o.Mirror)); err != nil {
		t.Fatal(err)
	}
	return reopen(t, copied)
}

// A damaged file in the mirror is replaced by the store's, which is whole.
func TestRewrittenMirror(t *testing.T) {
	for _, damage := range rewrites {
		t.Run(damage.name, func(t *testing.T) {
			s, objects, log := twinStore(t)
			names, err := s.names()
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range names {
				anew(t, filepath.Join(s.o.Mirror, n.File()), damage.make)
			}
			if _, err := s.CatchUp(t.Context()); err != nil {
				t.Fatal(err)
			}
			save(t, s, "commit 6") // which gives the mirror what it is behind by
			log = append(log, "6:commit 6")
			if err := s.Mirrored(); err != nil {
				t.Error(err)
			}
			for _, s := range []*Store{s, mirrorAlone(t, s.o)} {
				if got := payloads(t, s, 0); fmt.Sprint(got) != fmt.Sprint(log) {
					t.Errorf("the log is %v, want %v", got, log)
				}
				for _, o := range objects {
					mustGet(t, s, o)
				}
			}
		})
	}
}

// Where each of two files has what the other lacks, neither is given up: not by a look, and not by a repair.
func TestRewrittenTwice(t *testing.T) {
	s, objects, _ := twinStore(t)
	names, err := s.names()
	if err != nil {
		t.Fatal(err)
	}
	data := names[len(names)-1]
	if data.Kind != pack.Data {
		t.Fatal(names)
	}
	second := filepath.Join(s.o.Mirror, data.File())
	flip := func(at int) func([]byte) []byte {
		return func(b []byte) []byte {
			c := bytes.Clone(b)
			c[at] ^= 1
			return c
		}
	}
	info, err := os.Stat(second)
	if err != nil {
		t.Fatal(err)
	}
	anew(t, filepath.Join(s.o.Dir, data.File()), flip(int(info.Size())/2))
	anew(t, second, flip(pack.HeaderSize+200))
	before, err := os.ReadFile(second)
	if err != nil {
		t.Fatal(err)
	}
	again := reopen(t, s.o)
	if _, err := again.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := again.Repair(t.Context(), func(Repaired) {}, nil); err != nil {
		t.Fatal(err)
	}
	if after, err := os.ReadFile(second); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the mirror's copy, which has what the store has lost, is another: %v", err)
	}
	lost := 0
	for _, o := range objects {
		if _, err := again.Get(nil, oid.Sum(o)); err != nil {
			lost++
		}
	}
	if lost > 1 {
		t.Errorf("%d objects are lost, want one at most", lost)
	}
}

// A store that cannot be written to cannot be mended: verify says what the mirror has.
func TestRewrittenReadOnly(t *testing.T) {
	s, _, _ := twinStore(t)
	anew(t, filepath.Join(s.o.Dir, "log-00000001.pack"), func(b []byte) []byte { return b[:0] })
	o := s.o
	o.ReadOnly = true
	var found []Damage
	if _, err := reopen(t, o).Verify(t.Context(), false, func(d Damage) { found = append(found, d) }, nil); err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || found[0].Pack != "log-00000001.pack" || found[0].Reason != reasonLess {
		t.Errorf("verify says %v", found)
	}
}

// A log pack that begins with something else is damage, although nothing in it can be read; one that a crash
// left without its first bytes is none.
func TestBrokenLog(t *testing.T) {
	for _, c := range []struct {
		head   string
		broken bool
	}{{"rwpQck\r\n", true}, {"rwpack\n\x01", true}, {"#!/bin/sh\n", true}, {"x", true}, {"", false}, {"rwpa", false}, {string(make([]byte, 4096)), false}} {
		s := testStore(t, func(o *Options) { o.Mirror = "" })
		save(t, s, "one", text(1, 100))
		s.Close()
		write(t, filepath.Join(s.o.Dir, "log-00000001.pack"), []byte(c.head))
		again := reopen(t, s.o)
		if got := again.BrokenLog() != ""; got != c.broken {
			t.Errorf("%q is broken: %v", c.head, got)
		}
		found := 0
		if _, err := again.Verify(t.Context(), false, func(Damage) { found++ }, nil); err != nil {
			t.Fatal(err)
		}
		if (found > 0) != c.broken {
			t.Errorf("%q: verify finds %d damages", c.head, found)
		}
		save(t, again, "two", text(2, 100))
		mustGet(t, again, text(2, 100))
	}
}

// A pack of another store, or of a later version, in the mirror or here, is none of our business.
func TestForeignTwin(t *testing.T) {
	for _, dir := range []string{"objects", "vault"} {
		s, _, log := twinStore(t)
		file := filepath.Join(filepath.Dir(s.o.Dir), dir, "log-00000001.pack")
		foreign := pack.Header{Name: pack.Name{Kind: pack.Log, Tag: 1}, Store: [16]byte{7}}.Append(nil)
		anew(t, file, func([]byte) []byte { return foreign })
		again := reopen(t, s.o)
		_, err := again.CatchUp(t.Context())
		var damaged *DamagedError
		if dir == "objects" && !errors.As(err, &damaged) || dir == "vault" && err != nil {
			t.Errorf("%s: %v", dir, err)
		}
		if data, err := os.ReadFile(file); err != nil || !bytes.Equal(data, foreign) {
			t.Errorf("%s: the other store's pack was replaced: %v", dir, err)
		}
		if dir == "vault" {
			if got := payloads(t, again, 0); fmt.Sprint(got) != fmt.Sprint(log) {
				t.Error(got)
			}
		}
	}
}
