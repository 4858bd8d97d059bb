package maintain

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/manifest"
)

// history is a log of checkpoints, newest first, at the given ages.
func history(ages ...time.Duration) []manifest.Checkpoint {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	var all []manifest.Checkpoint
	for i, age := range ages {
		all = append(all, manifest.Checkpoint{
			ID: manifest.CheckpointID{byte(i)}, Time: now.Add(-age), Kind: manifest.Prompt, StoredBytes: 100,
		})
	}
	return all
}

func TestRetention(t *testing.T) {
	const hour, day = time.Hour, 24 * time.Hour
	daily := history(0, day, 2*day, 3*day, 4*day, 5*day, 6*day, 7*day)
	pinned := slices.Clone(daily)
	pinned[7].Pinned = true
	pinned[6].Name = "good"
	pinned[5].Kind = manifest.Manual
	safety := slices.Clone(daily)
	for _, i := range []int{2, 7} {
		safety[i].Kind = manifest.Safety
	}
	jumped := history(0, 365*day, 366*day, 367*day)
	for _, tt := range []struct {
		name  string
		rules Retention
		all   []manifest.Checkpoint
		inUse []int
		size  int64
		want  []int // indexes into all, oldest first
	}{
		{name: "no checkpoints", rules: Retention{keep: 1, maxAge: hour, maxSize: 1}},
		{name: "nothing expires unless asked", all: daily, size: 1 << 40},
		{name: "count", rules: Retention{keep: 5}, all: daily, want: []int{7, 6, 5}},
		{name: "the newest always stays", rules: Retention{keep: 1, maxAge: time.Nanosecond, maxSize: 1}, all: daily[:1], size: 1 << 40},
		{name: "pins and names stay", rules: Retention{keep: 5}, all: pinned, want: []int{5}},
		{name: "age", rules: Retention{maxAge: 4*day + hour}, all: daily, want: []int{7, 6, 5}},
		{name: "in use", rules: Retention{keep: 5}, all: daily, inUse: []int{6}, want: []int{7, 5}},
		{name: "size takes the oldest", rules: Retention{maxSize: 600}, all: daily, size: 800, want: []int{7, 6}},
		{name: "size spares manual ones", rules: Retention{maxSize: 600}, all: pinned, size: 800, want: []int{4, 3}},
		{name: "a clock that jumped a year", rules: Retention{maxAge: 30 * day}, all: jumped},
		{name: "a jumped clock and days after it", rules: Retention{maxAge: 2 * day}, all: history(0, day, 3*day-hour, 400*day), want: []int{3, 2}},
		{name: "old safety checkpoints go", all: safety, rules: Retention{maxAge: 100 * day}, want: nil},
		{name: "half at once", rules: Retention{keep: 1, half: true}, all: daily, want: []int{7, 6, 5, 4}},
		{
			name: "thinning: hourly after a day, daily after a week", rules: Retention{thin: true},
			all: history(0, hour, hour+time.Minute, 30*hour, 30*hour+20*time.Minute, 31*hour, 8*day, 8*day+hour, 9*day),
			// 12:00 less 30:20 is in the same hour as 30:59 would be: 30h is at 06:00, 30h20m at 05:40, 31h at 05:00.
			want: []int{7, 5},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inUse := map[manifest.CheckpointID]bool{}
			for _, i := range tt.inUse {
				inUse[tt.all[i].ID] = true
			}
			var got []int
			for _, c := range tt.rules.plan(tt.all, inUse, tt.size) {
				got = append(got, int(c.ID[0]))
			}
			if fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("removes %v, want %v", got, tt.want)
			}
		})
	}
}

func TestSafetyCheckpointsGoAfterAWeek(t *testing.T) {
	const day = 24 * time.Hour
	all := history(0, day, 5*day, 8*day, 9*day)
	for i := 1; i < len(all); i++ {
		all[i].Kind = manifest.Safety
	}
	var got []int
	for _, c := range (Retention{}).plan(all, map[manifest.CheckpointID]bool{all[4].ID: true}, 0) {
		got = append(got, int(c.ID[0]))
	}
	if fmt.Sprint(got) != "[3]" {
		t.Errorf("removes %v, want [3]: 4 is of one of the last operations", got)
	}
}

// TestPinnedSafetyCheckpointStays: a mark on a safety checkpoint counts like any other.
func TestPinnedSafetyCheckpointStays(t *testing.T) {
	old := manifest.Checkpoint{ID: manifest.CheckpointID{1}, Kind: manifest.Safety, Pinned: true, Time: time.Now().AddDate(0, 0, -20)}
	named := manifest.Checkpoint{ID: manifest.CheckpointID{2}, Kind: manifest.Safety, Name: "x", Time: old.Time}
	newest := manifest.Checkpoint{ID: manifest.CheckpointID{3}, Kind: manifest.Manual, Time: time.Now()}
	if gone := (Retention{}).plan([]manifest.Checkpoint{newest, old, named}, nil, 0); len(gone) > 0 {
		t.Errorf("%d of the marked go", len(gone))
	}
}
