package weave

import "slices"

// Taken says how a version was made of the newest one before it: own steps were taken out, with what was chosen then.
type Taken struct {
	Own func(step int) bool
	Options
}

// AddWithout puts the next version in, which step made by taking others out of the newest one. Which of several equal lines went is known so, and what came back is what had been there. Where the lines are
// not what Without gives, it is Add. The error is errTooLarge.
func (w *Weave) AddWithout(lines []string, step int, t Taken) error {
	if w.made[0].back == tooLarge {
		return errTooLarge
	}
	r := w.Without(t.Own, t.Options)
	if len(r.from) != len(r.Lines) || len(r.Lines) != len(lines) {
		return w.append(lines, step)
	}
	added, bytes := 0, 0
	for i, l := range lines {
		if r.Lines[i] != l {
			return w.append(lines, step)
		}
		if at := r.from[i]; at == none || w.table.Line(w.lines[at].name) != l { // a mark, or a line end that it needed
			r.from[i] = none
			added, bytes = added+1, bytes+len(l)
		}
	}
	if len(w.lines)+added > maxLines || w.table.Bytes()+bytes > maxBytes {
		return errTooLarge
	}
	v := version{step: step, back: none, size: len(lines)}
	at := int32(len(w.made))
	names := make([]int32, len(lines))
	last := int32(none)
	for i, l := range lines {
		if r.from[i] == none {
			r.from[i] = w.born(w.table.Name(l), at, last)
		}
		last = r.from[i]
		names[i] = w.lines[last].name
	}
	hash := hashOf(names)
	if r.Conflicts() == 0 {
		v.takes = r.own
	} else {
		v.back = w.sameLines(hash, r.from)
	}
	if v.back == none {
		v.hunks = w.hunksTo(r.from)
	}
	w.made = append(w.made, v)
	w.goBack(at, r.from)
	w.names, w.newest.ends = names, nil
	w.equal[hash] = append(w.equal[hash], at)
	return nil
}

// sameLines gives the newest version with these lines of the sequence, or none; none, too, where that is the newest.
func (w *Weave) sameLines(hash uint64, lines []int32) int32 {
	if slices.Equal(lines, w.now) {
		return none
	}
	for i := len(w.equal[hash]) - 1; i >= 0; i-- {
		if v := w.equal[hash][i]; w.made[v].size == len(lines) && slices.Equal(lines, w.livingAt(v)) {
			return v
		}
	}
	return none
}

// hunksTo are the changes from the newest version to some lines of the sequence.
func (w *Weave) hunksTo(lines []int32) (hunks []hunk) {
	is := make([]uint8, len(w.lines)) // 1: in the newest version, 2: among the lines
	for _, l := range w.now {
		is[l] |= 1
	}
	for _, l := range lines {
		is[l] |= 2
	}
	h := hunk{before: none, after: none}
	for l := w.first; l != none; l = w.lines[l].next {
		switch is[l] {
		case 1:
			h.deletes = true
		case 2:
			h.inserts = true
		case 3:
			if h.after = l; h.deletes || h.inserts {
				hunks = append(hunks, h)
			}
			h = hunk{before: l, after: none}
		}
	}
	if h.deletes || h.inserts {
		hunks = append(hunks, h)
	}
	return hunks
}
