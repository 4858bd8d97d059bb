package ignore

import "strings"

// into tells whether one of the patterns may match something below dir, which is
// left out itself and ends in "/". far leaves only those that name a directory to begin
// with. It may say yes too often: that costs a walk, never a file.
func (y *layer) into(dir string, far bool) bool {
	l := y.list
	dir = l.fit(dir)
	if !far {
		for _, i := range l.names {
			if !l.patterns[i].neg {
				return true
			}
		}
	}
	for _, i := range y.live {
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
		if below(p.lit+p.glob, p.lit, dir, far, p.fold) {
			return true
		}
	}
	return false
}

// below tells whether pattern (its literal beginning is lit) may match a path
// below dir, component by component.
func below(pattern, lit, dir string, far, fold bool) bool {
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
		if !wild(want, have, true, fold) {
			return false
		}
		pattern = rest
	}
	return true
}
