package gitrestore

import (
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/engine/gitrepo"
)

// refPlan decides what happens to each reference. Its methods are called in the order of planRefs: a name that one takes or
// leaves is what the next ones find.
type refPlan struct {
	*planner
	names     *names            // those after the plan
	before    *names            // those of today
	kinds     map[string]string // the kinds of the objects in question; one that is held nowhere has none
	tips      []tip
	have      []string // ids that stay reachable
	returning []string // ids that are reachable again afterwards
}

// planRefs decides what happens to each reference; kinds are those of the objects in question.
func (p *planner) planRefs(d differing, kinds map[string]string) error {
	r := &refPlan{planner: p, names: newNames(p.now.refs), before: newNames(p.now.refs), kinds: kinds, tips: d.tips}
	r.names.file = p.inTheWay
	var elsewhere []string
	elsewhere, p.checkedOut = p.heads()
	if p.Mode == Missing {
		r.have = p.have(elsewhere)
	} else {
		r.have = p.haveThen(elsewhere, kinds)
	}
	if err := r.remove(d); err != nil {
		return err
	}
	r.bringBack(d.back)
	differ := r.mend(d.differ)
	if p.Mode != Missing {
		differ = r.move(differ)
	}
	err := r.keepBeside(differ)
	p.names, p.reachable = r.names, r.have
	return err
}

// tipIDs are the ids of the tips.
func (r *refPlan) tipIDs() (ids []string) {
	for _, t := range r.tips {
		ids = append(ids, t.id)
	}
	return ids
}

// remove plans the removal of the references that the saved state does not have.
func (r *refPlan) remove(d differing) error {
	lost, tips := map[string]bool{}, r.tipIDs()
	for _, name := range d.differ {
		if id := r.saved.refs[name].ID; id != "" && r.checkedOut[name] != "" {
			tips = append(tips, id)
		}
	}
	if len(d.gone) > 0 {
		var err error
		if lost, err = r.reached(r.ctx, tips, r.have, false); err != nil {
			return err
		}
	}
	again := map[string]bool{} // what an earlier restore has put beside a name that a file still takes
	for _, name := range slices.Concat(d.back, d.differ) {
		id := r.saved.refs[name].ID
		if r.Mode == Missing || id == "" || r.inTheWay(name) == "" {
			continue
		}
		if as, there := r.names.free(beside(r.label, name), id); there {
			again[as], r.have = true, append(r.have, id)
		}
	}
	for _, name := range d.gone {
		is := r.now.refs[name]
		switch {
		case again[name]:
		case lost[is.ID] && slices.Contains(tips, is.ID) && strings.Contains(name, "/rewind/"+r.label+"/"):
			r.have = append(r.have, is.ID) // an earlier restore brought it back
		case r.checkedOut[name] != "":
			r.line(Line{What: Ref, Change: Stays, Name: name, From: text(is), Note: checkedOutIn(r.checkedOut[name])})
		case is == gitrepo.Ref{}:
			r.line(Line{What: Ref, Change: Stays, Name: name, Note: "Its file is damaged, and git does not remove it."})
		default:
			r.line(Line{What: Ref, Change: Goes, Name: name, From: text(is)})
			r.names.remove(name)
			r.rest = append(r.rest, refChange{name, "", is.ID, is.Target != ""})
		}
	}
	return nil
}

// bringBack plans the return of the references that are not there.
func (r *refPlan) bringBack(list []string) {
	for _, name := range list {
		was := r.saved.refs[name]
		stop := r.names.obstacle(name)
		switch {
		case was.Target != "" && stop != "":
			r.line(Line{What: Ref, Change: Unable, Name: name, To: was.Target, Note: r.beside(name, stop)})
		case was.Target != "":
			r.names.add(name, was)
			r.symbolic[name] = was.Target
			r.line(Line{What: Ref, Change: Returns, Name: name, To: was.Target})
		case r.unable(Ref, name, was.ID):
		case stop != "":
			r.aside(Ref, name, beside(r.label, name), "", was.ID, r.beside(name, stop))
		default:
			r.put(Line{What: Ref, Change: Returns, Name: name, To: was.ID}, refChange{name: name, new: was.ID})
		}
	}
}

