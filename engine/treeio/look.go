package treeio

import (
	"errors"
	"io/fs"

	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/manifest"
)

// look says what a name holds: by its stat where that is known, else by content.
func (s *recovery) look(d rootfs.Dir, name string, c *Change) (state, error) {
	info, err := d.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return isAbsent, nil
	}
	if err != nil {
		return isAbsent, err
	}
	if info.Kind != rootfs.Directory {
		if c.info.Kind != 0 && info.Same(c.info) && !c.doubt {
			return isBefore, nil
		}
		if c.written.Kind != 0 && info.Same(c.written) {
			return isAfter, nil
		}
	}
	// A new directory may be half filled: that it is one must do.
	if info.Kind == rootfs.Directory && isDir(c.After) {
		return isAfter, nil
	}
	for _, try := range []struct {
		e  manifest.Entry
		st state
	}{{c.After, isAfter}, {c.Before, isBefore}} {
		ok, err := s.holds(d, name, info, try.e)
		if err != nil {
			return isOther, err
		}
		if ok {
			return try.st, nil
		}
	}
	if info.Kind == rootfs.Directory && isDir(c.Before) {
		if rest, err := s.isRest(d, name, c.Before); rest || err != nil {
			return isRest, err
		}
	}
	return isOther, nil
}

// holds reports whether a name has the kind, mode and content of e.
func (s *recovery) holds(d rootfs.Dir, name string, info rootfs.Info, e manifest.Entry) (bool, error) {
	switch {
	case e.Kind == manifest.Symlink:
		if info.Kind != rootfs.Link {
			return false, nil
		}
		target, err := d.Readlink(name)
		return target == e.Target, err
	case e.IsFile():
		if info.Kind != rootfs.Regular || uint64(info.Size) != e.Size || info.Mode != e.Mode {
			return false, nil
		}
	case isDir(e):
		if info.Kind != rootfs.Directory {
			return false, nil
		}
	default:
		return false, nil
	}
	got, ok, err := s.read(d, name, e)
	return ok && got.Kind == e.Kind && got.ID == e.ID, err
}

// read reads the present entry of a name; ok is false for what cannot be read.
func (s *recovery) read(d rootfs.Dir, name string, e manifest.Entry) (got manifest.Entry, ok bool, err error) {
	r := reader{sink: s.sink, src: s.src}
	got, err = r.entry(d, name, e)
	if se := (*sinkError)(nil); errors.As(err, &se) {
		return got, false, se.err
	}
	return got, err == nil, nil
}

// isRest reports whether a directory holds nothing but what e has, unchanged,
// though not all of it.
func (s *recovery) isRest(d rootfs.Dir, name string, e manifest.Entry) (bool, error) {
	got, ok, err := s.read(d, name, e)
	if !ok || !isDir(got) {
		return false, err
	}
	rest := true
	err = manifest.Diff(s.src.Load, e.ID, got.ID, func(c manifest.Change) error {
		if c.New != nil && !(isDir(*c.New) && c.Old != nil && isDir(*c.Old)) {
			rest = false
		}
		return nil
	})
	return rest, err
}
