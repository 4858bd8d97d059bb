package cas

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"math"
	"path/filepath"
	"slices"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/pack"
)

// The log and that of the mirror can have a common beginning and different ends: an older state was put in the
// store's place, and another account, with a mirror of its own, added to that. Sequence numbers then mean one commit here and another
// one in the mirror. Nothing of either is put over the other: a caller commits again what only the mirror has, and then calls Joined.

// Diverged reports whether the mirror has a commit in whose place the log has another one.
func (s *Store) Diverged() bool { return len(s.otherBranch()) > 0 }

// otherBranch lists the log packs of the mirror that have commits from the first on that is another one here, newest first.
func (s *Store) otherBranch() []pack.Name {
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
	fork := s.fork(branch.Store, there)
	last := map[pack.Name]uint64{}
	for _, c := range there {
		last[c.pack.name] = c.Seq
	}
	apart = slices.DeleteFunc(apart, func(n pack.Name) bool {
		_, reused := branch.parts[n] // its number, here, by a pack that was dropped since
		return !reused && (fork == 0 || last[n] < fork) && !s.twice(n)
	})
	slices.SortFunc(apart, func(a, b pack.Name) int { return cmp.Compare(b.Tag, a.Tag) })
	return apart
}

// twice reports whether a log pack here and the one of its name in the mirror have each a commit that the other lacks.
func (s *Store) twice(n pack.Name) bool {
	mirror := s.mirrorNow()
	here, _, err := s.commitsIn(s.o.Dir, n)
	there, _, terr := s.commitsIn(mirror, n)
	if err != nil || terr != nil {
		return false
	}
	if len(here) == 0 { // it may be a beginning, damaged, or torn by a crash
		if len(there) == 0 {
			return false
		}
		c, err := s.compare(n)
		return err == nil && !c.mirror && !c.store
	}
	lacks := func(some, other []packCommit) bool {
		known := make(map[commitMark]bool, len(some))
		for _, c := range some {
			known[c.mark] = true
		}
		return slices.ContainsFunc(other, func(c packCommit) bool { return !known[c.mark] })
	}
	return lacks(here, there) && lacks(there, here)
}

// apart lists the log packs of the mirror that have more than the objects directory has of them, or something else.
func (s *Store) apart() (apart []pack.Name) {
	mirror := s.mirrorNow()
	names, err := s.names()
	if mirror == "" || err != nil || len(names) == 0 || names[0].Kind != pack.Log {
		return nil
	}
	lost, _, parts, err := s.droppedInMirror()
	if err != nil {
		return nil
	}
	reused := slices.ContainsFunc(lost, func(n pack.Name) bool { _, is := parts[n]; return is })
	for _, n := range lost {
		if n.Kind == pack.Log {
			apart = append(apart, n)
		}
	}
	rewritten := false
	newer := func(n pack.Name) bool {
		return slices.ContainsFunc(lost, func(l pack.Name) bool { return l.Kind == pack.Log && l.Tag > n.Tag })
	}
	for _, n := range names {
		if n.Kind != pack.Log {
			break
		}
		first, second := filepath.Join(s.o.Dir, n.File()), filepath.Join(mirror, n.File())
		a, aerr := s.fs.Lstat(first)
		b, berr := s.fs.Lstat(second)
		switch {
		case aerr != nil:
			return nil
		case berr != nil && newer(n):
			rewritten = true
			continue
		case berr != nil || sameFile(a, b) || !b.Mode().IsRegular():
			continue
		}
		beginning, err := s.sameEnd(first, second, min(a.Size(), b.Size()))
		// The mirror's pack cannot come back beside another one of its number, nor can its continuation.
		reused = reused || err == nil && (!beginning || b.Size() < a.Size() && newer(n))
		if b.Size() <= a.Size() && (beginning || err != nil) {
			continue
		}
		apart = append(apart, n)
	}
	if rewritten && !reused {
		return nil // the log was written anew in the mirror: Return.Rewritten
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
	for c, err := range s.Commits(there[0].Seq) {
		if err != nil {
			break
		}
		if other, ok := payloads[c.Seq]; ok && !bytes.Equal(other, c.Payload) {
			return c.Seq
		}
	}
	return 0
}

// Branch is the mirror as a store of its own that is only read. It has what was dropped from the store since, too.
type Branch struct {
	*Store
	parts map[pack.Name]droppedPart
}

// Branch opens the mirror.
func (s *Store) Branch() (*Branch, error) {
	_, _, parts, err := s.droppedInMirror()
	if err != nil {
		return nil, err
	}
	branch, err := Open(Options{Dir: s.mirrorNow(), LockDir: s.o.LockDir, StoreID: s.o.StoreID, FS: s.fs, ReadOnly: true, Random: s.o.Random, Now: s.o.Now})
	if err != nil {
		return nil, err
	}
	// A commit of the store would hide one of the same number that only the mirror has.
	apart, first := s.apart(), uint64(math.MaxUint64)
	for _, n := range apart {
		commits, _, err := s.commitsIn(branch.o.Dir, n)
		if err != nil {
			return nil, errors.Join(err, branch.Close())
		}
		for _, c := range commits {
			first = min(first, c.seq)
		}
	}
	branch.hidden = map[pack.Name]uint64{}
	names, err := s.names()
	for _, n := range names {
		if !slices.Contains(apart, n) {
			branch.hidden[n] = first
		}
	}
	return &Branch{branch, parts}, err
}

// Dropped reports whether the store had a commit, and dropped it or has it still.
func (b *Branch) Dropped(seq uint64) bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(b.parts)), func(part droppedPart) bool { return seq <= part.seq })
}

// Forgotten reports whether only packs have an object that a purge dropped from the store.
func (b *Branch) Forgotten(id oid.ID) (bool, error) {
	if has, err := b.Has(id); !has || err != nil {
		return false, err
	}
	b.mu.RLock()
	all := b.thorough
	b.mu.RUnlock()
	if !all { // a data pack that came back has no index yet
		if err := b.refresh(); err != nil {
			return false, err
		}
	}
	return !slices.ContainsFunc(b.locations(pack.PrefixOf(id)), func(at location) bool { return at.Offset >= b.parts[at.pack.name].forgotten }), nil
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
		} else if err := errors.Join(s.dropLeftIndex(n), s.remove(filepath.Join(mirror, n.File()))); err != nil {
			return err
		}
	}
	lost, stale, err := s.onlyInMirror()
	for _, n := range lost {
		if err == nil && isLog(n) && s.nothingIn(mirror, n) { // gc begins a log pack behind those that it writes
			err = s.remove(filepath.Join(mirror, n.File()))
		}
	}
	if err == nil {
		err = s.dropStale(stale)
	}
	s.mu.Lock()
	s.mirrorErr = nil
	s.mu.Unlock()
	return errors.Join(err, s.ignoreMirrorError(s.Mirror()))
}
