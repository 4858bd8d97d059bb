package scan

import (
	"slices"
	"sync/atomic"

	"github.com/rewind-cli/rewind/engine/rootfs"
)

// Hints say what alone may have changed since the look that the stat cache is of.
type Hints struct {
	Paths []string // each of these, and the directory that holds it
	Trees []string // directories with all below them
}

// hinted is the verdict on a tree where nothing but what the hints name may differ: it is compared as verify does it.
func hinted(h *Cache, o *Options, stop *atomic.Bool, looked *atomic.Int64, look func(*Cache) looker) *verdict {
	in := lookup{h: h, known: map[string]int32{"": 0}, seen: map[int32]bool{}}
	only := map[int32]map[string]bool{}
	name := func(ord int32, entry string) {
		if only[ord] == nil {
			only[ord] = map[string]bool{}
		}
		if entry != "" {
			only[ord][entry] = true
		}
	}
	whole := map[int32]bool{}
	for i, p := range slices.Concat(o.Hints.Paths, o.Hints.Trees) {
		if ord, ok := in.dir(p); ok {
			name(ord, "")
			whole[ord] = whole[ord] || i >= len(o.Hints.Paths)
		}
		for up, rest := p, ""; up != ""; {
			up, rest = rootfs.Split(up)
			if ord, ok := in.dir(up); ok { // else it is new: a directory above has another status
				name(ord, rest)
				break
			}
		}
	}
	c := &checker{looker: look(h), v: &verifier{h: h, trust: trust{seed: newSeed(h.seed)}, stop: stop, looked: looked}}
	defer c.close()
	for ord := range h.dirs {
		d, at := &h.dirs[ord], int32(ord)
		if len(whole) > 0 && d.parent >= 0 && whole[d.parent] {
			whole[at] = true
		}
		if names := only[at]; (names != nil || whole[at]) && !d.dead() && !stop.Load() {
			if whole[at] {
				names = nil
			}
			c.check(at, 0, int(d.n), names)
		}
	}
	return judge(h, c)
}

// maxAgain bounds the paths of Result.Again.
const maxAgain = 4096

// again lists what the next scan has to look at whatever it is told: what differs from the stat cache that was loaded, which may
// not be replaced; what is racy, or could not be captured; and files that have a name elsewhere. ok is false where there is too much.
func (w *walk) again() (paths []string, ok bool) {
	if v := w.verdict; v != nil {
		if len(v.stale)+len(v.linked) > maxAgain {
			return nil, false
		}
		for ord, s := range v.status {
			if s&dirNames != 0 {
				paths = append(paths, w.h.path(int32(ord)))
			}
			if len(paths) > maxAgain {
				return nil, false
			}
		}
		paths = w.h.paths(paths, slices.Concat(v.stale, v.linked))
	}
	for _, k := range w.workers {
		paths = append(paths, k.linked...)
	}
	gather(w.top, func(n *node) {
		if len(paths) > maxAgain {
			return
		}
		if n.fp == 0 {
			paths = append(paths, n.path())
		}
		b, _ := splitBlock(n.block, n.count)
		var list []record
		for i, kind := range b.kinds {
			if compare, again := compared(kind); again || compare && b.slot(i) == 0 {
				if list == nil {
					list, _ = b.records()
				}
				paths = append(paths, rootfs.Join(n.path(), list[i].name))
			}
		}
	})
	if len(paths) > maxAgain {
		return nil, false
	}
	slices.Sort(paths)
	return slices.Compact(paths), true
}

// paths appends the paths of entries, of which those of one directory follow each other.
func (h *Cache) paths(dst []string, refs []entryRef) []string {
	var list []record
	dir, ord := "", int32(-1)
	for _, r := range refs {
		if r.ord != ord {
			ord, dir = r.ord, h.path(r.ord)
			list, _ = h.records(ord)
		}
		if int(r.index) < len(list) {
			dst = append(dst, rootfs.Join(dir, list[r.index].name))
		}
	}
	return dst
}
