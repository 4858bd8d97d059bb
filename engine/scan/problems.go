package scan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/rootfs"
)

// reasons is a directory in which something is not simply captured.
type reasons struct {
	path string
	ord  int32 // of the stat cache, or
	node *node // of the walk
}

// collect puts together what a run has to tell: what the workers met, what
// the walked directories hold, and what the stat cache says of all others. removed
// are directories of the stat cache that are gone. repos are the paths of each .git below the root.
func (w *walk) collect(removed []int32) (out []problem.Problem, repos []string) {
	for _, k := range w.workers {
		out = append(out, k.problems...)
	}
	var dirs []reasons
	walked := make(map[int32]bool) // directories of the stat cache that were walked
	gather(w.top, func(n *node) {
		if n.ord >= 0 {
			walked[n.ord] = true
		}
		if n.flags&hasReasons != 0 {
			dirs = append(dirs, reasons{path: n.path(), ord: -1, node: n})
		}
	})
	if w.verdict != nil {
		gone := make(map[int32]bool, len(removed))
		for _, ord := range removed {
			gone[ord] = true
		}
		dirs = w.unwalked(dirs, walked, gone)
		for _, ref := range w.verdict.late {
			if w.verdict.status[ref.ord]&dirNames == 0 && !w.h.below(ref.ord, gone) {
				out = append(out, problem.New(w.h.entryPath(ref), problem.Late, true))
			}
		}
	}
	ignored := 0
	for _, d := range dirs {
		var list []record
		if d.node != nil {
			list = d.node.records()
		} else {
			list, _ = w.h.records(d.ord)
		}
		for i := range list {
			r := &list[i]
			if r.kind&flagReason == 0 {
				continue
			}
			if d.path == "" && d.node == nil && d.ord > 0 {
				d.path = w.h.path(d.ord)
			}
			if r.name == ".git" && d.path != "" {
				repos = append(repos, rootfs.Join(d.path, r.name))
			}
			switch r.kind & kindMask {
			case kindIgnored, kindLarge, kindDir:
				// A rule file that is left out is always named: without it the tree does not tell the rules.
				if ignored++; ignored > maxIgnored && r.kind&flagRule == 0 {
					continue
				}
			}
			out = append(out, problem.Read(rootfs.Join(d.path, r.name), r.reason, r.kind&kindMask == kindFailed))
		}
	}
	slices.SortFunc(out, func(a, b problem.Problem) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Reason, b.Reason))
	})
	out = slices.Compact(out)
	if more := ignored - maxIgnored; more > 0 {
		out = append(out, problem.Read("", fmt.Sprintf("ignored: %d more paths", more), false))
	}
	slices.Sort(repos)
	return out, repos
}

// unwalked adds the directories of the stat cache that were not walked and are
// still there, and puts all into the order of the tree, so that which ignored paths are
// listed does not depend on who looked at them.
func (w *walk) unwalked(dirs []reasons, walked, gone map[int32]bool) []reasons {
	h := w.h
	sorted := len(dirs) == 0 && h.linear
	for ord := range h.dirs {
		d := &h.dirs[ord]
		if d.flags&hasReasons == 0 || d.dead() || walked[int32(ord)] {
			continue
		}
		if len(gone) > 0 && h.below(int32(ord), gone) {
			continue
		}
		r := reasons{ord: int32(ord)}
		if !sorted {
			r.path = h.path(int32(ord))
		}
		dirs = append(dirs, r)
	}
	if !sorted {
		slices.SortFunc(dirs, func(a, b reasons) int { return compareTree(a.path, b.path) })
	}
	return dirs
}

// below reports whether a directory, or one above it, is in set.
func (h *Cache) below(ord int32, set map[int32]bool) bool {
	for ; ord >= 0; ord = h.dirs[ord].parent {
		if set[ord] {
			return true
		}
	}
	return false
}

// compareTree orders paths as the tree is walked: what is below a directory
// before the names that follow it.
func compareTree(a, b string) int {
	for i := 0; i < len(a) && i < len(b); i++ {
		x, y := a[i], b[i]
		if x == y {
			continue
		}
		switch {
		case x == '/':
			return -1
		case y == '/':
			return 1
		case x < y:
			return -1
		}
		return 1
	}
	return len(a) - len(b)
}

// gather visits the nodes that are part of the tree, parents first, in its order.
func gather(top *node, visit func(*node)) {
	if top == nil {
		return
	}
	stack := []*node{top}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		visit(n)
		for i := len(n.kids) - 1; i >= 0; i-- {
			if c := n.kids[i].node; c != nil {
				stack = append(stack, c)
			}
		}
	}
}

// records reads the node's block.
func (n *node) records() []record {
	b, _ := splitBlock(n.block, n.count)
	list, _ := b.records()
	return list
}

// entryPath is the path of an entry, or of the directory itself.
func (h *Cache) entryPath(ref entryRef) string {
	dir := h.path(ref.ord)
	if ref.index < 0 {
		return dir
	}
	list, ok := h.records(ref.ord)
	if !ok || int(ref.index) >= len(list) {
		return dir
	}
	return rootfs.Join(dir, list[ref.index].name)
}
