package session

import (
	"testing"
	"time"
)

// The log is read back to the moment; a clock that was set back moves the moment
// with the log's newest checkpoint, once.
func TestLogIsReadAsFarAsItIsLately(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	hour := now.Add(-time.Hour)
	for name, c := range map[string]struct {
		since time.Time
		ages  []time.Duration // of checkpoints, the newest first
		read  int
	}{
		"all":                    {time.Time{}, []time.Duration{0, 1000 * time.Hour}, 2},
		"an hour":                {hour, []time.Duration{time.Minute, 59 * time.Minute, time.Hour, 2 * time.Hour}, 2},
		"none lately":            {hour, []time.Duration{2 * time.Hour}, 0},
		"the clock was set back": {hour, []time.Duration{-3 * time.Hour, -150 * time.Minute, -time.Hour, time.Minute}, 2},
	} {
		r := roster{since: c.since, wall: c.since}
		read := 0
		for _, age := range c.ages {
			if !r.lately(now.Add(-age), now) {
				break
			}
			read++
		}
		if read != c.read {
			t.Errorf("%s: %d checkpoints are read, want %d", name, read, c.read)
		}
	}
}
