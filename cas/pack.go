package cas

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/pack"
	"github.com/rewind-cli/rewind/cas/vfs"
)

// packFile is what is known of a pack in the directory. All but the file is
// guarded by the store's mu.
type packFile struct {
	name pack.Name
	path string
	seed uint64
	fs   vfs.FS

	opening sync.Mutex
	file    vfs.File // nil: not open

	learned bool
	index   *pack.Index   // nil: none, or a bad one
	tail    pack.Tail     // what is not in index
	problem *DamagedError // a part of the pack cannot be read
	badHead bool          // the header is not good; the records need none of it
	short   bool          // the pack is shorter than its index says
}

func (s *Store) newPack(n pack.Name) *packFile {
	return &packFile{name: n, path: filepath.Join(s.o.Dir, n.File()), seed: n.Seed(s.o.StoreID), fs: s.fs}
}

// open returns the pack's file, opened for reading at least.
func (p *packFile) open() (vfs.File, error) {
	p.opening.Lock()
	defer p.opening.Unlock()
	if p.file == nil {
		f, err := p.fs.OpenFile(p.path, os.O_RDONLY, 0)
		if err != nil {
			return nil, err
		}
		p.file = f
	}
	return p.file, nil
}

func (p *packFile) close() error {
	p.index.Close()
	p.index = nil
	return p.closeFile()
}

// closeFile closes the file; whoever opens it again finds it by its name. No reader may hold it.
func (p *packFile) closeFile() error {
	p.opening.Lock()
	defer p.opening.Unlock()
	if p.file == nil {
		return nil
	}
	err := p.file.Close()
	p.file = nil
	return err
}

// learn finds out what is in p, or what is new there. The caller holds mu.
func (s *Store) learn(p *packFile, thorough bool) error {
	if !p.learned {
		p.index = pack.OpenIndex(s.fs, s.o.Dir, p.name, s.o.StoreID)
		p.tail = pack.TailFrom(pack.HeaderSize)
		if p.index != nil {
			p.tail = pack.TailFrom(p.index.Covered)
		}
		p.learned = true
	}
	if p.ended() {
		return nil
	}
	if p.name.Kind == pack.Data && !thorough {
		return nil // what no index covers yet is not durable yet
	}
	return s.walkTail(p)
}

// ended reports whether nothing is in p that is not known. A log pack that took no more is the newest one again where
// those that followed it are lost: what its index says of its end is true as long as nothing is behind it. One that is shorter than
// its index says has lost something, which the index tells.
func (p *packFile) ended() bool {
	if p.index == nil || !p.index.Sealed {
		return false
	}
	if p.name.Kind == pack.Data {
		return true
	}
	info, err := p.fs.Lstat(p.path)
	return err == nil && info.Size() <= p.tail.Covered
}

// walkTail makes the records up to the last good commit known that are not yet.
func (s *Store) walkTail(p *packFile) error {
	f, err := p.open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil // collected since the directory was listed
	}
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	size := info.Size()
	if size < p.tail.Covered && p.index != nil {
		s.dropIndex(p) // it speaks of bytes that are gone
		p.short = true
	}
	if p.tail.Covered == pack.HeaderSize {
		if err := s.checkHeader(p, f); err != nil {
			return err
		}
	}
	if size <= p.tail.Covered {
		return nil
	}
	return p.tail.Walk(f, p.seed, size, func(offset int64, reason error) {
		if p.problem == nil {
			p.problem = &DamagedError{Pack: p.name.File(), Offset: offset, Reason: reason.Error()}
		}
	})
}

// checkHeader refuses a pack of another store or of an unknown version. A
// damaged header hides nothing: the records can be read without it.
func (s *Store) checkHeader(p *packFile, f io.ReaderAt) error {
	h, err := pack.ReadHeader(f)
	var version pack.UnknownVersion
	switch {
	case errors.As(err, &version):
		return &VersionError{File: p.name.File(), Version: int(version)}
	case pack.IsMalformed(err):
		p.badHead = true
		return nil
	case err != nil:
		return err
	case h.Store != s.o.StoreID:
		return &DamagedError{Pack: p.name.File(), Reason: fmt.Sprintf("it belongs to another store (%x)", h.Store)}
	}
	p.badHead = h.Name != p.name
	return nil
}

// dropIndex forgets a bad index: the pack is walked instead.
func (s *Store) dropIndex(p *packFile) {
	p.index.Close()
	p.index = nil
	p.tail = pack.TailFrom(pack.HeaderSize)
}

// damaged makes a *DamagedError of a pack.MalformedError; other errors stay. id may be zero.
func (p *packFile) damaged(id oid.ID, offset int64, err error) error {
	if !pack.IsMalformed(err) {
		return err
	}
	return &DamagedError{ID: id, Pack: p.name.File(), Offset: offset, Reason: err.Error()}
}

// location is where an object lies.
type location struct {
	pack *packFile
	pack.Place
}

// find looks an object up, in memory and indexes only.
func (s *Store) find(id oid.ID) (location, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, p := range s.packs {
		if at, ok := p.tail.Find(id); ok {
			return location{p, at}, true
		}
		if at, ok := p.index.Find(id); ok {
			return location{p, at}, true
		}
	}
	return location{}, false
}

// findPrefix looks up the base of a delta.
func (s *Store) findPrefix(x pack.Prefix) (location, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, p := range s.packs {
		if at, ok := p.tail.FindPrefix(x); ok {
			return location{p, at}, true
		}
		if at, ok := p.index.FindPrefix(x); ok {
			return location{p, at}, true
		}
	}
	return location{}, false
}

// isDense reads the flag in a pack's header; one that cannot be understood has none.
func isDense(f io.ReaderAt) (bool, error) {
	h, err := headerOf(f)
	return h.Dense, err
}

// isClosed says whether a log pack takes no more: gc wrote it, or an earlier version, which would not know what is added.
func isClosed(f io.ReaderAt) (bool, error) {
	h, err := headerOf(f)
	return h.Dense || h.Older, err
}

func headerOf(f io.ReaderAt) (pack.Header, error) {
	h, err := pack.ReadHeader(f)
	if version := pack.UnknownVersion(0); pack.IsMalformed(err) || errors.As(err, &version) {
		err = nil
	}
	return h, err
}
