package gitrestore

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cas/vfs"
)

// gitName is the file in it that names the locks which a git that changes references for this process may take, each with a NUL
// behind it. It is there while that git runs.
const gitName = "git"

const (
	gitTakes = time.Minute     // more than git needs for it
	gitEnds  = 2 * time.Second // a git whose parent was killed has ended by then, since it gets no input any more
)

// change runs git to change references. It runs on when ctx ends, since a git that is killed leaves its locks.
func (p *Plan) change(ctx context.Context, w *work, names []string, input []byte, args ...string) error {
	var text strings.Builder
	for _, dir := range []string{p.target.GitDir, p.target.CommonDir} {
		for _, name := range []string{"HEAD.lock", "packed-refs.lock", "packed-refs.new"} {
			text.WriteString(filepath.Join(dir, name) + "\x00")
		}
	}
	repo := p.repo()
	for _, name := range names {
		text.WriteString(refFile(repo, name) + ".lock\x00")
	}
	place := filepath.Join(w.dir, gitName)
	if err := os.WriteFile(place, []byte(text.String()), 0o600); err != nil {
		return err
	}
	_, err := p.git(context.WithoutCancel(ctx), false, input, args...)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() < 0 {
		return err // it was killed, and end removes what it has left
	}
	return errors.Join(err, os.Remove(place))
}

// gitLocks are the locks that such a git has left. One that was there before it, or came long after it began, is another's.
func gitLocks(dir string) (list []string, err error) {
	place := filepath.Join(dir, gitName)
	began, err := os.Lstat(place)
	if vfs.IsMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	text, err := vfs.ReadRegular(place, 0)
	names := strings.Split(string(text), "\x00")
	for _, file := range names[:len(names)-1] { // what is cut off at the end was not taken
		if info, err := os.Lstat(file); err == nil && info.Mode().IsRegular() && !info.ModTime().Before(began.ModTime()) && info.ModTime().Sub(began.ModTime()) < gitTakes {
			list = append(list, file)
		}
	}
	return list, err
}

// dropGitLocks removes them.
func dropGitLocks(dir string) error {
	list, err := gitLocks(dir)
	for _, file := range list {
		info, serr := os.Lstat(file)
		if serr != nil {
			continue
		}
		if age := time.Since(info.ModTime()); age >= 0 && age < gitEnds {
			time.Sleep(gitEnds - age)
		}
		if now, serr := os.Lstat(file); serr == nil && os.SameFile(info, now) {
			err = errors.Join(err, os.Remove(file))
		}
	}
	return err
}

// ClearUp removes what an Apply that was killed has left, for a plan that is not carried out. A git directory that was built anew and has
// the remains of the one before gets its name.
func (p *Plan) ClearUp() error {
	_, err := p.clearBuilds()
	return errors.Join(err, clearWork(p.target.CommonDir))
}

// refuseLocked refuses where git is at work on what would change.
func (p *planner) refuseLocked() {
	var files []string
	if len(p.first)+len(p.rest)+len(p.symbolic) > 0 || p.head != nil {
		files = append(files, filepath.Join(p.target.GitDir, "HEAD"), filepath.Join(p.target.CommonDir, "packed-refs"))
	}
	for _, c := range append(slices.Clone(p.first), p.rest...) {
		files = append(files, refFile(p.now.repo, c.name))
	}
	if p.index != nil {
		files = append(files, filepath.Join(p.target.GitDir, "index"))
	}
	for _, c := range p.mended {
		files = append(files, refFile(p.now.repo, c.name))
	}
	if p.stash != nil {
		files = append(files, refFile(p.now.repo, stashRef))
	}
	for _, l := range p.logs {
		files = append(files, refFile(p.now.repo, l.name))
	}
	for i := range files {
		files[i] += ".lock"
	}
	if len(p.rest) > 0 { // git writes what is left of the packed ones to it
		files = append(files, filepath.Join(p.target.CommonDir, "packed-refs.new"))
	}
	slices.Sort(files)
	for _, file := range slices.Compact(files) {
		if p.left[file] {
			continue
		}
		if _, err := os.Lstat(file); err == nil {
			p.refuse("Another git is at work, or was ended at work: %s is there. Wait for it, or remove that file if no git runs.", file)
		}
	}
}
