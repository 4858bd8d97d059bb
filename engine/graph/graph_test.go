package graph

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// draw is the picture in letters, for these tests: o a row, | a lane that goes by, / where a lane
// joins the row that it was forked at, and at the right < where an arc comes to its target, * where it begins.
func draw(g *Graph, rows []Row) string {
	var b strings.Builder
	for i, r := range rows {
		cells := []byte(strings.Repeat(" ", g.Columns))
		for _, l := range g.Lanes {
			if l.Top <= i && i <= l.End() {
				cells[l.Column] = '|'
			}
		}
		for _, l := range g.Lanes {
			if l.Fork == i && l.Column != g.Column[i] {
				cells[l.Column] = '/'
			}
		}
		cells[g.Column[i]] = 'o'
		line := string(cells) + " "
		tracks := []byte(strings.Repeat(" ", g.Tracks))
		for _, a := range g.Arcs {
			if a.From <= i && i <= a.To {
				mark := byte('!')
				switch {
				case a.Undone:
					mark = ':'
				case a.From == i:
					mark = '*'
				}
				if a.To == i {
					mark = '<'
				}
				tracks[a.Track] = mark
			}
		}
		fmt.Fprintln(&b, strings.TrimRight(line+string(tracks)+" "+r.Session+r.Key, " "))
	}
	return b.String()
}

// rowsOf reads "a1 b2 a3": session and key, the newest first, places in the log from 10 down in tens.
func rowsOf(text string) []Row {
	words := strings.Fields(text)
	rows := make([]Row, len(words))
	for i, w := range words {
		rows[i] = Row{Session: strings.TrimRight(w, "0123456789"), Key: strings.TrimLeft(w, "abcdefghijklmnopqrstuvwxyz"), Seq: uint64(len(words)-i) * 10}
	}
	return rows
}

func TestPictures(t *testing.T) {
	for _, c := range []struct {
		name       string
		rows       string
		sessions   []Session
		operations []Operation
		want       string
	}{
		{name: "nothing"},
		{name: "one session", rows: "a3 a2 a1", want: `
o  a3
o  a2
o  a1
`},
		{name: "a person's own, before and between", rows: "a4 3 a2 1", want: `
o  a4
o  3
o  a2
o  1
`},
		{name: "fork, and both go on", rows: "b5 a4 b3 a2 a1", sessions: []Session{{ID: "b", Parent: "a"}}, want: `
o   b5
|o  a4
o|  b3
/o  a2
 o  a1
`},
		{name: "fork, and only it goes on: one line", rows: "b4 b3 a2 a1", sessions: []Session{{ID: "b", Parent: "a"}}, want: `
o  b4
o  b3
o  a2
o  a1
`},
		{name: "fork at an older row, as a restore makes it", rows: "b4 a3 a2 a1", sessions: []Session{{ID: "b", Parent: "a", At: "1"}}, want: `
o   b4
|o  a3
|o  a2
/o  a1
`},
		{name: "fork of a fork", rows: "c6 b5 a4 c3 b2 a1", sessions: []Session{{ID: "c", Parent: "b"}, {ID: "b", Parent: "a"}}, want: `
o    c6
|o   b5
||o  a4
o||  c3
/o|  b2
 /o  a1
`},
		{name: "two forks of one row", rows: "c4 b3 a2 a1", sessions: []Session{{ID: "c", Parent: "a", At: "1"}, {ID: "b", Parent: "a", At: "1"}}, want: `
o    c4
|o   b3
||o  a2
//o  a1
`},
		{name: "two that know nothing of each other", rows: "b4 a3 b2 a1", want: `
o   b4
|o  a3
o|  b2
 o  a1
`},
		{name: "one after the other: the column is free again", rows: "b4 b3 a2 a1", want: `
o  b4
o  b3
o  a2
o  a1
`},
		{name: "parent that has no row: the one before it", rows: "c3 a2 c1 a0", sessions: []Session{{ID: "c", Parent: "b"}, {ID: "b", Parent: "a"}}, want: `
o   c3
|o  a2
o|  c1
/o  a0
`},
		{name: "each the other's parent", rows: "b2 a1", sessions: []Session{{ID: "b", Parent: "a"}, {ID: "a", Parent: "b"}}, want: `
o  b2
o  a1
`},
		{name: "restore", rows: "a4 a3 a2 a1", operations: []Operation{{Seq: 35, Kind: Restore, Target: "1"}}, want: `
o * a4
o ! a3
o ! a2
o < a1
`},
		{name: "restore, undone: back to what stood before", rows: "a4 a3 a2 a1",
			operations: []Operation{{Seq: 36, Kind: TakeBack, Target: "gone", Undoes: 35}, {Seq: 35, Kind: Restore, Target: "1"}}, want: `
o *: a4
o <: a3
o  : a2
o  < a1
`},
		{name: "the undo taken back", rows: "a4 a3 a2 a1",
			operations: []Operation{{Seq: 37, Kind: Again, Target: "1", Undoes: 36}, {Seq: 36, Kind: TakeBack, Target: "3", Undoes: 35}, {Seq: 35, Kind: Restore, Target: "1"}}, want: `
o *:* a4
o !<! a3
o ! ! a2
o < < a1
`},
		{name: "arcs beside each other share a track", rows: "a6 a5 a4 a3 a2 a1",
			operations: []Operation{{Seq: 55, Kind: Restore, Target: "4"}, {Seq: 25, Kind: Restore, Target: "1"}}, want: `
o * a6
o ! a5
o < a4
o * a3
o ! a2
o < a1
`},
		{name: "operations with rows of their own", rows: "a6 5 4 a3 a2 a1",
			operations: []Operation{{Seq: 50, Kind: TakeBack, Undoes: 40}, {Seq: 40, Kind: Restore, Target: "1"}}, want: `
o    a6
o *  5
o !: 4
o <: a3
o  : a2
o  < a1
`},
		{name: "an operation newer than every row, one of nothing, one to a row that is not shown", rows: "a2 a1",
			operations: []Operation{{Seq: 90, Kind: Undo, Target: "1"}, {Seq: 80, Kind: Restore}, {Seq: 70, Kind: Restore, Target: "9"}}, want: `
o * a2
o < a1
`},
	} {
		rows := rowsOf(c.rows)
		if got := draw(Of(rows, c.sessions, c.operations), rows); got != strings.TrimPrefix(c.want, "\n") {
			t.Errorf("%s:\n%s\nwant%s", c.name, got, c.want)
		}
	}
}

