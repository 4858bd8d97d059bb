package checkpoint

import (
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// overtakenError: others have committed what they saw while this look was taken.
type overtakenError struct {
	newest oid.ID   // its tree
	differ []string // paths that the two looks found different; nil: it is not known which
}

func (*overtakenError) Error() string { return "others have looked at the same in the meantime" }

// overtaken is an *overtakenError where a checkpoint with another tree was committed since the look at this one began.
// If this one followed it in the log, it would seem to take back what that one saw later. Which of the two saw a path later is not
// known; where they agree, it does not matter. The caller holds the append lock.
func (c *Captured) overtaken() error {
	last, err := c.p.Store.Last()
	if err != nil || last.Seq == c.after {
		return c.p.Classify(err)
	}
	newest, err := c.p.NewestCheckpoint()
	if err != nil || newest == nil || newest.Seq <= c.after || newest.Root == c.Root() {
		return err
	}
	by := &overtakenError{newest: newest.Root, differ: []string{}}
	err = manifest.Diff(c.Tx.Load, newest.Root, c.Root(), func(change manifest.Change) error {
		by.differ = append(by.differ, change.Path)
		return nil
	})
	if project.IsDamage(err) {
		by.differ, err = nil, nil
	}
	if err != nil {
		return c.p.Classify(err)
	}
	return by
}
