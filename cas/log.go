package cas

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/pack"
	"github.com/rewind-cli/rewind/cas/vfs"
)

// Position names a place in the log: the end of a commit. It is small, fixed
// in size, and comparable.
type Position struct {
	Pack   uint32   // number of the log pack
	Offset int64    // first byte after the commit record
	Seq    uint64   // the commit's sequence number
	Sum    [16]byte // the commit's checksum
}

// Commit is one entry of the log.
type Commit struct {
	Seq      uint64
	Payload  []byte
	Position Position
}

// Last is the position of the newest commit; the zero Position for an empty log.
// It reads the end of the newest log pack, and no index where that is whole.
func (s *Store) Last() (Position, error) {
	names, err := s.names()
	if err != nil {
		return Position{}, err
	}
	for _, n := range names {
		if n.Kind != pack.Log {
			break
		}
		end, err := s.endOf(n)
		if err != nil {
			return Position{}, err
		}
		if end.found {
			return end.last, nil
		}
	}
	return Position{}, nil
}

// NewestLog is the file of the newest log pack, to which commits are appended; "" for none.
func (s *Store) NewestLog() (string, error) {
	names, err := s.names()
	if err != nil || len(names) == 0 || names[0].Kind != pack.Log {
		return "", err
	}
	return filepath.Join(s.o.Dir, names[0].File()), nil
}

// logEnd is where the good part of a log pack ends.
type logEnd struct {
	size    int64 // of the file
	good    int64 // end of the last good commit, or of the header
	found   bool  // there is a commit
	last    Position
	ordinal uint64 // of the next commit in this pack
	damaged bool   // what follows is damaged: it is not what a crash leaves
	badHead bool
}

// endOf looks at the end of a log pack. One that is gone has no commits.
func (s *Store) endOf(n pack.Name) (logEnd, error) {
	f, err := s.fs.OpenFile(filepath.Join(s.o.Dir, n.File()), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return logEnd{}, nil
	}
	if err != nil {
		return logEnd{}, err
	}
	defer f.Close()
	return s.endIn(n, f)
}

func (s *Store) endIn(n pack.Name, f vfs.File) (logEnd, error) {
	info, err := f.Stat()
	if err != nil {
		return logEnd{}, err
	}
	e := logEnd{size: info.Size(), good: pack.HeaderSize}
	seed := n.Seed(s.o.StoreID)
	r, c, ok, err := pack.CommitEndingAt(f, seed, e.size, true)
	if err != nil {
		return e, err
	}
	if ok {
		e.note(n, r, c)
		return e, nil
	}
	// Not whole: look for the last good commit, from the index on if there is one.
	p := s.newPack(n)
	if err := s.checkHeader(p, f); err != nil {
		return e, err
	}
	e.badHead = p.badHead
	from, more := int64(pack.HeaderSize), false
	if x := pack.OpenIndex(s.fs, s.o.Dir, n, s.o.StoreID); x != nil {
		if x.Covered <= e.size {
			from = x.Covered
		}
		more = x.Covered > e.size // a crash takes nothing that an index covers
		x.Close()
	}
	for {
		if r, c, ok, err = pack.CommitEndingAt(f, seed, from, false); err != nil {
			return e, err
		}
		if ok {
			e.note(n, r, c)
		} else if from > pack.HeaderSize {
			from = pack.HeaderSize // the index spoke of something else
			continue
		}
		break
	}
	err = e.walk(n, f, seed, from)
	e.damaged = e.damaged || more
	return e, err
}

// walk looks for good commits from an offset on, and at what lies behind the last one.
func (e *logEnd) walk(n pack.Name, f io.ReaderAt, seed uint64, from int64) error {
	w := pack.NewWalker(f, seed, from, e.size)
	for {
		r, err := w.Next()
		switch {
		case err == io.EOF:
			return nil
		case pack.IsMalformed(err):
			crash, err := w.TornHere()
			if err != nil {
				return err
			}
			e.damaged = e.damaged || !crash
			if ok, err := w.Resync(); !ok || err != nil {
				return err
			}
			continue
		case err != nil:
			return err
		}
		if r.Type != pack.CommitRecord {
			continue
		}
		c, err := pack.ParseCommit(r.Payload)
		if err != nil {
			continue
		}
		holds, err := pack.CommitHolds(f, r, c)
		if err != nil {
			return err
		}
		if holds {
			e.note(n, r, c)
		}
		e.damaged = !holds
	}
}

