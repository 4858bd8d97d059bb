package weave

import (
	"slices"
)

// Bounds of looking closer at what others wrote near own lines. Past them it is a conflict.
const (
	maxLooks = 50_000_000 // lines looked at for overlaps
	maxAgain = 20_000_000 // lines merged again
)

// role is what a version is to the steps that are taken out.
type role uint8

const (
	skipped role = iota // a foreign step went back to before it: it has no part in the newest version
	foreign
	own
)

// Without gives the newest text as if own steps had not been. isOwn is asked for steps other than Oldest, and
// gives the same answer each time. Lines of the result are those of versions, but for marks and
// for a line feed after a line that was a last one and is no more.
func (w *Weave) Without(isOwn func(step int) bool, o Options) Result {
	t := &taking{w: w, anewBy: o.Again, looks: maxLooks, again: maxAgain}
	first := t.assign(isOwn)
	if first == none {
		return Result{Lines: w.Newest()}
	}
	t.sequence(first)
	t.split(0, len(t.seq), first)
	t.overlaps(first)
	r := t.result(o)
	for v, role := range t.roles {
		if role == own {
			r.own = append(r.own, int32(v))
		}
	}
	return r
}

// taking is one answer of Without.
type taking struct {
	w            *Weave
	anewBy       func(gone, back int) bool // Options.Again
	roles        []role
	out          map[int32]bool // foreign versions that a later one took out: they have no part, nor has that
	now          []bool         // by line: whether it is in the newest version
	seq          []int32        // the lines that were there just before the first own version, or since
	at           []int32        // by line: its place in seq, or none
	blocks       []Block        // regions at first
	looks, again int
}

// assign gives each version its role, and the first own one, or none.
func (t *taking) assign(isOwn func(int) bool) int32 {
	t.roles = make([]role, len(t.w.made))
	t.roles[0] = foreign
	first := int32(none)
	for i := int32(len(t.w.made)) - 1; i > 0; {
		v := &t.w.made[i]
		switch {
		case isOwn(v.step):
			t.roles[i] = own
			first = i
			i--
		case t.out[i]:
			i--
		case v.back >= 0 && !t.anew(i, isOwn):
			i = v.back
		case len(v.takes) > 0 && !slices.ContainsFunc(v.takes, func(taken int32) bool { return isOwn(t.w.made[taken].step) }):
			if t.out == nil {
				t.out = map[int32]bool{}
			}
			for _, taken := range v.takes {
				t.out[taken] = true
			}
			i--
		default:
			t.roles[i] = foreign
			i--
		}
	}
	return first
}

// brings reports whether a version that brought a line back, which another had taken away, did so as its own doing.
func (t *taking) brings(gone, back int32) bool {
	return gone > 0 && t.anewBy != nil && t.anewBy(t.w.made[gone].step, t.w.made[back].step)
}

// anew reports whether a foreign return brings own lines back as its own doing.
func (t *taking) anew(v int32, isOwn func(int) bool) bool {
	for at, events := range t.w.more {
		l := &t.w.lines[at]
		if l.birth == 0 || !isOwn(t.w.made[l.birth].step) {
			continue
		}
		gone := l.death
		for _, e := range events {
			if e.version == v && e.lives && t.brings(gone, v) {
				return true
			}
			gone = e.version
		}
	}
	return false
}

// events gives what versions with a part did to a line, in order.
func (t *taking) events(l int32, yield func(event) bool) {
	line := &t.w.lines[l]
	if t.roles[line.birth] != skipped && !yield(event{line.birth, true}) {
		return
	}
	if line.death == none {
		return
	}
	if t.roles[line.death] != skipped && !yield(event{line.death, false}) {
		return
	}
	if len(t.w.more) == 0 {
		return
	}
	for _, e := range t.w.more[l] {
		if t.roles[e.version] != skipped && !yield(e) {
			return
		}
	}
}

// lives reports whether a line was there in a version, as versions with a part made it.
func (t *taking) lives(l, v int32) (lives bool) {
	if t.out == nil {
		return t.w.lives(l, v)
	}
	t.events(l, func(e event) bool {
		if e.version <= v {
			lives = e.lives
		}
		return e.version <= v
	})
	return lives
}

// touched reports whether a version with a part, from v on, did something to a line.
func (t *taking) touched(l, v int32) bool {
	touched := false
	t.events(l, func(e event) bool {
		touched = e.version >= v
		return !touched
	})
	return touched
}

// last gives the last that was done to a line before version v; ok is false if nothing was. Of a line that a foreign
// version only put back, it is whose it was.
func (t *taking) last(l, v int32) (last event, ok bool) {
	var made, gone int32
	t.events(l, func(e event) bool {
		if e.version >= v {
			return false
		}
		switch {
		case !e.lives:
			gone = e.version
		case !ok || t.roles[e.version] == own || t.brings(gone, e.version):
			made = e.version
		}
		last, ok = e, true
		return true
	})
	if last.lives {
		last.version = made
	}
	return last, ok
}

