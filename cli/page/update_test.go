package page

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// A page that knows the rows is sent those that are otherwise, and they make up what it would be sent without knowing any.
func TestUIUpdate(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for i := range 40 {
		l.write(filepath.Join(l.env.Dir, "a.txt"), fmt.Sprint(i, "\n"))
		l.run(l.env, "save", fmt.Sprint("a save that says something of its own: ", i))
	}
	place := "/api/v1" + l.logIn(l.ui(l.env).URL)
	type update struct {
		List    string
		Total   int
		Graph   any
		Lanes   []int
		Runs    [][2]int
		Columns struct {
			Count int
			IDs   string
		}
	}
	ask := func(args string) (v update, size int) {
		t.Helper()
		var raw json.RawMessage
		l.get(place+"/timeline?"+args, &raw)
		if err := json.Unmarshal(raw, &v); err != nil {
			t.Fatal(err)
		}
		return v, len(raw)
	}
	all, whole := ask("form=columns")
	known := strings.Split(all.Columns.IDs, " ")
	const frame, each = 600, 300 // bytes of an answer without rows, and of a row
	for _, c := range []struct {
		what string
		do   func()
		sent int // with that of now
		args string
	}{
		{"nothing", func() {}, 1, "limit=20&now=1"},
		{"nothing, of all", func() {}, 1, "form=columns"},
		{"a save", func() {
			l.write(filepath.Join(l.env.Dir, "a.txt"), "more\n")
			l.run(l.env, "save", "more")
		}, 2, "limit=20&now=1"},
		{"a name, of all", func() { l.run(l.env, "rename", "30", "old") }, 2, "form=columns"},
		{"a restore, of all", func() { l.run(l.env, "restore", "2", "--yes") }, 3, "form=columns"},
		{"a save after it", func() {
			l.write(filepath.Join(l.env.Dir, "a.txt"), "yet more\n")
			l.run(l.env, "save", "yet more")
		}, 3, "limit=20&now=1"}, // the restore's row says another number
	} {
		c.do()
		got, size := ask(c.args + "&list=" + all.List)
		if got.Columns.Count > c.sent || got.Columns.Count < 1 || size > frame+each*got.Columns.Count || size > whole/2 {
			t.Errorf("%s: %d rows by %d bytes, not %d; all are %d", c.what, got.Columns.Count, size, c.sent, whole)
		}
		var ids []string
		sent := strings.Split(got.Columns.IDs, " ")
		for _, run := range got.Runs {
			if run[0] >= 0 {
				ids = append(ids, known[run[0]:run[0]+run[1]]...)
			} else {
				ids, sent = append(ids, sent[:run[1]]...), sent[run[1]:]
			}
		}
		if strings.HasPrefix(c.args, "limit") { // joined in timeline.js
			if got.Graph != nil {
				t.Errorf("%s: with a graph of %v", c.what, got.Graph)
			}
			last := ids[len(ids)-1]
			for i, id := range known {
				if id == last {
					ids = append(ids, known[i+1:]...)
				}
			}
		}
		fresh, _ := ask("form=columns")
		if want := strings.Split(fresh.Columns.IDs, " "); strings.Join(want, " ") != strings.Join(ids, " ") {
			t.Fatalf("%s: %d rows, not %d:\n%q\n%q", c.what, len(ids), len(want), ids, want)
		}
		if got.List == "" || got.List == all.List {
			t.Errorf("%s: list %q after %q", c.what, got.List, all.List)
		}
		all, known = got, ids
	}
	if got, _ := ask("form=columns&list=none"); got.Columns.Count != len(known) || got.Runs != nil {
		t.Errorf("of rows that nobody knows: %d, not %d; %v", got.Columns.Count, len(known), got.Runs)
	}
}

// What is remembered is bounded, and rows that went, changed or moved are sent again.
func TestUIUpdateOfRows(t *testing.T) {
	t.Parallel()
	rows := func(ids string) (out []sentRow) {
		for i, id := range ids {
			out = append(out, sentRow{uint64(id) | 32, uint64(id), i + 1}) // a capital: otherwise than it was
		}
		return out
	}
	for _, c := range [][3]string{
		{"abcdef", "abcdef", "[[0 6]]"},
		{"abcdef", "xyabcdef", "[[-1 2] [0 6]]"},
		{"abcdef", "abCdef", "[[0 2] [-1 1] [3 3]]"},
		{"abcdef", "acdef", "[[-1 1] [2 4]]"}, // numbers fall by one behind what went
		{"abcdef", "", "[]"},
		{"", "ab", "[[-1 2]]"},
		{"abcdef", "bacdef", "[[-1 2] [2 4]]"},
	} {
		old, now := rows(c[0]), rows(c[1])
		u := &updateView{old: &sentList{rows: old}, by: len(now) - len(old)}
		for _, row := range now {
			u.sends(row)
		}
		if got := fmt.Sprint(u.runs); got != c[2] {
			t.Errorf("%s to %s: %s, not %s", c[0], c[1], got, c[2])
		}
	}
	var k sentLists
	first := k.keep(&sentList{rows: make([]sentRow, 10)})
	for range mostLists {
		k.keep(&sentList{})
	}
	if len(k.last) != mostLists || k.named(first) != nil {
		t.Errorf("%d lists", len(k.last))
	}
	k.keep(&sentList{rows: make([]sentRow, mostListed+1)})
	name := k.keep(&sentList{rows: make([]sentRow, 1)})
	if len(k.last) != 1 || k.named(name) == nil || k.named("") != nil {
		t.Errorf("%d lists of many rows", len(k.last))
	}
}
