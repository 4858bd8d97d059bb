package cas

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas/pack"
)

// A log pack that gc wrote replaces all log packs with lower numbers: it holds every commit before it that is kept. The
// replaced packs still exist while a sweep waits, and after a store was brought forward from a mirror whose log gc had
// rewritten. Commits that only a replaced pack holds were made on the older state. They are not in the log until a
// caller commits them again, but their objects can be read.

// older lists the log packs that a pack of gc replaces, the newest first.
func (s *Store) older() ([]pack.Name, error) {
	names, err := s.names()
	if err != nil {
		return nil, err
	}
	end := slices.IndexFunc(names, func(n pack.Name) bool { return n.Kind != pack.Log })
	if end < 0 {
		end = len(names)
	}
	for i := range names[:end] {
		if i+1 == end {
			break // there is none below it
		}
		dense, err := s.standsAlone(names[i])
		if err != nil {
			return nil, err
		}
		if dense {
			return names[i+1 : end], nil
		}
	}
	return nil, nil
}

// standsAlone reads the flag in a pack's header. A pack that is gone by now has none.
func (s *Store) standsAlone(n pack.Name) (bool, error) {
	f, err := s.fs.OpenFile(filepath.Join(s.o.Dir, n.File()), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	return isDense(f)
}

// OlderState identifies the replaced log packs that still exist, by name, size and time; "" if there is none.
func (s *Store) OlderState() (string, error) {
	packs, err := s.older()
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, n := range packs {
		info, err := s.fs.Lstat(filepath.Join(s.o.Dir, n.File()))
		if err != nil {
			return "", ignoreMissing(err)
		}
		fmt.Fprintln(&text, n.File(), info.Size(), info.ModTime().UnixNano())
	}
	return text.String(), nil
}

// Older opens these packs as a log of its own; as several, where a sequence number means one commit in one of them and another
// one in another. The caller closes them.
func (s *Store) Older() (branches []*Branch, err error) {
	packs, err := s.older()
	if err != nil || len(packs) == 0 {
		return nil, err
	}
	list, err := s.readDropped(filepath.Join(s.o.Dir, olderDroppedName))
	if err != nil {
		return nil, err
	}
	names, err := s.names()
	if err != nil {
		return nil, err
	}
	parts := map[pack.Name]droppedPart{}
	for _, n := range names {
		if n.Kind == pack.Log && !slices.Contains(packs, n) {
			continue
		}
		if parts[n], err = s.droppedPart(s.o.Dir, n, list); err != nil {
			return nil, ignoreMissing(err)
		}
	}
	seen := map[uint64]commitMark{}
	for i, n := range packs {
		commits, _, err := s.commitsIn(s.o.Dir, n)
		if err != nil {
			return branches, err
		}
		begins := i == 0
		for _, c := range commits {
			other, is := seen[c.seq]
			begins = begins || is && other != c.mark
			seen[c.seq] = c.mark
		}
		if !begins {
			continue
		}
		store, err := Open(Options{Dir: s.o.Dir, LockDir: s.o.LockDir, StoreID: s.o.StoreID, FS: s.fs, ReadOnly: true, Random: s.o.Random, Now: s.o.Now})
		if err != nil {
			return branches, err
		}
		store.hidden = map[pack.Name]uint64{}
		for _, n := range names {
			if n.Kind == pack.Log && !slices.Contains(packs[i:], n) {
				store.hidden[n] = 0
			}
		}
		branches = append(branches, &Branch{store, parts})
	}
	return branches, nil
}

// TellOlder calls Options.Returning if somebody put replaced log packs beside those that replaced them, as where a backup is
// copied over a store. Those that a waiting sweep leaves are in the mirror, too, and the list does not name them.
func (s *Store) TellOlder() error {
	packs, err := s.older()
	if err != nil || len(packs) == 0 || s.o.ReadOnly || s.o.Returning == nil || s.purging() {
		return err
	}
	names, err := s.names()
	if err != nil {
		return err
	}
	list, err := s.droppedIn(s.o.Dir)
	if err != nil {
		return err
	}
	mirror, err := s.ownMirror()
	if err != nil {
		return err
	}
	for _, n := range packs {
		part, err := s.droppedPart(s.o.Dir, n, list)
		if err != nil {
			return ignoreMissing(err)
		}
		if !part.all && (mirror == "" || !s.hasName(mirror, names[0]) || s.hasName(mirror, n)) {
			continue
		}
		if mirror != "" {
			if err := s.keepDropped(); err != nil {
				return err
			}
		}
		return s.o.Returning(Return{Rewritten: true, Beside: true})
	}
	return nil
}

// olderDroppedName is the mirror's list of dropped packs from when its log came back over an older state: it tells what of
// that state the mirror had known, and dropped. The list of the store does not name packs that the store has.
const olderDroppedName = "dropped-older"

func (s *Store) keepDropped() error {
	list, err := s.droppedIn(s.mirrorNow())
	if err != nil {
		return err
	}
	return s.replaceFile(olderDroppedName, bytes.TrimSuffix(appendDropped(nil, list), []byte("\n")))
}
