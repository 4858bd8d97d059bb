package treeio

import (
	"cmp"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/manifest"
)

// Edit is one path of a tree and what it becomes; an Entry of Kind 0 takes it
// out. A directory's entry says its mode only: what is below it stays, or is
// nothing if it is new; unless Whole says that its ID counts.
type Edit struct {
	Path  string
	Entry manifest.Entry
	Whole bool
}

// EditTree gives the tree that follows from edits, whose new directories go to
// sink. modes are those of directories that have to be made because something
// below them is edited; 0755 without.
func EditTree(src Source, sink Sink, root oid.ID, edits []Edit, modes map[string]uint32) (oid.ID, error) {
	if len(edits) == 0 {
		return root, nil
	}
	top := &editNode{}
	for _, e := range edits {
		n := top
		for rest, more := e.Path, true; more; {
			var name string
			name, rest, more = strings.Cut(rest, "/")
			n = n.child(name)
		}
		n.edit, n.whole = &e.Entry, e.Whole
	}
	t := treeEditor{src, sink, modes}
	e, err := t.dir("", top, root)
	return e.ID, err
}

type editNode struct {
	edit  *manifest.Entry
	whole bool
	kids  map[string]*editNode
}

func (n *editNode) child(name string) *editNode {
	if n.kids == nil {
		n.kids = map[string]*editNode{}
	}
	k := n.kids[name]
	if k == nil {
		k = &editNode{}
		n.kids[name] = k
	}
	return k
}

type treeEditor struct {
	src   Source
	sink  Sink
	modes map[string]uint32
}

// dir gives the entry, without name and mode, of the directory id after the
// edits below n.
func (t *treeEditor) dir(path string, n *editNode, id oid.ID) (e manifest.Entry, err error) {
	old, err := loadDir(t.src, id)
	if err != nil {
		return e, &manifest.TreeError{Path: path, ID: id, Err: err}
	}
	m := manifest.Dir{Entries: make([]manifest.Entry, 0, len(old.Entries)+len(n.kids))}
	seen := 0
	for _, o := range old.Entries {
		k := n.kids[o.Name]
		if k == nil {
			m.Entries = append(m.Entries, o)
			continue
		}
		seen++
		if o, err = t.entry(rootfs.Join(path, o.Name), o.Name, k, o); err != nil {
			return e, err
		}
		if o.Kind != 0 {
			m.Entries = append(m.Entries, o)
		}
	}
	if seen < len(n.kids) {
		for name, k := range n.kids {
			if _, ok := old.Lookup(name); ok {
				continue
			}
			o, err := t.entry(rootfs.Join(path, name), name, k, manifest.Entry{})
			if err != nil {
				return e, err
			}
			if o.Kind != 0 {
				m.Entries = append(m.Entries, o)
			}
		}
		slices.SortFunc(m.Entries, func(a, b manifest.Entry) int { return cmp.Compare(a.Name, b.Name) })
	}
	e.Files, e.Size = m.Totals()
	e.Kind = manifest.Subdir
	e.ID, err = t.sink.Dir(0, m.Append(nil), id)
	return e, err
}

// entry gives what old becomes.
func (t *treeEditor) entry(path, name string, n *editNode, old manifest.Entry) (manifest.Entry, error) {
	e := old
	if n.edit != nil {
		e = *n.edit
		e.Name = name
		// A new version of what is precious is so too: only a scan takes the mark away.
		e.Precious = e.Precious || old.Precious && e.Kind != 0 && e.Kind != manifest.Subdir
		if e.Kind != manifest.Subdir || n.whole && !e.ID.IsZero() {
			return e, nil
		}
	}
	var id oid.ID
	if old.Kind == manifest.Subdir {
		id = old.ID
	}
	if n.edit == nil {
		if len(n.kids) == 0 {
			return old, nil
		}
		if old.Kind != manifest.Subdir {
			if !n.makes() {
				return old, nil // only deletions below what is not there
			}
			e = manifest.Entry{Kind: manifest.Subdir, Mode: 0o755}
			if m, ok := t.modes[path]; ok {
				e.Mode = m
			}
		}
	}
	d, err := t.dir(path, n, id)
	d.Name, d.Mode = name, e.Mode
	return d, err
}

// makes reports whether the plan leaves any entry below n.
func (n *editNode) makes() bool {
	for _, k := range n.kids {
		if k.edit != nil && k.edit.Kind != 0 || k.makes() {
			return true
		}
	}
	return false
}
