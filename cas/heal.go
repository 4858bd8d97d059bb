package cas

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The two names of a pack lead to one file. Where they lead to two, somebody has put another file in the place of one: an
// older state of the store, or what a program left that writes all files below a directory anew, as sed -i does. Of
// two such files the one stays that has all that is good in the other. Where each has something that the
// other lacks, both stay.

// twin is a pack whose name here and in the mirror lead to two files.
type twin struct {
	name          packName
	first, second fs.FileInfo
	found         comparison
}

// comparison says which of two files has all that is good in the other.
type comparison struct {
	mirror  bool // the one in the mirror, and that is the better one
	store   bool // the one here
	damaged bool // the one here is damaged
}

// twins lists the packs of a kind, 0 for all, whose names lead to two files that differ, or that could be made one.
func (s *Store) twins(only kind) (list []twin) {
	mirror, err := s.ownMirror()
	if mirror == "" || err != nil {
		return nil
	}
	names, err := s.names()
	if err != nil {
		return nil
	}
	for i, n := range names {
		if only != 0 && n.kind != only {
			continue
		}
		t := twin{name: n}
		if t.look(s, mirror) != nil || sameFile(t.first, t.second) || !t.first.Mode().IsRegular() || !t.second.Mode().IsRegular() {
			continue
		}
		grown := i == 0 && t.second.Size() < t.first.Size() // by commits: the next one gives the mirror the newest log pack
		apart := t.first.Size() == t.second.Size() && !(sameDevice(t.first, t.second) && ours(t.first) && ours(t.second))
		if grown || apart { // apart: they cannot be made one
			same, err := s.sameEnd(filepath.Join(s.o.Dir, n.file()), filepath.Join(mirror, n.file()), t.second.Size())
			if same && grown {
				var end logEnd
				end, err = s.endOf(n)
				same = end.good == t.first.Size()
			}
			if same || err != nil {
				continue
			}
		}
		list = append(list, t)
	}
	return list
}

func (t *twin) look(s *Store, mirror string) (err error) {
	if t.first, err = s.fs.Lstat(filepath.Join(s.o.Dir, t.name.file())); err == nil {
		t.second, err = s.fs.Lstat(filepath.Join(mirror, t.name.file()))
	}
	return err
}

// compared lists twins whose files were read. Data packs need no lock for that: nothing is added to them any more.
func (s *Store) compared(only kind) []twin {
	list := s.twins(only)
	for i := range list {
		list[i].found, _ = s.compare(list[i].name) // what cannot be read is left alone
	}
	return list
}

// compare reads the two files of a pack. Errors: those of reading, and where one is of another store or of a later version.
func (s *Store) compare(n packName) (c comparison, err error) {
	here, err := s.examine(s.o.Dir, n)
	if err != nil {
		return c, err
	}
	there, err := s.examine(s.mirrorNow(), n)
	if err != nil {
		return c, err
	}
	c.damaged = !here.whole
	switch more, less := there.hasMore(here), here.hasMore(there); {
	case more && less:
	case more:
		c.mirror = true
	case less:
		c.store = here.head // else repair gives it another one
	case there.whole && !here.whole, there.head && !here.head:
		c.mirror = true
	default:
		c.store = true
	}
	return c, nil
}

// packState is what is good of a pack.
type packState struct {
	head  bool // its header is good
	whole bool // and so is all that follows
	has   map[[16]byte]struct{}
}

func (a packState) hasMore(b packState) bool {
	for key := range a.has {
		if _, ok := b.has[key]; !ok {
			return true
		}
	}
	return false
}

// examine reads a pack in a directory. Where its records lie does not matter: repair may have moved them.
func (s *Store) examine(dir string, n packName) (st packState, err error) {
	f, err := s.fs.OpenFile(filepath.Join(dir, n.file()), os.O_RDONLY, 0)
	if err != nil {
		return st, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return st, err
	}
	p := s.newPack(n)
	if err := s.checkHeader(p, f); err != nil {
		return st, err
	}
	st = packState{head: !p.badHead, whole: !p.badHead, has: map[[16]byte]struct{}{}}
	w := newWalker(f, p.seed, headerSize, info.Size())
	for {
		r, err := w.next()
		if err == io.EOF {
			return st, nil
		}
		if isMalformed(err) {
			st.whole = false
			if ok, err := w.resync(); !ok || err != nil {
				return st, err
			}
			continue
		}
		if err != nil {
			return st, err
		}
		if r.typ == commitRecord {
			if c, err := parseCommit(r.payload); err == nil && c.seq != 0 {
				mark := markOf(c)
				st.has[[16]byte(append(mark[:], make([]byte, 10)...))] = struct{}{}
			}
			continue
		}
		b, err := parseBlock(r.payload)
		if err != nil {
			st.whole = false
			continue
		}
		for i := range b.entries {
			st.has[[16]byte(b.entries[i].id[:16])] = struct{}{}
		}
	}
}

