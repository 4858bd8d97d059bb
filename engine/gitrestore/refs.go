package gitrestore

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/gitrepo"
)

const stashRef = "refs/stash"

// refChange is one line of a transaction. It holds only while the reference is old ("": not there); new is "" for a deletion.
type refChange struct {
	name, new, old string
	self           bool // the symbolic reference itself is meant, not what it names
}

// differing are references of which the saved value is another than the present one.
type differing struct {
	back, differ, gone []string
	tips               []tip
}

// tip is a commit that no reference names, and that a HEAD or a program at work did.
type tip struct{ name, as, id string }

// compareRefs sorts the references.
func (p *planner) compareRefs() (d differing) {
	for _, name := range sorted(p.saved.refs) {
		was := p.saved.refs[name]
		is, there := p.now.refs[name]
		switch {
		case name == stashRef, p.Mode == Missing && gitrepo.OwnRef(name), was == gitrepo.Ref{}, there && is == was:
		case !validRef(name) || was.Target != "" && !validRef(was.Target):
			p.line(Line{What: Ref, Change: Unable, Name: name, To: text(was), Note: "Git does not take such a name."})
		case !there:
			d.back = append(d.back, name)
		default:
			d.differ = append(d.differ, name)
		}
	}
	if p.Mode != Missing {
		for _, name := range sorted(p.now.refs) {
			kept := strings.HasPrefix(name, "refs/heads/rewind/"+p.label+"/") && strings.HasSuffix(name, keptSuffix)
			if _, was := p.saved.refs[name]; !was && name != stashRef && !kept {
				d.gone = append(d.gone, name)
			}
		}
	}
	d.tips = p.tips()
	return d
}

// text is a reference's value in a line.
func text(r gitrepo.Ref) string { return max(r.ID, r.Target) }

// tips are those of the saved state: of the worktree's own HEAD in the mode Missing alone, since the other mode moves HEAD.
func (p *planner) tips() (list []tip) {
	dirs := map[string]string{"main-worktree": p.source.Dir}
	worktrees, _ := os.ReadDir(filepath.Join(p.source.Dir, "worktrees")) // most have none
	for _, w := range worktrees {
		dirs["worktrees/"+w.Name()] = filepath.Join(p.source.Dir, "worktrees", w.Name())
	}
	add := func(name, as, id string) {
		if (len(id) == 40 || len(id) == 64) && isHex(id) {
			list = append(list, tip{name, as, id})
		}
	}
	for _, name := range sorted(dirs) {
		dir, own := dirs[name], dirs[name] == p.saved.repo.GitDir
		below := "refs/rewind/" + p.label + "/" + refComponent(strings.TrimPrefix(name, "worktrees/")) + "/"
		as := below + "HEAD"
		if own {
			name, below, as = "", "refs/rewind/"+p.label+"/", "refs/heads/rewind/"+p.label+"/HEAD"
			if p.Mode != Missing {
				continue
			}
		} else {
			name += "/"
		}
		if head, err := gitrepo.Open(dir, p.source.Dir).HeadRef(); err == nil {
			add(name+"HEAD", as, head.ID)
		}
		for _, file := range []string{"MERGE_AUTOSTASH", "rebase-merge/autostash", "rebase-apply/autostash"} {
			if data, err := vfs.ReadRegular(filepath.Join(dir, filepath.FromSlash(file)), 0); err == nil {
				add(name+file, below+"autostash", strings.TrimSpace(string(data)))
			}
		}
	}
	return list
}

// heads are the HEADs of all worktrees but the target's that are there now: their ids, and by the branch that one is on, its directory.
func (p *planner) heads() (ids []string, branches map[string]string) {
	branches = map[string]string{}
	look := func(gitDir, place string) {
		if gitDir == p.target.GitDir {
			return
		}
		head, err := gitrepo.Open(gitDir, p.target.CommonDir).HeadRef()
		switch {
		case err != nil:
		case head.ID != "":
			ids = append(ids, head.ID)
		case head.Target != "":
			branches[head.Target] = place
		}
	}
	look(p.target.CommonDir, filepath.Dir(p.target.CommonDir))
	dir := filepath.Join(p.target.CommonDir, "worktrees")
	worktrees, _ := os.ReadDir(dir) // most have none
	for _, w := range worktrees {
		gitDir := filepath.Join(dir, w.Name())
		link, err := vfs.ReadRegular(filepath.Join(gitDir, "gitdir"), 0)
		place := strings.TrimSpace(string(link))
		if !filepath.IsAbs(place) {
			place = filepath.Join(gitDir, place)
		}
		if _, serr := os.Lstat(place); err == nil && serr == nil {
			look(gitDir, filepath.Dir(place))
		}
	}
	return ids, branches
}

