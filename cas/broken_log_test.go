package cas

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rewind-cli/rewind/cas/pack"
)

// A bit that flips in any record of the log is told of, before and after the next commits, whatever is left to list. What
// a crash leaves is not.
func TestDamageIsNeverSilent(t *testing.T) {
	s := testStore(t, func(o *Options) { o.Mirror = "" })
	o := s.o
	o.NoSync = true
	var ends []int64
	for i := range 3 {
		ends = append(ends, save(t, s, "commit", text(uint64(i), 300)).Offset)
	}
	s.Close()
	file := filepath.Join(o.Dir, "log-00000001.pack")
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	told := func(s *Store, at int, when string, want bool) {
		t.Helper()
		if broken := s.BrokenLog() != ""; broken != want {
			t.Errorf("byte %d, %s: the log is broken: %v", at, when, broken)
		}
		found := 0
		if _, err := s.Verify(t.Context(), true, func(Damage) { found++ }, nil); err != nil {
			t.Fatal(err)
		}
		if (found > 0) != want {
			t.Errorf("byte %d, %s: verify finds %d damages", at, when, found)
		}
	}
	run := func(at int, bad []byte, want bool) {
		t.Helper()
		to := copyStore(t, o)
		write(t, filepath.Join(to.Dir, "log-00000001.pack"), bad)
		s := reopen(t, to)
		defer s.Close()
		told(s, at, "at first", want)
		save(t, s, "next", text(9, 100))
		again := reopen(t, to)
		defer again.Close()
		save(t, again, "and next", text(8, 100))
		told(again, at, "after two commits", want)
		if !want {
			return
		}
		if err := again.Repair(t.Context(), func(Repaired) {}, nil); err != nil {
			t.Fatal(err)
		}
		told(again, at, "after repair", false)
	}
	for i := pack.HeaderSize; i < len(good); i += every(15) {
		bad := slices.Clone(good)
		bad[i] ^= 0x04
		run(i, bad, true)
	}
	for n := int(ends[1]); n < len(good); n += 3 * every(15) { // cut off, or with zeros where nothing was written yet
		run(n, good[:n], false)
	}
	bad := slices.Concat(good[:ends[1]], make([]byte, len(good)-int(ends[1])))
	run(int(ends[1]), bad, false)
	bad = slices.Clone(good) // one record has another length, as after sed
	run(int(ends[0]), slices.Concat(bad[:ends[0]+60], []byte("x"), bad[ends[0]+60:]), true)
}
