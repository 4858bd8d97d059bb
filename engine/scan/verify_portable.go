package scan

import (
	"bytes"
	"os"
	"path/filepath"
)

// pathChecker is the checker for every system: one Lstat by path for each entry.
type pathChecker struct {
	findings
	root string
}

func newPathChecker(v *verifier, root string) checker {
	return &pathChecker{findings: findings{v: v}, root: root}
}

func (c *pathChecker) close() {}

func (c *pathChecker) check(ord int32, from, to int) {
	v := c.v
	b, ok := v.h.block(ord)
	if !ok {
		c.bad = append(c.bad, ord)
		return
	}
	dir := filepath.Join(c.root, filepath.FromSlash(v.h.path(ord)))
	if from == 0 {
		s, err := lstatPath(dir)
		if err != nil || !v.trust.unchanged(&s, v.h.dirs[ord].fp) {
			c.bad = append(c.bad, ord)
			return
		}
		if v.lateSet && s.after(v.late) {
			c.late = append(c.late, entryRef{ord, -1})
		}
	}
	tail := b.tail
	for i := range to {
		nul := bytes.IndexByte(tail, 0)
		if nul < 0 {
			c.bad = append(c.bad, ord)
			return
		}
		name := tail[:nul]
		tail = tail[nul+1:]
		if i < from {
			continue
		}
		compare, again := compared(b.kinds[i])
		if compare {
			s, err := lstatPath(dir + string(os.PathSeparator) + string(name))
			again = err != nil || !v.trust.unchanged(&s, b.slot(i))
			if v.lateSet && !again && s.after(v.late) {
				c.late = append(c.late, entryRef{ord, int32(i)})
			}
		}
		if again {
			c.stale = append(c.stale, entryRef{ord, int32(i)})
		}
		if i&0xff == 0xff && v.stop.Load() {
			return
		}
	}
}

func lstatPath(path string) (stat, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return stat{}, err
	}
	return statOf(info), nil
}
