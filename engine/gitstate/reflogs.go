package gitstate

import (
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/manifest"
)

// errScan says that the reflogs have to be scanned.
var errScan = errors.New("more than the ends of reflogs differs")

// grown is a reflog that git has added to.
type grown struct {
	path string // in a tree
	is   manifest.Entry
}

// addLogs captures the reflogs that git has added to, in the tree p of all: a scan would also read what it knows of the others, and write
// it again. paths are all that can differ, below the directory of reflogs. The stat cache stays that of the last scan, so that the next one
// finds another tree in it, and compares every reflog. Errors: errScan where a path is anything but a file then and now, or neither.
func (c *captured) addLogs(p part, paths []string, sink placed) (part, error) {
	slices.Sort(paths)
	var files []grown
	for _, path := range slices.Compact(paths) {
		was, there, err := c.find(p.ID, path)
		if err != nil {
			return p, err
		}
		is, err := c.addLog(path, was, sink)
		switch {
		case !there && vfs.IsMissing(err):
		case err != nil:
			return p, err
		case is != was:
			files = append(files, grown{path, is})
		}
	}
	if len(files) == 0 {
		return p, nil
	}
	id, more, err := sink.replace(p.ID, files, false)
	p.ID = id
	p.Size += more
	return p, err
}

// addLog captures one. Whoever adds to it holds the lock of its reference, so that it is looked at again, and it does no harm if the
// last line is not whole.
func (c *captured) addLog(path string, was manifest.Entry, sink placed) (is manifest.Entry, err error) {
	f, info, err := vfs.OpenRegular(filepath.Join(c.repo.CommonDir, logsDir, filepath.FromSlash(path)), vfs.NoFollow)
	if err != nil {
		return is, err
	}
	defer f.Close() // read only: nothing can be lost
	if !was.IsFile() || info.Size() > maxFile || info.Mode() != info.Mode().Perm() {
		return is, errScan
	}
	is = manifest.Entry{Name: was.Name, Mode: uint32(info.Mode())}
	kind, id, size, err := sink.Content(0, &content{Reader: io.LimitReader(f, info.Size()), path: path}, info.Size(), was.ID)
	is.Kind, is.ID, is.Size = kind, id, uint64(size)
	return is, err
}

// find finds a path in a tree. Of a directory in pieces, it reads the one that has it.
func (c *captured) find(id oid.ID, path string) (e manifest.Entry, ok bool, err error) {
	for deeper := true; deeper; id = e.ID {
		dir, err := c.o.Tx.Load(id)
		if err != nil {
			return e, false, err
		}
		var name string
		name, path, deeper = strings.Cut(path, "/")
		if inPieces(dir) {
			if dir, err = c.o.Tx.Load(dir.Entries[pieceWith(dir, name)].ID); err != nil {
				return e, false, err
			}
		}
		if e, ok = dir.Lookup(name); !ok || deeper && e.Kind != manifest.Subdir {
			return manifest.Entry{}, false, nil
		}
	}
	return e, true, nil
}

// replace puts files, which are sorted by their paths, in the place of those in a tree, or in a piece of a directory. more is how many bytes
// they have more, modulo 2^64.
func (s placed) replace(id oid.ID, files []grown, piece bool) (_ oid.ID, more uint64, err error) {
	dir, err := s.Tx.Load(id)
	if err != nil {
		return id, 0, err
	}
	next := manifest.Dir{Entries: slices.Clone(dir.Entries)}
	place := func(f grown) int {
		name, _, _ := strings.Cut(f.path, "/")
		return pieceWith(dir, name)
	}
	for len(files) > 0 {
		at, n := place(files[0]), 1
		for n < len(files) && place(files[n]) == at {
			n++
		}
		these := slices.Clone(files[:n])
		files = files[n:]
		e := &next.Entries[at]
		if !inPieces(dir) {
			if e.Kind != manifest.Subdir {
				more += these[0].is.Size - e.Size
				*e = these[0].is
				continue
			}
			for i := range these {
				_, these[i].path, _ = strings.Cut(these[i].path, "/")
			}
		}
		below, grew, err := s.replace(e.ID, these, inPieces(dir))
		if err != nil {
			return id, 0, err
		}
		e.ID = below
		more += grew
		if !inPieces(dir) {
			e.Size += grew
		}
	}
	put := s.Dir
	if piece || inPieces(dir) {
		put = s.Tx.Dir
	}
	id, err = put(0, next.Append(nil), id)
	return id, more, err
}
