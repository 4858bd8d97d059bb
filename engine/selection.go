package engine

import (
	"path"
	"strings"

	"rewind/manifest"
)

// selection is a set of paths below the root, named by paths and globs: a path
// stands for itself and all below it. The empty selection is everything.
type selection struct{ patterns [][]string }

// selectPaths compiles path arguments, relative to the root, with /. "*", "?"
// and "[…]" match inside one component, "**" any number of them. A pattern that
// is wrong as a glob is taken literally. Error: *OutsideError.
func selectPaths(paths []string) (selection, error) {
	var s selection
	for _, p := range paths {
		clean := path.Clean(p)
		switch {
		case p == "" || path.IsAbs(p) || clean == ".." || strings.HasPrefix(clean, "../") || strings.IndexByte(p, 0) >= 0:
			return s, &OutsideError{Path: p}
		case clean == ".":
			return selection{}, nil
		}
		s.patterns = append(s.patterns, strings.Split(clean, "/"))
	}
	return s, nil
}

// hasGlob reports whether a path argument stands for what it matches: that may be nothing.
func hasGlob(path string) bool { return strings.ContainsAny(path, globBytes) }

// globBytes are the bytes that are not themselves in a glob.
const globBytes = `*?[\`

func (s selection) all() bool { return len(s.patterns) == 0 }

// match reports whether path is selected, by itself or by a directory above it.
func (s selection) match(path string) bool {
	if s.all() {
		return true
	}
	names := strings.Split(path, "/")
	for _, p := range s.patterns {
		if matchNames(p, names) {
			return true
		}
	}
	return false
}

// matchNames reports whether pattern matches names or a leading part of them.
func matchNames(pattern, names []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			for i := range len(names) + 1 {
				if matchNames(pattern[1:], names[i:]) {
					return true
				}
			}
			return false
		}
		if len(names) == 0 || !matchName(pattern[0], names[0]) {
			return false
		}
		pattern, names = pattern[1:], names[1:]
	}
	return true
}

func matchName(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return err == nil && ok || err != nil && pattern == name
}

// filter passes on the changes that are selected.
func (s selection) filter(visit func(manifest.Change) error) func(manifest.Change) error {
	return func(c manifest.Change) error {
		if s.match(c.Path) {
			return visit(c)
		}
		return nil
	}
}
