package restore

import (
	"path"
	"strings"
)

// Selection is a set of paths.
type Selection interface {
	// Has reports whether the path is in the set.
	Has(path string) bool
	// Below reports whether something below the directory may be.
	Below(dir string) bool
}

// Paths selects by path or glob: a match of a directory takes all below it. In
// a glob * and ? stop at slashes and ** does not. A path that is literally
// there is always meant, whatever characters are in it ("[id].tsx").
type Paths struct{ args []arg }

type arg struct {
	literal string
	glob    []string // components, nil if there is nothing special in it
}

// ParsePaths takes cleaned paths relative to the root; "" or "." is the root.
// An ill-formed glob is meant literally only.
func ParsePaths(args []string) Paths {
	var p Paths
	for _, a := range args {
		a = strings.Trim(a, "/")
		if a == "." {
			a = ""
		}
		one := arg{literal: a}
		if strings.ContainsAny(a, `*?[\`) {
			one.glob = strings.Split(a, "/")
			for _, c := range one.glob {
				if _, err := path.Match(c, ""); err != nil {
					one.glob = nil
					break
				}
			}
		}
		p.args = append(p.args, one)
	}
	return p
}

func (p Paths) Has(name string) bool {
	for _, a := range p.args {
		if a.literal == "" || name == a.literal || strings.HasPrefix(name, a.literal) && name[len(a.literal)] == '/' {
			return true
		}
		if a.glob != nil && matchGlob(a.glob, strings.Split(name, "/"), false) {
			return true
		}
	}
	return false
}

func (p Paths) Below(dir string) bool {
	for _, a := range p.args {
		if strings.HasPrefix(a.literal, dir) && (dir == "" || len(a.literal) > len(dir) && a.literal[len(dir)] == '/') {
			return true
		}
		if a.glob != nil && matchGlob(a.glob, strings.Split(dir, "/"), true) {
			return true
		}
	}
	return p.Has(dir)
}

// matchGlob reports whether the pattern matches the path or a leading part of
// it; with prefix, whether it could match something below the path.
func matchGlob(glob, name []string, prefix bool) bool {
	for {
		switch {
		case len(glob) == 0:
			return true
		case glob[0] == "**":
			if prefix {
				return true
			}
			// A last ** is all below a directory, not the directory itself.
			if len(glob) == 1 {
				return len(name) > 0
			}
			for i := range name {
				if matchGlob(glob[1:], name[i:], false) {
					return true
				}
			}
			return false
		case len(name) == 0:
			return prefix
		}
		if ok, _ := path.Match(glob[0], name[0]); !ok {
			return false
		}
		glob, name = glob[1:], name[1:]
	}
}

// Exactly selects single paths: a directory stands for itself, not for what is
// below it.
type Exactly struct{ has, below map[string]bool }

// NewExactly makes the set.
func NewExactly(paths []string) Exactly {
	e := Exactly{map[string]bool{}, map[string]bool{}}
	for _, p := range paths {
		e.has[p] = true
		for dir, _ := split(p); !e.below[dir]; dir, _ = split(dir) {
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
