package gitrestore

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/gitrepo"
)

// inTheWay is a file in the directory that has a reference's name, or in the place of a directory above it; "" for none: git removes such a
// directory only where nothing but directories is in it. References are not meant, unless they are damaged.
func (p *planner) inTheWay(name string) (found string) {
	for dir := range dirsOf(name) {
		if is, there := p.now.refs[dir]; there && is == (gitrepo.Ref{}) {
			return refFile(p.now.repo, dir)
		}
	}
	place := refFile(p.now.repo, name)
	if info, err := os.Lstat(place); err != nil || !info.IsDir() {
		return ""
	}
	_ = filepath.WalkDir(place, func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return nil
		}
		if rel, rerr := filepath.Rel(place, file); rerr == nil && err == nil {
			if is := p.now.refs[name+"/"+filepath.ToSlash(rel)]; is != (gitrepo.Ref{}) || p.left[file] {
				return nil
			}
		}
		found = file
		return fs.SkipAll
	})
	return found
}

// dropStrangers takes files from the references that git takes for none by their names, such as what a file manager leaves.
func (p *planner) dropStrangers() {
	for name, is := range p.now.refs {
		if validRef(name) {
			continue
		}
		if was, ok := p.saved.refs[name]; ok && was == is {
			delete(p.saved.refs, name)
		}
		delete(p.now.refs, name)
	}
}

// beside says why a reference cannot have its name: stop is another one, or its own where a file is in the way.
func (p *planner) beside(name, stop string) string {
	if file := p.inTheWay(name); file != "" {
		return file + " is in the way, and is no reference."
	}
	return "Its name cannot be used beside " + stop + "."
}

// movedLog is a reflog whose reference is gone, and that is in the way of another one. It gets another name: git takes what it
// names for reachable there as before.
type movedLog struct{ from, to string } // files

// planObstacles plans to move such reflogs, which stay where somebody removes the files of references.
func (p *planner) planObstacles() {
	var names []string
	for _, c := range slices.Concat(p.first, p.rest, p.mended) {
		if c.new != "" {
			names = append(names, c.name)
		}
	}
	for _, k := range p.kept {
		names = append(names, k.as)
	}
	for _, l := range p.logs {
		names = append(names, l.name)
	}
	if p.stash != nil {
		names = append(names, stashRef)
	}
	seen := map[string]bool{}
	for _, name := range append(names, sorted(p.symbolic)...) {
		if isHead(name) {
			continue
		}
		for _, of := range p.logsAt(name) {
			_, there := p.names.refs[of]
			if _, goes := p.now.refs[of]; there || goes || seen[of] { // git removes the reflog with its reference
				continue
			}
			seen[of] = true
			p.moveLog(of, name)
		}
	}
}

// logsAt are the names of the reflogs that are where a reference's is written: above it, or below its name.
func (p *planner) logsAt(name string) (list []string) {
	for dir := range dirsOf(name) {
		if info, err := os.Lstat(logFile(p.now.repo, dir)); err == nil && !info.IsDir() {
			list = append(list, dir)
		}
	}
	place := logFile(p.now.repo, name)
	if info, err := os.Lstat(place); err != nil || !info.IsDir() {
		return list
	}
	_ = filepath.WalkDir(place, func(file string, d fs.DirEntry, err error) error {
		if rel, rerr := filepath.Rel(place, file); err == nil && rerr == nil && !d.IsDir() {
			list = append(list, name+"/"+filepath.ToSlash(rel))
		}
		return nil
	})
	return list
}

func (p *planner) moveLog(name, blocked string) {
	as := "refs/rewind/" + p.label + "/reflogs/" + strings.TrimPrefix(name, "refs/")
	free := as
	for i := 2; ; i++ {
		if place := logFile(p.now.repo, free); canMove(logFile(p.now.repo, name), place) == nil {
			break
		}
		free = fmt.Sprintf("%s-%d", as, i)
	}
	list, _ := readLog(logFile(p.now.repo, name)) // it need not be a reflog
	p.moved = append(p.moved, movedLog{logFile(p.now.repo, name), logFile(p.now.repo, free)})
	p.line(Line{What: Reflog, Change: Moves, Name: name, As: free, Count: len(list), Note: "The reference is gone, and this is in the way of the reflog of " + blocked + "."})
}

// canMove: to a name that is free, or that has the same since an earlier restore.
func canMove(from, to string) error {
	if _, err := os.Lstat(to); vfs.IsMissing(err) {
		return nil
	}
	was, err := vfs.ReadRegular(from, 0)
	if err == nil {
		var is []byte
		if is, err = vfs.ReadRegular(to, 0); err == nil && !bytes.Equal(was, is) {
			err = &fs.PathError{Op: "rename", Path: to, Err: fs.ErrExist}
		}
	}
	return err
}

// applyMoved moves them. Whoever writes to one at the same time writes to the same file.
func (p *Plan) applyMoved(w *work) error {
	for _, m := range p.moved {
		if err := canMove(m.from, m.to); err != nil {
			return err
		}
		if err := rename(m.from, m.to); err != nil {
			return err
		}
		w.written = append(w.written, m.to)
		if err := p.stepped("reflog in the way"); err != nil {
			return err
		}
	}
	return nil
}
