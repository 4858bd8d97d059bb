package lives

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// makeBelow gives the project a submodule and a repository of its own in a directory.
func (l *gitLife) makeBelow(format string) {
	lib := filepath.Join(filepath.Dir(l.top), "lib")
	l.must(filepath.Dir(l.top), "init", "-q", "-b", "main", format, lib)
	l.must(lib, "commit", "-q", "--allow-empty", "-m", "lib")
	l.must(l.top, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib, "mods/lib")
	l.must(l.top, "commit", "-qm", "submodule")
	l.must(l.top, "clone", "-q", lib, "nested")
	l.below = []string{"mods/lib", "nested"}
}

// in does something in a repository below the project, if that is there.
func (l *gitLife) in(sub string, do func()) {
	dir := l.dir
	defer func(below []string) { l.dir, l.below = dir, below }(l.below)
	l.dir, l.below = filepath.Join(dir, sub), nil
	if _, err := os.Lstat(filepath.Join(l.dir, ".git")); err != nil {
		return
	}
	if top, err := l.git(l.dir, "rev-parse", "--show-toplevel"); err == nil && strings.TrimSpace(top) == l.dir {
		do()
	}
}

// lookBelow asks git of each of them.
func (l *gitLife) lookBelow() map[string]gitTruth {
	all := map[string]gitTruth{}
	for _, sub := range l.below {
		l.in(sub, func() { all[sub] = l.look() })
	}
	return all
}

// sameBelow expects that each is as it was, or without exact that nothing of it is lost.
func (l *gitLife) sameBelow(was, is map[string]gitTruth, what string, exact bool) {
	l.Helper()
	for sub, then := range was {
		now, there := is[sub]
		if !there {
			l.Errorf("%s: %s is gone", what, sub)
			continue
		}
		l.in(sub, func() {
			if exact {
				l.same(then, now, what+" in "+sub, "refs", "stash", "head", "index")
				return
			}
			l.keeps(then.ids, what+" in "+sub)
			for line := range strings.Lines(then.said["stash"]) {
				if !strings.Contains(now.said["stash"], idPattern.FindString(line)) {
					l.Errorf("%s: the stash of %s lacks %s", what, sub, line)
				}
			}
		})
	}
}

// workBelow does something in one of them.
func (l *gitLife) workBelow() {
	r := l.r
	sub := l.below[r.IntN(len(l.below))]
	branch := []string{"one", "feat/two", "main"}[r.IntN(3)]
	n := r.IntN(11)
	l.in(sub, func() {
		switch n {
		case 0, 1, 2:
			l.write("f", fmt.Sprintln(r.Uint32()))
			l.try("add", "-A")
			l.try("commit", "-qm", "below")
		case 3:
			l.try("branch", branch)
		case 4:
			l.try("switch", "-q", "-f", branch)
		case 5:
			l.try("branch", "-qD", branch)
		case 6:
			l.write("f", fmt.Sprintln(r.Uint32()))
			l.try("stash", "push", "-q", "-u")
		case 7:
			l.try("stash", "drop", "-q")
		case 8:
			l.try("reset", "-q", "--hard", "HEAD~1")
		case 9:
			l.try("reflog", "expire", "--expire=now", "--all")
			l.try("gc", "-q", "--prune=now")
		case 10:
			if sub == "nested" {
				if err := os.RemoveAll(filepath.Join(l.dir, ".git")); err != nil {
					l.Fatal(err)
				}
			}
		}
	})
}
