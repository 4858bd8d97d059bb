package engine

import (
	"testing"

	"github.com/rewind-cli/rewind/manifest"
)

// TestQueriesOfOneUse: the database stays open while the store is used, and each question is answered with what others
// saved before it, also one that is asked while another is answered.
func TestQueriesOfOneUse(t *testing.T) {
	l := newLab(t)
	l.Write("a", "1")
	l.Init()
	p := l.Open()
	defer p.Close()
	release, err := p.Use(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	var used []*manifest.DB
	holds := func(want int) {
		t.Helper()
		if err := p.Query(t.Context(), func(db *manifest.DB) error {
			n, _, err := db.Count()
			if n != want {
				t.Errorf("%d checkpoints, not %d", n, want)
			}
			used = append(used, db)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	holds(1)
	l.Write("a", "2")
	l.Save()
	holds(2)
	if used[0] != used[1] {
		t.Error("it was opened once more")
	}
	if err := p.Query(t.Context(), func(db *manifest.DB) error {
		l.Write("a", "3")
		l.Save()
		holds(3)
		n, _, err := db.Count()
		if n != 2 {
			t.Errorf("%d checkpoints: it changed while a question was answered", n)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	release()
	holds(3)
}
