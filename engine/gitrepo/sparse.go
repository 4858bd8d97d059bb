package gitrepo

import (
	"sort"
	"strings"
)

// beyond is what an index holds beside the names of files: directories of a sparse
// index, of which it has the tree only, and rule files that are not in the work tree.
type beyond struct {
	objects *objects
	sparse  []indexed // directories, names with "/" at the end; by name, none below another
	rules   []indexed // .gitignore files with the bit skip-worktree; by name
}

// indexed is an entry with its object.
type indexed struct{ name, id string }

func (b *beyond) none() bool { return len(b.sparse) == 0 && len(b.rules) == 0 }

// in finds the sparse directory that a path lies in.
func (b *beyond) in(path string) (dir indexed, rest string, ok bool) {
	i := sort.Search(len(b.sparse), func(i int) bool { return b.sparse[i].name > path })
	if i == 0 {
		return dir, "", false
	}
	rest, ok = strings.CutPrefix(path, b.sparse[i-1].name)
	return b.sparse[i-1], rest, ok
}

// has reports whether a sparse directory holds the path. Where its tree cannot be
// read, as in a partial clone, it does: a tracked file too many is captured, none too few.
func (b *beyond) has(path string) bool {
	dir, rest, ok := b.in(path)
	if !ok || rest == "" {
		return false
	}
	mode, _, err := b.objects.find(dir.id, rest)
	return err != nil || mode != 0 && mode != modeDirectory
}

func (b *beyond) hasBelow(path string) bool {
	below := path + "/"
	i := sort.Search(len(b.sparse), func(i int) bool { return b.sparse[i].name >= below })
	if i < len(b.sparse) && strings.HasPrefix(b.sparse[i].name, below) {
		return true
	}
	dir, rest, ok := b.in(below)
	if !ok {
		return false
	}
	mode, _, err := b.objects.find(dir.id, strings.TrimSuffix(rest, "/"))
	return err != nil || mode == modeDirectory
}

// rule finds the blob of a rule file, "" if there is none.
func (b *beyond) rule(path string) (id string, err error) {
	i := sort.Search(len(b.rules), func(i int) bool { return b.rules[i].name >= path })
	if i < len(b.rules) && b.rules[i].name == path {
		return b.rules[i].id, nil
	}
	dir, rest, ok := b.in(path)
	if !ok || rest == "" {
		return "", nil
	}
	mode, id, err := b.objects.find(dir.id, rest)
	if mode&0o170000 != 0o100000 {
		id = ""
	}
	return id, err
}

// Rule is the text of a .gitignore that only the index holds: git takes it where the work tree has
// none. It is nil where there is none in the index either. Errors: *FormatError,
// of the file system, or that the object is not here.
func (t *Tracked) Rule(path string) ([]byte, error) {
	if t.beyond == nil {
		return nil, nil
	}
	id, err := t.beyond.rule(t.prefix + path)
	if err != nil || id == "" {
		return nil, err
	}
	text, err := t.beyond.objects.read(id, blobObject)
	if text == nil && err == nil {
		text = []byte{}
	}
	return text, err
}

// Rules are the paths of rule files that the index may hold alone, but for those in sparse directories.
func (t *Tracked) Rules() []string {
	var list []string
	if t.beyond != nil {
		for _, r := range t.beyond.rules {
			if path, ok := strings.CutPrefix(r.name, t.prefix); ok {
				list = append(list, path)
			}
		}
	}
	return list
}

// HoldsRules reports whether Rule can give anything.
func (t *Tracked) HoldsRules() bool { return t.beyond != nil }
