package page

import (
	"hash/maphash"
	"strconv"
	"sync"

	"github.com/rewind-cli/rewind/engine/timeline"
)

// A page that knows rows is sent those that are new or changed, and the places of the others among those that it knows.
// updated in timeline.js puts them together. What was sent is remembered by a few bytes a row.

const (
	// mostLists and mostListed bound what is remembered: lists, and rows of all of them.
	mostLists  = 8
	mostListed = 300_000
	// mostGone is how many rows in a row may be missing from those that were known: behind more, all are sent again.
	mostGone = 512
)

// sentLists are the rows that pages were sent last. Its methods are called by several goroutines.
type sentLists struct {
	mu   sync.Mutex
	made int
	last []*sentList // the newest last
}

// sentList are rows in their order. It is not changed once it is in sentLists.
type sentList struct {
	name  string
	total int // checkpoints then: the numbers of all rows grow with it
	rows  []sentRow
}

type sentRow struct {
	id, content uint64 // hashes
	n           int    // its number; 0 for none
}

var listSeed = maphash.MakeSeed()

// listed is what is remembered of a row: all that a page shows, but for its number.
func listed(v *rowView, r *timeline.Row) sentRow {
	out := sentRow{id: maphash.String(listSeed, v.ID)}
	if l := r.Checkpoint; l != nil && v.N != "" {
		out.n = l.N
	}
	shown := struct {
		kind, why, text, name, agent, session, git string
		flags                                      int
		ms                                         int64
		stored                                     uint64
		changes, then                              timeline.Counts
		counted                                    bool
	}{v.Kind, v.Why, v.Text, v.Name, v.Agent, v.Session, v.Git, v.flags(), r.Time.UnixMilli(), v.Stored, timeline.Counts{}, timeline.Counts{}, v.Changes != nil}
	if v.Changes != nil {
		shown.changes = *v.Changes
	}
	if v.Then != nil {
		shown.then = *v.Then
	}
	out.content = maphash.Comparable(listSeed, shown)
	return out
}

// named is the list of that name; nil for one that is not remembered.
func (k *sentLists) named(name string) *sentList {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, l := range k.last {
		if l.name == name {
			return l
		}
	}
	return nil
}

// keep remembers a list, and gives its name.
func (k *sentLists) keep(l *sentList) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.made++
	l.name = strconv.Itoa(k.made)
	k.last = append(k.last, l)
	rows := 0
	for i := len(k.last) - 1; i >= 0; i-- {
		if rows += len(k.last[i].rows); i < len(k.last)-1 && (rows > mostListed || len(k.last)-i > mostLists) {
			k.last = append([]*sentList(nil), k.last[i+1:]...)
			break
		}
	}
	return l.name
}

// updateView compares rows, one after the other, with a list that is known.
type updateView struct {
	old  *sentList
	by   int // what numbers have grown by
	at   int // where the next row is looked for
	runs [][2]int
}

// sends reports whether the row must be sent, and notes where it is.
func (u *updateView) sends(row sentRow) bool {
	for i := u.at; i < min(len(u.old.rows), u.at+mostGone); i++ {
		was := u.old.rows[i]
		if was.id != row.id {
			continue
		}
		u.at = i + 1
		if was.content != row.content || (was.n > 0) != (row.n > 0) || row.n > 0 && row.n != was.n+u.by {
			break
		}
		if n := len(u.runs); n > 0 && u.runs[n-1][0] >= 0 && u.runs[n-1][0]+u.runs[n-1][1] == i {
			u.runs[n-1][1]++
		} else {
			u.runs = append(u.runs, [2]int{i, 1})
		}
		return false
	}
	if n := len(u.runs); n > 0 && u.runs[n-1][0] < 0 {
		u.runs[n-1][1]++
	} else {
		u.runs = append(u.runs, [2]int{-1, 1})
	}
	return true
}

// rest are the known rows behind the last one that was found: a page that was sent the first rows keeps them.
func (u *updateView) rest() []sentRow {
	out := make([]sentRow, 0, len(u.old.rows)-u.at)
	for _, row := range u.old.rows[u.at:] {
		if row.n > 0 {
			row.n += u.by
		}
		out = append(out, row)
	}
	return out
}
