package watch

import (
	"slices"
	"time"
)

const (
	// maxSuspects bounds the paths of an answer: with more of them, looking at everything is as fast.
	maxSuspects = 4096
	// maxLooks bounds the looks that are kept: those of hooks that run at the same time.
	maxLooks = 4
	// believedFor is for how long at most answers rest on one look at everything, which finds what causes no event.
	believedFor = 10 * time.Minute
	// clockSlack is how far the clock may have moved against the time that passed until it counts as set.
	clockSlack = time.Second
)

// journal keeps what may have changed in a tree since earlier looks at it. It is in memory alone: when its process ends,
// nothing is known any more, and everything is looked at.
type journal struct {
	position uint64          // counts the questions: what came after one has a higher position
	floor    uint64          // of what came before this position, not everything is known
	suspects map[string]mark // by path
	open     map[string]int  // files that are open, and how often: a store through a mapping causes no event
	moved    struct {        // the file that was moved last
		cookie uint32
		open   int
	}
	looks []look // the newest first
	clock func() time.Time
}

// mark is when a path was touched last.
type mark struct {
	position uint64
	below    bool // and all below it
}

// look is a finished look: whatever changed by its position is in the stat cache, or in again.
type look struct {
	id       string // of the stat cache
	position uint64
	whole    moment   // when everything was looked at
	again    [][]byte // paths to look at in any case
}

// moment is a time by both clocks: one that stops while the machine sleeps, and one that can be set.
type moment struct {
	monotonic time.Time
	wall      int64 // nanoseconds since 1970
}

func at(t time.Time) moment { return moment{t, t.UnixNano()} }

// trusted reports whether little time has passed since then, and as much by either clock.
func (m moment) trusted(now moment) bool {
	passed := now.monotonic.Sub(m.monotonic)
	return passed <= believedFor && (time.Duration(now.wall-m.wall)-passed).Abs() <= clockSlack
}

func newJournal() *journal {
	return &journal{suspects: map[string]mark{}, open: map[string]int{}, clock: time.Now}
}

// touch notes that a path may have changed, and all below it if that is asked for.
func (j *journal) touch(path string, below bool) {
	j.suspects[path] = mark{j.position, below || j.suspects[path].below}
	if len(j.suspects) > maxSuspects {
		j.looks, j.floor = nil, j.position
		clear(j.suspects)
	}
}

// opened notes that a file was opened, or closed (by -1).
func (j *journal) opened(path string, by int) {
	if j.open[path] += by; j.open[path] <= 0 {
		delete(j.open, path)
	}
}

// movedFrom and movedTo keep that a file is open under its new name.
func (j *journal) movedFrom(path string, cookie uint32) {
	j.moved.cookie, j.moved.open = cookie, j.open[path]
	delete(j.open, path)
}

func (j *journal) movedTo(path string, cookie uint32) {
	delete(j.open, path)
	if cookie == j.moved.cookie {
		j.opened(path, j.moved.open)
	}
}

// ask says what has to be looked at by one who has a stat cache. All events up to now have been noted.
func (j *journal) ask(id string) (a Answer) {
	a.position, a.asked = j.position, at(j.clock())
	j.position++
	i := slices.IndexFunc(j.looks, func(l look) bool { return l.id == id })
	if id == "" || i < 0 || len(j.open) > maxSuspects || !j.looks[i].whole.trusted(a.asked) {
		return a
	}
	l := j.looks[i]
	a.Known, a.whole = true, l.whole
	for path, m := range j.suspects {
		switch {
		case m.position <= l.position:
		case m.below:
			a.Trees = append(a.Trees, []byte(path))
		default:
			a.Paths = append(a.Paths, []byte(path))
		}
	}
	for path := range j.open {
		a.Paths = append(a.Paths, []byte(path))
	}
	a.Paths = append(a.Paths, l.again...)
	return a
}

// seen notes the look that followed an answer: at everything, or at what the answer named.
func (j *journal) seen(a *Answer, r Report) {
	if r.Cache == "" || !r.Whole && !a.Known || a.position < j.floor {
		return
	}
	if len(j.looks) > 0 && j.looks[0].position > a.position {
		return // that one was asked for later, and what came in between may have been let go
	}
	l := look{id: r.Cache, position: a.position, whole: a.whole, again: r.Again}
	if r.Whole {
		l.whole = a.asked
	}
	j.looks = slices.DeleteFunc(j.looks, func(o look) bool { return o.id == l.id })
	j.looks = slices.Insert(j.looks, 0, l)
	j.looks = j.looks[:min(len(j.looks), maxLooks)]
	oldest := j.looks[len(j.looks)-1].position
	for path, m := range j.suspects {
		if m.position <= oldest {
			delete(j.suspects, path)
		}
	}
}
