package treeio

import (
	"errors"
	"slices"

	"github.com/rewind-cli/rewind/engine/rootfs"
)

var errHolds = errors.New(reasonHolds)

// needWritable notes a directory that has to be made writable for the time,
// which its owner may do.
func (b *planner) needWritable(path string, at *diskDir, changes []Change) {
	if b.euid == 0 || path == "" || !at.there {
		return
	}
	touched := slices.ContainsFunc(changes, func(c Change) bool {
		parent, _ := rootfs.Split(c.Path)
		return parent == path && (c.Action != Mode || c.info.Kind != rootfs.Directory)
	})
	if !touched {
		return
	}
	d, err := at.open()
	if err != nil {
		return
	}
	info, err := d.Stat()
	if err == nil && info.Mode&0o200 == 0 && int(info.UID) == b.euid {
		b.writable = append(b.writable, modeOf{path, info.Mode})
	}
}
