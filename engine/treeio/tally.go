package treeio

import "sync"

// Done is how far a step of a restore has come. Totals are 0 where unknown; a change that is given
// up counts as done.
type Done struct {
	Step                   string // "plan", "read", "write", "replace"
	Files, Bytes           int64
	TotalFiles, TotalBytes int64
}

// tally counts for Options.Progress. Several goroutines may use it; nil counts nothing.
type tally struct {
	tell func(Done)
	mu   sync.Mutex
	now  Done
}

// tally counts the changes that any of some tests accepts, and their new bytes where sized.
func (p *Plan) tally(step string, sized bool, wants ...func(*Change) bool) *tally {
	if p.o.Progress == nil {
		return nil
	}
	t := &tally{tell: p.o.Progress, now: Done{Step: step}}
	for i := range p.Changes {
		c := &p.Changes[i]
		for _, want := range wants {
			if !c.failed && want(c) {
				t.now.TotalFiles++
				if sized {
					t.now.TotalBytes += int64(c.After.Size)
				}
				break
			}
		}
	}
	if t.now.TotalFiles > 0 {
		t.tell(t.now)
	}
	return t
}

// add counts one more.
func (t *tally) add(c *Change) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now.Files++
	if t.now.TotalBytes > 0 {
		t.now.Bytes += int64(c.After.Size)
	}
	t.tell(t.now)
}
