package graph

import "slices"

// Row is one row of a timeline.
type Row struct {
	Key     string // an operation's target is named by it; "" for none
	Session string // "" for a person's own
	Seq     uint64 // its place in the log; operations are between rows by theirs
}

// Session is where a session came from.
type Session struct {
	ID     string
	Parent string // "" for none
	At     string // key of the row that it was forked at, "" for the parent's newest before it
}

// Kind of an operation.
type Kind uint8

// Kinds.
const (
	Restore  Kind = iota // went to a checkpoint
	Undo                 // went to the newest that differed
	TakeBack             // took an operation back
	Again                // did one again that had been taken back
)

// Operation moved the working tree.
type Operation struct {
	Seq    uint64
	Kind   Kind
	Target string // key of the row that it went to, "" where nobody knows
	Undoes uint64 // the operation that it takes back, or does again
}

// Graph is the picture as numbers. Rows are named by their index, columns and tracks from 0.
type Graph struct {
	Columns int    // that lanes use
	Tracks  int    // that arcs use
	Column  []int  // of each row
	Lanes   []Lane // in the order of their tops
	Arcs    []Arc  // the newest operation first
}

// Lane is the line of one session, from its newest row down.
type Lane struct {
	Session     string `json:"-"`
	Column      int
	Top, Bottom int // its newest and its oldest row
	Fork        int // the row below that it was forked at; -1 where that is not among the rows
}

// End is the last row that the lane is drawn in.
func (l Lane) End() int { return max(l.Bottom, l.Fork) }

// Arc is one operation, drawn from the row that stands after it down to its target.
type Arc struct {
	Kind     Kind   `json:"-"`
	Seq      uint64 `json:"-"`
	Track    int
	From, To int // rows; From is 0 too where no row is newer
	Undone   bool
}

// Of makes the graph of rows, newest first.
func Of(rows []Row, sessions []Session, operations []Operation) *Graph {
	g := &Graph{Column: make([]int, len(rows))}
	g.Lanes = lanes(rows, sessions)
	g.place(rows)
	g.arcs(rows, operations)
	return g
}

// lanes finds where each session's lane begins and ends.
func lanes(rows []Row, sessions []Session) []Lane {
	known := make(map[string]Session, len(sessions))
	for _, s := range sessions {
		known[s.ID] = s
	}
	var out []Lane
	of := map[string]int{}
	own := map[string][]int{} // rows of each session, from the newest
	keys := make(map[string]int, len(rows))
	for i, r := range rows {
		if r.Key != "" {
			keys[r.Key] = i
		}
		if r.Session == "" {
			continue
		}
		own[r.Session] = append(own[r.Session], i)
		n, ok := of[r.Session]
		if !ok {
			n = len(out)
			of[r.Session] = n
			out = append(out, Lane{Session: r.Session, Top: i, Fork: -1})
		}
		out[n].Bottom = i
	}
	for i := range out {
		out[i].Fork = forkedAt(out[i], known, own, keys)
	}
	return out
}

// forkedAt is the row that a lane's session was forked at, -1 for none that is shown.
func forkedAt(l Lane, known map[string]Session, own map[string][]int, keys map[string]int) int {
	s := known[l.Session]
	if at, ok := keys[s.At]; ok && s.At != "" && s.Parent != "" && at > l.Bottom {
		return at
	}
	// A parent without a row is skipped; a circle of parents, which only damage makes, ends.
	for n := 0; s.Parent != "" && s.Parent != l.Session && n < 1000; n++ {
		older := own[s.Parent]
		if i, _ := slices.BinarySearch(older, l.Bottom+1); i < len(older) {
			return older[i]
		}
		s = known[s.Parent]
	}
	return -1
}

// place gives lanes their columns, from the newest row down. A column is free again below the row
// in which its lane ends. Where a session goes on from its parent's last row, the parent takes over
// its column: one line.
func (g *Graph) place(rows []Row) {
	lane := make(map[string]int, len(g.Lanes))
	for i, l := range g.Lanes {
		lane[l.Session] = i
	}
	ends := make(map[int][]int, len(g.Lanes)) // lanes by the row in which they end
	for i, l := range g.Lanes {
		ends[l.End()] = append(ends[l.End()], i)
	}
	var free columns
	last := 0
	for i, r := range rows {
		ending := ends[i]
		if n, ok := lane[r.Session]; ok && r.Session != "" {
			l := &g.Lanes[n]
			if l.Top == i {
				heir := slices.IndexFunc(ending, func(e int) bool { return e != n && g.Lanes[e].Fork == i })
				for at, e := range ending { // of several, the leftmost
					if e != n && g.Lanes[e].Fork == i && g.Lanes[e].Column < g.Lanes[ending[heir]].Column {
						heir = at
					}
				}
				if heir >= 0 {
					l.Column = g.Lanes[ending[heir]].Column
					ending = slices.Delete(slices.Clone(ending), heir, heir+1)
				} else {
					l.Column = free.take()
				}
			}
			last = l.Column
		}
		g.Column[i] = last
		g.Columns = max(g.Columns, last+1)
		for _, e := range ending {
			free.give(g.Lanes[e].Column)
		}
		if len(ending) > 0 && r.Session == "" && free.has(last) {
			last = 0
		}
	}
}

