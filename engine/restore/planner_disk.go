package restore

import (
	"errors"
	"slices"
	"strings"

	"rewind/engine/rootfs"
)

var errHolds = errors.New(reasonHolds)

// foldsOnto reports whether what a look-up of path found is really another
// name, on a file system that ignores letter case. The plan deletes that one
// (a case-only rename), which then has to come first.
func (b *planner) foldsOnto(path string, info rootfs.Info, at *place) bool {
	dir, name := split(path)
	for i := range b.Changes {
		c := &b.Changes[i]
		if c.Action != Delete || c.info.Ino != info.Ino || c.info.Dev != info.Dev || c.Path == path || !strings.EqualFold(c.Path, path) {
			continue
		}
		if parent, _ := split(c.Path); parent != dir {
			continue
		}
		d, err := at.open()
		if err != nil {
			return false
		}
		names, err := d.Names()
		if err != nil || slices.Contains(names, name) {
			return false // two hard links that differ in case
		}
		c.early = true
		return true
	}
	return false
}

// needWritable notes a directory that has to be made writable for the time,
// which its owner may do.
func (b *planner) needWritable(path string, at *place, changes []Change) {
	if b.euid == 0 || path == "" || !at.there {
		return
	}
	touched := slices.ContainsFunc(changes, func(c Change) bool {
		parent, _ := split(c.Path)
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
