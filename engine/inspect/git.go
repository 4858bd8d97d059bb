package inspect

import (
	"errors"

	"github.com/rewind-cli/rewind/engine/gitevents"
	"github.com/rewind-cli/rewind/engine/gitstate"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// Stashes is how many entries git's stash had at a checkpoint; nil where git's own state is not known, as of what is damaged.
func Stashes(p *project.Project, c manifest.Checkpoint) (*int, error) {
	if c.Git.IsZero() {
		return nil, nil
	}
	n, err := gitevents.NewReader(gitstate.InStore(p), p.Root()).Stashes(c.Git)
	if err = p.Classify(err); project.IsDamage(err) || errors.As(err, new(*gitstate.FormatError)) {
		return nil, nil
	}
	return &n, err
}
