package cas

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/rewind-cli/rewind/cas/pack"
)

// A pack can be lost although the store is there: somebody removed large files,
// or files of that name. Its mirror tells, or its index that stayed behind.

const (
	reasonGone    = "the pack is gone"
	reasonLess    = "the mirror has more of the pack that is good"
	reasonEnd     = "the end of the log pack is damaged"
	reasonCommits = "what it says of checkpoints cannot all be read"
	reasonHead    = "the pack's header is damaged"
	reasonNoFile  = "a link, or something else that is not a file, is in its place"
)

// lost lists the packs that the objects directory should have, and has not.
func (s *Store) lost() ([]pack.Name, error) {
	lost, _, err := s.onlyInMirror()
	if err != nil {
		return nil, err
	}
	entries, err := s.fs.ReadDir(s.o.Dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		n, ok := pack.ParseIndexName(e.Name())
		if ok && n.Kind == pack.Log && !slices.Contains(lost, n) && s.onlyIndex(n) {
			lost = append(lost, n)
		}
	}
	return lost, nil
}

// onlyInMirror lists packs of this store that the objects directory has not: those that it has lost, and
// stale ones, which were dropped while another account used the store.
func (s *Store) onlyInMirror() (lost, stale []pack.Name, err error) {
	lost, stale, _, err = s.droppedInMirror()
	return lost, stale, err
}

// droppedInMirror is onlyInMirror, and what was dropped of the packs in whose name a pack was: of a lost one, a part at most.
func (s *Store) droppedInMirror() (lost, stale []pack.Name, parts map[pack.Name]droppedPart, err error) {
	mirror := s.mirrorNow()
	if mirror == "" {
		return nil, nil, nil, nil
	}
	entries, err := s.fs.ReadDir(mirror)
	if err != nil {
		return nil, nil, nil, ignoreMissing(err)
	}
	for _, e := range entries {
		n, ok := pack.ParseName(e.Name())
		// The second look at the mirror is for a pack that was removed meanwhile, under both names.
		if !ok || s.hasName(s.o.Dir, n) || !s.hasName(mirror, n) {
			continue
		}
		switch id, ok := headerStore(s.fs, filepath.Join(mirror, n.File())); {
		case ok && id != s.o.StoreID:
		case !ok && s.nothingIn(mirror, n): // left by a crash
		default:
			lost = append(lost, n)
		}
	}
	if len(lost) == 0 {
		return nil, nil, nil, nil
	}
	// Read after the look at the directories: whoever unlinks a pack has listed it before.
	list, err := s.droppedIn(s.o.Dir)
	if err != nil {
		return nil, nil, nil, err
	}
	parts = map[pack.Name]droppedPart{}
	all := lost
	lost = nil
	for _, n := range all {
		if !slices.ContainsFunc(list, func(d droppedPack) bool { return d.name == n }) {
			lost = append(lost, n)
			continue
		}
		part, err := s.droppedPart(mirror, n, list)
		if err != nil {
			return nil, nil, nil, err
		}
		parts[n] = part
		if part.all {
			stale = append(stale, n)
		} else {
			lost = append(lost, n)
		}
	}
	return lost, stale, parts, nil
}

// nothingIn reports whether a pack in a directory has neither a commit nor an object that can be found.
func (s *Store) nothingIn(dir string, n pack.Name) bool {
	state, err := s.examine(dir, n)
	return err == nil && len(state.has) == 0
}

// hasName reports whether a directory has a pack, as far as can be known.
func (s *Store) hasName(dir string, n pack.Name) bool {
	_, err := s.fs.Lstat(filepath.Join(dir, n.File()))
	return !errors.Is(err, fs.ErrNotExist)
}

// onlyIndex reports whether a log pack's index stayed behind. A crash may leave
// those of data packs that were never committed.
func (s *Store) onlyIndex(n pack.Name) bool {
	if s.hasName(s.o.Dir, n) || s.replacedByGC(n) {
		return false
	}
	going, err := s.condemned()
	if err != nil || slices.Contains(going, n) {
		return false
	}
	_, err = s.fs.Lstat(filepath.Join(s.o.Dir, n.IndexFile()))
	return err == nil
}

