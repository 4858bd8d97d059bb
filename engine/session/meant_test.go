package session

import (
	"strings"
	"testing"
	"time"
)

// Each rule of the choice, on candidates without a store.
func TestMeant(t *testing.T) {
	at := func(minute int) time.Time {
		return time.Date(2026, 11, 20, 12, minute, 0, 0, time.UTC)
	}
	spoke := func(id, lineage string, first, last int) *candidate {
		return &candidate{member: member{Info: Info{ID: id, LastPrompt: at(last)}, first: at(first), recent: true}, lineage: lineage}
	}
	with := func(x *candidate, change func(x *candidate)) *candidate {
		change(x)
		return x
	}
	ended := func(minute int) func(*candidate) { return func(x *candidate) { x.ended = at(minute) } }
	opened := func(minute int) func(*candidate) { return func(x *candidate) { x.reopened = at(minute) } }
	for name, c := range map[string]struct {
		all       []*candidate
		want, how string
	}{
		"one":         {[]*candidate{spoke("a", "1", 1, 2)}, "a", "the only one active in the last hour"},
		"two at work": {[]*candidate{spoke("a", "1", 1, 5), spoke("b", "2", 2, 4)}, "a b", ""},
		"a fork continued": {[]*candidate{spoke("a", "1", 1, 2), spoke("b", "1", 3, 4)}, "b",
			"the newest of its lineage in the last hour"},
		"both sides of a fork continued": {[]*candidate{spoke("a", "1", 1, 4), spoke("b", "1", 3, 5)}, "a b", ""},
		"the origin was opened again": {[]*candidate{with(spoke("a", "1", 1, 2), opened(6)), spoke("b", "1", 3, 4)}, "a",
			"the one of its lineage opened last"},
		"it was closed again, the fork is open": {[]*candidate{
			with(spoke("a", "1", 1, 2), func(x *candidate) { x.reopened, x.ended = at(6), at(7) }), spoke("b", "1", 3, 4)}, "b",
			"the newest of its lineage in the last hour"},
		"undo went back to the origin": {[]*candidate{with(spoke("a", "1", 1, 2), func(x *candidate) { x.made = at(6) }), spoke("b", "1", 3, 4)},
			"a", "undo went back to it"},
		"one ended, the other began later": {[]*candidate{with(spoke("a", "1", 1, 2), ended(3)), spoke("b", "2", 4, 5)}, "b",
			"the others ended before its last prompt"},
		"one ended beside the other": {[]*candidate{with(spoke("a", "1", 1, 4), ended(5)), spoke("b", "2", 2, 3)}, "a b", ""},
		"one worked beside the other, and ended later": {[]*candidate{
			with(spoke("a", "1", 1, 1), func(x *candidate) { x.worked, x.ended = at(5), at(6) }), with(spoke("b", "2", 2, 2), ended(3))}, "a b", ""},
		"one worked before the other began, and was closed later": {[]*candidate{
			with(spoke("a", "1", 1, 1), func(x *candidate) { x.worked, x.ended = at(2), at(6) }), spoke("b", "2", 3, 4)}, "b",
			"the others' last prompts are older"},
		"one has no recent prompt": {[]*candidate{with(spoke("a", "1", 1, 2), func(x *candidate) { x.recent = false }), spoke("b", "2", 1, 5)}, "b",
			"the others' last prompts are older"},
		"one was opened after the other ended": {[]*candidate{with(spoke("a", "1", 1, 5), ended(6)), with(spoke("b", "2", 2, 3), opened(7))}, "b",
			"it was opened after the others ended"},
	} {
		var ids []string
		left := meant(c.all)
		for _, x := range left {
			ids = append(ids, x.ID)
		}
		if got := strings.Join(ids, " "); got != c.want {
			t.Errorf("%s: %s can be meant, want %s", name, got, c.want)
		} else if len(left) == 1 && left[0].how(c.all) != c.how {
			t.Errorf("%s: %q, want %q", name, left[0].how(c.all), c.how)
		}
	}
}
