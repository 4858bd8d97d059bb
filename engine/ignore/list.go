package ignore

import "math/bits"

// list is a compiled rule file: later patterns are stronger.
type list struct {
	patterns []pattern
	own      bool    // written for rewind, not for git
	fold     bool    // of all patterns
	names    []int32 // patterns about names at any depth, ascending
	paths    []int32 // all others, ascending

	// For a long list: bit i of the words at first[c*words:] is set when
	// names[i] can match a name that begins with byte c; last, likewise,
	// ends. What is set in both is worth a comparison.
	words       int
	first, last []uint64
}

// fewNames is how many patterns are as fast tried one by one.
const fewNames = 6

func newList(ps []pattern, own bool) *list {
	l := &list{patterns: ps, own: own}
	for i := range ps {
		l.fold = ps[i].fold
		if ps[i].where == anywhere {
			l.names = append(l.names, int32(i))
		} else {
			l.paths = append(l.paths, int32(i))
		}
	}
	if len(l.names) <= fewNames {
		return l
	}
	l.words = (len(l.names) + 63) / 64
	l.first = make([]uint64, 256*l.words)
	l.last = make([]uint64, 256*l.words)
	for i, n := range l.names {
		p := &ps[n]
		f, e := p.lit, ""
		switch p.shape {
		case shapeLiteral:
			e = p.lit
		case shapeEnds:
			e = p.tail
		}
		if f != "" {
			l.mark(l.first, i, f[0], f[0])
		} else {
			l.mark(l.first, i, 0, 255)
		}
		if e != "" {
			l.mark(l.last, i, e[len(e)-1], e[len(e)-1])
		} else {
			l.mark(l.last, i, 0, 255)
		}
	}
	return l
}

func (l *list) mark(set []uint64, i int, from, to byte) {
	for c := int(from); c <= int(to); c++ {
		set[c*l.words+i/64] |= 1 << (i % 64)
	}
}

// lastName is the strongest pattern at any depth that matches name, or -1.
func (l *list) lastName(name string, isDir bool) int32 {
	if l.words == 0 {
		for i := len(l.names) - 1; i >= 0; i-- {
			if p := &l.patterns[l.names[i]]; (isDir || !p.dirOnly) && p.matchName(name) {
				return l.names[i]
			}
		}
		return -1
	}
	if name == "" {
		return -1
	}
	first := l.first[int(name[0])*l.words:]
	last := l.last[int(name[len(name)-1])*l.words:]
	for w := l.words - 1; w >= 0; w-- {
		for set := first[w] & last[w]; set != 0; {
			b := 63 - bits.LeadingZeros64(set)
			set &^= 1 << b
			n := l.names[w*64+b]
			if p := &l.patterns[n]; (isDir || !p.dirOnly) && p.matchName(name) {
				return n
			}
		}
	}
	return -1
}

// layer is a list seen from one directory.
type layer struct {
	list *list
	from int     // where the path that the list sees begins in Scope.path
	live []int32 // path patterns that can match here or further down
}

func newLayer(l *list, path string, from int) layer {
	return layer{l, from, live(l, l.paths, l.fit(path[from:]))}
}

// fit gives a path or a name as the patterns want to see it.
func (l *list) fit(s string) string {
	if l.fold {
		return Fold(s)
	}
	return s
}

// live keeps the path patterns that can match in dir ("" or ending in "/") or below.
func live(l *list, candidates []int32, dir string) []int32 {
	n := 0
	for _, i := range candidates {
		if l.patterns[i].reaches(dir) {
			n++
		}
	}
	if n == len(candidates) {
		return candidates
	}
	kept := make([]int32, 0, n)
	for _, i := range candidates {
		if l.patterns[i].reaches(dir) {
			kept = append(kept, i)
		}
	}
	return kept
}

func (p *pattern) reaches(dir string) bool {
	if p.where == inDir {
		return hasPrefix(p.dir, dir)
	}
	return hasPrefix(p.lit, dir) || hasPrefix(dir, p.lit)
}

func hasPrefix(s, prefix string) bool { return len(s) >= len(prefix) && s[:len(prefix)] == prefix }

// match is the strongest pattern that matches an entry of the directory path, or nil.
func (y *layer) match(path, name string, isDir bool) *pattern {
	best := y.list.lastName(y.list.fit(name), isDir)
	if p := y.pathsAbove(best, path, name, isDir); p != nil {
		return p
	}
	if best < 0 {
		return nil
	}
	return &y.list.patterns[best]
}

// matchPaths is match without the patterns about names at any depth.
func (y *layer) matchPaths(path, name string, isDir bool) *pattern {
	return y.pathsAbove(-1, path, name, isDir)
}

// pathsAbove is the strongest path pattern after best that matches, or nil.
func (y *layer) pathsAbove(best int32, path, name string, isDir bool) *pattern {
	dir := y.list.fit(path[y.from:])
	name = y.list.fit(name)
	for i := len(y.live) - 1; i >= 0 && y.live[i] > best; i-- {
		p := &y.list.patterns[y.live[i]]
		if p.dirOnly && !isDir {
			continue
		}
		if p.where == inDir {
			if p.dir == dir && p.matchName(name) {
				return p
			}
		} else if p.matchPath(dir, name) {
			return p
		}
	}
	return nil
}

// matchPath compares the path dir + name.
func (p *pattern) matchPath(dir, name string) bool {
	if len(dir) >= len(p.lit) && !hasPrefix(dir, p.lit) {
		return false
	}
	var space [256]byte
	path := append(append(space[:0], dir...), name...)
	if len(path) < len(p.lit) || string(path[:len(p.lit)]) != p.lit {
		return false
	}
	return wild(p.glob, path[len(p.lit):], true, p.fold)
}
