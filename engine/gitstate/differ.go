package gitstate

import (
	"errors"
	"strings"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/manifest"
)

// byTheWay are files of a git directory that change without any work being done: by a fetch in the background, by a
// message that was edited. Alone they are no reason for a checkpoint.
var byTheWay = []string{"FETCH_HEAD", "ORIG_HEAD", "COMMIT_EDITMSG", "MERGE_MSG", "gc.log", "description", "refs/remotes/", "logs/refs/remotes/"}

var errDiffer = errors.New("they differ")

// Differ reports whether two captured states differ in more than what changes by the way. load loads the directories of
// both. A state that is not there, zero, is no state to compare with.
func Differ(load func(oid.ID) (manifest.Dir, error), a, b oid.ID) bool {
	if a == b || a.IsZero() || b.IsZero() {
		return false
	}
	err := manifest.Diff(load, a, b, func(c manifest.Change) error {
		path, _ := strings.CutPrefix(c.Path, filesName+"/")
		for _, name := range byTheWay {
			if path == name || strings.HasSuffix(name, "/") && strings.HasPrefix(path+"/", name) {
				return nil
			}
		}
		if c.Old != nil && c.Old.Kind == manifest.Subdir || c.New != nil && c.New.Kind == manifest.Subdir {
			return nil
		}
		return errDiffer
	})
	return err != nil // what cannot be read is reason enough
}