// heal makes the better file of each twin that of both names, and reports what came back from the mirror. The caller
// holds the append lock.
func (s *Store) heal(list []twin, report func(Repaired)) (healed bool, err error) {
	if len(list) == 0 {
		return false, nil
	}
	mirror, err := s.ownMirror()
	if mirror == "" {
		return false, err
	}
	diverged := false
	for i, t := range list {
		if err := s.sure(); err != nil {
			return healed, err
		}
		now := twin{name: t.name}
		first, second := filepath.Join(s.o.Dir, t.name.file()), filepath.Join(mirror, t.name.file())
		if now.look(s, mirror) != nil || !sameAs(now.first, t.first) || !sameAs(now.second, t.second) {
			continue // somebody else was faster
		}
		if i == 0 {
			diverged = s.Diverged() // then the mirror's log would hide what is here
		}
		switch {
		case t.found.store && !s.purging():
			_ = s.relink(first, second) // Mirrored tells
		case t.found.mirror && !(t.name.kind == logPack && diverged):
			if s.o.Returning != nil {
				if err := s.o.Returning(Return{Damaged: t.found.damaged}); err != nil {
					return healed, err
				}
			}
			if err := s.takeSecond(t.name); err != nil {
				return healed, err
			}
			healed = true
			report(Repaired{Pack: t.name.file(), What: FixReturned})
		}
	}
	if !healed {
		return false, nil
	}
	s.mu.Lock()
	s.leaveAll()
	s.mu.Unlock()
	return true, s.syncDir()
}

func sameAs(now, then fs.FileInfo) bool {
	return now.Size() == then.Size() && now.ModTime().Equal(then.ModTime())
}

// takeSecond gives the name here to the pack in the mirror. Its index may be of what was here before.
func (s *Store) takeSecond(n packName) error {
	first, second := filepath.Join(s.o.Dir, n.file()), filepath.Join(s.mirrorNow(), n.file())
	err := s.remove(filepath.Join(s.o.Dir, n.indexFile()))
	if err == nil && s.relink(second, first) != nil {
		err = s.copyFile(second, first) // it is on another file system
	}
	if err == nil {
		_ = s.makeIndex(n, false) // derived
	}
	return err
}

// unhealed is a pack of which the mirror has more that is good. Two logs that parted are joined, and not healed.
func (s *Store) unhealed() (n packName, found bool) {
	for _, t := range s.compared(0) {
		if t.found.mirror && !(t.name.kind == logPack && s.Diverged()) {
			return t.name, true
		}
	}
	return n, false
}

// Complete brings back what only the mirror has, as CatchUp does. *DamagedError: a pack is gone, or damaged, and could not be
// brought back, or commits of it cannot be read. Whoever is about to drop what nothing refers to must know that nothing is missing.
func (s *Store) Complete(ctx context.Context) error {
	if _, err := s.CatchUp(ctx); err != nil {
		return err
	}
	lost, err := s.lost()
	if err != nil {
		return err
	}
	if len(lost) > 0 {
		return &DamagedError{Pack: lost[0].file(), Reason: reasonGone}
	}
	if n, found := s.unhealed(); found {
		return &DamagedError{Pack: n.file(), Reason: reasonLess}
	}
	if pack := s.BrokenLog(); pack != "" {
		return &DamagedError{Pack: pack, Reason: reasonCommits}
	}
	return nil
}

// BrokenLog names a log pack that is damaged, if there is one: its header is no header, or something between its commits or
// behind them cannot be read. Nothing that an earlier version or a crash leaves is like that. Only what an index does not cover
// is looked at, as by whoever reads the log. Errors: those of reading are none.
func (s *Store) BrokenLog() string {
	names, err := s.names()
	var damaged *DamagedError
	if errors.As(err, &damaged) {
		return damaged.Pack
	}
	for _, n := range names {
		if n.kind == logPack && (s.headIsBroken(filepath.Join(s.o.Dir, n.file())) || s.recordsAreBroken(n)) {
			return n.file()
		}
	}
	return ""
}

// recordsAreBroken reports whether what no index covers of a log pack is damaged.
func (s *Store) recordsAreBroken(n packName) bool {
	s.mu.Lock()
	err := s.list()
	var p *pack
	if i := slices.IndexFunc(s.packs, func(p *pack) bool { return p.name == n }); err == nil && i >= 0 {
		p = s.packs[i]
		err = s.learn(p, false)
	}
	known := p == nil || err != nil || p.index != nil && p.index.sealed
	broken := !known && p.problem != nil
	s.mu.Unlock()
	if known || broken {
		return broken
	}
	end, err := s.endOf(n)
	return err == nil && end.damaged
}

// headIsBroken reports whether a file begins with something that is no header. A crash leaves zeros or nothing.
func (s *Store) headIsBroken(file string) bool {
	f, err := s.fs.OpenFile(file, os.O_RDONLY, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return brokenHead(f)
}

func brokenHead(f io.ReaderAt) bool {
	var buf [headerSize]byte
	n, err := f.ReadAt(buf[:], 0)
	if err != nil && !isEOF(err) || buf == [headerSize]byte{} {
		return false
	}
	if n < headerSize && strings.HasPrefix(packMagic, string(buf[:min(n, len(packMagic))])) {
		return false
	}
	_, err = parsePackHeader(buf[:n])
	return isMalformed(err)
}