// mend plans the return of the references whose files are empty, and returns the other ones.
func (r *refPlan) mend(list []string) []string {
	return slices.DeleteFunc(list, func(name string) bool {
		was := r.saved.refs[name]
		if r.now.refs[name] != (gitrepo.Ref{}) || was.ID == "" || !blank(refFile(r.now.repo, name)) || r.unable(Ref, name, was.ID) {
			return false
		}
		r.line(Line{What: Ref, Change: Returns, Name: name, To: was.ID, Note: "The file of the reference is empty, as a power cut leaves it."})
		r.mended = append(r.mended, refChange{name: name, new: was.ID})
		r.returning, r.wanted = append(r.returning, was.ID), append(r.wanted, was.ID)
		return true
	})
}

// move plans that references are set to what they were, and returns those that stay: git's own commands move no branch under the files,
// the index and the merge in progress of another worktree, either.
func (r *refPlan) move(list []string) (stay []string) {
	for _, name := range list {
		was, is := r.saved.refs[name], r.now.refs[name]
		l := Line{What: Ref, Change: Moves, Name: name, From: text(is), To: text(was)}
		file := r.inTheWay(name)
		switch {
		case r.checkedOut[name] != "":
			l.Change, l.Note = Stays, checkedOutIn(r.checkedOut[name])
			r.line(l)
			stay = append(stay, name)
		case was.Target != "" && file != "":
			r.line(Line{What: Ref, Change: Unable, Name: name, To: was.Target, Note: r.beside(name, name)})
		case was.Target != "":
			r.symbolic[name] = was.Target
			r.line(l)
		case r.unable(Ref, name, was.ID):
		case file != "":
			r.aside(Ref, name, beside(r.label, name), text(is), was.ID, r.beside(name, name))
		case is == gitrepo.Ref{}:
			r.line(Line{What: Ref, Change: Unable, Name: name, To: was.ID, Note: "The file of the reference is damaged. Remove it, and the reference returns."})
		default:
			r.put(l, refChange{name, was.ID, is.ID, is.Target != ""})
		}
	}
	return stay
}

func checkedOutIn(place string) string { return "It is checked out in " + place + "." }

// keepBeside plans further names for what would be reachable by nothing: what references of the list were, and the tips.
func (r *refPlan) keepBeside(list []string) error {
	var candidates []string
	for _, name := range list {
		if id := r.saved.refs[name].ID; id != "" && r.kinds[id] == "commit" {
			candidates = append(candidates, id)
		}
	}
	have := slices.Concat(r.have, r.returning)
	lost, err := r.reached(r.ctx, append(candidates, r.tipIDs()...), have, false)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, id := range have {
		known[id] = true
	}
	for _, name := range list {
		was, is := r.saved.refs[name], r.now.refs[name]
		switch {
		case was.Target != "": // a name is not work
		case r.unable(Ref, name, was.ID):
		case lost[was.ID], r.kinds[was.ID] != "commit" && !known[was.ID]:
			r.aside(Ref, name, beside(r.label, name), text(is), was.ID, "")
		}
	}
	for _, t := range r.tips {
		if lost[t.id] && !known[t.id] && !r.unable(Head, t.name, t.id) {
			r.aside(Head, t.name, t.as, "", t.id, "")
			known[t.id] = true
		}
	}
	return nil
}

// unable reports whether an object cannot be what a name of git's names, and plans a line that says why.
func (r *refPlan) unable(what What, name, id string) bool {
	note := ""
	switch {
	case r.kinds[id] == "":
		note = heldNowhere
	case strings.HasPrefix(name, "refs/heads/") && r.kinds[id] != "commit":
		note = "It names no commit."
	}
	if note != "" {
		r.line(Line{What: what, Change: Unable, Name: name, To: id, Note: note})
	}
	return note != ""
}

// put plans a reference that is made or set.
func (r *refPlan) put(l Line, c refChange) {
	r.line(l)
	r.names.add(c.name, gitrepo.Ref{ID: c.new})
	r.returning, r.wanted = append(r.returning, c.new), append(r.wanted, c.new)
	if r.Mode != Missing && c.old == "" && r.before.obstacle(c.name) != "" {
		r.rest = append(r.rest, c) // where something goes first
	} else {
		r.first = append(r.first, c)
	}
}

// aside plans that an object returns under another name than it had; where that name has it already, nothing.
func (r *refPlan) aside(what What, name, as, from, id, note string) {
	as, there := r.names.free(as, id)
	if what == Ref {
		r.renamed[name] = as
	}
	l := Line{What: what, Change: ReturnsAs, Name: name, As: as, From: from, To: id, Note: note}
	l.Blocked = what == Ref && r.inTheWay(name) != ""
	switch {
	case !there:
		r.put(l, refChange{name: as, new: id})
	case l.Blocked:
		l.Change = Unable
		r.line(l)
	}
}
