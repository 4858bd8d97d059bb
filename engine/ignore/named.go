package ignore

// Named are gitignore patterns by themselves, without rules around them: what the setting "precious" names.
type Named struct{ list *list }

// NewNamed compiles patterns. Lines that can never match are left out.
func NewNamed(patterns []string) *Named {
	return &Named{newList(parseList("", patterns, false), true)}
}

// Has reports whether the patterns name a file of that path: itself, or a directory on the way to it by a
// pattern that takes directories.
func (n *Named) Has(path string) bool {
	has := false
	for at := 0; ; {
		i := at
		for i < len(path) && path[i] != '/' {
			i++
		}
		isDir := i < len(path)
		y := newLayer(n.list, path[:at], 0)
		switch p := y.match(path[:at], path[at:i], isDir); {
		case p == nil:
		case p.neg:
			has = false
		case !isDir, p.dirOnly, p.where != anywhere: // a name alone is a file's
			has = true
		}
		if !isDir {
			return has
		}
		at = i + 1
	}
}
