package cas

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/pack"
)

// A process that saves for long writes the index when the walk behind it has
// become long, and not at every save from then on.
func TestIndexIsNotWrittenAtEverySave(t *testing.T) {
	indexes := 0
	s := testStore(t, func(o *Options) {
		o.NoSync = true
		o.Owner = func(file string) error {
			if strings.Contains(file, pack.IndexSuffix) {
				indexes++
			}
			return nil
		}
	})
	const saves = 2*tailBlocks + 100 // of a block and a commit each
	for i := range saves {
		save(t, s, fmt.Sprint(i), text(uint64(i), 100))
		if ok, err := s.Has(oid.Sum(text(uint64(i/2), 100))); !ok || err != nil {
			t.Fatalf("save %d lost what was saved before: %v", i, err)
		}
	}
	if indexes == 0 || indexes > 4 {
		t.Errorf("%d saves wrote the index %d times", saves, indexes)
	}
}

// A store that lost all its indexes gets them again, and those of log packs that
// take no more say so: nobody looks into those packs for what no index covers.
func TestLostIndexesAreMadeAgain(t *testing.T) {
	s := testStore(t)
	s.limits.logCommits = 3
	for i := range 12 {
		save(t, s, fmt.Sprint(i), noise(uint64(i), 10_000))
	}
	o := s.o
	files, err := filepath.Glob(filepath.Join(o.Dir, "*"+pack.IndexSuffix))
	if err != nil || len(files) == 0 {
		t.Fatalf("no index: %v", err)
	}
	for _, file := range files {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	s = reopen(t, o)
	if err := s.RefreshIndexes(); err != nil {
		t.Fatal(err)
	}
	s = reopen(t, o)
	if ok, err := s.Has(oid.Sum(noise(3, 10_000))); !ok || err != nil {
		t.Fatal(ok, err)
	}
	logs := 0
	for _, p := range s.packs {
		if p.name.Kind != pack.Log {
			continue
		}
		if logs++; logs > 1 && (p.index == nil || !p.index.Sealed) {
			t.Errorf("%s has no index that is its last", p.name.File())
		}
	}
	if logs < 3 {
		t.Fatalf("only %d log packs", logs)
	}
}
