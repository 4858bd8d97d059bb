package restore_test

import (
	"testing"

	"github.com/rewind-cli/rewind/engine/restore"
)

func TestCount(t *testing.T) {
	for _, c := range []struct {
		paths, directories []string
		files, empty       int
	}{
		{nil, nil, 0, 0},
		{[]string{"a"}, nil, 1, 0},
		{[]string{"d", "d/a", "d/e", "d/e/b"}, []string{"d", "d/e"}, 2, 0},
		{[]string{"d", "d-x", "d/a"}, []string{"d"}, 2, 0}, // not beside each other in path order
		{[]string{"d"}, []string{"d"}, 0, 1},
		{[]string{"d/e", "d"}, []string{"d", "d/e"}, 0, 1},
	} {
		r := restore.Restored{Directories: map[string]bool{}}
		for _, d := range c.directories {
			r.Directories[d] = true
		}
		if files, empty := r.Count(c.paths); files != c.files || empty != c.empty {
			t.Errorf("%q: %d files, %d empty directories, not %d, %d", c.paths, files, empty, c.files, c.empty)
		}
	}
}
