package ignore

// Wildmatch matches text against a git glob, as fnmatch with "**": with
// slashes set, "/" is matched only by itself and by a "**" between slashes.
func Wildmatch(pattern, text string, slashes bool) bool { return wild(pattern, text, slashes, false) }

// Outcomes of wild. The two aborts are what keeps matching polynomial: they
// tell the stars on the way out that trying again further right is no use.
const (
	wildMatch = iota
	wildNo
	wildAbortAll      // no suffix of the text can match either
	wildAbortStarStar // only a "**" further out may try again
)

// wild matches text against a git pattern: "?", "*", "**", classes and escapes.
// With slashes set, "/" is matched only by itself and by "**" that stands
// alone between slashes; a malformed class matches nothing. It follows git's
// wildmatch.c case by case, oddities included, and is judged against git in
// the tests. It allocates nothing. With fold set the case of letters does not
// count, and text has small ones only.
func wild[T string | []byte](pat string, text T, slashes, fold bool) bool {
	return wildAt(pat, 0, text, 0, slashes, fold) == wildMatch
}

// at is s[i], or 0 past the end: neither patterns nor names hold NUL.
func at[T string | []byte](s T, i int) byte {
	if i < len(s) {
		return s[i]
	}
	return 0
}

func wildAt[T string | []byte](pat string, start int, text T, t int, slashes, fold bool) int {
	p := start
	for ; p < len(pat); p, t = p+1, t+1 {
		pc, tc := small(pat[p], fold), at(text, t)
		if tc == 0 && pc != '*' {
			return wildAbortAll
		}
		switch pc {
		case '\\':
			p++
			if tc != at(pat, p) { // a lone "\" at the end matches nothing
				return wildNo
			}
		case '?':
			if slashes && tc == '/' {
				return wildNo
			}
		case '[':
			end, ok := class(pat, p, tc, fold)
			if end < 0 {
				return wildAbortAll
			}
			if !ok || slashes && tc == '/' {
				return wildNo
			}
			p = end
		case '*':
			first := p
			for p++; at(pat, p) == '*'; p++ {
			}
			cross := !slashes
			if slashes && p-first > 1 && (first == start || pat[first-1] == '/') &&
				(p == len(pat) || pat[p] == '/' || pat[p] == '\\' && at(pat, p+1) == '/') {
				// "**/" matches nothing at all, too.
				if at(pat, p) == '/' {
					if m := wildAt(pat, p+1, text, t, slashes, fold); m == wildMatch || m == wildAbortAll {
						return m
					}
				}
				cross = true
			}
			if p == len(pat) {
				if !cross && indexSlash(text, t) >= 0 {
					return wildAbortStarStar
				}
				return wildMatch
			}
			if !cross && pat[p] == '/' {
				// One star before a slash takes the rest of this component.
				if t = indexSlash(text, t); t < 0 {
					return wildAbortAll
				}
				continue
			}
			return wildStar(pat, p, text, t, slashes, cross, fold)
		default:
			if tc != pc {
				return wildNo
			}
		}
	}
	if t < len(text) {
		return wildNo
	}
	return wildMatch
}

// wildStar tries what follows a star at every place that the star can reach.
func wildStar[T string | []byte](pat string, p int, text T, t int, slashes, cross, fold bool) int {
	pc := small(pat[p], fold)
	literal := pc != '*' && pc != '?' && pc != '[' && pc != '\\'
	for t < len(text) {
		if literal {
			for t < len(text) && text[t] != pc && (cross || text[t] != '/') {
				t++
			}
			if at(text, t) != pc {
				if cross || t == len(text) {
					return wildAbortAll
				}
				return wildAbortStarStar
			}
		}
		m := wildAt(pat, p, text, t, slashes, fold)
		if m != wildNo {
			if !cross || m != wildAbortStarStar {
				return m
			}
		} else if !cross && text[t] == '/' {
			return wildAbortStarStar
		}
		t++
	}
	return wildAbortAll
}

// small is the small letter where case does not count.
func small(c byte, fold bool) byte {
	if fold && 'A' <= c && c <= 'Z' {
		c |= 0x20
	}
	return c
}

func large(c byte) byte {
	if 'a' <= c && c <= 'z' {
		c &^= 0x20
	}
	return c
}

// Fold makes small letters of the large ones; it allocates nothing where there are none. As in git, letters are those of ASCII.
func Fold(s string) string {
	for i := range len(s) {
		if 'A' <= s[i] && s[i] <= 'Z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				b[i] = small(b[i], true)
			}
			return string(b)
		}
	}
	return s
}

func indexSlash[T string | []byte](s T, from int) int {
	for i := from; i < len(s); i++ {
		if s[i] == '/' {
			return i
		}
	}
	return -1
}

// class matches c against the class that begins at pat[p]. end is the place
// of the closing bracket, or -1 for a class that never closes or names a kind
// of characters that there is not.
func class(pat string, p int, c byte, fold bool) (end int, ok bool) {
	p++
	pc := at(pat, p)
	negated := pc == '!' || pc == '^'
	if negated {
		p++
		pc = at(pat, p)
	}
	matched := false
	prev := byte(0)
	for {
		switch {
		case pc == 0:
			return -1, false
		case pc == '\\':
			p++
			if pc = at(pat, p); pc == 0 {
				return -1, false
			}
			matched = matched || c == pc
		case pc == '-' && prev != 0 && at(pat, p+1) != 0 && at(pat, p+1) != ']':
			p++
			if pc = at(pat, p); pc == '\\' {
				p++
				if pc = at(pat, p); pc == 0 {
					return -1, false
				}
			}
			matched = matched || prev <= c && c <= pc || fold && prev <= large(c) && large(c) <= pc
			pc = 0 // a range cannot be the start of another
		case pc == '[' && at(pat, p+1) == ':':
			from := p + 2
			q := from
			for at(pat, q) != 0 && pat[q] != ']' {
				q++
			}
			if q >= len(pat) {
				return -1, false
			}
			if q == from || pat[q-1] != ':' { // no ":]": an ordinary "["
				matched = matched || c == '['
				break
			}
			is, known := kindOf(pat[from:q-1], c)
			if fold && pat[from:q-1] == "upper" {
				is = 'a' <= c && c <= 'z'
			}
			if !known {
				return -1, false
			}
			matched = matched || is
			p, pc = q, 0
		default:
			matched = matched || c == pc
		}
		prev = pc
		p++
		if pc = at(pat, p); pc == ']' {
			return p, matched != negated
		}
	}
}

// kindOf tells whether c is of the named kind, in ASCII as git sees it: its
// white space has no vertical tab and no form feed.
func kindOf(name string, c byte) (is, known bool) {
	lower, upper := 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z'
	digit := '0' <= c && c <= '9'
	graph := '!' <= c && c <= '~'
	switch name {
	case "alnum":
		return lower || upper || digit, true
	case "alpha":
		return lower || upper, true
	case "blank":
		return c == ' ' || c == '\t', true
	case "cntrl":
		return c < ' ' || c == 0x7f, true
	case "digit":
		return digit, true
	case "graph":
		return graph, true
	case "lower":
		return lower, true
	case "print":
		return graph || c == ' ', true
	case "punct":
		return graph && !lower && !upper && !digit, true
	case "space":
		return c == ' ' || c == '\t' || c == '\n' || c == '\r', true
	case "upper":
		return upper, true
	case "xdigit":
		return digit || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F', true
	}
	return false, false
}
