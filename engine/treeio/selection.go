package treeio

import "github.com/rewind-cli/rewind/engine/rootfs"

// Selection is a set of paths.
type Selection interface {
	// Has reports whether the path is in the set.
	Has(path string) bool
	// Below reports whether something below the directory may be.
	Below(dir string) bool
}

// Exactly selects single paths: a directory means itself, not what is
// below it.
type Exactly struct{ has, below map[string]bool }

// NewExactly makes the set.
func NewExactly(paths []string) Exactly {
	e := Exactly{map[string]bool{}, map[string]bool{}}
	for _, p := range paths {
		e.has[p] = true
		for dir, _ := rootfs.Split(p); !e.below[dir]; dir, _ = rootfs.Split(dir) {
			e.below[dir] = true
			if dir == "" {
				break
			}
		}
	}
	return e
}

func (e Exactly) Has(path string) bool  { return e.has[path] }
func (e Exactly) Below(dir string) bool { return e.below[dir] }
