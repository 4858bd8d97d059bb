package gitrestore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rewind-cli/rewind/cas/vfs"
)

// planWorktree plans to register a linked worktree anew, whose own git directory or file .git is gone.
func (p *Plan) planWorktree() error {
	t := p.target
	if t.WorkTree == "" || filepath.Join(t.WorkTree, ".git") == t.GitDir {
		return nil
	}
	info, err := os.Lstat(filepath.Join(t.WorkTree, ".git"))
	switch {
	case err != nil && !vfs.IsMissing(err):
		return err
	case err == nil && info.IsDir():
		p.refuse("%s is a repository of its own now.", t.WorkTree)
		return nil
	}
	p.gitFile = err != nil
	_, err = os.Lstat(t.GitDir)
	switch {
	case err == nil && t.linked():
		if place := worktreePlace(t.GitDir, t.GitDir); place != "" && !samePlace(place, filepath.Join(t.WorkTree, ".git")) {
			p.refuse("The worktree's name %q is that of %s now.", t.worktree(), filepath.Dir(place))
			return nil
		}
	case err == nil:
	case !errors.Is(err, fs.ErrNotExist):
		return err
	default:
		if _, err := os.Lstat(filepath.Join(p.savedRepo().GitDir, "HEAD")); err != nil || !t.linked() {
			p.refuse("The saved state does not have the worktree %q.", t.worktree())
			return nil
		}
		p.worktree = true
	}
	switch note := "The worktree is registered anew, with its HEAD, its index and its reflog."; {
	case p.gitFile && !p.worktree:
		note = gitFileNote
		fallthrough
	case p.worktree:
		p.line(Line{What: Worktree, Change: Returns, Name: t.WorkTree, Note: note})
	}
	return nil
}

// goneWorktrees names the other linked worktrees of the saved state that are not registered any more, and plans to attach those that are.
func (p *Plan) goneWorktrees() {
	names, _ := os.ReadDir(filepath.Join(p.source.Dir, "worktrees")) // most have none
	for _, name := range names {
		gitDir := filepath.Join(p.target.CommonDir, "worktrees", name.Name())
		_, err := os.Lstat(gitDir)
		switch {
		case name.Name() == p.target.worktree():
			continue
		case err == nil:
			p.planGitFile(name.Name(), worktreePlace(gitDir, gitDir))
			continue
		}
		if place := worktreePlace(filepath.Join(p.source.Dir, "worktrees", name.Name()), gitDir); place != "" {
			p.line(Line{What: Worktree, Change: Unable, Name: filepath.Dir(place),
				Note: "Its commits and what was staged there return, and of its files those that this project captured; rewind rescue lists it if it had a store of its own."})
		}
	}
}

// planGitFile plans to write the file .git of a linked worktree below the work tree, which git has registered at that place: without
// the file, git takes its directory for a part of the main worktree, and what is committed there goes to the other branch.
func (p *Plan) planGitFile(name, file string) {
	dir := filepath.Dir(file)
	if p.Mode == Back || p.source.Unchecked || p.target.WorkTree == "" || filepath.Base(file) != ".git" ||
		!vfs.IsBelow(p.target.WorkTree, dir) || vfs.Within(p.target.CommonDir, dir) {
		return
	}
	_, err := os.Lstat(dir)
	comes := errors.Is(err, fs.ErrNotExist) && p.source.Comes != nil && p.source.Comes(dir)
	if !comes && !lacksGitFile(dir) {
		return
	}
	p.gitFiles = append(p.gitFiles, name)
	p.line(Line{What: Worktree, Change: Returns, Name: dir, Note: gitFileNote})
}

const gitFileNote = "The file .git, which names the git directory, is written anew."

// lacksGitFile reports whether a directory, to which no symbolic link leads, has nothing with the name .git.
func lacksGitFile(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return false
	}
	real, err := filepath.EvalSymlinks(dir)
	_, gone := os.Lstat(filepath.Join(dir, ".git"))
	return err == nil && real == dir && errors.Is(gone, fs.ErrNotExist)
}

// writeGitFiles writes those that planGitFile has planned, where the directory is there.
func (p *Plan) writeGitFiles() error {
	for _, name := range p.gitFiles {
		gitDir := filepath.Join(p.target.CommonDir, "worktrees", name)
		if file := worktreePlace(gitDir, gitDir); lacksGitFile(filepath.Dir(file)) {
			if err := writeGitFile(file, gitDir); err != nil {
				return err
			}
		}
	}
	return nil
}

// worktreePlace is the file .git of a linked worktree, "" if its git directory, which is read in a place that can be another one,
// does not say.
func worktreePlace(read, gitDir string) string {
	text, err := vfs.ReadRegular(filepath.Join(read, "gitdir"), 0)
	place := strings.TrimRight(string(text), "\r\n")
	if err != nil || place == "" {
		return ""
	}
	place = filepath.FromSlash(place)
	if !filepath.IsAbs(place) {
		place = filepath.Join(gitDir, place)
	}
	return place
}

// samePlace compares paths of which the last part may be missing.
func samePlace(a, b string) bool {
	real := func(path string) string {
		if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
			return filepath.Join(dir, filepath.Base(path))
		}
		return filepath.Clean(path)
	}
	return real(a) == real(b)
}

// applyWorktree builds a worktree's own git directory, and renames it into its place.
func (p *Plan) applyWorktree(ctx context.Context, w *work) error {
	if p.worktree {
		temp := w.temp()
		if err := os.Mkdir(temp, 0o777); err != nil {
			return err
		}
		if err := copyTree(ctx, p.savedRepo().GitDir, temp); err != nil {
			return err
		}
		files := map[string]string{"commondir": "../..", "gitdir": filepath.ToSlash(filepath.Join(p.target.WorkTree, ".git"))}
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(temp, name), []byte(text+"\n"), 0o644); err != nil {
				return err
			}
		}
		if index := p.source.Indexes[p.target.worktree()]; index != "" {
			if err := copyFile(index, filepath.Join(temp, "index"), 0o644); err != nil {
				return err
			}
		}
		if err := os.MkdirAll(filepath.Dir(p.target.GitDir), 0o777); err != nil {
			return err
		}
		if err := os.Rename(temp, p.target.GitDir); err != nil {
			return err
		}
		w.written = append(w.written, filepath.Join(p.target.GitDir, "HEAD"))
		if err := p.stepped("worktree is registered"); err != nil {
			return err
		}
	}
	if !p.gitFile {
		return nil
	}
	return p.writeGitFile()
}
