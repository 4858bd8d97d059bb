package gitrestore

import (
	"os"
	"path/filepath"
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
