package gitrestore

import (
	"context"
	"slices"
	"strings"
)

// stashOf is the log of the stash, the oldest entry first. Git lists what the reflog has. With all,
// an entry that the reference alone has is there too, without a rest.
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
		list = append(list, logEntry{zero(newest), newest, ""})
	}
	return list, nil
}

// logged gives an entry that has no line one: who made its commit, when, and its subject, as git stash wrote it. Git takes a line of
// time 0 for damaged, and leaves it out.
func (p *Plan) logged(ctx context.Context, e logEntry) logEntry {
	if e.rest != "" {
		return e
	}
	e.rest = " rewind <rewind@localhost> 1 +0000\tan entry whose commit cannot be read"
	out, err := p.git(ctx, true, nil, "log", "-1", "--date=raw", "--format= %cn <%ce> %cd%x09%s", e.id, "--")
	if line := strings.TrimSuffix(string(out), "\n"); err == nil && !strings.Contains(line, "> 0 ") {
		e.rest = line
	}
	return e
}

// planStash decides which entries the stash has. kinds are those of the objects of the saved entries.
func (p *planner) planStash(was, is []logEntry, kinds map[string]string) {
	has := func(list []logEntry, id string) bool {
		return slices.ContainsFunc(list, func(e logEntry) bool { return e.id == id })
	}
	newest := p.now.refs[stashRef].ID
	n := len(was) - 1
	if n >= 0 && was[n].rest == "" && was[n].id == newest && slices.Equal(was[:n], is) {
		return // then as now, the reference names what the reflog does not have
	}
	if n >= 0 && p.Mode != Back { // which leaves it without a line, as it was
		was[n] = p.logged(p.ctx, was[n])
	}
	list, returns := []logEntry{}, false
	for _, e := range was {
		there := has(is, e.id)
		switch {
		case has(list, e.id):
			continue
		case !there && kinds[e.id] != "commit":
			p.line(Line{What: Stash, Change: Unable, Name: p.logged(p.ctx, e).message(), To: e.id, Note: heldNowhere})
			continue
		case !there:
			p.line(Line{What: Stash, Change: Returns, Name: p.logged(p.ctx, e).message(), To: e.id})
			returns = true
		case e.rest == "":
			i := slices.IndexFunc(is, func(now logEntry) bool { return now.id == e.id })
			p.line(Line{What: Stash, Change: Goes, Name: is[i].message(), From: e.id})
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
		list = append(list, p.logged(p.ctx, logEntry{zero(newest), newest, ""}))
	}
	if len(list) > 0 && !returns && list[len(list)-1].id != newest { // a reference that is behind its reflog
		last := list[len(list)-1]
		p.line(Line{What: Stash, Change: Moves, Name: last.message(), From: newest, To: last.id})
		returns = true
	}
	if newest != "" && p.Mode != Missing && !has(list, newest) && !has(is, newest) { // the reference alone has it
		p.line(Line{What: Stash, Change: Goes, Name: p.logged(p.ctx, logEntry{zero(newest), newest, ""}).message(), From: newest})
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
