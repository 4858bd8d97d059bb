package lives

import (
	"maps"
	"slices"
	"time"
)

// shrink cuts a life down that fails, as long as it still does: first large runs of its units, then
// single ones.
func shrink(s script, until time.Time, fails func(script) bool) script {
	for size := len(units(s)) / 2; size > 0; size /= 2 {
		for at := 0; ; {
			left := units(s)
			if at >= len(left) || time.Now().After(until) {
				break
			}
			gone := map[int]bool{}
			for _, u := range left[at:min(at+size, len(left))] {
				gone[u] = true
			}
			if less := s.without(gone); fails(less) {
				s = less
			} else {
				at += size
			}
		}
	}
	return s
}

func units(s script) []int {
	all := map[int]bool{}
	for _, e := range s.Events {
		if e.Unit != 0 {
			all[e.Unit] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}
