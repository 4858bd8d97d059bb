package engine

import "testing"

func TestCountPaths(t *testing.T) {
	for _, c := range []struct {
		paths []string
		want  int
	}{
		{nil, 0},
		{[]string{"a"}, 1},
		{[]string{"d", "d/a", "d/e", "d/e/b"}, 2},
		{[]string{"d", "d-x", "d/a"}, 2}, // not beside each other in path order
		{[]string{"d"}, 1},               // an empty directory is what changed
		{[]string{"d/e", "d"}, 1},
	} {
		if got := CountPaths(c.paths); got != c.want {
			t.Errorf("%q: %d, not %d", c.paths, got, c.want)
		}
	}
}
