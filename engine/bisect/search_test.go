package bisect

import (
	"errors"
	"fmt"
	"testing"
)

func TestSearch(t *testing.T) {
	for last := 1; last < 40; last++ {
		for want := 1; want <= last; want++ {
			runs := 0
			first, err := Search(last, func(s Step) (Verdict, error) {
				if runs++; s.State <= 0 || s.State >= last {
					t.Fatalf("an end is asked again: %+v", s)
				}
				if s.State >= want {
					return Bad, nil
				}
				return Good, nil
			})
			if err != nil || len(first) != 1 || first[0] != want || runs > Runs(last) {
				t.Fatalf("%d of %d: %v %v in %d runs", want, last, first, err, runs)
			}
		}
	}
	runs := 0
	if _, err := Search(10000, func(s Step) (Verdict, error) {
		runs++
		return map[bool]Verdict{true: Bad, false: Good}[s.State >= 7001], nil
	}); err != nil || runs > 14 {
		t.Errorf("10,000 states took %d runs: %v", runs, err)
	}
}

func TestSearchSkips(t *testing.T) {
	for _, c := range []struct {
		skip map[int]bool
		want string
	}{
		{map[int]bool{5: true}, "[5 6]"},
		{map[int]bool{4: true, 5: true, 6: true}, "[4 5 6 7]"},
		{map[int]bool{1: true, 2: true, 3: true, 4: true, 5: true, 6: true, 7: true, 8: true}, "[1 2 3 4 5 6 7 8 9]"},
	} {
		first, err := Search(9, func(s Step) (Verdict, error) {
			switch {
			case c.skip[s.State]:
				return Skip, nil
			case s.State >= 6:
				return Bad, nil
			}
			return Good, nil
		})
		if got := fmt.Sprint(first); err != nil || got != c.want {
			t.Errorf("%v: %s, want %s (%v)", c.skip, got, c.want, err)
		}
	}
	stop := errors.New("stop")
	if _, err := Search(9, func(Step) (Verdict, error) { return "", stop }); err != stop {
		t.Error(err)
	}
}
