package cas

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/rewind-cli/rewind/cas/pack"
)

// The two names of a pack lead to one file. Where they lead to two, somebody has put another file in the place of one: an
// older state of the store, or what a program left that writes all files below a directory anew, as sed -i does. Of
// two such files the one stays that has all that is good in the other. Where each has something that the
// other lacks, both stay.

// twin is a pack whose name here and in the mirror lead to two files.
type twin struct {
	name          pack.Name
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
func (s *Store) twins(only pack.Kind) (list []twin) {
	mirror, err := s.ownMirror()
	if mirror == "" || err != nil {
		return nil
	}
	names, err := s.names()
	if err != nil {
		return nil
	}
	for i, n := range names {
		if only != 0 && n.Kind != only {
			continue
		}
		t := twin{name: n}
		if t.look(s, mirror) != nil || sameFile(t.first, t.second) || !t.first.Mode().IsRegular() || !t.second.Mode().IsRegular() {
			continue
		}
		grown := i == 0 && t.second.Size() < t.first.Size() // by commits: the next one gives the mirror the newest log pack
		apart := t.first.Size() == t.second.Size() && !(sameDevice(t.first, t.second) && ours(t.first) && ours(t.second))
		if grown || apart { // apart: they cannot be made one
			same, err := s.sameEnd(filepath.Join(s.o.Dir, n.File()), filepath.Join(mirror, n.File()), t.second.Size())
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
	if t.first, err = s.fs.Lstat(filepath.Join(s.o.Dir, t.name.File())); err == nil {
		t.second, err = s.fs.Lstat(filepath.Join(mirror, t.name.File()))
	}
	return err
}

// compared lists twins whose files were read. Data packs need no lock for that: nothing is added to them any more.
func (s *Store) compared(only pack.Kind) []twin {
	list := s.twins(only)
	for i := range list {
		list[i].found, _ = s.compare(list[i].name) // what cannot be read is left alone
	}
	return list
}

// compare reads the two files of a pack. Errors: those of reading, and where one is of another store or of a later version.
func (s *Store) compare(n pack.Name) (c comparison, err error) {
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
func (s *Store) examine(dir string, n pack.Name) (st packState, err error) {
	f, err := s.fs.OpenFile(filepath.Join(dir, n.File()), os.O_RDONLY, 0)
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
	damage := func(int64, error) { st.whole = false }
	err = pack.EachRecord(f, p.seed, pack.HeaderSize, info.Size(), damage, func(r pack.Record) error {
		if r.Type == pack.CommitRecord {
			if c, err := pack.ParseCommit(r.Payload); err == nil && c.Seq != 0 {
				mark := markOf(c)
				st.has[[16]byte(append(mark[:], make([]byte, 10)...))] = struct{}{}
			}
			return nil
		}
		b, err := pack.ParseBlock(r.Payload)
		if err != nil {
			st.whole = false
		}
		for _, id := range b.IDs() {
			st.has[pack.PrefixOf(id)] = struct{}{}
		}
		return nil
	})
	return st, err
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
		first, second := filepath.Join(s.o.Dir, t.name.File()), filepath.Join(mirror, t.name.File())
		if now.look(s, mirror) != nil || !sameAs(now.first, t.first) || !sameAs(now.second, t.second) {
			continue // somebody else was faster
		}
		if i == 0 {
			diverged = s.Diverged() // then the mirror's log would hide what is here
		}
		switch {
		case t.found.store && !s.purging():
			_ = s.relink(first, second) // Mirrored tells
		case t.found.mirror && !(t.name.Kind == pack.Log && diverged):
			if s.o.Returning != nil {
				if err := s.o.Returning(Return{Damaged: t.found.damaged}); err != nil {
					return healed, err
				}
			}
			if err := s.takeSecond(t.name); err != nil {
				return healed, err
			}
			healed = true
			report(Repaired{Pack: t.name.File(), What: FixReturned})
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
func (s *Store) takeSecond(n pack.Name) error {
	first, second := filepath.Join(s.o.Dir, n.File()), filepath.Join(s.mirrorNow(), n.File())
	err := s.remove(filepath.Join(s.o.Dir, n.IndexFile()))
	if err == nil && s.relink(second, first) != nil {
		err = s.copyFile(second, first) // it is on another file system
	}
	if err == nil {
		_ = s.makeIndex(n, false) // derived
	}
	return err
}

// unhealed is a pack of which the mirror has more that is good. Two logs that parted are joined, and not healed.
func (s *Store) unhealed() (n pack.Name, found bool) {
	for _, t := range s.compared(0) {
		if t.found.mirror && !(t.name.Kind == pack.Log && s.Diverged()) {
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
		return &DamagedError{Pack: lost[0].File(), Reason: reasonGone}
	}
	if n, found := s.unhealed(); found {
		return &DamagedError{Pack: n.File(), Reason: reasonLess}
	}
	if name := s.BrokenLog(); name != "" {
		return &DamagedError{Pack: name, Reason: reasonCommits}
	}
	return nil
}

// BrokenLog names a log pack that is damaged, if there is one: its header is no header, or something between its commits or
// behind them cannot be read. Nothing that an earlier version or a crash leaves is like that. Only what an index does not cover
// is looked at, as by whoever reads the log. Errors: those of reading are none.
func (s *Store) BrokenLog() string {
	names, err := s.names()
	if damaged, ok := errors.AsType[*DamagedError](err); ok {
		return damaged.Pack
	}
	for _, n := range names {
		if n.Kind == pack.Log && (s.headIsBroken(filepath.Join(s.o.Dir, n.File())) || s.recordsAreBroken(n)) {
			return n.File()
		}
	}
	return ""
}

// recordsAreBroken reports whether what no index covers of a log pack is damaged.
func (s *Store) recordsAreBroken(n pack.Name) bool {
	s.mu.Lock()
	err := s.list()
	var p *packFile
	if i := slices.IndexFunc(s.packs, func(p *packFile) bool { return p.name == n }); err == nil && i >= 0 {
		p = s.packs[i]
		err = s.learn(p, false)
	}
	known := p == nil || err != nil || p.index != nil && p.index.Sealed && len(p.tail.Commits) == 0
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
	return pack.BrokenHeader(f)
}
