package revert

import (
	"slices"
	"strings"
	"unicode"

	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/linediff"
	"github.com/rewind-cli/rewind/engine/patch"
	"github.com/rewind-cli/rewind/manifest"
)

// Work that moves lines from one place to another removes them in one step and adds them in another. Where the
// revert takes back only the addition, the lines would be in neither place. So they are held where they are, as a
// conflict.

// heldLines are lines that stay in a file unless a choice says otherwise.
type heldLines struct {
	run  string // as bareLines has them
	from string // the path that they were moved from
}

// hold looks for lines that would be lost, and holds them. It reports whether it found any that were not held: then
// all files are decided anew.
func (v *reverting) hold() (found bool, err error) {
	var removed []removedLines // read when the first file asks
	for _, f := range v.files {
		path := f.atNow()
		going, err := v.goingFrom(f)
		if err != nil {
			return false, err
		}
		if len(going) == 0 {
			continue
		}
		if removed == nil {
			if removed, err = v.notComingBack(); err != nil || len(removed) == 0 {
				return false, err
			}
		}
		for _, lines := range going {
			for _, r := range removed {
				for _, run := range r.movedTo(lines) {
					h := heldLines{run, r.path}
					if slices.ContainsFunc(v.held[path], func(o heldLines) bool { return o.run == run }) {
						continue
					}
					if there, err := v.isIn(run); err != nil {
						return false, err
					} else if there {
						continue
					}
					if v.held == nil {
						v.held = map[string][]heldLines{}
					}
					v.held[path], found = append(v.held[path], h), true
				}
			}
		}
	}
	return found, nil
}

// atNow is the name that a file has now.
func (f *fileRevert) atNow() string {
	if f.at != "" {
		return f.at
	}
	return f.path
}

// heldIn is where lines of a file were moved from that are to stay there; "" for none of these.
func (v *reverting) heldIn(path string, going []string) (from string) {
	text := bareLines(going)
	for _, h := range v.held[path] {
		if strings.Contains(text, h.run) {
			return h.from
		}
	}
	return ""
}

// reasonHeld is why moved lines stay.
func reasonHeld(from string) string {
	return "moved here from " + patch.Quote(from) + ", where it would not come back"
}

// goingFrom are the lines that would go from a file, those of each place together.
func (v *reverting) goingFrom(f *fileRevert) (going [][]string, err error) {
	if f.to == nil && f.changes && !f.covered && f.pair == nil && manifest.HasContent(f.now) {
		lines, err := v.linesOf(f.now)
		return [][]string{lines}, err
	}
	return f.going, nil
}

// linesOf are the lines of an entry; none of what has no lines.
func (v *reverting) linesOf(e *manifest.Entry) ([]string, error) {
	if !manifest.HasContent(e) || e.Kind == manifest.Symlink || e.Size > patch.MaxText {
		return nil, nil
	}
	lines, _, err := v.versions.Lines(e, patch.IsText)
	return lines, err
}

// isIn reports whether lines are in a file as the revert leaves it.
func (v *reverting) isIn(run string) (bool, error) {
	for _, f := range v.files {
		if !f.changes || f.to == nil {
			continue
		}
		lines, err := v.linesOf(f.to)
		if err != nil || strings.Contains(bareLines(lines), run) {
			return err == nil, err
		}
	}
	return false, nil
}

// removedLines are lines that the work removed together from a path, and that the revert does not bring back there.
type removedLines struct {
	path  string
	lines []string // without blanks at both ends
	alone bool     // nothing came in their place
}

