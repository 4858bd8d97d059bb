package cas

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/pack"
)

// droppedName is the file that lists every pack that was unlinked on purpose. Each
// account that uses a store has a mirror of its own, and can unlink only in that one. The list
// tells the other accounts' mirrors, whenever they look, which of their packs are not lost but dropped.
// A copy of it is in the mirror, for a store that has to be rebuilt, or whose list somebody replaced by an older one. It is a
// file of its own: cp writes into the file that is there.
//
// A line is the name of a pack. The number of a log pack is used again where an older state was put in the store's place, so
// a line behind the name tells which pack it was: see droppedPack.
const droppedName = "dropped"

// maxDropped bounds the list that is read: room for more than seven million commits.
const maxDropped = 64 << 20

// droppedIn reads the list in the objects directory or in a mirror. A line that is not understood is skipped.
func (s *Store) droppedIn(dir string) ([]droppedPack, error) {
	return s.readDropped(filepath.Join(dir, droppedName))
}

func (s *Store) readDropped(file string) ([]droppedPack, error) {
	text, err := s.droppedText(file)
	return parseDropped(string(text)), err
}

func (s *Store) droppedText(file string) ([]byte, error) {
	f, err := s.fs.OpenFile(file, os.O_RDONLY, 0)
	if err != nil {
		return nil, ignoreMissing(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, err
	}
	buf := make([]byte, min(info.Size(), maxDropped))
	if ok, err := pack.ReadFull(f, buf, 0); !ok || err != nil {
		return nil, err
	}
	return buf, nil
}

// knowsDropped reports whether the list in the mirror has the text of the store's.
func (s *Store) knowsDropped(mirror string) (bool, error) {
	ours, err := s.droppedText(filepath.Join(s.o.Dir, droppedName))
	theirs, merr := s.droppedText(filepath.Join(mirror, droppedName))
	return bytes.Equal(ours, theirs), errors.Join(err, merr)
}

// changeDropped puts another list in the place of the list, which is durable when this returns.
func (s *Store) changeDropped(change func([]droppedPack) ([]droppedPack, error)) error {
	list, err := s.droppedIn(s.o.Dir)
	if err != nil {
		return err
	}
	before := appendDropped(nil, list)
	if list, err = change(list); err != nil {
		return err
	}
	text := appendDropped(nil, list)
	if bytes.Equal(text, before) {
		return nil
	}
	return s.replaceFile(droppedName, bytes.TrimSuffix(text, []byte("\n")))
}

// noteDropped adds packs of the objects directory to the list, and what the mirror's list has.
// forgotten: a purge drops them, so that of all that was ever dropped nothing may come back.
func (s *Store) noteDropped(packs []pack.Name, forgotten bool) error {
	if s.o.Linked != nil {
		if n := s.linked(packs); n > 0 {
			if err := s.o.Linked(n); err != nil {
				return err
			}
		}
	}
	err := s.changeDropped(func(list []droppedPack) ([]droppedPack, error) {
		for _, n := range packs {
			d, err := s.describe(n)
			if errors.Is(err, fs.ErrNotExist) {
				continue // a crash came after it was listed and unlinked
			}
			if err != nil {
				return nil, err
			}
			list = addDropped(list, d)
		}
		list, err := s.addMirrored(list)
		for i := range list {
			list[i].forgotten = list[i].forgotten || forgotten
		}
		return list, err
	})
	if err != nil {
		return err
	}
	return s.mirrorDropped()
}

// undrop takes packs off the list that are about to come back.
func (s *Store) undrop(packs []pack.Name) error {
	if len(packs) == 0 {
		return nil
	}
	return s.changeDropped(func(list []droppedPack) ([]droppedPack, error) {
		return slices.DeleteFunc(list, func(d droppedPack) bool { return slices.Contains(packs, d.name) }), nil
	})
}

// addMirrored adds what the list in the mirror has: the store was replaced by an older state. What the store
// has by now is not dropped.
func (s *Store) addMirrored(list []droppedPack) ([]droppedPack, error) {
	mirror, err := s.ownMirror()
	if mirror == "" {
		return list, err
	}
	more, err := s.droppedIn(mirror)
	if err != nil {
		return nil, err
	}
	for _, d := range more {
		if s.hasName(s.o.Dir, d.name) {
			part, err := s.droppedPart(s.o.Dir, d.name, []droppedPack{d})
			if part.end > 0 || err != nil {
				continue
			}
		}
		list = addDropped(list, d)
	}
	return list, nil
}

// mirrorDropped copies the list into the mirror. A mirror that has no space, or is read-only, gets it from the next writer;
// what is in the way of the copy is an error.
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
	b, err := s.fs.Lstat(second)
	linked := err == nil && sameFile(a, b) // by an earlier version
	if known, err := s.knowsDropped(mirror); known && !linked || err != nil {
		return err
	}
	if err := ignoreMissing(s.fs.Remove(second + tmpSuffix)); err != nil {
		return err
	}
	_ = s.copyFile(first, second)
	return nil
}

// dropStale unlinks packs in the mirror that were dropped while another account used the store.
func (s *Store) dropStale(packs []pack.Name) error {
	if len(packs) == 0 {
		return nil
	}
	mirror, err := s.ownMirror()
	if mirror == "" {
		return err
	}
	for _, n := range packs {
		file := filepath.Join(mirror, n.File())
		for _, name := range []string{file + tmpSuffix, file} { // a kill leaves the first one
			if err := s.remove(name); err != nil {
				return err
			}
		}
	}
	return errors.Join(s.syncMirror(), s.noteDropped(nil, false))
}

// obeyDropped is dropStale for writers: the list in the mirror shows whether that has applied the current one.
func (s *Store) obeyDropped() error {
	mirror, err := s.ownMirror()
	if mirror == "" {
		return err
	}
	if _, err := s.fs.Lstat(filepath.Join(s.o.Dir, droppedName)); err != nil {
		return ignoreMissing(err)
	}
	if known, err := s.knowsDropped(mirror); known || err != nil {
		return err
	}
	_, stale, err := s.onlyInMirror()
	if err != nil || len(stale) > 0 && s.Diverged() {
		return err // what only the mirror has may need them: Joined drops them
	}
	return errors.Join(s.dropStale(stale), s.noteDropped(nil, false))
}

// DroppedFile is the file of the list of dropped packs. It is replaced, or written as a whole by cp.
func (s *Store) DroppedFile() string { return filepath.Join(s.o.Dir, droppedName) }

// DroppedSum tells one list of dropped packs from another.
func (s *Store) DroppedSum() (string, error) {
	text, err := s.droppedText(filepath.Join(s.o.Dir, droppedName))
	return oid.Sum(text).String(), err
}

// Obeys reports whether the mirror has nothing of what was dropped before the call, as far as can be seen.
func (s *Store) Obeys() bool {
	// Packs are listed, condemned and then unlinked: what is not condemned any more is not in the objects directory.
	if going, err := s.condemned(); going != nil || err != nil {
		return false
	}
	lost, stale, err := s.onlyInMirror()
	if err != nil || len(lost)+len(stale) > 0 {
		return false
	}
	return !slices.ContainsFunc(s.compared(0), func(t twin) bool { return !t.found.store }) // of a number that was used again
}
