package main

import (
	"os"
	"path/filepath"

	"github.com/rewind-cli/rewind/bench/measure"
	"github.com/rewind-cli/rewind/bench/report"
)

// project is a tree with a store of each kind beside it or in it.
type project struct {
	name   string // as a directory
	title  string // "GOROOT, 15,036 files"
	root   string
	beside string // directory for the stores of others
	files  int
	saved  bool // rewind has a checkpoint
	shadow bool // so has the shadow git
}

func (p *project) store() string      { return filepath.Join(p.root, ".agent", "rewind") }
func (p *project) in(s string) string { return filepath.Join(p.beside, s) }

// rewindCommand is the real binary, in the tree.
func (b *bench) rewindCommand(p *project, arg ...string) measure.Command {
	return measure.Command{Args: append([]string{b.rewind}, arg...), Dir: p.root}
}

// ensureSaved makes the store and its first checkpoint, if there is none yet.
func (b *bench) ensureSaved(p *project) error {
	if p.saved {
		return nil
	}
	p.saved = true
	return b.do(b.rewindCommand(p, "init", "--quiet"))
}

func (b *bench) ours(p *project, arg ...string) *subject {
	return &subject{role: report.Ours, calls: true, Turn: measure.Turn{Name: "rewind",
		Command: func(int) measure.Command { return b.rewindCommand(p, arg...) }}}
}

// rawWalk is the floor of everything that must look at the tree.
func (b *bench) rawWalk(p *project) *subject {
	return &subject{role: report.Floor, calls: true, Turn: measure.Turn{Name: "raw walk",
		Command: func(int) measure.Command { return measure.Command{Args: []string{b.program("rawwalk"), p.root}} }}}
}

// gitScript runs a shell script with a repository that is not in the tree.
func (b *bench) gitScript(p *project, dir, script string) measure.Command {
	return measure.Command{Args: []string{"sh", "-ec", script}, Dir: p.root,
		Env: []string{"GIT_DIR=" + p.in(dir), "GIT_WORK_TREE=" + p.root}}
}

// A shadow checkpoint: index, tree, commit, and the ref that keeps it.
const (
	gitSave = `git add -A; t=$(git write-tree); c=$(git commit-tree -m x "$t"); git update-ref refs/heads/shadow "$c"`
	gitInit = `git init -q; git config gc.auto 0; git config core.excludesFile "$GIT_DIR/ignored"; echo .agent/ >"$GIT_DIR/ignored"`
)

func (b *bench) ensureShadow(p *project) error {
	if p.shadow {
		return nil
	}
	p.shadow = true
	return b.do(b.gitScript(p, "shadow.git", gitInit+"\n"+gitSave))
}

// shadowGit keeps its index, as the agents that are careful do.
func (b *bench) shadowGit(p *project) *subject {
	if !b.has["git"] {
		return nil
	}
	return &subject{role: report.Peer, calls: true, Turn: measure.Turn{Name: "shadow git", Command: func(int) measure.Command {
		return b.gitScript(p, "shadow.git", gitSave)
	}}}
}

// freshGit has an index of its own per checkpoint, as those do that must not
// disturb the person's.
func (b *bench) freshGit(p *project, rounds int) *subject {
	if !b.has["git"] {
		return nil
	}
	return &subject{role: report.Peer, Turn: measure.Turn{Name: "git, fresh index", Rounds: rounds,
		Before: func(int) error { return os.RemoveAll(p.in("shadow.git/fresh")) },
		Command: func(int) measure.Command {
			c := b.gitScript(p, "shadow.git", gitSave)
			c.Env = append(c.Env, "GIT_INDEX_FILE="+p.in("shadow.git/fresh"))
			return c
		}}}
}

// emptyGit begins with an empty repository each time.
func (b *bench) emptyGit(p *project, rounds int) *subject {
	if !b.has["git"] {
		return nil
	}
	return &subject{role: report.Peer, disk: p.in("first.git"), Turn: measure.Turn{Name: "git", Rounds: rounds,
		Before: func(int) error {
			if err := os.RemoveAll(p.in("first.git")); err != nil {
				return err
			}
			return b.do(b.gitScript(p, "first.git", gitInit))
		},
		Command: func(int) measure.Command { return b.gitScript(p, "first.git", gitSave) }}}
}

// restic and borg begin with an empty repository in round 0 of a first save,
// and add to it else.
func (b *bench) restic(p *project, rounds int, first bool) *subject {
	if !b.has["restic"] {
		return nil
	}
	dir := p.in("restic")
	return &subject{role: report.Peer, disk: onlyIf(first, dir), Turn: measure.Turn{Name: "restic", Rounds: rounds,
		Before: func(int) error {
			return b.repository(dir, first, measure.Command{Args: []string{"restic", "-q", "-r", dir, "init"}},
				measure.Command{Args: []string{"restic", "-q", "-r", dir, "backup", "--exclude", ".agent", "."}, Dir: p.root})
		},
		Command: func(int) measure.Command {
			return measure.Command{Args: []string{"restic", "-q", "-r", dir, "backup", "--exclude", ".agent", "."}, Dir: p.root}
		}}}
}

func (b *bench) borg(p *project, rounds int, first bool) *subject {
	if !b.has["borg"] {
		return nil
	}
	dir := p.in("borg")
	// Its own names for archives: a time with microseconds.
	create := measure.Command{Args: []string{"borg", "create", "--exclude", ".agent", dir + "::{now:%H%M%S.%f}", "."}, Dir: p.root}
	return &subject{role: report.Peer, disk: onlyIf(first, dir), Turn: measure.Turn{Name: "borg", Rounds: rounds,
		Before: func(int) error {
			return b.repository(dir, first, measure.Command{Args: []string{"borg", "init", "--encryption", "none", dir}}, create)
		},
		Command: func(int) measure.Command { return create }}}
}

func onlyIf(yes bool, s string) string {
	if yes {
		return s
	}
	return ""
}

// repository makes an empty one, or, where only the next backup is to be
// measured, one with a backup in it.
func (b *bench) repository(dir string, empty bool, init, backup measure.Command) error {
	if empty {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	} else if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := b.do(init); err != nil || empty {
		return err
	}
	return b.do(backup)
}

// tarball is the old way: the whole tree into an archive, each time.
func (b *bench) tarball(p *project, rounds int) *subject {
	if !b.has["tar"] {
		return nil
	}
	return &subject{role: report.Peer, disk: p.in("old"), Turn: measure.Turn{Name: "tar.gz", Rounds: rounds,
		Before: func(int) error {
			if err := os.RemoveAll(p.in("old")); err != nil {
				return err
			}
			return os.MkdirAll(p.in("old"), 0o755)
		},
		Command: func(int) measure.Command {
			return measure.Command{Args: []string{"tar", "-C", p.root, "--exclude", "./.agent", "-czf", p.in("old/checkpoint.tar.gz"), "."}}
		}}}
}
