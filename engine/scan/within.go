package scan

import "github.com/rewind-cli/rewind/engine/rootfs"

// within is the verdict on a tree where nothing but the given paths may
// differ from the stat cache: the directories that hold them are listed again, and
// so are they themselves where they are directories.
func (h *Cache) within(paths []string) *verdict {
	v := &verdict{status: make([]uint8, len(h.dirs))}
	in := lookup{h: h, known: map[string]int32{"": 0}, seen: map[int32]bool{}}
	for _, p := range paths {
		if ord, ok := in.dir(p); ok {
			v.status[ord] |= dirNames
		}
		for up := p; up != ""; {
			up, _ = rootfs.Split(up)
			if ord, ok := in.dir(up); ok { // else it is new: an ancestor lists it
				v.status[ord] |= dirNames
				break
			}
		}
	}
	v.spread(h)
	return v
}

// mounted has directories listed again that something is mounted over by now, or over a file in them: a mount of the
// same directory or file changes nothing of its status.
func (v *verdict) mounted(h *Cache, mounts map[string]bool) {
	if len(mounts) == 0 {
		return
	}
	in := lookup{h: h, known: map[string]int32{"": 0}, seen: map[int32]bool{}}
	for p := range mounts {
		up, _ := rootfs.Split(p)
		for _, dir := range []string{p, up} {
			if ord, ok := in.dir(dir); ok {
				v.status[ord] |= dirNames
				break
			}
		}
	}
	v.spread(h)
}

// lookup finds directories of a stat cache by path.
type lookup struct {
	h     *Cache
	known map[string]int32
	seen  map[int32]bool // directories whose entries are in known
}

func (l *lookup) dir(p string) (int32, bool) {
	if ord, ok := l.known[p]; ok {
		return ord, true
	}
	if p == "" {
		return 0, true
	}
	up, _ := rootfs.Split(p)
	ord, ok := l.dir(up)
	if !ok || l.seen[ord] {
		return 0, false
	}
	l.seen[ord] = true
	records, _ := l.h.records(ord)
	for i := range records {
		r := &records[i]
		if r.kind&kindMask == kindDir && r.slot < uint64(len(l.h.dirs)) {
			l.known[rootfs.Join(up, r.name)] = int32(r.slot)
		}
	}
	ord, ok = l.known[p]
	return ord, ok
}
