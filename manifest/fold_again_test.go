package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/manifest/table"
)

// After a rewrite no table names a path that only the old trees had.
func TestRewriteLeavesNoTrace(t *testing.T) {
	o, w := inTemp(t), newWorld()
	secret, clean := tree{"a": file(1), "secret-name": file(2)}, tree{"a": file(1)}
	for i := range 5 {
		secret["a"], clean["a"] = file(byte(i)), file(byte(i))
		w.add(Record{Checkpoint: &Checkpoint{ID: CheckpointID{1, byte(i)}, Root: w.store(secret), Time: at(i)}})
		mustFold(t, o, w)
	}
	r := Rewrite{Time: at(9)}
	for i := range 5 {
		clean["a"] = file(byte(i))
		r.Checkpoints = append(r.Checkpoints, CheckpointID{1, byte(i)})
		r.Roots = append(r.Roots, w.store(clean))
	}
	w.add(Record{Rewrite: &r})
	check(t, o, w)
	mustFold(t, o, w)
	check(t, o, w)
	gen, err := openCurrent(o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer gen.Close()
	for _, r := range gen.Runs { // each run by itself: what a newer one hides is there all the same
		if err := (table.Runs{r}).Ascend(nil, func([]byte) bool { return true }, func(key, value []byte) error {
			if bytes.Contains(key, []byte("secret")) || bytes.Contains(value, []byte("secret")) {
				t.Errorf("key %q, value %q", key, value)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if dirs, _ := filepath.Glob(filepath.Join(o.Dir, "0*")); len(dirs) != 1 {
		t.Errorf("generations left: %v", dirs)
	}
}

// A power cut can take back commits that were read already; the log goes on with others.
func TestGenerationOfAnotherLog(t *testing.T) {
	for _, name := range []string{"other end", "shorter", "empty"} {
		t.Run(name, func(t *testing.T) {
			o, w := inTemp(t), diary()
			mustFold(t, o, w)
			other := w.upTo(len(w.log) - 3)
			other.log = slices.Clone(other.log)
			switch name {
			case "other end":
				for range 5 {
					other.add(Record{Delete: &Delete{Checkpoints: []CheckpointID{{1}}}})
				}
			case "empty":
				other.log = nil
			}
			readOnly := o
			readOnly.ReadOnly = true
			db, err := Open(background, readOnly, other)
			if err != nil {
				t.Fatal(err)
			}
			newModel(other).check(t, db)
			if db.Damaged() == nil {
				t.Error("nothing was said")
			}
			db.Close()
			db, err = Open(background, o, other)
			if err != nil {
				t.Fatal(err)
			}
			newModel(other).check(t, db)
			db.Close()
			if name != "empty" {
				check(t, o, other)
			}
		})
	}
}

// A path too long for a key, and a tree that cannot be read, keep nothing else out.
func TestUnfoldedChanges(t *testing.T) {
	o, w := inTemp(t), newWorld()
	tr := tree{"a": file(1)}
	long := ""
	deep := tree{}
	for range 90 {
		long += strings.Repeat("n", 200)
		deep[long] = folderOf(0o755)
		long += "/"
	}
	deep[long+"leaf"] = file(7)
	for i := range 6 {
		tr["a"] = file(byte(i))
		if i == 2 {
			maps.Copy(tr, deep)
		}
		if i == 4 {
			delete(tr, long+"leaf")
		}
		w.add(Record{Checkpoint: &Checkpoint{ID: CheckpointID{1, byte(i)}, Root: w.store(tr), Time: at(i)}})
		if i%2 == 1 {
			mustFold(t, o, w)
		}
	}
	mustFold(t, o, w)
	check(t, o, w)
	w.add(Record{Delete: &Delete{Checkpoints: []CheckpointID{{1, 2}}}})
	mustFold(t, o, w)
	check(t, o, w)
}

func TestUnreadableTree(t *testing.T) {
	o, w := inTemp(t), diary()
	var bad oid.ID
	for _, r := range w.log {
		if c := r.Record.Checkpoint; c != nil && c.ID == (CheckpointID{6}) {
			bad = c.Root
		}
	}
	w.gone[bad] = true
	mustFold(t, o, w)
	db, err := Open(background, o, w)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	bySix := 0
	for c := range db.Checkpoints(Query{All: true}) {
		failed := false
		for _, err := range db.Changes(c.Seq) {
			var te *TreeError
			if failed = errors.As(err, &te); failed && te.ID != bad {
				t.Errorf("%v", err)
			}
		}
		// The damaged one, and the one that is compared with it.
		if want := c.ID == (CheckpointID{6}) || c.ID == (CheckpointID{7}); failed != want {
			t.Errorf("changes of %s: error %v", c.ID, failed)
		}
		bySix++
	}
	if bySix != 10 {
		t.Errorf("%d checkpoints", bySix)
	}
}

// A query that takes one checkpoint reads few of them: a list asks for the one before, of each of its rows.
func TestQueryReadsFew(t *testing.T) {
	o, w := folded(t, 120)
	db, err := Open(background, o, w)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	newest, _, err := db.Nth(1)
	if err != nil {
		t.Fatal(err)
	}
	ahead := readAhead{s: db.now()}
	c, err := ahead.bySeq(newest.Seq - 1)
	if err != nil || c.Seq != newest.Seq-1 {
		t.Fatal(c, err)
	}
	if len(ahead.ready) > 4 {
		t.Errorf("for one checkpoint, %d more were read", len(ahead.ready))
	}
	for seq := newest.Seq - 2; seq > 0; seq-- {
		if c, err := ahead.bySeq(seq); err != nil || c.Seq != seq {
			t.Fatal(seq, c, err)
		}
	}
	if ahead.span < 64 {
		t.Errorf("where all are wanted, %d are read at once", ahead.span)
	}
}

// A query of a session finds the same whether or not a longer one has just read what lies there.
func TestQueriesWithinALongOne(t *testing.T) {
	o, w := inTemp(t), newWorld()
	root := w.store(tree{"f": file(1)})
	id := func(i int) CheckpointID { return CheckpointID{1, byte(i >> 8), byte(i)} }
	for i := range 1400 {
		c := Checkpoint{ID: id(i), Time: at(i), Kind: PreTool, Session: fmt.Sprint("s", i/3%2), Root: root}
		if i%5 == 0 {
			c.Kind = Prompt
		}
		w.add(Record{Checkpoint: &c})
	}
	mustFold(t, o, w)
	name := "later"
	for i := 3; i < 1400; i += 7 {
		w.add(Record{Delete: &Delete{Checkpoints: []CheckpointID{id(i)}}})
		w.add(Record{Mark: &Mark{Checkpoint: id(i + 1), Name: &name}})
	}
	db, err := Open(background, o, w)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	all := collect(t, db.Checkpoints(Query{All: true}))
	for c, err := range db.Checkpoints(Query{All: true}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, kinds := range [][]CheckpointKind{nil, {Prompt}} {
			var want []Checkpoint
			for _, b := range all {
				if b.Seq < c.Seq && b.Session == c.Session && (kinds == nil || b.Kind == Prompt) && len(want) < 3 {
					want = append(want, b)
				}
			}
			if got := collect(t, db.Checkpoints(Query{Session: c.Session, Before: c.Seq, Kinds: kinds, Limit: 3})); !reflect.DeepEqual(got, want) {
				t.Fatalf("before %d, of %v:\n%v\nwant\n%v", c.Seq, kinds, got, want)
			}
		}
	}
	if db.now().recent.Load() == nil {
		t.Error("the long query left nothing to the others")
	}
}
