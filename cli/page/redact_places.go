package page

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
)

// machinePlaces shortens file names for a reader on another machine: files of the project begin at its root, others at ~.
// The longer place comes first.
type machinePlaces []machinePlace

type machinePlace struct {
	from, to string
	inside   bool // only the part behind it is kept
	alone    bool // only at the beginning of a path: the name is short and is part of other names
}

// newMachinePlaces takes a project's root and a home directory, "" for none, each also as links lead to it, as JSON
// writes it, and as agents make a directory's name of it.
func newMachinePlaces(root, home string) machinePlaces {
	var out machinePlaces
	add := func(dir, to string, inside bool) {
		if !filepath.IsAbs(dir) || filepath.Dir(dir) == dir {
			return
		}
		dirs := []string{filepath.Clean(dir)}
		if real, err := filepath.EvalSymlinks(dir); err == nil && real != dirs[0] {
			dirs = append(dirs, real)
		}
		for _, dir := range dirs {
			alone := strings.Count(filepath.ToSlash(dir), "/") < 2
			out = append(out, machinePlace{dir, to, inside, alone})
			if coded, err := json.Marshal(dir); err == nil && string(coded[1:len(coded)-1]) != dir {
				out = append(out, machinePlace{string(coded[1 : len(coded)-1]), to, inside, alone})
			}
			named := strings.Map(func(c rune) rune {
				if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' {
					return c
				}
				return '-'
			}, dir)
			if !alone {
				out = append(out, machinePlace{named, "-~", false, false})
			}
		}
	}
	add(root, ".", true)
	add(home, "~", false)
	slices.SortStableFunc(out, func(a, b machinePlace) int { return len(b.from) - len(a.from) })
	return out
}

// shorten replaces those places in s by their short forms.
func (all machinePlaces) shorten(s string) string {
	for _, p := range all {
		if strings.Contains(s, p.from) {
			s = p.shorten(s)
		}
	}
	return s
}

func (p machinePlace) shorten(s string) string {
	var out strings.Builder
	for {
		i := strings.Index(s, p.from)
		if i < 0 {
			out.WriteString(s)
			return out.String()
		}
		rest := s[i+len(p.from):]
		before := byte(' ')
		if i > 0 {
			before = s[i-1]
		} else if out.Len() > 0 {
			before = out.String()[out.Len()-1]
		}
		if rest != "" && ofName(rest[0]) && !(p.to == "-~" && rest[0] == '-') && !ends(rest) || p.alone && ofName(before) {
			out.WriteString(s[:i+len(p.from)])
			s = rest
			continue
		}
		out.WriteString(s[:i])
		switch {
		case p.inside && len(rest) > 1 && rest[0] == '/' && (ofName(rest[1]) || rest[1] >= 0x80):
			rest = rest[1:]
		default:
			out.WriteString(p.to)
		}
		s = rest
	}
}

// ofName reports whether a byte can continue a file's name.
func ofName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.'
}

// ends reports whether a sentence ends here, and the name with it.
func ends(rest string) bool {
	return rest[0] == '.' && (len(rest) == 1 || !ofName(rest[1]) && rest[1] != '/')
}

// begun shortens such a place at the end of s of which only the first part is there; false if s ends in none.
func (all machinePlaces) begun(s string) (string, bool) {
	for _, p := range all {
		for n := len(p.from); n > strings.LastIndexByte(p.from, '/')+1 && n > 2; n-- {
			if begun, ok := strings.CutSuffix(s, p.from[:n]); ok {
				return begun + p.to, true
			}
		}
	}
	return "", false
}
