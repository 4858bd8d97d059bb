package gitrepo

import (
	"bytes"
	"sort"

	"github.com/cespare/xxhash/v2"
)

// Tracked is the set of paths in an index. It is immutable and safe for
// concurrent use; it allocates nothing when it is asked.
type Tracked struct {
	names  []byte   // in order, each followed by a NUL
	starts []uint32 // where each begins
	skip   int      // bytes of each name that are the prefix given to Sub
}

func (t *Tracked) name(i int) []byte {
	end := len(t.names)
	if i+1 < len(t.starts) {
		end = int(t.starts[i+1])
	}
	return t.names[int(t.starts[i])+t.skip : end-1]
}

// Len is the number of paths.
func (t *Tracked) Len() int { return len(t.starts) }

// At is the i-th path in byte order.
func (t *Tracked) At(i int) string { return string(t.name(i)) }

// Has reports whether git tracks path itself: a file, a symbolic link or a submodule.
func (t *Tracked) Has(path string) bool {
	i := sort.Search(len(t.starts), func(i int) bool { return string(t.name(i)) >= path })
	return i < len(t.starts) && string(t.name(i)) == path
}

// HasBelow reports whether git tracks something below dir ("": anything at all).
func (t *Tracked) HasBelow(dir string) bool {
	if dir == "" {
		return len(t.starts) > 0
	}
	i := t.below(dir)
	return i < len(t.starts) && isBelow(t.name(i), dir)
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
	s := &Tracked{names: t.names, starts: t.starts[from : from+n], skip: t.skip + len(dir) + 1}
	if n > 0 {
		end := len(t.names)
		if from+n < len(t.starts) {
			end = int(t.starts[from+n])
		}
		s.names = t.names[:end]
	}
	return s
}

// Hash changes when a path enters or leaves the set.
func (t *Tracked) Hash() uint64 {
	if len(t.starts) == 0 {
		return 0
	}
	if t.skip == 0 {
		return xxhash.Sum64(t.names[t.starts[0]:])
	}
	d := xxhash.New()
	for i := range t.starts {
		name := t.name(i)
		_, _ = d.Write(name[:len(name)+1]) // its NUL, too; a Digest's Write never fails
	}
	return d.Sum64()
}

// Equal reports whether both sets hold the same paths.
func (t *Tracked) Equal(o *Tracked) bool {
	if len(t.starts) != len(o.starts) {
		return false
	}
	for i := range t.starts {
		if !bytes.Equal(t.name(i), o.name(i)) {
			return false
		}
	}
	return true
}
