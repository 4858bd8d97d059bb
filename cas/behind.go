package cas

import (
	"context"
	"errors"
	"slices"

	"github.com/rewind-cli/rewind/cas/pack"
)

// A store can be behind the mirror: after git stash --all the store is rebuilt
// and grows, and whoever then puts the stash's old files into
// its place, or those of a backup, has the beginning of a log whose rest only
// the mirror has.

// Return says what comes back from the mirror.
type Return struct {
	Damaged bool // what is in the objects directory is no older state of the packs that come back, but damaged
	Empty   bool // no pack of the log is left in the objects directory
	// Rewritten: the log was written anew in the mirror since, by a sweep or a purge. What is in
	// the objects directory has packs that were dropped.
	Rewritten bool
	Beside    bool // nothing comes back: those packs were put beside the ones that replaced them
}

// CatchUp brings a store forward that is behind the mirror, or has packs that are lost or damaged and whole in the mirror, and
// unlinks in the mirror what was dropped meanwhile. There is nothing to do, and no lock to wait for, in nearly all cases.
// Errors: *BusyError.
func (s *Store) CatchUp(ctx context.Context) (done bool, err error) {
	if s.o.ReadOnly {
		return false, nil
	}
	lost, stale, err := s.onlyInMirror()
	if (err != nil || len(lost)+len(stale) == 0) && len(s.twins(0)) == 0 {
		return false, nil
	}
	data := s.compared(pack.Data)
	a, err := s.Append(ctx) // which heals the log
	if err != nil {
		return false, err
	}
	err = s.returnLost(func(Repaired) {})
	if err == nil {
		_, err = s.heal(data, func(Repaired) {})
	}
	s.mu.Lock()
	s.ready = false
	s.mu.Unlock()
	return err == nil, errors.Join(err, a.Close())
}

// Behind reports whether the mirror has what the store has not, or another file in the place of one.
func (s *Store) Behind() bool {
	lost, _, err := s.onlyInMirror()
	return err != nil || len(lost) > 0 || len(s.twins(0)) > 0
}

// EndsWhole reports whether the newest log pack ends with a commit.
func (s *Store) EndsWhole() bool {
	names, err := s.names()
	if err != nil || len(names) == 0 || names[0].Kind != pack.Log {
		return false
	}
	end, err := s.endOf(names[0])
	return err == nil && end.found && end.good == end.size && !end.badHead && !end.damaged
}

// ahead reports whether the mirror has log packs of this store behind newest.
func (s *Store) ahead(newest uint64) bool {
	lost, _, err := s.onlyInMirror()
	return err == nil && slices.ContainsFunc(lost, func(n pack.Name) bool { return n.Kind == pack.Log && n.Tag > newest })
}

// returning tells of packs that are about to come back.
func (s *Store) returning(lost []pack.Name) error {
	if s.o.Returning == nil {
		return nil
	}
	names, err := s.names()
	if err != nil {
		return err
	}
	r, mirror := Return{Empty: true}, s.mirrorNow()
	for _, n := range names {
		if n.Kind != pack.Log {
			break
		}
		newer := slices.ContainsFunc(lost, func(l pack.Name) bool { return l.Kind == pack.Log && l.Tag > n.Tag })
		r.Empty = false
		r.Rewritten = r.Rewritten || newer && !s.hasName(mirror, n)
	}
	if r.Rewritten {
		if err := s.keepDropped(); err != nil {
			return err
		}
	}
	return s.o.Returning(r)
}

func (s *Store) purging() bool { return s.o.Purging != nil && s.o.Purging() }
