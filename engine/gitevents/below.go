package gitevents

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/gitstate"
)

// others are the events of each submodule and of each repository below the project, by the repositories' names. was and is are the
// states of the one around it. Where that came or went, the submodules in its git directory did, too, which needs no event.
func (r *Reader) others(a, b Point, was, is *gitstate.State) (groups [][]Event, err error) {
	before, err := gitstate.Others(r.objects, a.State)
	if err != nil {
		return nil, err
	}
	after, err := gitstate.Others(r.objects, b.State)
	if err != nil {
		return nil, err
	}
	names := map[string]oid.ID{}
	maps.Copy(names, before)
	maps.Copy(names, after)
	for name := range names {
		if before[name] == after[name] {
			continue
		}
		then, err := r.around(before[name])
		if err == nil {
			var now *gitstate.State
			if now, err = r.around(after[name]); err == nil {
				groups, err = r.other(groups, then, now, was, is, a.Root == b.Root)
			}
		}
		if err != nil && !errors.As(err, new(*gitstate.FormatError)) {
			return nil, err
		}
	}
	slices.SortFunc(groups, func(a, b []Event) int { return cmp.Compare(a[0].Repo, b[0].Repo) })
	return groups, nil
}

// other adds the events of one of them.
func (r *Reader) other(groups [][]Event, then, now, was, is *gitstate.State, sameFiles bool) ([][]Event, error) {
	in := func(around, s *gitstate.State) bool { return around != nil && vfs.IsBelow(around.Common, s.Common) }
	switch {
	case now == nil && is == nil && in(was, then), then == nil && was == nil && in(is, now):
		return groups, nil
	}
	events, err := r.compare(then, now, sameFiles)
	if err != nil || len(events) == 0 {
		return groups, err
	}
	if now == nil {
		now = then
	}
	for i := range events {
		events[i].Repo = now.Name(r.root)
	}
	return append(groups, events), nil
}

// byTime makes one list of the events of several repositories, each of which has its own in order. What has no time comes
// right behind the one before it.
func byTime(groups [][]Event) (all []Event) {
	type timed struct {
		Event
		at time.Time
	}
	var list []timed
	for _, events := range groups {
		var at time.Time
		for _, e := range events {
			if e.Time.After(at) {
				at = e.Time
			}
			list = append(list, timed{e, at})
		}
	}
	slices.SortStableFunc(list, func(a, b timed) int { return a.at.Compare(b.at) })
	for _, e := range list {
		all = append(all, e.Event)
	}
	return all
}
