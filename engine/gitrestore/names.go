package gitrestore

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rewind-cli/rewind/engine/gitrepo"
)

// names are the references that there are, or will be. Git keeps each as a file, so that none can have a name that is a
// directory of another's.
type names struct {
	refs map[string]gitrepo.Ref
	dirs map[string]int           // how many references are below each
	file func(name string) string // what is in the way of a reference's file and is none itself, "" for nothing
}

func newNames(refs map[string]gitrepo.Ref) *names {
	n := &names{map[string]gitrepo.Ref{}, map[string]int{}, func(string) string { return "" }}
	for name, ref := range refs {
		n.add(name, ref)
	}
	return n
}

func (n *names) add(name string, ref gitrepo.Ref) {
	if _, ok := n.refs[name]; !ok {
		for dir := range dirsOf(name) {
			n.dirs[dir]++
		}
	}
	n.refs[name] = ref
}

func (n *names) remove(name string) {
	delete(n.refs, name)
	for dir := range dirsOf(name) {
		n.dirs[dir]--
	}
}

// dirsOf gives the directories that a name lies in, the outermost first.
func dirsOf(name string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for i, c := range name {
			if c == '/' && !yield(name[:i]) {
				return
			}
		}
	}
}

// obstacle is the name that keeps one from being used, "" for none.
func (n *names) obstacle(name string) string {
	for dir := range dirsOf(name) {
		if _, ok := n.refs[dir]; ok {
			return dir
		}
	}
	if _, ok := n.refs[name]; ok || n.dirs[name] > 0 || n.file(name) != "" {
		return name
	}
	return ""
}

// free is the name under which an id can return: the wished one, or one with a number where that is taken. there reports that
// it has returned before.
func (n *names) free(name, id string) (free string, there bool) {
	for i := 2; ; i++ {
		stop := n.obstacle(name)
		if stop == "" {
			return name, false
		}
		if stop == name && id != "" && n.refs[name].ID == id {
			return name, true
		}
		rest := name[len(stop):]
		if i > 2 {
			stop = strings.TrimSuffix(stop, "-"+strconv.Itoa(i-1))
		}
		name = stop + "-" + strconv.Itoa(i) + rest
	}
}

// beside is the name under which a reference returns that is not to move what has its name.
func beside(label, name string) string {
	for _, kind := range []string{"refs/heads/", "refs/tags/"} {
		if rest, ok := strings.CutPrefix(name, kind); ok {
			return kind + "rewind/" + label + "/" + rest
		}
	}
	return "refs/rewind/" + label + "/" + strings.TrimPrefix(name, "refs/")
}

// validRef reports whether git takes a reference's name, as git check-ref-format has it.
func validRef(name string) bool {
	if !strings.HasPrefix(name, "refs/") || strings.HasSuffix(name, ".") || strings.Contains(name, "..") || strings.Contains(name, "@{") ||
		strings.ContainsAny(name, " ~^:?*[\\\x7f") || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' }) {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return true
}

// refComponent makes a text into a part of a reference's name.
func refComponent(s string) string {
	s = strings.Map(func(r rune) rune {
		if r <= ' ' || strings.ContainsRune("~^:?*[]\\/@{}\x7f", r) {
			return '-'
		}
		return r
	}, s)
	for strings.Contains(s, "..") {
		s = strings.ReplaceAll(s, "..", ".")
	}
	s = strings.Trim(s, ".-")
	if s == "" || strings.HasSuffix(s, ".lock") {
		s += "state"
	}
	return s
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
