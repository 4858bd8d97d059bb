package cas

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// droppedName is the file that lists every pack that was unlinked on purpose, a name a line. Each
// account that uses a store has a mirror of its own, and can unlink only in that one. The list
// tells the other accounts' mirrors, whenever they look, which of their packs are not lost but dropped.
// A copy of it is in the mirror, for a store that has to be rebuilt.
const droppedName = "dropped"

// maxDropped bounds the list that is read: more than 600,000 packs.
const maxDropped = 16 << 20

// droppedIn reads the list in the objects directory or in a mirror. A line that is no name is skipped.
func (s *Store) droppedIn(dir string) (packs []packName, err error) {
	f, err := s.fs.OpenFile(filepath.Join(dir, droppedName), os.O_RDONLY, 0)
	if err != nil {
		return nil, ignoreMissing(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, err
	}
	buf := make([]byte, min(info.Size(), maxDropped))
	if ok, err := readFull(f, buf, 0); !ok || err != nil {
		return nil, err
	}
	for line := range bytes.Lines(buf) {
		if n, ok := parsePackName(strings.TrimSuffix(string(line), "\n")); ok {
			packs = append(packs, n)
		}
	}
	return packs, nil
}

// noteDropped adds packs to the list. It is durable when this returns.
func (s *Store) noteDropped(packs []packName) error {
	list, err := s.droppedIn(s.o.Dir)
	if err != nil {
		return err
	}
	known := map[packName]bool{}
	for _, n := range list {
		known[n] = true
	}
	before := len(list)
	for _, n := range packs {
		if !known[n] {
			known[n] = true
			list = append(list, n)
		}
	}
	if len(list) > before {
		var text []byte
		for _, n := range list {
			text = append(append(text, n.file()...), '\n')
		}
		if err := s.replaceFile(droppedName, text[:len(text)-1], '\n'); err != nil {
			return err
		}
	}
	return s.mirrorDropped()
}

// mirrorDropped links the list into the mirror.
func (s *Store) mirrorDropped() error {
	mirror, err := s.ownMirror()
	if mirror == "" {
		return err
	}
	first, second := filepath.Join(s.o.Dir, droppedName), filepath.Join(mirror, droppedName)
	a, err := s.fs.Lstat(first)
	if err != nil {
		return ignoreMissing(err)
	}
	if b, err := s.fs.Lstat(second); err == nil && sameFile(a, b) {
		return nil
	}
	tmp := second + tmpSuffix
	if err := ignoreMissing(s.fs.Remove(tmp)); err != nil {
		return err
	}
	if err := s.fs.Link(first, tmp); err != nil {
		return nil // on another file system there is no mirror either
	}
	return s.fs.Rename(tmp, second)
}

// dropStale unlinks packs in the mirror that were dropped while another account used the store.
func (s *Store) dropStale(packs []packName) error {
	if len(packs) == 0 {
		return nil
	}
	mirror, err := s.ownMirror()
	if mirror == "" {
		return err
	}
	for _, n := range packs {
		file := filepath.Join(mirror, n.file())
		for _, name := range []string{file + tmpSuffix, file} { // a kill leaves the first one
			if err := ignoreMissing(s.fs.Remove(name)); err != nil {
				return err
			}
		}
	}
	return errors.Join(s.mirrorDropped(), s.syncMirror())
}

// obeyDropped is dropStale for whoever writes: one look tells whether the mirror knows the list as it is.
func (s *Store) obeyDropped() error {
	mirror, err := s.ownMirror()
	if mirror == "" {
		return err
	}
	list, err := s.fs.Lstat(filepath.Join(s.o.Dir, droppedName))
	if err != nil {
		return ignoreMissing(err)
	}
	if known, err := s.fs.Lstat(filepath.Join(mirror, droppedName)); err == nil && sameFile(list, known) {
		return nil
	}
	_, stale, err := s.onlyInMirror()
	return errors.Join(err, s.dropStale(stale), s.mirrorDropped())
}

// takeDropped adds to the list what the mirror has of it: the store was replaced by an older state.
func (s *Store) takeDropped(mirror string) error {
	list, err := s.droppedIn(mirror)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(n packName) bool { return s.hasName(s.o.Dir, n) })
	if len(list) == 0 {
		return nil
	}
	return s.noteDropped(list)
}

// sharedOf counts the packs that have names outside of the store and its mirror, which stay when these go: in
// another account's mirror, or in a copy that was made of names.
func (s *Store) sharedOf(packs []*planned) (count int) {
	for _, k := range packs {
		info, err := s.fs.Lstat(filepath.Join(s.o.Dir, k.pack.name.file()))
		if err != nil {
			continue // it has no name at all any more, or unlinking it will fail too
		}
		if shared, _, err := s.shared(k.pack.name, info); err == nil && shared {
			count++
		}
	}
	return count
}