// columns are those that are free, the leftmost first.
type columns struct {
	used int
	free []int // sorted, the smallest last
}

func (c *columns) take() int {
	if n := len(c.free); n > 0 {
		least := c.free[n-1]
		c.free = c.free[:n-1]
		return least
	}
	c.used++
	return c.used - 1
}

func (c *columns) give(column int) {
	i, _ := slices.BinarySearchFunc(c.free, column, func(a, b int) int { return b - a })
	c.free = slices.Insert(c.free, i, column)
}

func (c *columns) has(column int) bool {
	_, ok := slices.BinarySearchFunc(c.free, column, func(a, b int) int { return b - a })
	return ok
}

// arcs makes an arc of each operation whose target is shown, and gives those that stand beside
// each other tracks of their own.
func (g *Graph) arcs(rows []Row, operations []Operation) {
	keys := make(map[string]int, len(rows))
	for i, r := range rows {
		if r.Key != "" {
			keys[r.Key] = i
		}
	}
	ops := slices.Clone(operations)
	slices.SortFunc(ops, func(a, b Operation) int { return int(max(-1, min(1, int64(b.Seq)-int64(a.Seq)))) })
	undone := undoneOf(ops)
	for _, op := range ops {
		to, ok := keys[op.Target]
		if (!ok || op.Target == "") && op.Undoes != 0 { // what it went back to stood right before that operation
			if to = firstBelow(rows, op.Undoes); to < len(rows) && rows[to].Seq == op.Undoes {
				to++ // the row of that operation itself
			}
			ok = to < len(rows)
		}
		if !ok || op.Target == "" && op.Undoes == 0 {
			continue
		}
		from := firstBelow(rows, op.Seq)
		if from == len(rows) || rows[from].Seq != op.Seq { // it has no row of its own
			from = max(from-1, 0)
		}
		if from >= to {
			continue // its target is the row that it stands at
		}
		g.Arcs = append(g.Arcs, Arc{Kind: op.Kind, Seq: op.Seq, From: from, To: to, Undone: undone[op.Seq]})
	}
	g.track()
}

// firstBelow is the first row whose place in the log is seq or before it; len(rows) for none.
func firstBelow(rows []Row, seq uint64) int {
	i, _ := slices.BinarySearchFunc(rows, seq, func(r Row, seq uint64) int {
		if r.Seq > seq {
			return -1
		}
		return 1
	})
	return i
}

// undoneOf are the operations that stand taken back. ops are newest first.
func undoneOf(ops []Operation) map[uint64]bool {
	undone := map[uint64]bool{}
	for _, op := range slices.Backward(ops) {
		switch {
		case op.Undoes == 0:
		case op.Kind == Again: // of the taking back
			undone[op.Undoes] = true
			for _, before := range ops {
				if before.Seq == op.Undoes {
					delete(undone, before.Undoes)
				}
			}
		default:
			undone[op.Undoes] = true
		}
	}
	return undone
}

// track gives every arc the innermost track that is free from its first row to its last.
func (g *Graph) track() {
	byTop := make([]int, len(g.Arcs))
	for i := range byTop {
		byTop[i] = i
	}
	slices.SortStableFunc(byTop, func(a, b int) int { return g.Arcs[a].From - g.Arcs[b].From })
	var free columns
	var open []int // arcs by their lowest row, the nearest last
	for _, i := range byTop {
		a := &g.Arcs[i]
		for len(open) > 0 && g.Arcs[open[len(open)-1]].To < a.From {
			free.give(g.Arcs[open[len(open)-1]].Track)
			open = open[:len(open)-1]
		}
		a.Track = free.take()
		at, _ := slices.BinarySearchFunc(open, a.To, func(o, to int) int { return to - g.Arcs[o].To })
		open = slices.Insert(open, at, i)
	}
	g.Tracks = free.used
}
