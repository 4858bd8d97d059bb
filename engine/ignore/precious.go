package ignore

// prize decides about an entry that git ignores, or that lies below what it
// ignores: v without the patterns of "precious". They do not weaken rules that
// were written for rewind, nor what git tracks. A pattern without a directory is
// about files outside of directories that are left out whole; into those lead only
// patterns that name the way, so that none is walked for a name alone.
func (s *Scope) prize(name string, isDir bool, v verdict) verdict {
	r := s.rules
	if s.sealed || v.by == byOwn || v.by == byAgent || s.dead != "" {
		return v
	}
	never := r.never.lastName(name, isDir) >= 0 && !r.config.NoIgnore
	if isDir {
		switch {
		case v.d != Skip:
		case !never && s.keeps(name):
			v.d, v.label = Descend, "" // nothing of it is left out, but what is too large
		case s.prized.named(s.dir()+name+"/", never):
			v.d = Descend
		}
		return v
	}
	if never || !s.isPrecious(name) || v.d == Capture && r.tracked(s.dir()+name) {
		return v
	}
	if v.d == Capture {
		v.d = Marked
	} else {
		v.d = Precious
	}
	return v
}

// isPrecious reports whether a pattern matches a file, or the way to it.
func (s *Scope) isPrecious(name string) bool {
	p := s.prized.match(s.path, name, false)
	if p != nil && !p.neg && p.where == anywhere && s.out != "" {
		p = s.prized.matchPaths(s.path, name, false)
	}
	if p == nil {
		return s.kept
	}
	return !p.neg
}

// keeps reports whether a precious pattern covers a whole directory: it ends in "/", or contains one. A name alone, as
// ".env", matches files only, and not the virtual environment of that name.
func (s *Scope) keeps(name string) bool {
	if !s.rules.marks {
		return false
	}
	p := s.prized.match(s.path, name, true)
	switch {
	case p == nil:
		return s.kept
	case p.neg:
		return false
	case p.where != anywhere, p.dirOnly && s.out == "":
		return true
	}
	return s.kept
}

// named reports whether a pattern leads into dir, which is left out itself. Into a
// directory that is never source leads only one that spells it out.
func (y *layer) named(dir string, spelled bool) bool {
	if !spelled {
		return y.into(dir, true)
	}
	dir = y.list.fit(dir)
	for _, i := range y.live {
		p := &y.list.patterns[i]
		way := p.lit
		if p.where == inDir {
			way = p.dir
		}
		if !p.neg && hasPrefix(way, dir) {
			return true
		}
	}
	return false
}

// wouldIgnore reports whether an entry would be left out, where nothing is.
func (s *Scope) wouldIgnore(name string, isDir bool) bool {
	p, own := s.match(name, isDir)
	if s.rules.never.lastName(name, isDir) >= 0 {
		return !own || !p.neg
	}
	return p != nil && !p.neg
}
