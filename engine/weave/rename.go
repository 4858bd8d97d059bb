package weave

import (
	"cmp"
	"path"
	"slices"

	"github.com/rewind-cli/rewind/manifest"
)

const (
	minCommon   = 60         // percent of the longer text's lines
	maxCompared = 10_000_000 // lines that are compared; past them only the same content is a rename
)

// Moved is a path that one owner's step took away, or put somewhere, within one interval.
type Moved struct {
	Path  string
	Entry manifest.Entry
	Lines []string // of a text; nil for what is none
}

// Rename says which path that went is which one that came: their places among those given.
type Rename struct{ Went, Came int }

// Renames pairs the deletions and the additions of one owner in one interval: those with the same content,
// and texts that have at least 60 percent of the longer one's lines in common; the most alike first, and
// of the equally alike those with the same name. Empty files, and what is no file or link, are in no pair.
// The pairs are in the order of came.
func Renames(went, came []Moved) []Rename {
	texts := counted(went, came)
	var found []candidate
	for j := range came {
		for i := range went {
			n := 0
			if same(&went[i], &came[j]) {
				n = 100
			} else if a, b := texts[0][i], texts[1][j]; a != nil && b != nil && went[i].Entry.IsFile() && came[j].Entry.IsFile() {
				n = min(99, 100*common(a, b)/max(len(went[i].Lines), len(came[j].Lines)))
			}
			if n >= minCommon {
				c := candidate{Rename{i, j}, 2 * n}
				if path.Base(went[i].Path) == path.Base(came[j].Path) {
					c.rank++
				}
				found = append(found, c)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(b.rank, a.rank) })
	gone, here := make([]bool, len(went)), make([]bool, len(came))
	var out []Rename
	for _, c := range found {
		if !gone[c.Went] && !here[c.Came] {
			gone[c.Went], here[c.Came] = true, true
			out = append(out, c.Rename)
		}
	}
	slices.SortFunc(out, func(a, b Rename) int { return cmp.Compare(a.Came, b.Came) })
	return out
}

type candidate struct {
	Rename
	rank int // twice the percent in common, and one more for the same name
}

// same reports whether two paths have the same content, and some.
func same(a, b *Moved) bool {
	if what(&a.Entry) != what(&b.Entry) || !sameContent(&a.Entry, &b.Entry) {
		return false
	}
	return a.Entry.Kind == manifest.Symlink || a.Entry.IsFile() && a.Entry.Size > 0
}

// counted gives how often each line occurs in the texts of both lists; none where that is too much.
func counted(went, came []Moved) (texts [2][]map[string]int) {
	total := func(list []Moved) (n int) {
		for _, m := range list {
			n += len(m.Lines)
		}
		return n
	}
	if len(went)*total(came)+len(came)*total(went) > maxCompared {
		return [2][]map[string]int{make([]map[string]int, len(went)), make([]map[string]int, len(came))}
	}
	for k, list := range [][]Moved{went, came} {
		texts[k] = make([]map[string]int, len(list))
		for i, m := range list {
			if len(m.Lines) == 0 {
				continue
			}
			texts[k][i] = make(map[string]int, len(m.Lines))
			for _, l := range m.Lines {
				texts[k][i][l]++
			}
		}
	}
	return texts
}

// common is how many lines two texts have in common.
func common(a, b map[string]int) (n int) {
	for line, k := range a {
		n += min(k, b[line])
	}
	return n
}
