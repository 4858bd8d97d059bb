package weave

import (
	"errors"
	"math/bits"
	"slices"

	"github.com/rewind-cli/rewind/engine/linediff"
)

// Oldest is the step of the lines of the oldest version: whoever made them did so before.
const Oldest = -1

// Bounds of a weave: about 250 MB of memory.
const (
	maxLines = 2 << 20   // lines of all versions, one that stays counted once
	maxBytes = 128 << 20 // of the distinct ones
)

// errTooLarge says that a version has more than a weave holds. The weave is unchanged.
var errTooLarge = errors.New("too many lines in all versions")

// Weave is all versions of a text as one sequence of lines. It is not safe for concurrent use.
type Weave struct {
	table  linediff.Table
	lines  []line
	first  int32             // line of the sequence, or none
	more   map[int32][]event // of lines that a return brought back or took away: all but birth and death
	now    []int32           // the lines of the newest version
	names  []int32           // and their numbers in the table
	spare  [2][]int32        // memory for the next ones of both
	newest newestText
	made   []version
	equal  map[uint64][]int32 // versions by the hash of their lines, oldest first
	upTo   *int               // see ReturnsTo
}

// line is one line of the sequence. Versions are counted from 0, the oldest.
type line struct {
	name  int32 // in the table
	birth int32 // the version that brought it
	death int32 // the first that took it away, or none
	next  int32 // line of the sequence, or none
}

const none = -1

// event is that a version took a line away, or brought it back.
type event struct {
	version int32
	lives   bool
}

// version is what one step made.
type version struct {
	step  int
	back  int32 // the earlier version that it equals: a return; none for an ordinary one
	hunks []hunk
	size  int     // lines
	takes []int32 // the versions that it took out, and wholly
}

// hunk is a change of an ordinary version: the lines between two that were next to the change. All
// are lines of the sequence; none means the text's beginning or end.
type hunk struct {
	before, after int32
	inserts       bool // it has lines of its own
	deletes       bool
}

// New begins a weave with the oldest version that is known; nil where there was no file. The weave keeps no
// memory of lines. An oldest version that is too large leaves it empty; the next Add says so.
func New(lines []string) *Weave {
	return newWeave(func(w *Weave) error { return w.append(lines, Oldest) })
}

func newWeave(oldest func(*Weave) error) *Weave {
	w := &Weave{first: none, more: map[int32][]event{}, equal: map[uint64][]int32{}}
	if oldest(w) != nil {
		w.append(nil, Oldest)
		w.made[0].back = tooLarge
	}
	return w
}

// tooLarge marks an oldest version that was left out.
const tooLarge = -2

// Add puts the next version in, which step made; a step can make several. A version equal to an earlier one is
// a return to it: its lines are that one's, and what came between counts as long as the step is taken
// back. The error is errTooLarge.
func (w *Weave) Add(lines []string, step int) error {
	if w.made[0].back == tooLarge {
		return errTooLarge
	}
	return w.append(lines, step)
}

// ReturnsTo says of the next version which one it is a return to, where it equals several: the newest that a step up to this one made.
// Without it, or where there is none, it is the newest of all.
func (w *Weave) ReturnsTo(step int) { w.upTo = &step }

// AddText is Add of a text's lines. The weave keeps no memory of it.
func (w *Weave) AddText(text string, step int) error {
	if w.made[0].back == tooLarge {
		return errTooLarge
	}
	return w.appendText(text, step)
}

// NewText is New with a text's lines.
func NewText(text string) *Weave {
	return newWeave(func(w *Weave) error { return w.appendText(text, Oldest) })
}

func (w *Weave) append(lines []string, step int) error {
	// What is common at both ends needs no name.
	start := 0
	for start < len(lines) && start < len(w.now) && lines[start] == w.table.Line(w.names[start]) {
		start++
	}
	end := 0
	for end < len(lines)-start && end < len(w.now)-start && lines[len(lines)-1-end] == w.table.Line(w.names[len(w.names)-1-end]) {
		end++
	}
	w.newest.ends = nil
	return w.put(start, lines[start:len(lines)-end], end, step)
}

