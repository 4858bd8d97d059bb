package hook

import (
	"context"
	"slices"

	"github.com/rewind-cli/rewind/engine/settings"
)

// green reports whether a test command has ended with 0: a checkpoint of what it tested is taken and marked. A tier that has
// none before shell commands has none after them.
func (c *Call) green() bool {
	if len(c.Event.Succeeded) == 0 {
		return false
	}
	set := c.Project.Settings()
	return set.FiresAt(settings.PreShell) && slices.ContainsFunc(c.Event.Succeeded, set.IsTest)
}

// SaveGreen takes the checkpoint that a test command which ended with 0 brings, and no other.
func (c *Call) SaveGreen(ctx context.Context) error {
	if !c.green() {
		return nil
	}
	_, err := c.save(ctx)
	return err
}
