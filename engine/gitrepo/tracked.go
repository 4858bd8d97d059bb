package gitrepo

import (
	"slices"
	"sort"

	"github.com/cespare/xxhash/v2"
	"github.com/rewind-cli/rewind/engine/ignore"
)

// Tracked is the set of paths in an index. It is immutable and safe for
// concurrent use; it allocates nothing when it is asked.
type Tracked struct {
	names  []byte   // in order, each followed by a NUL
	starts []uint32 // where each begins
	skip   int      // bytes of each name that are the prefix given to Sub
	prefix string   // the same, ending in "/", or ""
	beyond *beyond  // nil for most
	half   string   // file with the other half of a split index, or ""
}

func (t *Tracked) name(i int) []byte {
	end := len(t.names)
	if i+1 < len(t.starts) {
		end = int(t.starts[i+1])
	}
	return t.names[int(t.starts[i])+t.skip : end-1]
}

// Half is the file with the other half of a split index, "" for a whole one. Without it the index
// cannot be read, although its own file is as it was.
func (t *Tracked) Half() string { return t.half }

// Len is the number of paths.
func (t *Tracked) Len() int { return len(t.starts) }

// At is the i-th path in byte order.
func (t *Tracked) At(i int) string { return string(t.name(i)) }

// Has reports whether git tracks path itself: a file, a symbolic link or a submodule.
func (t *Tracked) Has(path string) bool {
	i := sort.Search(len(t.starts), func(i int) bool { return string(t.name(i)) >= path })
	return i < len(t.starts) && string(t.name(i)) == path || t.beyond != nil && t.beyond.has(t.prefix+path)
}

// HasBelow reports whether git tracks something below dir ("": anything at all).
func (t *Tracked) HasBelow(dir string) bool {
	if dir == "" {
		return len(t.starts) > 0 || t.beyond != nil && (t.prefix == "" && len(t.beyond.sparse) > 0 || t.prefix != "" && t.beyond.hasBelow(t.prefix[:len(t.prefix)-1]))
	}
	i := t.below(dir)
	return i < len(t.starts) && isBelow(t.name(i), dir) || t.beyond != nil && t.beyond.hasBelow(t.prefix+dir)
}

// below is the first path that does not sort before dir + "/".
func (t *Tracked) below(dir string) int {
	return sort.Search(len(t.starts), func(i int) bool {
		name := t.name(i)
		if len(name) <= len(dir) {
			return string(name) > dir
		}
		if head := string(name[:len(dir)]); head != dir {
			return head > dir
		}
		return name[len(dir)] >= '/'
	})
}

func isBelow(name []byte, dir string) bool {
	return len(name) > len(dir) && name[len(dir)] == '/' && string(name[:len(dir)]) == dir
}

// Sub is the set of paths below prefix ("a/b/" or "a/b"; "": all), relative to it.
func (t *Tracked) Sub(prefix string) *Tracked {
	if prefix == "" {
		return t
	}
	dir := prefix
	if dir[len(dir)-1] == '/' {
		dir = dir[:len(dir)-1]
	}
	from := t.below(dir)
	n := sort.Search(len(t.starts)-from, func(i int) bool { return !isBelow(t.name(from+i), dir) })
	s := &Tracked{names: t.names, starts: t.starts[from : from+n], skip: t.skip + len(dir) + 1, prefix: t.prefix + dir + "/", beyond: t.beyond, half: t.half}
	if n > 0 {
		end := len(t.names)
		if from+n < len(t.starts) {
			end = int(t.starts[from+n])
		}
		s.names = t.names[:end]
	}
	return s
}

// Hash changes when a path enters or leaves the set, and with what Rule gives.
func (t *Tracked) Hash() uint64 {
	if len(t.starts) == 0 && t.beyond == nil {
		return 0
	}
	if t.skip == 0 && t.beyond == nil {
		return xxhash.Sum64(t.names[t.starts[0]:])
	}
	d := xxhash.New()
	for i := range t.starts {
		name := t.name(i)
		_, _ = d.Write(name[:len(name)+1]) // its NUL, too; a Digest's Write never fails
	}
	if t.beyond != nil {
		for _, list := range [][]indexed{t.beyond.sparse, t.beyond.rules} {
			for _, e := range list {
				_, _ = d.WriteString(e.name + "\x00" + e.id)
			}
			_, _ = d.WriteString("\x00")
		}
	}
	return d.Sum64()
}

// Folded is the set for a case-insensitive look-up: of names with small letters only, as git folds them.
// Sparse directories keep theirs.
func (t *Tracked) Folded() *Tracked {
	list := make([]string, t.Len())
	for i := range list {
		list[i] = ignore.Fold(t.At(i))
	}
	slices.Sort(list)
	f := &Tracked{prefix: t.prefix, beyond: t.beyond}
	for i, name := range list {
		if i > 0 && name == list[i-1] {
			continue
		}
		f.starts = append(f.starts, uint32(len(f.names)))
		f.names = append(append(f.names, name...), 0)
	}
	return f
}
