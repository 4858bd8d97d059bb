package checkpoint

import (
	"github.com/rewind-cli/rewind/engine/scan"
	"github.com/rewind-cli/rewind/engine/watch"
)

// hintsOf are what a scan may rely on, nil where it has to look at everything.
func hintsOf(a *watch.Asked) *scan.Hints {
	if a == nil || !a.Known {
		return nil
	}
	h := &scan.Hints{}
	for _, path := range a.Paths {
		h.Paths = append(h.Paths, string(path))
	}
	for _, path := range a.Trees {
		h.Trees = append(h.Trees, string(path))
	}
	return h
}

// report tells who watches the project what the next look may rely on. It comes after the stat cache was published, if it was.
func (c *Captured) report() {
	if s := c.Scan; s != nil && !s.Unsure && s.CacheID != "" {
		r := watch.Report{Cache: s.CacheID, Whole: !s.Hinted}
		for _, path := range s.Again {
			r.Again = append(r.Again, []byte(path))
		}
		c.asked.Report(r)
	}
	c.asked.Close()
}