// planRefs decides what happens to each reference; kinds are those of the objects in question.
func (p *planner) planRefs(d differing, kinds map[string]string) error {
	n := newNames(p.now.refs)
	n.file = p.inTheWay
	elsewhere, checkedOut := p.heads()
	have := p.have(elsewhere)
	if p.Mode != Missing {
		have = p.haveThen(elsewhere, kinds)
	}
	var tips []string
	for _, t := range d.tips {
		tips = append(tips, t.id)
	}
	missing := func(what What, name, id string) bool {
		note := ""
		switch {
		case kinds[id] == "":
			note = heldNowhere
		case strings.HasPrefix(name, "refs/heads/") && kinds[id] != "commit":
			note = "It names no commit."
		}
		if note != "" {
			p.line(Line{What: what, Change: Unable, Name: name, To: id, Note: note})
		}
		return note != ""
	}

	lost := map[string]bool{}
	if len(d.gone) > 0 {
		var err error
		if lost, err = p.reached(p.ctx, tips, have, false); err != nil {
			return err
		}
	}
	again := map[string]bool{} // what an earlier restore has put beside a name that a file still takes
	for _, name := range slices.Concat(d.back, d.differ) {
		id := p.saved.refs[name].ID
		if p.Mode == Missing || id == "" || p.inTheWay(name) == "" {
			continue
		}
		if as, there := n.free(beside(p.label, name), id); there {
			again[as], have = true, append(have, id)
		}
	}
	for _, name := range d.gone {
		if again[name] {
			continue
		}
		if id := p.now.refs[name].ID; lost[id] && slices.Contains(tips, id) && strings.Contains(name, "/rewind/"+p.label+"/") {
			have = append(have, id) // an earlier restore brought it back
			continue
		}
		if place := checkedOut[name]; place != "" {
			p.line(Line{What: Ref, Change: Stays, Name: name, From: text(p.now.refs[name]), Note: "It is checked out in " + place + "."})
			continue
		}
		is := p.now.refs[name]
		if is == (gitrepo.Ref{}) {
			p.line(Line{What: Ref, Change: Stays, Name: name, Note: "Its file is damaged, and git does not remove it."})
			continue
		}
		p.line(Line{What: Ref, Change: Goes, Name: name, From: text(is)})
		n.remove(name)
		p.rest = append(p.rest, refChange{name, "", is.ID, is.Target != ""})
	}
	var returning []string // ids that are reachable again afterwards
	put := func(l Line, c refChange) {
		p.line(l)
		n.add(c.name, gitrepo.Ref{ID: c.new})
		returning, p.wanted = append(returning, c.new), append(p.wanted, c.new)
		if p.Mode != Missing && newNames(p.now.refs).obstacle(c.name) != "" && c.old == "" {
			p.rest = append(p.rest, c) // where something goes first
		} else {
			p.first = append(p.first, c)
		}
	}
	aside := func(what What, name, as, from, id, note string) {
		as, there := n.free(as, id)
		if what == Ref {
			p.renamed[name] = as
		}
		l := Line{What: what, Change: ReturnsAs, Name: name, As: as, From: from, To: id, Note: note}
		l.Blocked = what == Ref && p.inTheWay(name) != ""
		switch {
		case !there:
			put(l, refChange{name: as, new: id})
		case l.Blocked:
			l.Change = Unable
			p.line(l)
		}
	}
	for _, name := range d.back {
		was := p.saved.refs[name]
		stop := n.obstacle(name)
		switch {
		case was.Target != "" && stop != "":
			p.line(Line{What: Ref, Change: Unable, Name: name, To: was.Target, Note: p.beside(name, stop)})
		case was.Target != "":
			n.add(name, was)
			p.symbolic[name] = was.Target
			p.line(Line{What: Ref, Change: Returns, Name: name, To: was.Target})
		case missing(Ref, name, was.ID):
		case stop != "":
			aside(Ref, name, beside(p.label, name), "", was.ID, p.beside(name, stop))
		default:
			put(Line{What: Ref, Change: Returns, Name: name, To: was.ID}, refChange{name: name, new: was.ID})
		}
	}
	d.differ = slices.DeleteFunc(d.differ, func(name string) bool {
		was := p.saved.refs[name]
		if p.now.refs[name] != (gitrepo.Ref{}) || was.ID == "" || !blank(refFile(p.now.repo, name)) || missing(Ref, name, was.ID) {
			return false
		}
		p.line(Line{What: Ref, Change: Returns, Name: name, To: was.ID, Note: "The file of the reference is empty, as a power cut leaves it."})
		p.mended = append(p.mended, refChange{name: name, new: was.ID})
		returning, p.wanted = append(returning, was.ID), append(p.wanted, was.ID)
		return true
	})
	if p.Mode != Missing {
		p.moveRefs(d.differ, checkedOut, missing, put, aside)
		d.differ = nil
	}

	var candidates []string
	for _, name := range d.differ {
		if id := p.saved.refs[name].ID; id != "" && kinds[id] == "commit" {
			candidates = append(candidates, id)
		}
	}
	lost, err := p.reached(p.ctx, append(candidates, tips...), append(have, returning...), false)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, id := range append(have, returning...) {
		known[id] = true
	}
	for _, name := range d.differ {
		was, is := p.saved.refs[name], p.now.refs[name]
		switch {
		case was.Target != "": // a name is not work
		case missing(Ref, name, was.ID):
		case lost[was.ID], kinds[was.ID] != "commit" && !known[was.ID]:
			aside(Ref, name, beside(p.label, name), text(is), was.ID, "")
		}
	}
	for _, t := range d.tips {
		if lost[t.id] && !known[t.id] && !missing(Head, t.name, t.id) {
			aside(Head, t.name, t.as, "", t.id, "")
			known[t.id] = true
		}
	}
	p.names = n
	return nil
}

