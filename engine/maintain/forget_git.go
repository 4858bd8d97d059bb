package maintain

import (
	"io"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// maxGitFile is the largest file of git's own state that is searched, in bytes; a checkpoint whose state has a larger one
// loses it.
const maxGitFile = 16 << 20

// gitState takes git's own state out of a record where that has what is to be forgotten: the name of a path in an
// index, a text in a reflog or in the configuration. A part of it would be of no use.
func (f *conversations) gitState(state *oid.ID) (changed bool, err error) {
	if state.IsZero() {
		return false, nil
	}
	has, known := f.gitStates[*state]
	if !known {
		err := manifest.Walk(f.tx.Load, *state, func(_ string, e manifest.Entry) (err error) {
			if e.Kind != manifest.Subdir && !has {
				has, err = f.inGitFile(e)
			}
			return err
		})
		if project.IsLost(err) {
			has, err = true, nil
		}
		if err != nil {
			return false, err
		}
		f.gitStates[*state] = has
	}
	if has {
		*state = oid.ID{}
	}
	return has, nil
}

func (f *conversations) inGitFile(e manifest.Entry) (bool, error) {
	if e.Size > maxGitFile {
		return true, nil
	}
	r, err := f.tx.Open(e)
	if err != nil {
		return false, err
	}
	defer r.Close() // read only: nothing can be lost
	data, err := io.ReadAll(r)
	return err == nil && f.outside.text(data, 0) > 0, err
}
