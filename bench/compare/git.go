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

// gitPart measures what git's own state costs. The floor of a hook and of a save is one of the same tree without a repository, which
// looks neither at what git tracks nor at its state; that of a restore is git itself, which makes the same branches.
func (b *bench) gitPart() error {
	if !b.has["git"] {
		return nil
	}
	plain, err := b.tree("alone")
	if err != nil {
		return err
	}
	if err := b.ensureSaved(plain); err != nil {
		return err
	}
	refs, size := b.pick(10_000, 2000), b.pick(3_000_000_000, 30_000_000)
	branches := fmt.Sprintf("seq %d | sed 's,.*,create refs/heads/b& HEAD,' | git update-ref --stdin", refs)
	for _, kind := range []struct{ tree, title, script string }{
		{"repository-large", report.Bytes(int64(size)) + " of objects", incompressible(size)},
		{"repository-loose", report.Count(refs) + " branches, each a file", branches},
		{"repository", report.Count(refs) + " branches, packed", branches + " && git pack-refs --all"},
	} {
		p, err := b.tree(kind.tree)
		if err != nil {
			return err
		}
		p.title += ", " + kind.title
		if err := b.do(b.inRepository(p, "git init -q && git config gc.auto 0 && echo .agent/ >.git/info/exclude && git add . && git commit -qm one\n"+kind.script)); err != nil {
			return err
		}
		if err := b.ensureSaved(p); err != nil {
			return err
		}
		if err := b.unchangedInRepository(plain, p); err != nil {
			return err
		}
		if err := b.saveAfterCommit(plain, p); err != nil {
			return err
		}
		if kind.tree == "repository" {
			return b.refsComeBack(p)
		}
	}
	return nil
}

// incompressible is a script that commits some large files of noise, of size bytes in all, which no work tree has.
func incompressible(size int) string {
	const files = 6
	return fmt.Sprintf(`for i in $(seq %d); do
		head -c %d /dev/urandom >.git/noise
		printf '100644 blob %%s\tnoise%%s\n' "$(git -c core.compression=0 hash-object -w --no-filters .git/noise)" $i
	done >.git/list
	git update-ref refs/heads/noise "$(git commit-tree -m noise "$(git mktree <.git/list)")"
	rm .git/noise .git/list`, files, size/files)
}

// unchangedInRepository: the hook at the end of a turn that changed nothing.
func (b *bench) unchangedInRepository(plain, p *project) error {
	floor, err := b.unchangedHook(plain)
	if floor == nil || err != nil {
		return err
	}
	ours, err := b.unchangedHook(p)
	if err != nil {
		return err
	}
	floor.role, floor.Name = report.Floor, "without git"
	for _, s := range []*subject{floor, ours} { // the first one registers the session
		if err := b.do(s.Command(0)); err != nil {
			return err
		}
	}
	line, err := b.compare(comparison{what: "hook in a git repository, nothing changed", tree: p.title, rounds: b.pick(60, 9), subjects: []*subject{floor, ours}})
	if err == nil {
		budget(line, "≤ floor + 2 ms", overFloor(line, 1, 2))
	}
	return err
}

// inRepository runs a shell script in a tree that is a git repository.
func (b *bench) inRepository(p *project, script string) measure.Command {
	return measure.Command{Args: []string{"sh", "-ec", script}, Dir: p.root}
}

// saveAfterCommit measures a save after ten files were edited and committed. Its floor is the same edit in a tree without a
// repository.
func (b *bench) saveAfterCommit(plain, p *project) error {
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
	line, err := b.compare(comparison{what: "save after a commit of 10 files", tree: p.title, rounds: rounds, each: each, subjects: []*subject{floor, ours}})
	if err != nil {
		return err
	}
	budget(line, "≤ floor + 5 ms", overFloor(line, 1, 5))
	held, err := measure.Alone(filepath.Join(b.dir, "home", ".rewind", "vault"), func(name string) bool {
		return strings.HasPrefix(name, "pack-") || len(name) == 38 && !strings.Contains(name, ".")
	})
	line.Budgets = append(line.Budgets, report.Budget{What: "held objects take 0 B while git has them", Got: float64(held), Unit: "bytes"})
	return err
}

// refsComeBack: branches were deleted, and return.
func (b *bench) refsComeBack(p *project) error {
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
	line, err := b.compare(comparison{what: report.Count(lostRefs) + " deleted branches return", tree: p.title, rounds: b.pick(7, 3), subjects: []*subject{floor, ours}})
	if err == nil {
		budget(line, "≤ 1 s", 1000)
		budget(line, "≤ 2 × git update-ref", overFloor(line, 2, 0))
	}
	return err
}
