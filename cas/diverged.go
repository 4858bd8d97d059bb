package cas

import (
	"bytes"
	"cmp"
	"path/filepath"
	"slices"
)

// The log and that of the mirror can have a common beginning and different ends: an older state was put in the
// store's place, and another account, with a mirror of its own, added to that. Sequence numbers then mean one commit here and another
// one in the mirror. Nothing of either is put over the other: a caller commits again what only the mirror has, and then calls Joined.

// Diverged reports whether the mirror has a commit in whose place the log has another one.
func (s *Store) Diverged() bool { return len(s.otherBranch()) > 0 }

// otherBranch lists the log packs of the mirror that have commits from the first on that is another one here, newest first.
func (s *Store) otherBranch() []packName {
	apart := s.apart()
	if len(apart) == 0 {
		return nil
	}
	branch, err := s.Branch()
	if err != nil {
		return nil
	}
	defer branch.Close()
	there, err := branch.commitRefs(1)
	if err != nil {
		return nil
	}
	there = slices.DeleteFunc(there, func(c commitPlace) bool { return !slices.Contains(apart, c.pack.name) })
	fork := s.fork(branch, there)
	last := map[packName]uint64{}
	for _, c := range there {
		last[c.pack.name] = c.seq
	}
	apart = slices.DeleteFunc(apart, func(n packName) bool { return fork == 0 || last[n] < fork })
	slices.SortFunc(apart, func(a, b packName) int { return cmp.Compare(b.tag, a.tag) })
	return apart
}

// apart lists the log packs of the mirror that have more than the objects directory has of them, or something else.
func (s *Store) apart() (apart []packName) {
	mirror := s.mirrorNow()
	names, err := s.names()
	if mirror == "" || err != nil || len(names) == 0 || names[0].kind != logPack {
		return nil
	}
	lost, _, err := s.onlyInMirror()
	if err != nil {
		return nil
	}
	for _, n := range lost {
		if n.kind == logPack {
			apart = append(apart, n)
		}
	}
	for _, n := range names {
		if n.kind != logPack {
			break
		}
		first, second := filepath.Join(s.o.Dir, n.file()), filepath.Join(mirror, n.file())
		a, aerr := s.fs.Lstat(first)
		b, berr := s.fs.Lstat(second)
		switch {
		case aerr != nil:
			return nil
		case berr != nil && slices.ContainsFunc(lost, func(l packName) bool { return l.kind == logPack && l.tag > n.tag }):
			return nil // the log was written anew in the mirror: Return.Rewritten
		case berr != nil || sameFile(a, b) || !b.Mode().IsRegular():
			continue
		}
		if b.Size() <= a.Size() {
			if beginning, err := s.sameEnd(first, second, b.Size()); beginning || err != nil {
				continue
			}
		}
		apart = append(apart, n)
	}
	return apart
}

// fork is the first sequence number that means one commit here and another one among those of the mirror, 0 for none.
// What is damaged is no other branch.
func (s *Store) fork(branch *Store, there []commitPlace) uint64 {
	payloads := map[uint64][]byte{}
	for c, err := range branch.commitsAt(there) {
		if err != nil {
			break
		}
		payloads[c.Seq] = c.Payload
	}
	if len(payloads) == 0 {
		return 0
	}
	for c, err := range s.Commits(there[0].seq) {
		if err != nil {
			break
		}
		if other, ok := payloads[c.Seq]; ok && !bytes.Equal(other, c.Payload) {
			return c.Seq
		}
	}
	return 0
}

// Branch opens the mirror as a store of its own that is only read.
func (s *Store) Branch() (*Store, error) {
	return Open(Options{Dir: s.mirrorNow(), LockDir: s.o.LockDir, StoreID: s.o.StoreID, FS: s.fs, ReadOnly: true, Random: s.o.Random, Now: s.o.Now})
}

// Joined makes the mirror's log that of the store, which has all of it that matters by now. The caller holds the append lock.
func (s *Store) Joined() error {
	mirror, err := s.ownMirror()
	if mirror == "" {
		return err
	}
	for _, n := range s.otherBranch() { // the newest first: whoever dies leaves the place where they part
		if s.hasName(s.o.Dir, n) {
			s.renewMirror(n, true)
		} else if err := ignoreMissing(s.fs.Remove(filepath.Join(mirror, n.file()))); err != nil {
			return err
		}
	}
	s.mu.Lock()
	s.mirrorErr = nil
	s.mu.Unlock()
	return s.ignoreMirrorError(s.Mirror())
}
