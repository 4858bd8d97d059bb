package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/rewind-cli/rewind/bench/measure"
	"github.com/rewind-cli/rewind/bench/report"
	"github.com/rewind-cli/rewind/bench/workload"
)

// dayPart is an agent's day: one save after each turn.
func (b *bench) dayPart() error {
	turns := b.pick(500, 60)
	day := workload.NewDay(b.seed, turns, b.pick(10_000, 2_000), b.pick(5_000, 500))
	p := &project{name: "day", root: filepath.Join(b.dir, "trees", "day"), beside: filepath.Join(b.dir, "beside", "day")}
	if err := os.MkdirAll(p.beside, 0o755); err != nil {
		return err
	}
	if err := day.Create(p.root); err != nil {
		return err
	}
	var err error
	if p.files, err = countFiles(p.root); err != nil {
		return err
	}
	p.title = fmt.Sprintf("%d turns over %s files", turns, report.Count(p.files))
	if err := b.ensureSaved(p); err != nil {
		return err
	}
	mine := func(p *project) (int64, error) { return measure.Allocated(p.store()) }
	ours := b.ours(p, "save", "--quiet")
	ours.calls, ours.disk = false, p.store()
	followed := []follow{{subject: ours, size: mine}}
	if b.has["git"] {
		if err := b.ensureShadow(p); err != nil {
			return err
		}
		git := b.shadowGit(p)
		git.calls, git.disk = false, p.in("shadow.git")
		followed = append(followed, follow{subject: git, size: func(p *project) (int64, error) { return measure.Allocated(p.in("shadow.git")) }})
	}
	c := comparison{what: "an agent's day", tree: p.title, rounds: turns, each: func(round int) error {
		if round%max(1, turns/50) == 0 {
			for i := range followed {
				if err := followed[i].look(p, round); err != nil {
					return err
				}
			}
		}
		turn, ok := day.Next()
		if !ok {
			return fmt.Errorf("the day has only %d turns", round)
		}
		return turn.Apply(p.root)
	}}
	for _, f := range followed {
		c.subjects = append(c.subjects, f.subject)
	}
	line, err := b.compare(c)
	if err != nil {
		return err
	}
	line.Notes = append(line.Notes, "one save per turn, whatever the turn did; disk is the store at the end of the day")
	b.dayCurves(followed)
	return nil
}

// follow keeps how a store grows.
type follow struct {
	subject *subject
	size    func(*project) (int64, error)
	points  [][2]float64
}

func (f *follow) look(p *project, round int) error {
	n, err := f.size(p)
	f.points = append(f.points, [2]float64{float64(round), float64(n) / 1e6})
	return err
}

func (b *bench) dayCurves(followed []follow) {
	times := &report.Curve{Name: "day-time", Title: "An agent's day: each save", X: "turn", Y: "ms"}
	sizes := &report.Curve{Name: "day-size", Title: "An agent's day: the store", X: "turn", Y: "MB allocated"}
	for _, f := range followed {
		var points [][2]float64
		for i, t := range f.subject.Times {
			points = append(points, [2]float64{float64(i), float64(report.ToMillis(t))})
		}
		times.Series = append(times.Series, report.Series{Name: f.subject.Name, Points: points})
		sizes.Series = append(sizes.Series, report.Series{Name: f.subject.Name, Points: f.points})
	}
	b.out.Curves = append(b.out.Curves, times, sizes)
}
