package ignore

import "strings"

// reaches tells whether a forceInclude pattern may match something below the
// directory name, which is left out itself. far leaves only those patterns
// that name a directory to begin with. It may say yes too often: that costs a
// walk, never a file.
func (s *Scope) reaches(name string, far bool) bool {
	l := s.rules.force
	if !far {
		for _, i := range l.names {
			if !l.patterns[i].neg {
				return true
			}
		}
	}
	if len(s.force.live) == 0 {
		return false
	}
	dir := s.dir() + name + "/"
	for _, i := range s.force.live {
		p := &l.patterns[i]
		if p.neg {
			continue
		}
		if p.where == inDir {
			if hasPrefix(p.dir, dir) {
				return true
			}
			continue
		}
		if below(p.lit+p.glob, p.lit, dir, far) {
			return true
		}
	}
	return false
}

// below tells whether pattern (its literal beginning is lit) may match a path
// below dir, component by component.
func below(pattern, lit, dir string, far bool) bool {
	if far && lit == "" && strings.HasPrefix(pattern, "**") {
		return false
	}
	if !hasPrefix(lit, dir) && !hasPrefix(dir, lit) {
		return false
	}
	for dir != "" {
		want, rest, more := strings.Cut(pattern, "/")
		if strings.Contains(want, "**") || strings.ContainsAny(want, "[\\") {
			return true // may cross slashes; not worth being exact
		}
		if !more {
			return false // as long as the directory's own path at most
		}
		var have string
		have, dir, _ = strings.Cut(dir, "/")
		if !wild(want, have, true) {
			return false
		}
		pattern = rest
	}
	return true
}