// appendText is append of a text, of which only what is not common at both ends is cut into lines.
func (w *Weave) appendText(text string, step int) error {
	if w.newest.ends == nil {
		w.newest.set(w.Newest())
	}
	start, end, from, to := w.newest.common(text)
	lines := linediff.Lines(text[from:to])
	if err := w.put(start, lines, end, step); err != nil {
		return err
	}
	w.newest.replace(text, start, lines, end)
	return nil
}

// put makes the next version: so many of the newest one's first lines, others, so many of its last ones.
func (w *Weave) put(start int, lines []string, end, step int) error {
	if len(w.lines)+len(lines) > maxLines || w.table.Bytes()+size(lines) > maxBytes {
		return errTooLarge
	}
	names := append(slices.Grow(w.spare[0][:0], start+len(lines)+end), w.names[:start]...)
	names = w.name(names, lines, w.names[start:len(w.names)-end])
	names = append(names, w.names[len(w.names)-end:]...)

	at := int32(len(w.made))
	v := version{step: step, back: none, size: len(names)}
	hash := hashOf(names)
	if back, chosen := w.sameAs(hash, names); back != none && (chosen || !slices.Equal(names, w.names)) {
		v.back = back
		w.made = append(w.made, v)
		w.goBack(at, w.livingAt(back))
	} else {
		v.hunks = w.insert(at, names)
		w.made = append(w.made, v)
	}
	w.spare[0], w.names = w.names, names
	w.equal[hash] = append(w.equal[hash], at)
	return nil
}

// hashOf is for what is looked at again: it need not be strong.
func hashOf(names []int32) uint64 {
	hash := uint64(len(names))
	for _, n := range names {
		hash = bits.RotateLeft64(hash^uint64(n), 27) * 0x9E3779B97F4A7C15
	}
	return hash
}

// name appends the numbers of lines. Most of them are the next ones of the newest version, which needs no look into
// the table.
func (w *Weave) name(names []int32, lines []string, now []int32) []int32 {
	const near = 8
	for _, l := range lines {
		if len(now) > 0 && l == w.table.Line(now[0]) {
			names, now = append(names, now[0]), now[1:]
			continue
		}
		n := w.table.Name(l)
		names = append(names, n)
		if i := slices.Index(now[:min(near, len(now))], n); i >= 0 {
			now = now[i+1:]
		}
	}
	return names
}

func size(lines []string) (n int) {
	for _, l := range lines {
		n += len(l)
	}
	return n
}

// sameAs gives the version with these lines that the next one returns to, or none, and whether ReturnsTo chose it.
func (w *Weave) sameAs(hash uint64, names []int32) (back int32, chosen bool) {
	upTo, newest := w.upTo, int32(none)
	w.upTo = nil
	for _, v := range slices.Backward(w.equal[hash]) {
		if w.made[v].size != len(names) {
			continue
		}
		living := w.livingAt(v)
		if !slices.EqualFunc(living, names, func(at, name int32) bool { return w.lines[at].name == name }) {
			continue
		}
		if newest = max(newest, v); upTo == nil || w.made[v].step <= *upTo {
			return v, upTo != nil
		}
	}
	return newest, false
}

// insert makes an ordinary version: lines that go get their death, lines that come are behind those
// that they replace.
func (w *Weave) insert(at int32, names []int32) []hunk {
	changes := w.table.Diff(w.names, names)
	if len(changes) == 0 {
		return nil
	}
	now := slices.Grow(w.spare[1][:0], len(names))
	done := 0
	var hunks []hunk
	for _, c := range changes {
		now = append(now, w.now[done:c.A]...)
		done = c.AEnd
		h := hunk{before: none, after: none, inserts: c.B < c.BEnd, deletes: c.A < c.AEnd}
		if c.A > 0 {
			h.before = w.now[c.A-1]
		}
		if c.AEnd < len(w.now) {
			h.after = w.now[c.AEnd]
		}
		last := h.before
		for _, l := range w.now[c.A:c.AEnd] {
			w.event(l, event{version: at})
			last = l
		}
		for _, n := range names[c.B:c.BEnd] {
			last = w.born(n, at, last)
			now = append(now, last)
		}
		hunks = append(hunks, h)
	}
	w.spare[1], w.now = w.now, append(now, w.now[done:]...)
	return hunks
}