// moveRefs moves references to what they were.
func (p *planner) moveRefs(list []string, checkedOut map[string]string, missing func(What, string, string) bool, put func(Line, refChange), aside func(what What, name, as, from, id, note string)) {
	for _, name := range list {
		was, is := p.saved.refs[name], p.now.refs[name]
		l := Line{What: Ref, Change: Moves, Name: name, From: text(is), To: text(was)}
		if place := checkedOut[name]; place != "" {
			l.Note = "It is checked out in " + place + ", whose files stay as they are."
		}
		file := p.inTheWay(name)
		switch {
		case was.Target != "" && file != "":
			p.line(Line{What: Ref, Change: Unable, Name: name, To: was.Target, Note: p.beside(name, name)})
		case was.Target != "":
			p.symbolic[name] = was.Target
			p.line(l)
		case missing(Ref, name, was.ID):
		case file != "":
			aside(Ref, name, beside(p.label, name), text(is), was.ID, p.beside(name, name))
		case is == gitrepo.Ref{}:
			p.line(Line{What: Ref, Change: Unable, Name: name, To: was.ID, Note: "The file of the reference is damaged. Remove it, and the reference returns."})
		default:
			put(l, refChange{name, was.ID, is.ID, is.Target != ""})
		}
	}
}

// haveThen are the ids that references and HEADs name when those have moved that can.
func (p *planner) haveThen(more []string, kinds map[string]string) (ids []string) {
	for _, name := range sorted(p.saved.refs) {
		was := p.saved.refs[name]
		is, there := p.now.refs[name]
		if was.ID != "" && (is == was || kinds[was.ID] != "" && (!there || is != gitrepo.Ref{})) {
			ids = append(ids, was.ID)
		}
	}
	if id := p.saved.head.ID; kinds[id] != "" {
		ids = append(ids, id)
	}
	return append(ids, more...)
}

// have are the ids that references and HEADs name now.
func (p *planner) have(more []string) (ids []string) {
	for _, name := range sorted(p.now.refs) {
		if id := p.now.refs[name].ID; id != "" {
			ids = append(ids, id)
		}
	}
	if p.now.head.ID != "" {
		ids = append(ids, p.now.head.ID)
	}
	return append(ids, more...)
}
