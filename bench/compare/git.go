package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rewind-cli/rewind/bench/measure"
	"github.com/rewind-cli/rewind/bench/report"
	"github.com/rewind-cli/rewind/bench/workload"
)

// lostRefs is how many branches come back at once.
const lostRefs = 1000

// gitPart measures what git's own state costs. The floor of a save is one of the same tree without a repository, which looks
// neither at what git tracks nor at its state; that of a restore is git itself, which makes the same branches.
func (b *bench) gitPart() error {
	if !b.has["git"] {
		return nil
	}
	plain, err := b.tree("alone")
	if err != nil {
		return err
	}
	p, err := b.tree("repository")
	if err != nil {
		return err
	}
	refs := b.pick(10_000, 2000)
	if err := b.do(b.inRepository(p, "git init -q && git config gc.auto 0 && echo .agent/ >.git/info/exclude && git add . && git commit -qm one")); err != nil {
		return err
	}
	if err := b.do(b.inRepository(p, fmt.Sprintf("seq %d | sed 's,.*,create refs/heads/b& HEAD,' | git update-ref --stdin && git pack-refs --all", refs))); err != nil {
		return err
	}
	for _, p := range []*project{plain, p} {
		if err := b.ensureSaved(p); err != nil {
			return err
		}
	}
	title := fmt.Sprintf("%s, %s branches", p.title, report.Count(refs))
	floor := b.ours(plain, "save", "--quiet")
	floor.role, floor.Name = report.Floor, "without git"
	line, err := b.compare(comparison{what: "save in a git repository, nothing changed", tree: title, rounds: b.pick(40, 7), subjects: []*subject{floor, b.ours(p, "save", "--quiet")}})
	if err != nil {
		return err
	}
	budget(line, "≤ floor + 2 ms", overFloor(line, 1, 2))
	if err := b.saveAfterCommit(plain, p, title); err != nil {
		return err
	}
	return b.refsComeBack(p, title)
}

// inRepository runs a shell script in a tree that is a git repository.
func (b *bench) inRepository(p *project, script string) measure.Command {
	return measure.Command{Args: []string{"sh", "-ec", script}, Dir: p.root}
}

// saveAfterCommit: ten files have changed, and are committed where there is a repository.
func (b *bench) saveAfterCommit(plain, p *project, title string) error {
	const edited = 10
	rounds := b.pick(40, 7)
	each := func(round int) error {
		for _, p := range []*project{plain, p} {
			files, err := p.sources(edited * (rounds + 1))
			if err != nil {
				return err
			}
			for i, file := range files[edited*round : edited*(round+1)] {
				if err := workload.Edit(file, b.seed+uint64(edited*round+i)); err != nil {
					return err
				}
			}
		}
		return b.do(b.inRepository(p, "git commit -qam more"))
	}
	floor, ours := b.ours(plain, "save", "--quiet"), b.ours(p, "save", "--quiet")
	floor.role, floor.Name, floor.calls, ours.calls = report.Floor, "without git", false, false
	line, err := b.compare(comparison{what: "save after a commit of 10 files", tree: title, rounds: rounds, each: each, subjects: []*subject{floor, ours}})
	if err == nil {
		budget(line, "≤ floor + 5 ms", overFloor(line, 1, 5))
	}
	return err
}

// refsComeBack: branches were deleted, and return.
func (b *bench) refsComeBack(p *project, title string) error {
	if err := b.do(b.rewindCommand(p, "save", "--quiet", "--name", "branches")); err != nil {
		return err
	}
	var create, remove strings.Builder
	for i := range lostRefs {
		fmt.Fprintf(&create, "create refs/heads/b%d HEAD~1\n", i+1)
		fmt.Fprintf(&remove, "delete refs/heads/b%d\n", i+1)
	}
	lists := map[string]string{"create": create.String(), "delete": remove.String()}
	for name, text := range lists {
		if err := os.WriteFile(filepath.Join(b.dir, "tmp", name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	update := func(name string) measure.Command {
		return b.inRepository(p, "git update-ref --stdin <"+filepath.Join(b.dir, "tmp", name))
	}
	gone := func(int) error { return b.do(update("delete")) }
	floor := &subject{role: report.Floor, Turn: measure.Turn{Name: "git update-ref", Before: gone, Command: func(int) measure.Command { return update("create") }}}
	ours := b.ours(p, "restore", "branches", "--git-only", "--quiet", "--yes")
	ours.Before, ours.calls = gone, false
	line, err := b.compare(comparison{what: report.Count(lostRefs) + " deleted branches return", tree: title, rounds: b.pick(7, 3), subjects: []*subject{floor, ours}})
	if err == nil {
		budget(line, "≤ 1 s", 1000)
	}
	return err
}
