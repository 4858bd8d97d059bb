package maintain

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/settings"
	"github.com/rewind-cli/rewind/manifest"
)

// ofPi is a log of checkpoints of pi's sessions, newest first, an hour apart; each word is the session
// and the tree, and an entry of that name is bound to it.
func ofPi(words ...string) (all []manifest.Checkpoint, bindings []manifest.Binding) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for i, w := range words {
		c := manifest.Checkpoint{
			ID: manifest.CheckpointID{byte(i + 1)}, Seq: uint64(len(words) - i), Time: now.Add(-time.Duration(i) * time.Hour),
			Kind: manifest.Prompt, StoredBytes: 100, Agent: piAgent, Session: w[:1], Root: oid.ID{w[1]},
		}
		all = append(all, c)
		bindings = append(bindings, manifest.Binding{Seq: c.Seq, Time: c.Time, Agent: piAgent, Session: c.Session, Entries: []string{w}, Checkpoint: c.ID})
	}
	return all, bindings
}

func TestPointsRetention(t *testing.T) {
	two, none, halfDay := 2, 0, 12*time.Hour
	hours := func(n int) *time.Duration { d := time.Duration(n)*time.Hour + time.Minute; return &d }
	for _, tt := range []struct {
		name    string
		set     *settings.PiRetention
		log     []string
		change  func([]manifest.Checkpoint)
		labeled map[string][]string
		counted []string // sessions; nil: all
		parents map[string]string
		size    int64
		want    []int // numbers of the checkpoints that go, from 1, the newest
	}{
		{name: "nothing expires unless asked, whatever the size", log: []string{"a1", "a2", "a3"}, size: 1 << 40},
		{name: "no limits", set: &settings.PiRetention{}, log: []string{"a1", "a2", "a3"}},
		{name: "the newest of those that nothing holds", set: &settings.PiRetention{MaxSnapshots: &two}, log: []string{"a1", "a2", "a3", "a4", "a5"}, want: []int{5, 4}},
		{name: "one tree is one snapshot", set: &settings.PiRetention{MaxSnapshots: &two}, log: []string{"a1", "a2", "a2", "a2", "a3", "a4"}, want: []int{6}},
		{name: "none but each session's newest state", set: &settings.PiRetention{MaxSnapshots: &none}, log: []string{"a1", "b2", "a3", "b4"}, want: []int{4, 3}},
		{
			name: "pinned and named ones do not count", set: &settings.PiRetention{MaxSnapshots: &two}, log: []string{"a1", "a2", "a3", "a4", "a5", "a6"},
			change: func(all []manifest.Checkpoint) { all[1].Pinned, all[5].Name = true, "good" }, want: []int{5},
		},
		{name: "age", set: &settings.PiRetention{MaxAge: hours(2)}, log: []string{"a1", "a2", "a3", "a4", "a5"}, want: []int{5, 4}},
		{name: "an old tree that is used again is new", set: &settings.PiRetention{MaxAge: hours(1)}, log: []string{"a1", "a2", "a3", "a4", "b2"}, want: []int{4, 3}},
		{
			name: "labelled entries", set: &settings.PiRetention{MaxSnapshots: &none, PinLabeled: true}, log: []string{"a1", "a2", "a3"},
			labeled: map[string][]string{"a": {"a3", "other"}}, want: []int{2},
		},
		{
			name: "an ancestor's entry that a fork has a label on", set: &settings.PiRetention{MaxSnapshots: &none, PinLabeled: true}, log: []string{"b1", "a1", "a2", "a3"},
			labeled: map[string][]string{"b": {"a3"}}, parents: map[string]string{"b": "a", "a": "b"}, want: []int{3},
		},
		{
			name: "others' newest states stay where ancestors alone count", set: &settings.PiRetention{MaxSnapshots: &none, AncestorsOnly: true},
			log: []string{"a1", "a2", "b3", "b4"}, counted: []string{"a"}, want: []int{4, 2},
		},
		{
			name: "others' checkpoints", set: &settings.PiRetention{MaxSnapshots: &none}, log: []string{"a1", "a2", "a3"},
			change: func(all []manifest.Checkpoint) { all[1].Agent = "claude" }, want: []int{3},
		},
		{
			name: "manual ones", set: &settings.PiRetention{MaxAge: &halfDay, MaxSnapshots: &none}, log: []string{"a1", "a2", "a3"},
			change: func(all []manifest.Checkpoint) { all[2].Kind = manifest.Manual }, want: []int{2},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			all, bindings := ofPi(tt.log...)
			if tt.change != nil {
				tt.change(all)
			}
			pt := &points{set: tt.set, bindings: bindings, parents: tt.parents, labeled: tt.labeled}
			if tt.counted != nil {
				pt.counted = map[string]bool{}
				for _, s := range tt.counted {
					pt.counted[s] = true
				}
			}
			r := Retention{maxSize: 1000, sizeUnset: true, points: pt}
			var got []int
			for _, c := range r.plan(all, nil, tt.size) {
				got = append(got, int(c.ID[0]))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("goes %v, want %v", got, tt.want)
			}
		})
	}
}

// If nothing would be left of what is known, nothing goes.
func TestPointsKeepAllWhereNoneWouldStay(t *testing.T) {
	none := 0
	all, _ := ofPi("a1", "a2", "a3")
	for i := range all {
		all[i].Session = ""
	}
	manual := all[0]
	manual.ID, manual.Agent = manifest.CheckpointID{9}, ""
	all = append([]manifest.Checkpoint{manual}, all...)
	r := Retention{points: &points{set: &settings.PiRetention{MaxSnapshots: &none}}}
	if got := r.plan(all, nil, 0); len(got) > 0 {
		t.Errorf("goes %v", got)
	}
}

// What a session's newest restore took away stays, however old, for its undo.
func TestPointsKeepUndo(t *testing.T) {
	const day = 24 * time.Hour
	all := history(0, 20*day, 21*day, 22*day)
	for i := 1; i < 4; i++ {
		all[i].Kind = manifest.Safety
	}
	pt := &points{operations: []manifest.Operation{
		{Kind: manifest.OpRestore, Session: "a", Safety: all[1].ID}, {Kind: manifest.OpRestore, Session: "a", Safety: all[2].ID}, {Kind: manifest.OpRestore, Safety: all[3].ID},
	}}
	for set, want := range map[*settings.PiRetention]string{nil: "[3]", {}: "[3 2]"} {
		pt.set = set
		var got []int
		for _, c := range (Retention{maxAge: 100 * day, points: pt}).plan(all, nil, 0) {
			got = append(got, int(c.ID[0]))
		}
		if fmt.Sprint(got) != want {
			t.Errorf("set %v: goes %v, want %v", set != nil, got, want)
		}
	}
}

// A safety checkpoint that an entry is bound to is what the entry goes back to: no age takes it.
func TestPointsKeepBoundSafety(t *testing.T) {
	const day = 24 * time.Hour
	all := history(0, 20*day, 21*day)
	all[1].Kind, all[2].Kind = manifest.Safety, manifest.Safety
	bound := []manifest.Binding{
		{Session: "a", Agent: piAgent, Entries: []string{"later"}, Checkpoint: all[0].ID}, {Session: "a", Agent: piAgent, Entries: []string{"one"}, Checkpoint: all[1].ID},
	}
	for _, set := range []*settings.PiRetention{nil, {}} {
		gone := (Retention{maxAge: 100 * day, points: &points{set: set, bindings: bound}}).plan(all, nil, 0)
		if len(gone) != 1 || gone[0].ID != all[2].ID {
			t.Errorf("set %v: goes %v", set != nil, gone)
		}
	}
}
