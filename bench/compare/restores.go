package main

import (
	"path/filepath"

	"github.com/rewind-cli/rewind/bench/measure"
	"github.com/rewind-cli/rewind/bench/report"
	"github.com/rewind-cli/rewind/bench/workload"
)

func (b *bench) firstParts() error {
	names := []string{"goroot", "kernel"}
	if b.short {
		names = names[:1]
	}
	return b.forTrees(names, b.first)
}

// first: the first save of a tree, then its size, then gc and its size again.
func (b *bench) first(p *project) error {
	ours := b.ours(p, "save", "--quiet")
	ours.calls, ours.disk = false, p.store()
	ours.Before = func(int) error { return b.emptyStore(p) }
	p.saved = true
	var restic, old *subject
	if !b.short {
		restic, old = b.restic(p, 1, true), b.tarball(p, 1)
	}
	line, err := b.compare(comparison{what: "first save", tree: p.title, rounds: b.pick(3, 2), subjects: []*subject{
		ours, b.emptyGit(p, 1), restic, b.borg(p, 1, true), old}})
	if err != nil {
		return err
	}
	var kept int64
	for _, s := range line.Subjects {
		if s.Role == report.Ours {
			kept = s.Disk
		}
	}
	if p.name == "kernel" {
		budget(line, "≤ 4.5 s", 4500)
		line.Budgets = append(line.Budgets,
			report.Budget{What: "store ≤ 250 MB", Got: float64(kept), Limit: 250e6, Unit: "bytes"},
			report.Budget{What: "memory ≤ 300 MB", Got: float64(ours.PeakRSS), Limit: 300e6, Unit: "bytes"})
	}
	gc := b.ours(p, "gc", "--quiet")
	gc.calls, gc.disk = false, p.store()
	line, err = b.compare(comparison{what: "gc after it", tree: p.title, rounds: 1, subjects: []*subject{gc}})
	if err == nil && p.name == "kernel" {
		line.Budgets = append(line.Budgets, report.Budget{What: "store after gc ≤ 210 MB", Got: float64(line.Subjects[0].Disk), Limit: 210e6, Unit: "bytes"})
	}
	return err
}

// emptyStore takes a store away, its second name too, and makes a new one.
func (b *bench) emptyStore(p *project) error {
	mirror := filepath.Join(b.dir, "home", ".rewind")
	if err := b.do(measure.Command{Args: []string{"rm", "-rf", p.store(), mirror}}); err != nil {
		return err
	}
	for _, q := range b.trees { // their stores are no longer known
		if q != nil && q != p && q.saved {
			if err := b.do(measure.Command{Args: []string{"rm", "-rf", q.store()}}); err != nil {
				return err
			}
			q.saved = false
		}
	}
	if err := b.do(b.rewindCommand(p, "init", "--quiet", "--no-save")); err != nil {
		return err
	}
	return b.do(measure.Command{Args: []string{"sync"}})
}

func (b *bench) restoreParts() error {
	names := []string{"goroot", "kernel"}
	if b.short {
		names = names[:1]
	}
	return b.forTrees(names, b.restoreOne)
}

// restoreOne: one file was changed; the whole tree is restored.
func (b *bench) restoreOne(p *project) error {
	if err := b.ensureSaved(p); err != nil {
		return err
	}
	if err := b.do(b.rewindCommand(p, "save", "--quiet", "--name", "good")); err != nil {
		return err
	}
	rounds := b.pick(15, 7)
	files, err := p.sources(rounds + 1)
	if err != nil {
		return err
	}
	spoil := func(round int) error {
		return workload.Edit(files[round%len(files)], b.seed+1000+uint64(round))
	}
	ours, walk, git := b.ours(p, "restore", "good", "--quiet", "--yes"), b.rawWalk(p), (*subject)(nil)
	walk.calls = false
	ours.Before = spoil
	if b.has["git"] {
		if err := b.ensureShadow(p); err != nil {
			return err
		}
		if err := b.do(b.gitScript(p, "shadow.git", gitSave+"\ngit update-ref refs/heads/good shadow")); err != nil {
			return err
		}
		git = &subject{role: report.Peer, calls: true, Turn: measure.Turn{Name: "shadow git", Before: spoil, Command: func(int) measure.Command {
			return b.gitScript(p, "shadow.git", gitSave+"\ngit restore --source=good .\ngit clean -fdq -e .agent")
		}}}
	}
	line, err := b.compare(comparison{what: "restore of one changed file", tree: p.title, rounds: rounds, subjects: []*subject{walk, ours, git}})
	if err != nil {
		return err
	}
	budget(line, "≤ 1.5 × floor + 15 ms", overFloor(line, 1.5, 15))
	return b.do(b.rewindCommand(p, "rename", "good", ""))
}
