package bisect

import "math/bits"

// Verdict is what is found of one state.
type Verdict string

const (
	Good Verdict = "good"
	Bad  Verdict = "bad"
	Skip Verdict = "skip" // it cannot be told
)

// Step is a question: State is asked next, Left states may still be the first bad one, and about Runs
// more questions tell which.
type Step struct{ State, Left, Runs int }

// Search asks about states between 0, which is good, and last, which is bad, until it knows the first
// bad one. Where only skipped states are left, there are several: any of them may be it. The last of
// the list is known to be bad.
func Search(last int, ask func(Step) (Verdict, error)) (first []int, err error) {
	good, bad := 0, last
	skipped := map[int]bool{}
	for {
		at := middle(good, bad, skipped)
		if at < 0 {
			for i := good + 1; i <= bad; i++ {
				first = append(first, i)
			}
			return first, nil
		}
		v, err := ask(Step{State: at, Left: bad - good, Runs: Runs(bad - good)})
		if err != nil {
			return nil, err
		}
		switch v {
		case Good:
			good = at
		case Bad:
			bad = at
		default:
			skipped[at] = true
		}
	}
}

// Runs is about how many questions tell the first bad of n states.
func Runs(n int) int { return bits.Len(uint(max(n-1, 0))) }

// middle is the state nearest to the middle that was not skipped, -1 where none is left.
func middle(good, bad int, skipped map[int]bool) int {
	mid := good + (bad-good)/2
	for away := 0; away < bad-good; away++ {
		for _, at := range []int{mid - away, mid + away} {
			if at > good && at < bad && !skipped[at] {
				return at
			}
		}
	}
	return -1
}
