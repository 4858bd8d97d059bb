package restore

import (
	"context"
	"errors"
	"io/fs"

	"rewind/engine/rootfs"
	"rewind/manifest"
)

// Complete adds to the tree root what is on disk at paths that the tree does
// not have: what is ignored, or came since the scan. Files are read into sink;
// a directory is added without what is in it; the unreadable is left out.
func Complete(ctx context.Context, fsys rootfs.FS, src Source, sink Sink, root manifest.ID, paths []string) (manifest.ID, error) {
	var edits []Edit
	modes := map[string]uint32{}
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return root, err
		}
		if _, ok, err := manifest.Find(src.Dir, root, path); err != nil || ok {
			if err != nil {
				return root, err
			}
			continue
		}
		e, err := lookUp(fsys, src, sink, path)
		var se *sinkError
		if errors.As(err, &se) {
			return root, se.err
		}
		if err != nil {
			continue
		}
		edits = append(edits, Edit{Path: path, Entry: e})
		for dir, _ := split(path); dir != ""; dir, _ = split(dir) {
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
	return EditTree(src, sink, root, edits, modes)
}

func lookUp(fsys rootfs.FS, src Source, sink Sink, path string) (manifest.Entry, error) {
	dir, name := split(path)
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

// Same reports whether a path's present entry is e: the same kind, mode and
// content; of directories only kind and mode. nil is nothing there.
func Same(now manifest.Entry, e *manifest.Entry) bool {
	if e == nil {
		return now.Kind == 0
	}
	return sameEntry(now, *e)
}
