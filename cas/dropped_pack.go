package cas

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/pack"
)

// droppedPack is a pack that was unlinked on purpose. A data pack is identified by its name, which is random. A log pack
// is identified by its commits, because a mirror's copy of it can be shorter or can have other commits at its end.
type droppedPack struct {
	name pack.Name
	// exact: the commits are known. A list of an earlier version has names only, which mean every pack of the name.
	exact bool
	// forgotten: a purge dropped it, or came since. What it alone has must not come back.
	forgotten bool
	commits   []commitMark
	linked    bool // an earlier version noted names of the file elsewhere
}

// commitMark tells a commit from all others of its pack: the first bytes of a hash of its sequence number and of what was committed.
type commitMark [6]byte

func markOf(c pack.Commit) (m commitMark) {
	sum := oid.Sum(append(binary.LittleEndian.AppendUint64(nil, c.Seq), c.Data...))
	copy(m[:], sum[:])
	return m
}

// What a list says of why a pack was dropped. A line that tells more of a pack begins with a space, so that an
// earlier version takes it for no name.
const (
	droppedBySweep = "gc"
	droppedByPurge = "forget"
)

func parseDropped(text string) (list []droppedPack) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if n, ok := pack.ParseName(line); ok {
			list = append(list, droppedPack{name: n, forgotten: true})
			continue
		}
		if !strings.HasPrefix(line, " ") || len(list) == 0 {
			continue
		}
		d := &list[len(list)-1]
		d.exact = true // a line of a later version: which pack it was is not known
		words := strings.Fields(line)
		if len(words) == 0 || words[0] != droppedBySweep && words[0] != droppedByPurge {
			continue
		}
		d.forgotten = words[0] == droppedByPurge
		for _, word := range words[1:] {
			raw, err := base64.RawStdEncoding.DecodeString(word)
			if err != nil {
				d.linked = d.linked || strings.Contains(word, ":")
				continue
			}
			for m := range slices.Chunk(raw, len(commitMark{})) {
				if len(m) == len(commitMark{}) {
					d.commits = append(d.commits, commitMark(m))
				}
			}
		}
	}
	return list
}

func appendDropped(dst []byte, list []droppedPack) []byte {
	for _, d := range list {
		dst = append(append(dst, d.name.File()...), '\n')
		if !d.exact {
			continue
		}
		why := droppedBySweep
		if d.forgotten {
			why = droppedByPurge
		}
		dst = append(append(dst, ' '), why...)
		if len(d.commits) > 0 {
			var raw []byte
			for _, m := range d.commits {
				raw = append(raw, m[:]...)
			}
			dst = base64.RawStdEncoding.AppendEncode(append(dst, ' '), raw)
		}
		dst = append(dst, '\n')
	}
	return dst
}

// addDropped adds a pack that is not in the list.
func addDropped(list []droppedPack, d droppedPack) []droppedPack {
	for i := range list {
		e := &list[i]
		if e.name == d.name && e.exact == d.exact && slices.Equal(e.commits, d.commits) {
			e.forgotten = e.forgotten || d.forgotten
			return list
		}
	}
	return append(list, d)
}

// describe says which pack of its name a pack of the objects directory is.
func (s *Store) describe(n pack.Name) (droppedPack, error) {
	d := droppedPack{name: n, exact: true}
	commits, dense, err := s.commitsIn(s.o.Dir, n)
	if dense && len(commits) > 0 {
		commits = commits[len(commits)-1:] // gc wrote it as a whole, and nothing is added to it
	}
	for _, c := range commits {
		d.commits = append(d.commits, c.mark)
	}
	return d, err
}

// packCommit is a commit of a log pack.
type packCommit struct {
	seq  uint64
	end  int64 // of its record
	mark commitMark
}

// commitsIn reads the commits of a log pack in a directory, and whether gc wrote it. A data pack has none.
func (s *Store) commitsIn(dir string, n pack.Name) (commits []packCommit, dense bool, err error) {
	file := filepath.Join(dir, n.File())
	if n.Kind != pack.Log {
		_, err := s.fs.Lstat(file)
		return nil, false, err
	}
	f, err := s.fs.OpenFile(file, os.O_RDONLY, 0)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, false, err
	}
	store := s.o.StoreID
	if h, err := pack.ReadHeader(f); err == nil {
		store, dense = h.Store, h.Dense
	}
	err = pack.EachRecord(f, n.Seed(store), pack.HeaderSize, info.Size(), nil, func(r pack.Record) error {
		if r.Type != pack.CommitRecord {
			return nil
		}
		if c, err := pack.ParseCommit(r.Payload); err == nil {
			commits = append(commits, packCommit{c.Seq, r.End, markOf(c)})
		}
		return nil
	})
	return commits, dense, err
}

// droppedPart is what of a pack was dropped. A log pack of a mirror can have gone on in another way than the one that was
// dropped: its end is of no other pack.
type droppedPart struct {
	end       int64 // of what was dropped; 0: it is another pack
	forgotten int64 // end of what a purge dropped
	seq       uint64
	all       bool
}

// droppedPart compares a pack in a directory with those of its name that were dropped.
func (s *Store) droppedPart(dir string, n pack.Name, list []droppedPack) (part droppedPart, err error) {
	var commits []packCommit
	read := false
	for _, d := range list {
		if d.name != n {
			continue
		}
		if !read && n.Kind == pack.Log {
			if commits, _, err = s.commitsIn(dir, n); err != nil {
				return droppedPart{}, err
			}
			read = true
		}
		last := len(commits) - 1
		if n.Kind == pack.Log && d.exact {
			known := make(map[commitMark]bool, len(d.commits))
			for _, m := range d.commits {
				known[m] = true
			}
			for last >= 0 && !known[commits[last].mark] {
				last--
			}
		}
		end, seq := int64(0), uint64(0)
		switch {
		case last == len(commits)-1:
			end, part.all = math.MaxInt64, true
		case last >= 0:
			end = commits[last].end
		}
		if last >= 0 && d.exact {
			seq = commits[last].seq
		}
		part.end, part.seq = max(part.end, end), max(part.seq, seq)
		if d.forgotten {
			part.forgotten = max(part.forgotten, end)
		}
	}
	return part, nil
}
