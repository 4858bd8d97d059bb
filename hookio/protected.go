package hookio

import (
	"path"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/hookio/shell"
)

// word finds the protected directory that a word is or lies in; with tree also
// one that lies below it and does not survive that.
func (g Guarded) word(cwd string, w shell.Word, tree bool) *Protected {
	return g.target(cwd, w, tree, true)
}

// target is word for an operand of a command: last says that the command follows a link
// that the word names, as what writes does and what removes does not.
func (g Guarded) target(cwd string, w shell.Word, tree, last bool) *Protected {
	if w.Dynamic {
		// Of $DIR/.agent/rewind/x the end is known.
		for i := range g.Protected {
			if p := &g.Protected[i]; strings.Contains(w.Text, "\x00/"+tail(p.Dir)) || strings.HasPrefix(w.Text, "\x00"+tail(p.Dir)) {
				return p
			}
		}
		return nil
	}
	if cwd == "" && !isAbs(w.Text) { // after a cd to somewhere: the end is known here too
		for i := range g.Protected {
			if p := &g.Protected[i]; strings.HasPrefix(path.Clean(w.Text), tail(p.Dir)) {
				return p
			}
		}
		return nil
	}
	if w.Pattern == "" {
		return g.place(shell.Absolute(cwd, w.Text), tree, last)
	}
	for _, pattern := range expandBraces(w.Pattern) {
		full := pattern
		if !path.IsAbs(pattern) {
			full = escapeGlob(cwd) + "/" + pattern
		}
		parts := strings.Split(strings.TrimPrefix(path.Clean(full), "/"), "/")
		if p := g.glob(parts, tree); p != nil {
			return p
		}
		if g.Resolve == nil {
			continue
		}
		literal := slices.IndexFunc(parts, func(part string) bool { return strings.ContainsAny(part, `*?[\`) })
		if literal <= 0 {
			continue
		}
		if real := splitAbs(g.Resolve("/"+strings.Join(parts[:literal], "/"), true)); real != nil {
			for i := range real {
				real[i] = escapeGlob(real[i])
			}
			if p := g.glob(append(real, parts[literal:]...), tree); p != nil {
				return p
			}
		}
	}
	return nil
}

func escapeGlob(s string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(s)
}

// place is hit for an absolute path as it is written, and as its links lead.
func (g Guarded) place(file string, tree, last bool) *Protected {
	if p := g.hit(splitAbs(file), tree); p != nil || g.Resolve == nil || splitAbs(file) == nil {
		return p
	}
	real := splitAbs(g.Resolve(file, last))
	if real == nil {
		return nil
	}
	for i := range g.Protected {
		p := &g.Protected[i]
		if dir := splitAbs(g.Resolve(p.Dir, true)); inside(real, dir) || tree && !p.Survives && inside(dir, real) {
			return p
		}
	}
	return g.hit(real, tree)
}

func (g Guarded) hit(parts []string, tree bool) *Protected {
	if parts == nil {
		return nil
	}
	for i := range g.Protected {
		p := &g.Protected[i]
		dir := splitAbs(p.Dir)
		if inside(parts, dir) || tree && !p.Survives && inside(dir, parts) {
			return p
		}
	}
	return nil
}

func (g Guarded) glob(pattern []string, tree bool) *Protected {
	for i := range g.Protected {
		p := &g.Protected[i]
		dir := splitAbs(p.Dir)
		n := min(len(pattern), len(dir))
		matched := true
		for k := 0; k < n && matched; k++ {
			matched = globPart(pattern[k], dir[k])
		}
		if matched && (len(pattern) >= len(dir) || tree && !p.Survives) {
			return p
		}
	}
	return nil
}

// globPart matches one component as a shell does: * and ? do not match a
// leading dot.
func globPart(pattern, name string) bool {
	if strings.HasPrefix(name, ".") && !strings.HasPrefix(pattern, ".") && !strings.HasPrefix(pattern, `\.`) {
		return false
	}
	ok, err := path.Match(strings.ToLower(pattern), strings.ToLower(name))
	return ok && err == nil
}

// tail is a path's last two components.
func tail(dir string) string {
	parts := splitAbs(dir)
	return strings.Join(parts[max(0, len(parts)-2):], "/")
}

// splitAbs splits an absolute path; nil for anything else, [""] never.
func splitAbs(p string) []string {
	p = strings.ReplaceAll(p, `\`, "/")
	if !isAbs(p) || strings.Contains(p, "://") {
		return nil
	}
	p = path.Clean(p)
	if p == "/" {
		return []string{}
	}
	return strings.Split(strings.TrimPrefix(p, "/"), "/")
}

// inside reports whether p is dir or below it. Letter case does not count: some
// file systems ignore it, and two stores that differ only in it are unlikely.
func inside(p, dir []string) bool {
	return p != nil && dir != nil && len(p) >= len(dir) && samePath(p[:len(dir)], dir)
}

func samePath(a, b []string) bool {
	for i := range b {
		if !strings.EqualFold(a[i], b[i]) {
			return false
		}
	}
	return true
}