// Whatever comes in, damaged parents and all: no two lanes share a column, and no two arcs a track,
// in one row; every row stands on its session's lane.
func TestNothingOverlaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := []string{"", "a", "b", "c", "d", "e"}
		var rows []Row
		for i := range rapid.IntRange(0, 30).Draw(t, "rows") {
			rows = append(rows, Row{Key: fmt.Sprint(i), Session: rapid.SampledFrom(names).Draw(t, "session"), Seq: uint64(1000 - 10*i)})
		}
		var sessions []Session
		for _, n := range names[1:] {
			sessions = append(sessions, Session{ID: n, Parent: rapid.SampledFrom(names).Draw(t, "parent"), At: rapid.SampledFrom([]string{"", "3", "20"}).Draw(t, "at")})
		}
		var ops []Operation
		for range rapid.IntRange(0, 10).Draw(t, "operations") {
			ops = append(ops, Operation{Seq: rapid.Uint64Range(600, 1100).Draw(t, "seq"), Kind: Kind(rapid.IntRange(0, 3).Draw(t, "kind")),
				Target: fmt.Sprint(rapid.IntRange(0, 40).Draw(t, "target")), Undoes: rapid.SampledFrom([]uint64{0, 801, 950}).Draw(t, "undoes")})
		}
		g := Of(rows, sessions, ops)
		for i, r := range rows {
			taken := map[int]string{}
			on := false
			for _, l := range g.Lanes {
				heir := l.Fork == i && l.Column == g.Column[i] // goes over into the row's own lane
				if l.Top > i || l.End() < i || heir {
					continue
				}
				if other, ok := taken[l.Column]; ok {
					t.Fatalf("row %d: %s and %s in column %d", i, other, l.Session, l.Column)
				}
				taken[l.Column] = l.Session
				on = on || l.Session == r.Session && l.Column == g.Column[i]
			}
			if r.Session != "" && !on || g.Column[i] >= g.Columns {
				t.Fatalf("row %d is not on its lane", i)
			}
			tracks := map[int]bool{}
			for _, a := range g.Arcs {
				if a.From <= i && i <= a.To {
					if tracks[a.Track] || a.Track >= g.Tracks {
						t.Fatalf("row %d: two arcs on track %d of %d", i, a.Track, g.Tracks)
					}
					tracks[a.Track] = true
				}
			}
		}
	})
}

// Ten thousand rows take milliseconds; the log says how many.
func TestManyRows(t *testing.T) {
	rows, sessions, ops := many(10000)
	began := time.Now()
	g := Of(rows, sessions, ops)
	t.Logf("%d rows, %d lanes, %d arcs: %v", len(rows), len(g.Lanes), len(g.Arcs), time.Since(began))
	if len(g.Lanes) != len(sessions) || len(g.Column) != len(rows) {
		t.Errorf("%d lanes of %d sessions", len(g.Lanes), len(sessions))
	}
}

func many(n int) (rows []Row, sessions []Session, ops []Operation) {
	for i := range n {
		rows = append(rows, Row{Key: fmt.Sprint(i), Session: fmt.Sprint("s", i/40+i%2), Seq: uint64(n-i) * 10})
		if i%50 == 7 {
			ops = append(ops, Operation{Seq: uint64(n-i)*10 + 5, Target: fmt.Sprint(i + 30)})
		}
	}
	for i := range n/40 + 1 {
		sessions = append(sessions, Session{ID: fmt.Sprint("s", i), Parent: fmt.Sprint("s", i+1)})
	}
	return rows, sessions, ops
}

func BenchmarkOf(b *testing.B) {
	rows, sessions, ops := many(10000)
	for b.Loop() {
		Of(rows, sessions, ops)
	}
}
