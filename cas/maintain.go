package cas

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/rewind-cli/rewind/cas/pack"
	"github.com/rewind-cli/rewind/cas/vfs"
)

const (
	// heavyWrite is how much an appender has to write to be one that also
	// brings the index up to date: beside that an index costs little.
	heavyWrite = 256 << 10
	// tailBytes and tailBlocks bound what a look-up walks because no index
	// covers it.
	tailBytes  = 1 << 20
	tailBlocks = 512
)

// RefreshIndexes writes the indexes of packs of which much is not covered by
// one. A process that does heavy work calls it, so that saves need not. It
// takes no lock: two that do it at once write the same.
func (s *Store) RefreshIndexes() error {
	if s.o.ReadOnly {
		return nil
	}
	if err := s.refresh(); err != nil {
		return err
	}
	type duePack struct {
		name  pack.Name
		final bool
	}
	var due []duePack
	s.mu.RLock()
	newest := true
	for _, p := range s.packs {
		t := &p.tail
		behind := len(t.Blocks)+len(t.Commits) > tailBlocks || t.Covered-t.From > tailBytes
		// A log pack that is not the newest one takes no more.
		final := p.name.Kind == pack.Log && !newest && (p.index == nil || !p.index.Sealed || len(t.Commits) > 0)
		if behind || final {
			due = append(due, duePack{p.name, final})
		}
		newest = newest && p.name.Kind != pack.Log
	}
	s.mu.RUnlock()
	var errs []error
	for _, k := range due {
		errs = append(errs, s.reindex(k.name, k.final))
	}
	return errors.Join(errs...)
}

// tailIsLong reports whether a look-up in this process had to walk so much of
// the pack that even a small save writes the index: one in five hundred does, for a
// few milliseconds, unless a process that does heavy work comes first.
func (s *Store) tailIsLong(n pack.Name) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, p := range s.packs {
		if t := &p.tail; p.name == n {
			return len(t.Blocks)+len(t.Commits) > 2*tailBlocks || t.Covered-t.From > 2*tailBytes
		}
	}
	return false
}

// reindex brings the index of a pack up to its last good commit, and looks into
// the new one from now on. Sealed says that the pack takes no more.
func (s *Store) reindex(n pack.Name, sealed bool) error {
	if err := s.makeIndex(n, sealed); err != nil {
		return err
	}
	return s.adoptIndex(n)
}

// adoptIndex takes the index on the disk instead of what this process found by
// walking, if it speaks of more. Without that a process that saves for long would
// write it anew at every save.
func (s *Store) adoptIndex(n pack.Name) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.packs {
		if p.name != n || !p.learned {
			continue
		}
		x := pack.OpenIndex(s.fs, s.o.Dir, n, s.o.StoreID)
		if x == nil || x.Covered <= p.tail.From {
			x.Close()
			return nil
		}
		p.index.Close()
		p.index = x
		p.tail = pack.TailFrom(x.Covered)
		return s.learn(p, s.thorough)
	}
	return nil
}

// makeIndex writes the index of a pack, if the one that is there does not do.
func (s *Store) makeIndex(n pack.Name, sealed bool) error {
	p := s.newPack(n)
	f, err := s.fs.OpenFile(p.path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	p.file = f
	defer p.close()
	if err := s.learn(p, true); err != nil {
		return err
	}
	if p.index != nil && !p.index.Intact() {
		s.dropIndex(p)
		if err := s.walkTail(p); err != nil {
			return err
		}
	}
	if p.index != nil && p.tail.Covered == p.index.Covered && (p.index.Sealed || !sealed) {
		return nil
	}
	if p.problem != nil || p.tail.Covered == pack.HeaderSize {
		return nil // an index over damage would hide it; one over nothing is of no use
	}
	// What an index covers counts as durable.
	if err := s.sync(f); err != nil {
		return err
	}
	c := p.index.Contents()
	c.Join(&p.tail.Contents)
	c.Sealed = sealed
	return s.writeIndex(n, c)
}

// writeIndex replaces the index of a pack. It is not synced: an index that a
// crash damages is noticed and made anew. What it covers must be durable.
func (s *Store) writeIndex(name pack.Name, c *pack.Contents) error {
	file := filepath.Join(s.o.Dir, name.IndexFile())
	// An index whose pack is not there says that the pack is lost.
	there := func() error {
		_, err := s.fs.Lstat(filepath.Join(s.o.Dir, name.File()))
		return errors.Join(s.sure(), err)
	}
	return s.replace(file, vfs.Replacement{NoSync: true, KeepDir: true, Before: there}, vfs.Bytes(pack.EncodeIndex(name, s.o.StoreID, c)))
}
