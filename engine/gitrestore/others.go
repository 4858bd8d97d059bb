package gitrestore

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/engine/gitprogram"
	"github.com/rewind-cli/rewind/engine/gitrepo"
)

// other is a worktree of the repository that is there now and is not the target.
type other struct {
	name   string // below worktrees/, "" for the main one
	gitDir string
	place  string // its directory
}

// others are the other worktrees whose directories are there.
func (p *Plan) others() (list []other) {
	common := p.target.CommonDir
	if main := gitrepo.OpenModule(common); p.target.linked() && !main.Bare() {
		place := main.WorkTree
		if place == "" {
			place = filepath.Dir(common)
		}
		list = append(list, other{"", common, place})
	}
	names, _ := os.ReadDir(filepath.Join(common, "worktrees")) // most have none
	for _, name := range names {
		gitDir := filepath.Join(common, "worktrees", name.Name())
		if file := worktreePlace(gitDir, gitDir); gitDir != p.target.GitDir && file != "" {
			if _, err := os.Lstat(file); err == nil {
				list = append(list, other{name.Name(), gitDir, filepath.Dir(file)})
			}
		}
	}
	return list
}

// lsFilesOf lists the index of another worktree.
func (p *planner) lsFilesOf(w other) ([]staged, error) {
	r := p.repository(true)
	r.GitDir = w.gitDir
	list, err := listIndex(p.ctx, r, filepath.Join(w.gitDir, "index"))
	if errors.As(err, new(*gitprogram.FailedError)) { // a damaged one says nothing of what is staged
		return nil, nil
	}
	return list, err
}

// planOthers names what the other worktrees have of their own that is not as it was: a restore moves that of the target alone.
func (p *planner) planOthers() error {
	for _, w := range p.others() {
		dir, differ := p.source.Dir, []string{}
		if w.name != "" {
			dir = filepath.Join(dir, "worktrees", w.name)
		}
		was, err := gitrepo.Open(dir, p.source.Dir).HeadRef()
		if err != nil || w.name == p.target.worktree() {
			continue // it was made since
		}
		if is, err := gitrepo.Open(w.gitDir, p.target.CommonDir).HeadRef(); err != nil || is != was {
			differ = append(differ, "its HEAD")
		}
		then, err := p.lsFiles(p.ctx, p.source.Indexes[w.name])
		if err != nil {
			return err
		}
		if p.source.Indexes[w.name] == "" {
			then = nil
		}
		now, err := p.lsFilesOf(w)
		if err != nil {
			return err
		}
		if !slices.Equal(then, now) {
			differ = append(differ, "its index")
		}
		atWorkThen, atWorkNow := inProgress(dir), inProgress(w.gitDir)
		for _, name := range slices.Concat(atWorkThen, atWorkNow) {
			if slices.Contains(atWorkThen, name) != slices.Contains(atWorkNow, name) {
				differ = append(differ, "the "+name+" in progress there")
			}
		}
		if n := len(differ) - 1; n > 0 {
			differ = []string{strings.Join(differ[:n], ", ") + " and " + differ[n]}
		}
		if len(differ) > 0 {
			p.line(Line{What: Worktree, Change: Stays, Name: w.place,
				Note: "What is not as it was there: " + differ[0] + ". A restore moves those of its own worktree alone."})
		}
	}
	return nil
}
