package treeio

import (
	"context"
	"errors"
	"io/fs"

	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/manifest"
)

// LookUp finds what is on disk at paths that a scan does not have: what is
// ignored, or came since. Files are read into sink; a directory comes without
// what is in it; what is absent or unreadable is left out. modes are those of
// the directories on the way, for EditTree.
func LookUp(ctx context.Context, fsys rootfs.FS, src Source, sink Sink, paths []string) (found []Edit, modes map[string]uint32, err error) {
	modes = map[string]uint32{}
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		e, err := lookUp(fsys, src, sink, path)
		var se *sinkError
		if errors.As(err, &se) {
			return nil, nil, se.err
		}
		if err != nil {
			continue
		}
		found = append(found, Edit{Path: path, Entry: e})
		for dir, _ := rootfs.Split(path); dir != ""; dir, _ = rootfs.Split(dir) {
			if _, ok := modes[dir]; ok {
				break
			}
			d, err := fsys.OpenDir(dir)
			if err != nil {
				break
			}
			info, err := d.Stat()
			d.Close()
			if err != nil {
				break
			}
			modes[dir] = info.Mode
		}
	}
	return found, modes, nil
}

func lookUp(fsys rootfs.FS, src Source, sink Sink, path string) (manifest.Entry, error) {
	dir, name := rootfs.Split(path)
	if rootfs.IsReserved(name) {
		return manifest.Entry{}, fs.ErrNotExist
	}
	d, err := fsys.OpenDir(dir)
	if err != nil {
		return manifest.Entry{}, err
	}
	defer d.Close()
	info, err := d.Lstat(name)
	if err != nil {
		return manifest.Entry{}, err
	}
	if info.Kind == rootfs.Directory {
		return manifest.Entry{Name: name, Kind: manifest.Subdir, Mode: info.Mode}, nil
	}
	r := reader{sink: sink, src: src}
	return r.entry(d, name, manifest.Entry{})
}

// Same reports whether two entries are the same kind, mode and content; of
// directories only kind and mode. nil is nothing there.
func Same(now, e *manifest.Entry) bool {
	if now == nil || e == nil {
		return now == e
	}
	return sameEntry(*now, *e)
}
