package restore

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/problem"
)

// gone are the paths that a checkpoint saw and left out, and that are not there any more: no restore brings them back. Of a
// directory that is gone, what was in it is not listed.
func (r *Run) gone(saw *Sight) (paths []string) {
	for _, name := range slices.Sorted(maps.Keys(saw.Problems)) {
		switch saw.Problems[name].Code {
		case problem.Late, problem.NotYet, problem.Vanished, problem.Torn, problem.NoCoverage:
			continue // it is in the tree, or was not there
		}
		if name == "" || path.Base(name) == ".git" || name == account.StoreName || name == path.Dir(account.StoreName) {
			continue
		}
		if n := len(paths); n > 0 && strings.HasPrefix(name, paths[n-1]+"/") {
			continue
		}
		if _, err := os.Lstat(filepath.Join(r.Root(), filepath.FromSlash(name))); errors.Is(err, fs.ErrNotExist) {
			paths = append(paths, name)
		}
	}
	return paths
}
