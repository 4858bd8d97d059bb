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
	"github.com/rewind-cli/rewind/cas/vfs"
)

// pack is what is known of a pack in the directory. All but the file is
// guarded by the store's mu.
type pack struct {
	name packName
	path string
	seed uint64
	fs   vfs.FS

	opening sync.Mutex
	file    vfs.File // nil: not open

	learned bool
	index   *index        // nil: none, or a bad one
	tail    tail          // what is not in index
	problem *DamagedError // a part of the pack cannot be read
	badHead bool          // the header is not good; the records need none of it
	short   bool          // the pack is shorter than its index says
}

func (s *Store) newPack(n packName) *pack {
	return &pack{name: n, path: filepath.Join(s.o.Dir, n.file()), seed: n.seed(s.o.StoreID), fs: s.fs}
}

// open returns the pack's file, opened for reading at least.
func (p *pack) open() (vfs.File, error) {
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

func (p *pack) close() error {
	p.index.close()
	p.index = nil
	return p.closeFile()
}

// closeFile closes the file; whoever opens it again finds it by its name. No reader may hold it.
func (p *pack) closeFile() error {
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
func (s *Store) learn(p *pack, thorough bool) error {
	if !p.learned {
		p.index = openIndex(s.fs, s.o.Dir, p.name, s.o.StoreID)
		p.tail.from, p.tail.covered = headerSize, headerSize
		if p.index != nil {
			p.tail.from, p.tail.covered = p.index.covered, p.index.covered
		}
		p.learned = true
	}
	if p.index != nil && p.index.sealed {
		return nil
	}
	if p.name.kind == dataPack && !thorough {
		return nil // what no index covers yet is not durable yet
	}
	return s.walkTail(p)
}

// walkTail makes the records up to the last good commit known that are not yet.
func (s *Store) walkTail(p *pack) error {
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
	if size < p.tail.covered && p.index != nil {
		s.dropIndex(p) // it speaks of bytes that are gone
		p.short = true
	}
	if p.tail.covered == headerSize {
		if err := s.checkHeader(p, f); err != nil {
			return err
		}
	}
	if size <= p.tail.covered {
		return nil
	}
	end, err := s.goodEnd(p, f, size)
	if err != nil {
		return err
	}
	w := newWalker(f, p.seed, p.tail.covered, end)
	for {
		r, err := w.next()
		if err == io.EOF {
			break
		}
		if isMalformed(err) {
			if p.problem == nil {
				p.problem = &DamagedError{Pack: p.name.file(), Offset: w.at, Reason: err.Error()}
			}
			if ok, err := w.resync(); err != nil {
				return err
			} else if !ok {
				break
			}
			continue
		}
		if err != nil {
			return err
		}
		if err := p.tail.add(r); err != nil && p.problem == nil {
			p.problem = &DamagedError{Pack: p.name.file(), Offset: r.offset, Reason: err.Error()}
		}
	}
	p.tail.covered = max(p.tail.covered, end)
	p.tail.extend()
	return nil
}

// add makes a record known.
func (t *tail) add(r record) error {
	if r.typ == blockRecord {
		b, err := parseBlock(r.payload)
		if err != nil {
			return err
		}
		t.addBlock(r.offset, r.end, b.entries)
		return nil
	}
	c, err := parseCommit(r.payload)
	if err != nil {
		return err
	}
	t.addCommit(c.seq, r.offset, r.end)
	return nil
}

// goodEnd is the end of the last good commit of the pack's first size bytes,
// and not before what is known already.
func (s *Store) goodEnd(p *pack, f io.ReaderAt, size int64) (int64, error) {
	_, _, ok, err := commitEndingAt(f, p.seed, size, true)
	if err != nil {
		return 0, err
	}
	if ok {
		return size, nil
	}
	// A writer is at work, or a crash left something behind.
	good := p.tail.covered
	err = eachRecord(f, p.seed, p.tail.covered, size, func(r record) error {
		if r.typ != commitRecord {
			return nil
		}
		c, err := parseCommit(r.payload)
		if err != nil {
			return nil
		}
		holds, err := commitHolds(f, r, c)
		if holds {
			good = r.end
		}
		return err
	})
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return good, nil // cut off while we look: a writer recovers
	}
	return good, err
}

// checkHeader refuses a pack of another store or of an unknown version. A
// damaged header hides nothing: the records can be read without it.
func (s *Store) checkHeader(p *pack, f io.ReaderAt) error {
	buf := make([]byte, headerSize)
	ok, err := readFull(f, buf, 0)
	if err != nil {
		return err
	}
	h, perr := parsePackHeader(buf)
	var version errVersion
	switch {
	case errors.As(perr, &version):
		return &VersionError{File: p.name.file(), Version: int(version)}
	case !ok || perr != nil:
		p.badHead = true
		return nil
	case h.store != s.o.StoreID:
		return &DamagedError{Pack: p.name.file(), Reason: fmt.Sprintf("it belongs to another store (%x)", h.store)}
	}
	p.badHead = h.name != p.name
	return nil
}

// dropIndex forgets a bad index: the pack is walked instead.
func (s *Store) dropIndex(p *pack) {
	p.index.close()
	p.index = nil
	p.tail = tail{from: headerSize}
	p.tail.covered = headerSize
}

// location is where an object lies.
type location struct {
	pack *pack
	blockRef
	pos int
}

// find looks an object up, in memory and indexes only.
func (s *Store) find(id oid.ID) (location, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, p := range s.packs {
		if ref, pos, ok := p.tail.find(id); ok {
			return location{p, ref, pos}, true
		}
		if p.index != nil {
			if ref, pos, ok := p.index.search(id[:]); ok {
				return location{p, ref, pos}, true
			}
		}
	}
	return location{}, false
}

// findPrefix looks up the base of a delta.
func (s *Store) findPrefix(x prefix) (location, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, p := range s.packs {
		if ref, pos, ok := p.tail.findPrefix(x); ok {
			return location{p, ref, pos}, true
		}
		if p.index != nil {
			if ref, pos, ok := p.index.search(x[:]); ok {
				return location{p, ref, pos}, true
			}
		}
	}
	return location{}, false
}
