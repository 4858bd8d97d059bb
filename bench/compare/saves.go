package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/rewind-cli/rewind/bench/measure"
	"github.com/rewind-cli/rewind/bench/report"
	"github.com/rewind-cli/rewind/bench/workload"
)

// forTrees calls f for the trees that are there, of these; one that is not has
// been said so. One that fails takes nothing from those after it.
func (b *bench) forTrees(names []string, f func(*project) error) error {
	var errs []error
	for _, name := range names {
		p, err := b.tree(name)
		if errors.Is(err, errNoTree) {
			continue
		}
		if err == nil {
			err = f(p)
		}
		if b.ctx.Err() != nil {
			return b.ctx.Err()
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

func (b *bench) savedTrees() []string {
	if b.short {
		return []string{"goroot", "made10k"}
	}
	return []string{"goroot", "kernel", "made10k", "made100k", "made500k", "wide"}
}

func (b *bench) unchangedParts() error {
	return b.forTrees(b.savedTrees(), func(p *project) error {
		if err := b.unchanged(p); err != nil || p.files < 90_000 {
			return err
		}
		delete(b.trees, p.name) // nobody else needs the large ones
		return b.do(measure.Command{Args: []string{"rm", "-rf", p.root, p.beside}})
	})
}

// unchanged: a save of a tree that is as it was.
func (b *bench) unchanged(p *project) error {
	if err := b.ensureSaved(p); err != nil {
		return err
	}
	huge := p.files > 200_000
	var git *subject
	if !huge {
		git = b.shadowGit(p)
	}
	if git != nil {
		if err := b.ensureShadow(p); err != nil {
			return err
		}
	}
	hook, err := b.unchangedHook(p)
	if err != nil {
		return err
	}
	subjects := []*subject{b.rawWalk(p), hook, b.ours(p, "save", "--quiet"), git}
	if p.name == "goroot" && !b.short {
		subjects = append(subjects, b.freshGit(p, 2), b.restic(p, 5, false), b.borg(p, 5, false), b.tarball(p, 1))
	}
	line, err := b.compare(comparison{what: "save, nothing changed", tree: p.title, rounds: b.pick(15, 7), subjects: subjects})
	if err != nil {
		return err
	}
	budget(line, "≤ 1.2 × floor + 5 ms", overFloor(line, 1.2, 5))
	if ours := line.Find(report.Ours); ours != nil {
		line.Budgets = append(line.Budgets, report.Budget{What: "memory ≤ 64 MB", Got: float64(ours.PeakRSS), Limit: 64e6, Unit: "bytes"})
	}
	return nil
}

func (b *bench) editParts() error {
	names := []string{"dirs300", "goroot", "wide", "kernel"}
	if b.short {
		names = names[:1]
	}
	return b.forTrees(names, b.edit)
}

// edit: a save after one line of one file has changed.
func (b *bench) edit(p *project) error {
	if err := b.ensureSaved(p); err != nil {
		return err
	}
	if b.has["git"] {
		if err := b.ensureShadow(p); err != nil {
			return err
		}
	}
	rounds := b.pick(200, 25)
	if p.name != "dirs300" { // the budget speaks of that one
		rounds = b.pick(40, 5)
	}
	files, err := p.sources(rounds)
	if err != nil {
		return err
	}
	before, err := measure.Allocated(p.store())
	if err != nil {
		return err
	}
	gitBefore, err := measure.Allocated(p.in("shadow.git"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	line, err := b.compare(comparison{what: "save after a one-line edit", tree: p.title, rounds: rounds,
		each:     func(round int) error { return workload.Edit(files[round%len(files)], b.seed+uint64(round)) },
		settle:   func(line *report.Line) error { return b.perEdit(p, line, rounds, before, gitBefore) },
		subjects: []*subject{b.rawWalk(p), b.ours(p, "save", "--quiet"), b.shadowGit(p)}})
	if err != nil {
		return err
	}
	budget(line, "≤ 1.2 × floor + 10 ms", overFloor(line, 1.2, 10))
	return nil
}

// perEdit fills in what each edit took on disk, as the mean.
func (b *bench) perEdit(p *project, line *report.Line, rounds int, before, gitBefore int64) error {
	for _, s := range line.Subjects {
		dir, was := p.store(), before
		switch s.Role {
		case report.Floor:
			continue
		case report.Peer:
			dir, was = p.in("shadow.git"), gitBefore
		}
		after, err := measure.Allocated(dir)
		if err != nil {
			return err
		}
		s.Disk = (after - was) / int64(rounds)
		if s.Role == report.Ours {
			line.Budgets = append(line.Budgets, report.Budget{What: "≤ 1 KB on disk per edit", Got: float64(s.Disk), Limit: 1000, Unit: "bytes"})
		}
	}
	line.Notes = append(line.Notes, "disk is what one edit took, the mean of all; one fsync is the budget")
	return nil
}
