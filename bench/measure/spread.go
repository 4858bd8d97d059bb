package measure

import (
	"slices"
	"time"
)

// Spread is a set of samples, in the order in which they were taken.
type Spread []time.Duration

// Min of the samples; 0 of none.
func (s Spread) Min() time.Duration { return s.at(0) }

// Median of the samples, the upper one of two; 0 of none.
func (s Spread) Median() time.Duration { return s.at(len(s) / 2) }

// P90 is the smallest sample that nine in ten do not exceed; 0 of none.
func (s Spread) P90() time.Duration { return s.at((len(s)*9+9)/10 - 1) }

// P99 is the smallest sample that 99 in a hundred do not exceed; 0 of none.
func (s Spread) P99() time.Duration { return s.at((len(s)*99+99)/100 - 1) }

func (s Spread) at(i int) time.Duration {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	return sorted[max(0, min(i, len(sorted)-1))]
}