// replacedByGC reports whether gc rewrote the commits of a log pack into another one.
func (s *Store) replacedByGC(n pack.Name) bool {
	names, err := s.names()
	return err == nil && slices.ContainsFunc(names, func(k pack.Name) bool {
		if k.Kind != pack.Log || k.Tag <= n.Tag {
			return false
		}
		dense, err := s.standsAlone(k)
		return dense && err == nil
	})
}

// dropLeftIndex removes the index that a lost pack left, before the name is given to a file: it speaks of other bytes than
// those that the file has, or will have. Whoever has the lost pack open hears of it by the generation.
func (s *Store) dropLeftIndex(n pack.Name) error {
	file := filepath.Join(s.o.Dir, n.IndexFile())
	if _, err := s.fs.Lstat(file); err != nil || s.hasName(s.o.Dir, n) {
		return ignoreMissing(err)
	}
	if err := s.bumpGeneration(); err != nil {
		return err
	}
	return s.remove(file)
}

// returnLost brings packs back that only the mirror has, and unlinks those in it that were dropped.
func (s *Store) returnLost(report func(Repaired)) error {
	list, stale, parts, err := s.droppedInMirror()
	if err != nil || len(list)+len(stale) == 0 {
		return err
	}
	gone := s.logIsGone()
	if other := s.otherBranch(); len(other) > 0 {
		// Its log would hide what is here, and may need what was dropped until it is Joined.
		list, stale = slices.DeleteFunc(list, isLog), nil
	} else if slices.ContainsFunc(list, isLog) || gone {
		// What a sweep dropped without knowing of this log is needed again, and so is what it replaced by what is gone by now.
		gone = gone && !slices.ContainsFunc(list, isLog)
		again := slices.DeleteFunc(slices.Clone(stale), func(n pack.Name) bool { return isLog(n) && !gone || parts[n].forgotten > 0 })
		if err := s.undrop(again); err != nil {
			return err
		}
		list = append(list, again...)
		stale = slices.DeleteFunc(stale, func(n pack.Name) bool { return slices.Contains(again, n) })
	}
	if err := s.dropStale(stale); err != nil || len(list) == 0 {
		return err
	}
	if err := s.returning(list); err != nil {
		return err
	}
	mirror := s.mirrorNow()
	// The newest log pack last: whoever dies before it is seen to be behind.
	slices.SortFunc(list, func(a, b pack.Name) int {
		return cmp.Or(cmp.Compare(int(b.Kind), int(a.Kind)), cmp.Compare(a.Tag, b.Tag))
	})
	for _, n := range list {
		done, err := s.bringBack(filepath.Join(mirror, n.File()), n)
		if err != nil {
			return err
		}
		if done {
			report(Repaired{Pack: n.File(), What: FixReturned})
		}
	}
	return errors.Join(s.noteDropped(nil, false), s.syncDir())
}

// followerLost reports whether there was a log pack after the newest one here, and it was removed: a new one would take a
// number that the mirror has already.
func (s *Store) followerLost(newest uint64) bool {
	mirror := s.mirrorNow()
	if mirror == "" {
		return false
	}
	_, err := s.fs.Lstat(filepath.Join(mirror, pack.Name{Kind: pack.Log, Tag: newest + 1}.File()))
	if err == nil || newest != 0 {
		return err == nil
	}
	lost, stale, err := s.onlyInMirror()
	return err == nil && slices.ContainsFunc(slices.Concat(lost, stale), isLog)
}

// logIsGone reports whether the objects directory has no log pack.
func (s *Store) logIsGone() bool {
	names, err := s.names()
	return err == nil && !slices.ContainsFunc(names, isLog)
}

func isLog(n pack.Name) bool { return n.Kind == pack.Log }
