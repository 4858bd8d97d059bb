package maintain

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/rewind-cli/rewind/engine/account"
)

// spareRoom is what a sweep writes besides packs: the deletion, indexes, tables.
const spareRoom = 256 << 10

// lacks is how many bytes of disk must be free for the plan, 0 where they are.
func (c *collection) lacks() int64 {
	need := c.plan.Room()
	if need == 0 || c.purge {
		return 0 // whole packs go, which may succeed without any space
	}
	need += spareRoom
	if free, err := account.FreeDisk(c.p.StoreDir()); err != nil || free >= need {
		return 0
	}
	return need
}

// room refuses a sweep that the disk has no space for, before anything is removed.
func (c *collection) room() error {
	need := c.lacks()
	switch {
	case need == 0:
		return nil
	case c.o.DryRun:
		c.result.Room = need
		return nil
	}
	free, err := account.FreeDisk(c.p.StoreDir())
	if err != nil {
		return err
	}
	return &GCSpaceError{Need: need, Free: free}
}

// spare removes from a full disk what is made anew from the log and the tree: the sweep begins with writing a little.
func (c *collection) spare() error {
	if free, err := account.FreeDisk(c.p.StoreDir()); err != nil || free >= spareRoom {
		return nil
	}
	return errors.Join(account.RemoveIfThere(c.p.StatCacheFile()), os.RemoveAll(filepath.Join(c.p.StoreDir(), account.ManifestsName)))
}

// GCSpaceError: what stays of some packs has to be written anew before they can go, and the disk has no space for that. Nothing
// was removed.
type GCSpaceError struct{ Need, Free int64 }

func (e *GCSpaceError) Error() string {
	return fmt.Sprintf("removing needs %d free bytes, and the disk has %d", e.Need, e.Free)
}
