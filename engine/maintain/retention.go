package maintain

import (
	"maps"
	"sort"
	"time"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/settings"
	"github.com/rewind-cli/rewind/manifest"
)

// Retention decides which checkpoints go. It is a pure function of the log:
// age is measured from the newest checkpoint, never from the clock.
type Retention struct {
	keep    int           // newest checkpoints that stay; 0: no limit
	maxAge  time.Duration // 0: no limit
	maxSize int64         // bytes of the store; 0: no limit
	thin    bool
	half    bool // never remove more than half: an automatic sweep

	points    *points // what pi's users have set; nil: nothing
	sizeUnset bool    // maxSize was not chosen: it takes nothing of pi's
}

func retentionOf(s *settings.Settings, o GCOptions) Retention {
	r := Retention{
		keep:    s.Retention.MaxCheckpoints,
		maxAge:  s.Retention.MaxAge,
		maxSize: s.Retention.MaxSize,
		thin:    s.Retention.Thin,
		half:    o.Auto,
	}
	if v, ok := s.Value("retention.maxSize"); ok {
		r.sizeUnset = v.Origin.Source == settings.FromDefault && o.MaxSize == 0
	}
	if o.Keep > 0 {
		r.keep = o.Keep
	}
	if o.MaxAge > 0 {
		r.maxAge = o.MaxAge
	}
	if o.MaxSize > 0 {
		r.maxSize = o.MaxSize
	}
	return r
}

// plan gives the checkpoints to forget, oldest first. all is newest first, size
// the bytes that the store takes now. Pinned and named ones stay, and the newest, and what is in use.
func (r Retention) plan(all []manifest.Checkpoint, inUse map[manifest.CheckpointID]bool, size int64) []manifest.Checkpoint {
	if len(all) == 0 {
		return nil
	}
	ages := r.ages(all)
	if r.points != nil {
		used := r.points.inUse(all)
		maps.Copy(used, inUse)
		inUse = used
	}
	drop := make([]bool, len(all))
	count, newest := 0, true
	hours, days := map[int64]bool{}, map[int64]bool{}
	for i, c := range all {
		if c.Kind == manifest.Safety {
			drop[i] = !inUse[c.ID] && !c.Pinned && c.Name == "" && ages[i] > project.KeptSafetyAge
			continue
		}
		count++
		free := !newest && !c.Pinned && c.Name == "" && !inUse[c.ID]
		newest = false
		thinned := r.thin && thins(c.Time, ages[i], hours, days)
		drop[i] = free && (r.keep > 0 && count > r.keep || r.maxAge > 0 && ages[i] > r.maxAge || thinned)
	}
	if r.points != nil {
		held := func(c manifest.Checkpoint) bool {
			return c.Pinned || c.Name != "" || c.Kind == manifest.Manual || inUse[c.ID] || c.ID == all[0].ID
		}
		for _, i := range r.points.drops(all, held, r.ageAt(all, ages)) {
			drop[i] = true
		}
	}
	if r.maxSize > 0 {
		r.planSize(all, inUse, drop, size)
	}
	var out []manifest.Checkpoint
	for i := len(all) - 1; i >= 0; i-- {
		if drop[i] && (!r.half || len(out) < len(all)/2) {
			out = append(out, all[i])
		}
	}
	return out
}

// planSize marks the oldest that may go until what is left fits. What a
// checkpoint has added is an estimate of what goes with it.
func (r Retention) planSize(all []manifest.Checkpoint, inUse map[manifest.CheckpointID]bool, drop []bool, size int64) {
	for i, c := range all {
		if drop[i] {
			size -= int64(c.StoredBytes)
		}
	}
	for i := len(all) - 1; i > 0 && size > r.maxSize; i-- {
		c := all[i]
		if drop[i] || c.Pinned || c.Name != "" || c.Kind == manifest.Manual || inUse[c.ID] || r.sizeUnset && c.Agent == piAgent {
			continue
		}
		drop[i] = true
		size -= int64(c.StoredBytes)
	}
}

// ages gives the age of each checkpoint against the newest. A gap longer than
// the whole limit says more about a clock that jumped, or a long pause, than
// about age, and does not count: coming back must not cost a history.
func (r Retention) ages(all []manifest.Checkpoint) []time.Duration {
	limit := r.maxAge
	if limit == 0 {
		limit = 30 * 24 * time.Hour // for thinning and safety checkpoints
	}
	ages := make([]time.Duration, len(all))
	for i := 1; i < len(all); i++ {
		gap := all[i-1].Time.Sub(all[i].Time)
		if gap < 0 || gap > limit {
			gap = 0
		}
		ages[i] = ages[i-1] + gap
	}
	return ages
}

// ageAt gives the age of a moment, by the newest checkpoint that is not younger.
func (r Retention) ageAt(all []manifest.Checkpoint, ages []time.Duration) func(time.Time) time.Duration {
	return func(t time.Time) time.Duration {
		i := sort.Search(len(all), func(i int) bool { return !all[i].Time.After(t) })
		return ages[min(i, len(all)-1)]
	}
}

// thins reports whether another checkpoint is already kept for this one's hour
// (in the last week) or day (before that). The newest of each stays.
func thins(t time.Time, age time.Duration, hours, days map[int64]bool) bool {
	slot, seen := t.Unix()/3600, hours
	switch {
	case age <= 24*time.Hour:
		return false
	case age > 7*24*time.Hour:
		slot, seen = t.Unix()/86400, days
	}
	if seen[slot] {
		return true
	}
	seen[slot] = true
	return false
}
