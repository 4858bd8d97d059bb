package cas

import (
	"errors"
	"os"
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
	if err := s.refresh(true); err != nil {
		return err
	}
	type duePack struct {
		name  packName
		final bool
	}
	var due []duePack
	s.mu.RLock()
	newest := true
	for _, p := range s.packs {
		t := &p.tail
		behind := len(t.blocks)+len(t.commits) > tailBlocks || t.covered-t.from > tailBytes
		// A log pack that is not the newest one takes no more.
		final := p.name.kind == logPack && !newest && (p.index == nil || !p.index.sealed)
		if behind || final {
			due = append(due, duePack{p.name, final})
		}
		newest = newest && p.name.kind != logPack
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
func (s *Store) tailIsLong(n packName) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, p := range s.packs {
		if t := &p.tail; p.name == n {
			return len(t.blocks)+len(t.commits) > 2*tailBlocks || t.covered-t.from > 2*tailBytes
		}
	}
	return false
}

// reindex brings the index of a pack up to its last good commit, and looks into
// the new one from now on. Sealed says that the pack takes no more.
func (s *Store) reindex(n packName, sealed bool) error {
	if err := s.makeIndex(n, sealed); err != nil {
		return err
	}
	return s.adoptIndex(n)
}

// adoptIndex takes the index on the disk instead of what this process found by
// walking, if it speaks of more. Without that a process that saves for long would
// write it anew at every save.
func (s *Store) adoptIndex(n packName) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.packs {
		if p.name != n || !p.learned {
			continue
		}
		x := openIndex(s.fs, s.o.Dir, n, s.o.StoreID)
		if x == nil || x.covered <= p.tail.from {
			x.close()
			return nil
		}
		p.index.close()
		p.index = x
		p.tail = tail{from: x.covered}
		p.tail.covered = x.covered
		return s.learn(p, s.thorough)
	}
	return nil
}

// makeIndex writes the index of a pack, if the one that is there does not do.
func (s *Store) makeIndex(n packName, sealed bool) error {
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
	if p.index != nil && !p.index.intact() {
		s.dropIndex(p)
		if err := s.walkTail(p); err != nil {
			return err
		}
	}
	if p.index != nil && (p.index.sealed || p.tail.covered == p.index.covered && !sealed) {
		return nil
	}
	if p.problem != nil || p.tail.covered == headerSize {
		return nil // an index over damage would hide it; one over nothing is of no use
	}
	// What an index covers counts as durable.
	if err := s.sync(f); err != nil {
		return err
	}
	c := p.contents()
	c.sealed = sealed
	return s.writeIndex(n, c)
}

// contents is all that is known of the pack.
func (p *pack) contents() *contents {
	if p.index == nil {
		return p.tail.contents.clone()
	}
	c := p.index.contents()
	first := uint32(len(c.blocks))
	c.blocks = append(c.blocks, p.tail.blocks...)
	for _, o := range p.tail.objects {
		o.block += first
		c.objects = append(c.objects, o)
	}
	c.commits = append(c.commits, p.tail.commits...)
	c.covered = p.tail.covered
	return c
}
