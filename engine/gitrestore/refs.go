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

// heads are what the other worktrees that are there now are on: the ids of detached HEADs, and by each branch that git does not check out
// a second time the directory.
func (p *planner) heads() (ids []string, branches map[string]string) {
	branches = map[string]string{}
	for _, w := range p.others() {
		if head, err := gitrepo.Open(w.gitDir, p.target.CommonDir).HeadRef(); err == nil && head.ID != "" {
			ids = append(ids, head.ID)
		} else if head.Target != "" {
			branches[head.Target] = w.place
		}
		for _, file := range []string{"rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START"} { // where HEAD goes back to
			if text, err := vfs.ReadRegular(filepath.Join(w.gitDir, filepath.FromSlash(file)), 0); err == nil {
				name := strings.TrimSpace(string(text))
				if !strings.HasPrefix(name, "refs/") {
					name = "refs/heads/" + name
				}
				branches[name] = w.place
			}
		}
	}
	return ids, branches
}

// haveThen are the ids that references and HEADs name when those have moved that can.
func (p *planner) haveThen(more []string, kinds map[string]string) (ids []string) {
	for _, name := range sorted(p.saved.refs) {
		was := p.saved.refs[name]
		is, there := p.now.refs[name]
		if p.checkedOut[name] != "" && is.ID != "" { // it stays
			was = is
		}
		if was.ID != "" && (is == was || kinds[was.ID] != "" && (!there || is != gitrepo.Ref{})) {
			ids = append(ids, was.ID)
		}
	}
	if head, _ := p.headThen(); kinds[head.ID] != "" {
		ids = append(ids, head.ID)
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