// goBack makes a version that returns to the lines of an earlier one.
func (w *Weave) goBack(at int32, lines []int32) {
	then := make(map[int32]bool, len(lines))
	for _, l := range lines {
		then[l] = true
	}
	for _, l := range w.now {
		if !then[l] {
			w.event(l, event{version: at})
		}
		delete(then, l)
	}
	for l := range then {
		if w.lines[l].birth != at {
			w.event(l, event{version: at, lives: true})
		}
	}
	w.now = lines
}

// born puts a new line behind another one; none: first.
func (w *Weave) born(name, version, behind int32) int32 {
	l := int32(len(w.lines))
	next := &w.first
	if behind != none {
		next = &w.lines[behind].next
	}
	born := line{name: name, birth: version, death: none, next: *next}
	*next = l
	w.lines = append(w.lines, born)
	return l
}

func (w *Weave) event(at int32, e event) {
	if l := &w.lines[at]; l.death == none && !e.lives {
		l.death = e.version
		return
	}
	w.more[at] = append(w.more[at], e)
}

// lives reports whether a line was there in a version.
func (w *Weave) lives(at, v int32) bool {
	l := &w.lines[at]
	if l.birth > v {
		return false
	}
	if l.death == none || l.death > v {
		return true
	}
	lives := false
	for _, e := range w.more[at] {
		if e.version > v {
			break
		}
		lives = e.lives
	}
	return lives
}

// touched reports whether a version, from v on, brought a line or took it away.
func (w *Weave) touched(at, v int32) bool {
	l := &w.lines[at]
	if l.birth >= v || l.death >= v {
		return true
	}
	return slices.ContainsFunc(w.more[at], func(e event) bool { return e.version >= v })
}

// livingAt gives the lines of a version.
func (w *Weave) livingAt(v int32) []int32 {
	out := make([]int32, 0, w.made[v].size)
	for l := w.first; l != none; l = w.lines[l].next {
		if w.lives(l, v) {
			out = append(out, l)
		}
	}
	return out
}

// Birth gives for each line of the newest version the step that made it, or Oldest. A line that came back
// with a return is still that of the step which first made it; but where again, as that of Options, says so, of the one
// that brought it back. What lies between a return and the version that it went to has no part in it.
func (w *Weave) Birth(again func(gone, back int) bool) []int {
	passed := make([]bool, len(w.made))
	for at := int32(len(w.made)) - 1; at > 0 && again != nil; at-- {
		back := w.made[at].back
		if back == none || again(w.made[at-1].step, w.made[at].step) {
			continue
		}
		for ; at > back; at-- {
			passed[at] = true
		}
		at++
	}
	out := make([]int, len(w.now))
	for i, l := range w.now {
		birth, gone := w.lines[l].birth, w.lines[l].death
		known := !passed[birth]
		for _, e := range w.more[l] {
			if e.lives && !passed[e.version] && (!known || again != nil && again(w.made[gone].step, w.made[e.version].step)) {
				birth, known = e.version, true
			}
			gone = e.version
		}
		out[i] = w.made[birth].step
	}
	return out
}

// Death gives for each line of the oldest version the step that took it away for good, or Oldest where it still is there.
func (w *Weave) Death() []int {
	out := make([]int, 0, w.made[0].size)
	for at := w.first; at != none; at = w.lines[at].next {
		if w.lines[at].birth != 0 {
			continue
		}
		death := w.lines[at].death
		for _, e := range w.more[at] {
			if death = e.version; e.lives {
				death = none
			}
		}
		if death == none {
			out = append(out, Oldest)
		} else {
			out = append(out, w.made[death].step)
		}
	}
	return out
}

// Newest gives the lines of the newest version.
func (w *Weave) Newest() []string { return w.text(w.now) }

func (w *Weave) text(lines []int32) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = w.table.Line(w.lines[l].name)
	}
	return out
}
