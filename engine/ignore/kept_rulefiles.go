package ignore

import "slices"

// isRules reports whether a file of the directory holds rules that decide about paths of a checkpoint. Such a
// file is captured even where rules leave it out, as ".*" does: restored without it, a tree would have other paths.
// Of a directory that is left out, no rules are read. Nor does a checkpoint need those that leave out all of their
// directory, themselves included, as programs put them into their caches.
func (s *Scope) isRules(name string) bool {
	if s.out != "" {
		return false
	}
	dir := s.dir()
	return RuleFile(name) && !s.leavesAllOut() || slices.Contains(JSONFiles, dir+name)
}

// leavesAllOut reports whether a rule file of the directory, but not of the root, leaves out all that is in it.
func (s *Scope) leavesAllOut() bool {
	if s.dir() == "" {
		return false
	}
	all := false
	for _, y := range s.layers {
		if y.from != len(s.path) {
			break // of a directory further out
		}
		for i := range y.list.patterns {
			p := &y.list.patterns[i]
			if p.neg {
				return false
			}
			all = all || p.shape == shapeEnds && p.lit == "" && p.tail == "" && !p.dirOnly && (p.where == anywhere || p.dir == "")
		}
	}
	return all
}
