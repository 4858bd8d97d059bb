package watch

import (
	"slices"
	"testing"
	"time"
)

// told lists what an answer names, with a slash behind what all below is meant of; "all" where nothing is known.
func told(a Answer) []string {
	if !a.Known {
		return []string{"all"}
	}
	list := []string{}
	for _, p := range a.Paths {
		list = append(list, string(p))
	}
	for _, p := range a.Trees {
		list = append(list, string(p)+"/")
	}
	slices.Sort(list)
	return list
}

func TestJournal(t *testing.T) {
	j := newJournal()
	start := time.Now()
	j.clock = func() time.Time { return start }
	is := func(what string, a Answer, want ...string) {
		t.Helper()
		if got := told(a); !slices.Equal(got, slices.Concat([]string{}, want)) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	j.touch("before", false)
	first := j.ask("x")
	is("at first", first, "all")
	j.touch("during", false) // while everything is looked at
	j.seen(&first, Report{Cache: "x", Whole: true, Again: [][]byte{[]byte("racy")}})
	is("after a walk", j.ask("x"), "during", "racy")
	is("of another stat cache", j.ask("y"), "all")
	is("of none", j.ask(""), "all")

	j.touch("dir", true)
	j.touch("dir", false)
	second := j.ask("x")
	is("a directory that came", second, "dir/", "during", "racy")
	j.touch("later", false)
	j.seen(&second, Report{Cache: "y"})
	is("after a look there", j.ask("y"), "later")
	is("of the one before", j.ask("x"), "dir/", "during", "later", "racy")

	// An answer that was asked for earlier, and comes later, is of no use; neither is one without an answer.
	old := j.ask("y")
	newer := j.ask("y")
	j.touch("b", false)
	j.seen(&newer, Report{Cache: "z"})
	j.seen(&old, Report{Cache: "w", Whole: true})
	is("overtaken", j.ask("w"), "all")
	is("the one that overtook", j.ask("z"), "b")
	unknown := j.ask("w")
	j.seen(&unknown, Report{Cache: "w"})
	is("not looked at", j.ask("w"), "all")

	// Files that are open.
	j.opened("open", 1)
	j.opened("twice", 1)
	j.opened("twice", 1)
	j.opened("twice", -1)
	is("open", j.ask("z"), "b", "open", "twice")
	j.movedFrom("open", 7)
	j.movedTo("moved", 7)
	j.movedTo("other", 8)
	j.opened("twice", -1)
	is("moved", j.ask("z"), "b", "moved")
	j.opened("moved", -1)
	j.opened("moved", -1)
	is("closed", j.ask("z"), "b")

	// The clock.
	j.clock = func() time.Time { return start.Add(believedFor + time.Second) }
	is("too old", j.ask("z"), "all")

	// Too much.
	j.clock = func() time.Time { return start }
	before := j.ask("z")
	for i := range maxSuspects + 1 {
		j.touch(string(rune('a'+i)), false)
	}
	is("too much", j.ask("z"), "all")
	j.seen(&before, Report{Cache: "v", Whole: true})
	is("a walk that began before", j.ask("v"), "all")
	after := j.ask("z")
	j.seen(&after, Report{Cache: "v", Whole: true})
	is("a walk that began after", j.ask("v"))
}

// A clock that was set, and a machine that slept, are seen by the two clocks of the system.
func TestClockThatWasSet(t *testing.T) {
	for _, by := range []time.Duration{0, -time.Hour, time.Hour} {
		j := newJournal()
		a := j.ask("")
		j.seen(&a, Report{Cache: "x", Whole: true})
		j.looks[0].whole.wall += int64(by)
		if known := j.ask("x").Known; known != (by == 0) {
			t.Errorf("set by %v: known %v", by, known)
		}
	}
}
