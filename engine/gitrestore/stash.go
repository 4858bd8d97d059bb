package gitrestore

import (
	"slices"
)

// stashOf is the log of the stash, the oldest entry first. Git lists what the reflog has. With all,
// an entry that the reference alone has is there too.
func stashOf(s side, all bool) ([]logEntry, error) {
	list, err := readLog(logFile(s.repo, stashRef))
	if err != nil {
		return nil, err
	}
	newest := s.refs[stashRef].ID
	switch {
	case newest == "":
		return nil, nil
	case !all:
	case len(list) == 0 || list[len(list)-1].id != newest:
		list = append(list, unlogged(newest))
	}
	return list, nil
}

// unlogged is the line of an entry that has none. Git takes a line of time 0 for damaged, and leaves it out.
func unlogged(id string) logEntry {
	return logEntry{zero(id), id, " rewind <rewind@localhost> 1 +0000\tfound without a line in the reflog"}
}

// planStash decides which entries the stash has. kinds are those of the objects of the saved entries.
func (p *planner) planStash(was, is []logEntry, kinds map[string]string) {
	has := func(list []logEntry, id string) bool {
		return slices.ContainsFunc(list, func(e logEntry) bool { return e.id == id })
	}
	newest := p.now.refs[stashRef].ID
	if n := len(was) - 1; n >= 0 && was[n] == unlogged(newest) && slices.Equal(was[:n], is) {
		return // then as now, the reference names what the reflog does not have
	}
	list, returns := []logEntry{}, false
	for _, e := range was {
		there := has(is, e.id)
		switch {
		case has(list, e.id):
			continue
		case !there && kinds[e.id] != "commit":
			p.line(Line{What: Stash, Change: Unable, Name: e.message(), To: e.id, Note: heldNowhere})
			continue
		case !there:
			p.line(Line{What: Stash, Change: Returns, Name: e.message(), To: e.id})
			returns = true
		}
		p.wanted = append(p.wanted, e.id)
		list = append(list, e)
	}
	for _, e := range is {
		switch {
		case has(list, e.id):
		case p.Mode != Missing:
			p.line(Line{What: Stash, Change: Goes, Name: e.message(), From: e.id})
		default:
			list = append(list, e)
		}
	}
	if newest != "" && p.Mode == Missing && !has(list, newest) {
		list = append(list, unlogged(newest))
	}
	if len(list) > 0 && !returns && list[len(list)-1].id != newest { // a reference that is behind its reflog
		last := list[len(list)-1]
		p.line(Line{What: Stash, Change: Moves, Name: last.message(), From: newest, To: last.id})
		returns = true
	}
	same := func(a, b logEntry) bool { return a.id == b.id && a.rest == b.rest }
	p.stashWas = is
	switch {
	case len(list) == 0 && newest != "":
		p.rest = append(p.rest, refChange{name: stashRef, old: newest})
	case returns || p.Mode != Missing && len(list) > 0 && !slices.EqualFunc(list, is, same):
		before := list[0].old // reflog expire leaves the first entry with the id of one that has gone
		p.stash = chained(list)
		if kinds[before] != "" {
			p.stash[0].old, p.wanted = before, append(p.wanted, before)
		}
	}
}