// notComingBack finds them. Of a call, or of a subagent, what its turn removed counts, too.
func (v *reverting) notComingBack() (removed []removedLines, err error) {
	removed = []removedLines{}
	known := map[string]bool{}
	for _, f := range v.files {
		known[f.path], known[f.atNow()] = true, true
		if f.shared == nil && len(f.conflicts) == 0 && f.touched {
			continue // all of it comes back
		}
		some, err := v.removedFrom(f, f.to, v.work.Has)
		if err != nil {
			return nil, err
		}
		removed = append(removed, some...)
	}
	if v.Sel == nil && v.work.Call == "" && v.work.Subagent == "" {
		return removed, nil
	}
	has := v.work.OfTurn()
	paths, err := v.who.Paths(has)
	if err != nil {
		return nil, err
	}
	paths = slices.DeleteFunc(paths, func(path string) bool { return known[path] })
	steps, err := v.who.StepsOf(paths)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		if len(steps[path]) == 0 {
			continue
		}
		f := v.historyOf(path, steps[path])
		some, err := v.removedFrom(f, f.now, has)
		if err != nil {
			return nil, err
		}
		removed = append(removed, some...)
	}
	return removed, nil
}

// removedFrom are the lines that work removed from a file, but for those that it had added itself, and those that are
// in to.
func (v *reverting) removedFrom(f *fileRevert, to *manifest.Entry, has func(*attribution.Work) bool) (removed []removedLines, err error) {
	left, err := v.linesOf(to)
	if err != nil {
		return nil, err
	}
	stays := bareLines(left)
	added := map[string]int{} // by the work
	links := f.links()
	if !slices.ContainsFunc(f.steps, func(s attribution.Step) bool { return s.Path != f.path }) {
		links = v.done.WayBack(links, true) // what an operation brought back was there before
	}
	for i, l := range links[1:] {
		if _, some := l.Step.Of(has); !some {
			continue
		}
		was, err := v.linesOf(links[i].Entry)
		if err != nil {
			return nil, err
		}
		is, err := v.linesOf(l.Entry)
		if err != nil {
			return nil, err
		}
		for _, c := range linediff.Diff(was, is, linediff.Options{}) {
			r := removedLines{path: l.Step.Path, alone: c.B == c.BEnd}
			end := func() {
				if len(r.lines) > 0 && !strings.Contains(stays, bareLines(r.lines)) {
					removed = append(removed, r)
				}
				r.lines = nil
			}
			for _, line := range was[c.A:c.AEnd] {
				line = strings.TrimSpace(line)
				if added[line] > 0 {
					added[line]--
					end()
					continue
				}
				r.lines = append(r.lines, line)
			}
			end()
			for _, line := range is[c.B:c.BEnd] {
				added[strings.TrimSpace(line)]++
			}
		}
	}
	return removed, nil
}

// movedTo are the runs of lines, as bareLines has them, that are among removed ones, too.
func (r *removedLines) movedTo(lines []string) (runs []string) {
	at := map[string][]int{}
	for i, l := range r.lines {
		if len(at[l]) < maxAlike {
			at[l] = append(at[l], i)
		}
	}
	for i := 0; i < len(lines); {
		best := 0
		for _, k := range at[strings.TrimSpace(lines[i])] {
			n := 1
			for i+n < len(lines) && k+n < len(r.lines) && strings.TrimSpace(lines[i+n]) == r.lines[k+n] {
				n++
			}
			best = max(best, n)
		}
		if run := lines[i : i+best]; r.isBlock(run) {
			runs = append(runs, bareLines(run))
		}
		i += max(best, 1)
	}
	return runs
}

const (
	// maxAlike bounds how many equal lines are looked at.
	maxAlike = 64
	// blockSize is how many letters and digits make lines a moved block, and no chance: as many as for git's --color-moved.
	blockSize = 20
)

// isBlock reports whether equal lines are hardly there by chance.
func (r *removedLines) isBlock(run []string) bool {
	n := 0
	for _, l := range run {
		for _, c := range l {
			if unicode.IsLetter(c) || unicode.IsDigit(c) {
				n++
			}
		}
	}
	return n >= blockSize || n > 0 && r.alone && len(run) == len(r.lines)
}

// bareLines joins lines without blanks at their ends, so that one such text is in another only at whole lines.
func bareLines(lines []string) string {
	var b strings.Builder
	b.WriteByte('\n')
	for _, l := range lines {
		b.WriteString(strings.TrimSpace(l))
		b.WriteByte('\n')
	}
	return b.String()
}
