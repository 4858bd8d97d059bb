package hookio

import (
	"path"
	"strings"
)

// MatchFile matches a path with / or \ against a glob with *, ?, [a-z] and
// {a,b}. A pattern without a slash is matched against the last component; one
// with a slash against the whole, where ** matches any components.
func MatchFile(pattern, file string) bool {
	file = strings.ReplaceAll(file, `\`, "/")
	for _, p := range expandBraces(pattern) {
		if !strings.Contains(p, "/") {
			if ok, err := path.Match(p, path.Base(file)); ok && err == nil {
				return true
			}
			continue
		}
		if matchParts(strings.Split(strings.TrimPrefix(p, "/"), "/"), strings.Split(strings.TrimPrefix(file, "/"), "/")) {
			return true
		}
	}
	return false
}

func matchParts(pattern, parts []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			for len(pattern) > 1 && pattern[1] == "**" { // else nested loops
				pattern = pattern[1:]
			}
			for i := 0; i <= len(parts); i++ {
				if matchParts(pattern[1:], parts[i:]) {
					return true
				}
			}
			return false
		}
		if len(parts) == 0 {
			return false
		}
		if ok, err := path.Match(pattern[0], parts[0]); !ok || err != nil {
			return false
		}
		pattern, parts = pattern[1:], parts[1:]
	}
	return len(parts) == 0
}

// maxBraces bounds what {a,b}{c,d}… may become, maxPattern how long a pattern
// may be: no path is longer.
const (
	maxBraces  = 256
	maxPattern = 4096
)

// expandBraces expands {a,b} as a shell does; a pattern that would become too
// many is left as it is.
func expandBraces(s string) []string {
	out := []string{s}
	if len(s) > maxPattern {
		return out
	}
	for i := 0; i < len(out); {
		before, alternatives, after, ok := cutBraces(out[i])
		if !ok {
			i++
			continue
		}
		if len(out)+len(alternatives) > maxBraces {
			return []string{s}
		}
		expanded := make([]string, 0, len(out)+len(alternatives))
		expanded = append(expanded, out[:i]...)
		for _, a := range alternatives {
			expanded = append(expanded, before+a+after)
		}
		out = append(expanded, out[i+1:]...)
	}
	return out
}

// cutBraces finds the first {…} that holds a comma at its own level.
func cutBraces(s string) (before string, alternatives []string, after string, ok bool) {
	for open := strings.IndexByte(s, '{'); open >= 0; {
		depth, start := 0, open+1
		var parts []string
		for i := open; i < len(s); i++ {
			switch s[i] {
			case '{':
				depth++
			case ',':
				if depth == 1 {
					parts = append(parts, s[start:i])
					start = i + 1
				}
			case '}':
				if depth--; depth == 0 {
					if len(parts) > 0 {
						return s[:open], append(parts, s[start:i]), s[i+1:], true
					}
					i = len(s)
				}
			}
		}
		next := strings.IndexByte(s[open+1:], '{')
		if next < 0 {
			break
		}
		open += 1 + next
	}
	return "", nil, "", false
}