func (e *logEnd) note(n pack.Name, r pack.Record, c pack.Commit) {
	e.found = true
	e.good = r.End
	e.ordinal = c.Ordinal + 1
	e.last = positionOf(n, r, c)
}

func positionOf(n pack.Name, r pack.Record, c pack.Commit) Position {
	return Position{Pack: uint32(n.Tag), Offset: r.End, Seq: c.Seq, Sum: c.Sum}
}

// Holds reports, with one read, whether p is the end of a good commit of this log.
func (s *Store) Holds(p Position) (bool, error) {
	n := pack.Name{Kind: pack.Log, Tag: uint64(p.Pack)}
	f, err := s.fs.OpenFile(filepath.Join(s.o.Dir, n.File()), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	r, c, ok, err := pack.CommitEndingAt(f, n.Seed(s.o.StoreID), p.Offset, false)
	return ok && positionOf(n, r, c) == p, err
}

// Commits yields the log from sequence number from on, in order. Numbers may
// be missing: gc drops commits. A commit that is in two packs is yielded once.
func (s *Store) Commits(from uint64) iter.Seq2[Commit, error] {
	return func(yield func(Commit, error) bool) {
		refs, err := s.commitRefs(from)
		if err != nil {
			yield(Commit{}, err)
			return
		}
		for c, err := range s.commitsAt(refs) {
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// commitsAt reads commits.
func (s *Store) commitsAt(refs []commitPlace) iter.Seq2[Commit, error] {
	return func(yield func(Commit, error) bool) {
		var w *pack.Walker
		var in *packFile
		for _, at := range refs {
			if in != at.pack {
				f, err := at.pack.open()
				if err != nil {
					yield(Commit{}, err)
					return
				}
				info, err := f.Stat()
				if err != nil {
					yield(Commit{}, err)
					return
				}
				in, w = at.pack, pack.NewWalker(f, at.pack.seed, 0, info.Size())
				w.Ahead = logWindow
			}
			c, err := commitAt(w, at)
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// logWindow is how much is read at once where commits are picked out: the
// objects of small saves lie between them.
const logWindow = 32 << 10

// commitPlace is a commit and the pack that it is in.
type commitPlace struct {
	pack *packFile
	pack.CommitRef
}

// commitRefs lists the commits from a sequence number on, in order. Older packs
// are looked at only as far as needed.
func (s *Store) commitRefs(from uint64) ([]commitPlace, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.list(); err != nil {
		return nil, err
	}
	var refs []commitPlace
	for _, p := range s.packs {
		if p.name.Kind != pack.Log {
			break
		}
		if err := s.learn(p, false); err != nil {
			return nil, err
		}
		first := uint64(0)
		until, cut := s.hidden[p.name]
		add := func(c pack.CommitRef) {
			first = cmp.Or(first, c.Seq)
			if c.Seq >= from && (!cut || c.Seq < until) {
				refs = append(refs, commitPlace{p, c})
			}
		}
		for c := range p.commits() {
			add(c)
		}
		if cut {
			continue
		}
		if first != 0 && first <= from {
			break
		}
		if dense, err := s.standsAlone(p.name); err != nil || dense {
			if err != nil {
				return nil, err
			}
			break
		}
	}
	// Packs come newest first: of two with the same number the newer one stays.
	slices.SortStableFunc(refs, func(a, b commitPlace) int { return cmp.Compare(a.Seq, b.Seq) })
	return slices.CompactFunc(refs, func(a, b commitPlace) bool { return a.Seq == b.Seq }), nil
}

// commitAt reads a commit that is known to lie there.
func commitAt(w *pack.Walker, at commitPlace) (Commit, error) {
	w.At = at.Offset
	r, err := w.Next()
	if err == io.EOF {
		err = pack.MalformedError("the pack ends before it")
	}
	if err == nil && r.Type != pack.CommitRecord {
		err = pack.MalformedError("a commit should be here")
	}
	var c pack.Commit
	if err == nil {
		c, err = pack.ParseCommit(r.Payload)
	}
	if err == nil && c.Seq != at.Seq {
		err = pack.MalformedError("another commit is here")
	}
	if err != nil {
		return Commit{Seq: at.Seq}, at.pack.damaged(oid.ID{}, at.Offset, err)
	}
	return Commit{Seq: c.Seq, Payload: slices.Clone(c.Data), Position: positionOf(at.pack.name, r, c)}, nil
}
