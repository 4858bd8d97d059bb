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

// GonePath is a path that a checkpoint saw and left out, and that is not there any more: no restore brings it back.
type GonePath struct {
	Path string
	Part bool // the checkpoint has some of what was in it, such as what git tracks of a directory that is always left out
}

// gone are the paths that a checkpoint lacks and that are gone. Of a directory that is gone, what was in it is not listed.
func (r *Run) gone(saw *Sight) (paths []GonePath) {
	for _, name := range slices.Sorted(maps.Keys(saw.Problems)) {
		switch saw.Problems[name].Code {
		case problem.Late, problem.NotYet, problem.Vanished, problem.Torn, problem.NoCoverage:
			continue // it is in the tree, or was not there
		}
		if name == "" || path.Base(name) == ".git" || name == account.StoreName || name == path.Dir(account.StoreName) {
			continue
		}
		if n := len(paths); n > 0 && strings.HasPrefix(name, paths[n-1].Path+"/") {
			continue
		}
		if _, err := os.Lstat(filepath.Join(r.Root(), filepath.FromSlash(name))); errors.Is(err, fs.ErrNotExist) {
			_, part, err := saw.Find(name)
			paths = append(paths, GonePath{Path: name, Part: part && err == nil})
		}
	}
	return paths
}