// stays reports whether a line is in the text without the own steps.
func (t *taking) stays(l int32) bool {
	born, gone, known := false, false, false
	var away int32
	t.events(l, func(e event) bool {
		if t.roles[e.version] == foreign {
			born = born || e.lives && (!known || t.brings(away, e.version))
			gone = !e.lives
		}
		if known = true; !e.lives {
			away = e.version
		}
		return true
	})
	return born && !gone
}

// sequence takes the lines that matter.
func (t *taking) sequence(first int32) {
	w := t.w
	t.now = make([]bool, len(w.lines))
	for _, l := range w.now {
		t.now[l] = true
	}
	t.at = make([]int32, len(w.lines))
	for l := w.first; l != none; l = w.lines[l].next {
		t.at[l] = none
		if t.lives(l, first-1) || t.touched(l, first) || t.out != nil && w.touched(l, first) {
			t.at[l] = int32(len(t.seq))
			t.seq = append(t.seq, l)
		}
	}
}

// separates reports whether a line was there before version first and is unchanged since.
func (t *taking) separates(l, first int32) bool {
	return t.lives(l, first-1) && !t.touched(l, first)
}

// split makes regions of lines lo to hi of the sequence: what lies between lines that are unchanged since
// the first own version. In each of them the first own version may be a later one, and lines that
// were not touched since then cut it again.
func (t *taking) split(lo, hi int, first int32) {
	for at := lo; at < hi; {
		if t.separates(t.seq[at], first) {
			at++
			continue
		}
		end := at + 1
		for end < hi && !t.separates(t.seq[end], first) {
			end++
		}
		t.region(at, end, first)
		at = end
	}
}

func (t *taking) region(lo, hi int, first int32) {
	r := Block{lo: lo, hi: hi, first: none, last: none}
	for _, l := range t.seq[lo:hi] {
		t.events(l, func(e event) bool {
			if t.roles[e.version] == own {
				if r.first == none || e.version < r.first {
					r.first = e.version
				}
				r.last = max(r.last, e.version)
			}
			return true
		})
	}
	switch {
	case r.first == none:
	case r.first > first && slices.ContainsFunc(t.seq[lo:hi], func(l int32) bool { return t.separates(l, r.first) }):
		t.split(lo, hi, r.first)
	default:
		r.Kind = Undone
		t.blocks = append(t.blocks, r)
	}
}

// overlaps looks at what others changed in the regions after the first own version there.
func (t *taking) overlaps(first int32) {
	for v := first + 1; v < int32(len(t.w.made)); v++ {
		if t.roles[v] != foreign {
			continue
		}
		for _, h := range t.w.made[v].hunks {
			before := t.place(h.before, -1)
			i, _ := slices.BinarySearchFunc(t.blocks, before, func(b Block, before int) int {
				if b.hi > before {
					return 1
				}
				return -1
			})
			if i == len(t.blocks) || before < t.blocks[i].lo-1 || v <= t.blocks[i].first {
				continue
			}
			b := &t.blocks[i]
			if b.Kind == Undone {
				b.Kind = Touching
			}
			if t.overlap(v, h, before, t.place(h.after, len(t.seq))) {
				if b.Kind != Overlap {
					b.Kind, b.Foreign = Overlap, nil
				}
				b.Foreign = append(b.Foreign, t.w.made[v].step)
			} else if b.Kind == Touching {
				b.Foreign = append(b.Foreign, t.w.made[v].step)
			}
		}
	}
}

func (t *taking) place(l int32, outside int) int {
	if l == none {
		return outside
	}
	return int(t.at[l])
}

// ownLine reports whether an own step put a line there, as it stood before version v. Lines without a part are passed
// over, the way that is given.
func (t *taking) ownLine(at, way int, v int32) bool {
	for ; at >= 0 && at < len(t.seq); at += way {
		if e, ok := t.last(t.seq[at], v); ok || t.out == nil {
			return ok && e.lives && t.roles[e.version] == own
		}
	}
	return false
}

// overlap reports whether a foreign change, which is between two lines of the sequence, changes what
// own steps did: it takes an own line away, or writes between two, or spans a place where an own step took
// lines away.
func (t *taking) overlap(v int32, h hunk, before, after int) bool {
	gap, deleted := false, false // an own gap: at all, or since the first line that the change takes away
	for at := before + 1; at < after; at++ {
		if t.looks--; t.looks < 0 {
			return true
		}
		l := t.seq[at]
		e, ok := t.last(l, v)
		if !ok {
			continue // the change's own line, or a later one
		}
		if e.lives {
			if t.roles[e.version] == own || deleted && gap {
				return true
			}
			deleted, gap = true, false
		} else if t.roles[e.version] == own {
			gap = true
		}
	}
	if h.deletes || !h.inserts {
		return false
	}
	next := t.ownLine(after, 1, v)
	return next && t.ownLine(before, -1, v) || gap && !next
}
