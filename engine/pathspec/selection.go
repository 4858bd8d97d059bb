package pathspec

import (
	"path"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// Selection is a set of paths below the root, named by paths and globs: a path
// stands for itself and all below it. The empty selection is everything.
type Selection struct {
	Patterns [][]string

	// The same, so that many paths are asked about as quickly as one.
	plain map[string]bool // patterns that are just a path
	above map[string]bool // directories that lead to one of them
	globs [][]string      // the other patterns
}

// Select compiles path arguments, relative to the root, with /. "*", "?"
// and "[…]" match inside one component, "**" any number of them. A pattern that
// is wrong as a glob is taken literally. Error: *OutsideError.
func Select(paths []string) (Selection, error) {
	var s Selection
	for _, p := range paths {
		clean := path.Clean(p)
		switch {
		case p == "" || path.IsAbs(p) || clean == ".." || strings.HasPrefix(clean, "../") || strings.IndexByte(p, 0) >= 0:
			return s, &project.OutsideError{Path: p}
		case clean == ".":
			return Selection{}, nil
		}
		names := strings.Split(clean, "/")
		s.Patterns = append(s.Patterns, names)
		if one, ok := PlainPath(clean); ok {
			s.add(one)
		} else {
			s.globs = append(s.globs, names)
		}
	}
	return s, nil
}

// add selects a path and what is below it.
func (s *Selection) add(one string) {
	if s.plain == nil {
		s.plain, s.above = map[string]bool{}, map[string]bool{}
	}
	s.plain[one] = true
	for i := strings.LastIndexByte(one, '/'); i > 0 && !s.above[one[:i]]; i = strings.LastIndexByte(one[:i], '/') {
		s.above[one[:i]] = true
	}
}

// within reports whether a path, or a directory above it, is in the set.
func within(set map[string]bool, path string) bool {
	for i := range len(path) {
		if path[i] == '/' && set[path[:i]] {
			return true
		}
	}
	return set[path]
}

// hasGlob reports whether a path argument stands for what it matches: that may be nothing.
func hasGlob(path string) bool { return strings.ContainsAny(path, globBytes) }

// globBytes are the bytes that are not themselves in a glob.
const globBytes = `*?[\`

func (s Selection) All() bool { return len(s.Patterns) == 0 }

// Match reports whether path is selected, by itself or by a directory above it.
func (s Selection) Match(path string) bool {
	if s.All() || within(s.plain, path) {
		return true
	}
	if len(s.globs) == 0 {
		return false
	}
	names := strings.Split(path, "/")
	return slices.ContainsFunc(s.globs, func(p []string) bool { return matchNames(p, names) })
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

// Filter passes on the changes that are selected.
func (s Selection) Filter(visit func(manifest.Change) error) func(manifest.Change) error {
	return func(c manifest.Change) error {
		if s.Match(c.Path) {
			return visit(c)
		}
		return nil
	}
}

// Has makes a selection one of package restore.
func (s Selection) Has(path string) bool { return s.Match(path) }

// Below reports whether something below dir may be selected.
func (s Selection) Below(dir string) bool {
	if s.All() || s.above[dir] || within(s.plain, dir) {
		return true
	}
	if len(s.globs) == 0 {
		return false
	}
	names := strings.Split(dir, "/")
	return slices.ContainsFunc(s.globs, func(p []string) bool { return leads(p, names) })
}

// leads reports whether the pattern could match something below names, or
// matches them.
func leads(pattern, names []string) bool {
	for len(pattern) > 0 && len(names) > 0 {
		if pattern[0] == "**" {
			return true
		}
		if !matchName(pattern[0], names[0]) {
			return false
		}
		pattern, names = pattern[1:], names[1:]
	}
	return true
}

// holds reports whether something in the tree is selected.
func (s Selection) holds(load func(oid.ID) (manifest.Dir, error), path string, id oid.ID) (bool, error) {
	dir, err := load(id)
	if err != nil {
		return false, err
	}
	for _, e := range dir.Entries {
		below := e.Name
		if path != "" {
			below = path + "/" + e.Name
		}
		if s.Match(below) {
			return true, nil
		}
		if e.Kind == manifest.Subdir && s.Below(below) {
			if found, err := s.holds(load, below, e.ID); found || err != nil {
				return found, err
			}
		}
	}
	return false, nil
}
