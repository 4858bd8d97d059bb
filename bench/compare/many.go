package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/rewind-cli/rewind/bench/measure"
	"github.com/rewind-cli/rewind/bench/report"
	"github.com/rewind-cli/rewind/bench/workload"
)

// togetherPart: sixteen processes save at once, against the same one after
// another.
func (b *bench) togetherPart() error {
	p, err := b.tree("made10k")
	if err != nil {
		return err
	}
	if err := b.ensureSaved(p); err != nil {
		return err
	}
	files, err := p.sources(50)
	if err != nil {
		return err
	}
	edit := func(round int) error { return workload.Edit(files[round%len(files)], b.seed+5000+uint64(round)) }
	script := func(s string) func(int) measure.Command {
		return func(int) measure.Command {
			return measure.Command{Args: []string{"sh", "-ec", s, "sh", b.rewind}, Dir: p.root}
		}
	}
	once := &subject{role: report.Ours, Turn: measure.Turn{Name: "rewind, 16 at once", Before: edit,
		Command: script(`n=0; while [ $n -lt 16 ]; do "$1" save --quiet & pids="$pids $!"; n=$((n+1)); done; for p in $pids; do wait $p; done`)}}
	after := &subject{role: report.Floor, Turn: measure.Turn{Name: "rewind, one after another", Before: edit,
		Command: script(`n=0; while [ $n -lt 16 ]; do "$1" save --quiet; n=$((n+1)); done`)}}
	line, err := b.compare(comparison{what: "16 saves", tree: p.title, rounds: b.pick(7, 3), subjects: []*subject{once, after}})
	if err != nil {
		return err
	}
	budget(line, "≤ one after another", overFloor(line, 1, 0))
	return nil
}

// verifyPart reads everything: incompressible bytes, so that the store is as
// large as the tree.
func (b *bench) verifyPart() error {
	size := b.verify
	if b.short {
		size = min(size, 128<<20)
	}
	p := &project{name: "noise", root: filepath.Join(b.dir, "trees", "noise"), beside: filepath.Join(b.dir, "beside", "noise"), title: report.Bytes(size) + " of noise"}
	if err := workload.Noise(p.root, b.seed, size); err != nil {
		return err
	}
	defer os.RemoveAll(p.root) // scratch
	if err := b.ensureSaved(p); err != nil {
		return err
	}
	ours := b.ours(p, "verify", "--read-data", "--quiet")
	ours.calls = false
	hash := &subject{role: report.Floor, Turn: measure.Turn{Name: "BLAKE3 of the packs", Command: func(int) measure.Command {
		return measure.Command{Args: []string{b.program("hashloop"), filepath.Join(p.store(), "objects")}}
	}}}
	line, err := b.compare(comparison{what: "verify --read-data", tree: p.title, rounds: 3, subjects: []*subject{hash, ours}})
	if err != nil {
		return err
	}
	for _, s := range line.Subjects {
		if s.Median > 0 {
			line.Notes = append(line.Notes, fmt.Sprintf("%s: %.0f MB/s", s.Name, float64(size)/1e3/float64(s.Median)))
		}
	}
	return nil
}

// historyPart measures the everyday commands with more and more checkpoints
// behind them.
func (b *bench) historyPart() error {
	points := []int{100, 1_000, 10_000, 100_000}
	if b.short {
		points = []int{100, 1_000, 3_000}
	}
	p := &project{name: "history", root: filepath.Join(b.dir, "trees", "history"), beside: filepath.Join(b.dir, "beside", "history")}
	shape := workload.Shape{Files: 200, PerDir: 5, MeanSize: 6 << 10}
	if _, err := workload.Make(p.root, b.seed, shape); err != nil {
		return err
	}
	if err := b.ensureSaved(p); err != nil {
		return err
	}
	h := &history{bench: b, p: p, shape: shape, first: map[string]report.Millis{},
		size: report.Series{Name: "rewind"}, curves: map[string]*report.Series{}}
	behind := 1
	for i, n := range points {
		if err := b.do(measure.Command{Args: []string{b.program("history"), "-seed", fmt.Sprint(b.seed), p.root, strconv.Itoa(behind), strconv.Itoa(n)}}); err != nil {
			return err
		}
		b.say("%s checkpoints are there", report.Count(n))
		behind = n
		if err := h.measure(n, i == len(points)-1); err != nil {
			return err
		}
		if n == 10_000 || b.short && n == 3_000 {
			if err := h.gc(n); err != nil {
				return err
			}
		}
	}
	h.draw()
	return nil
}

// history is what historyPart finds.
type history struct {
	*bench
	p      *project
	shape  workload.Shape
	first  map[string]report.Millis // with the fewest checkpoints
	size   report.Series
	curves map[string]*report.Series
	order  []string
}

// measure the commands with n checkpoints there. last adds the budgets.
func (h *history) measure(n int, last bool) error {
	bytes, err := measure.Allocated(h.p.store())
	if err != nil {
		return err
	}
	h.size.Points = append(h.size.Points, [2]float64{float64(n), float64(bytes) / 1e6})
	tree := report.Count(n) + " checkpoints"
	fold := h.ours(h.p, "list", "--quiet")
	line, err := h.compare(comparison{what: "first list after that many saves", tree: tree, rounds: 1, subjects: []*subject{fold}})
	if err != nil {
		return err
	}
	line.Detail = true
	edit := func(round int) error {
		return workload.Edit(filepath.Join(h.p.root, h.shape.Path(150)), h.seed+uint64(n+round))
	}
	old := strconv.Itoa(n / 2)
	var newest report.Millis
	for _, c := range []struct {
		what   string
		before func(int) error
		arg    []string
	}{
		{"save", edit, []string{"save", "--quiet"}},
		{"list", nil, []string{"list"}},
		{"show", nil, []string{"show", "last"}},
		{"show an old one", nil, []string{"show", old}},
		{"diff", nil, []string{"diff", "2", "1"}},
		{"diff an old one", nil, []string{"diff", old, "1"}},
		{"restore", edit, []string{"restore", "2", "--quiet", "--yes"}},
		{"cat the newest version", nil, []string{"cat", "1", h.shape.Path(0)}},
		{"cat the oldest version", nil, []string{"cat", strconv.Itoa(n), h.shape.Path(0)}},
	} {
		s := h.ours(h.p, c.arg...)
		s.Before = c.before
		line, err := h.compare(comparison{what: c.what, tree: tree, rounds: h.pick(11, 7), subjects: []*subject{s}})
		if err != nil {
			return err
		}
		line.Detail = !last
		got := line.Subjects[0].Median
		if h.curves[c.what] == nil {
			h.curves[c.what] = &report.Series{Name: c.what}
			h.order = append(h.order, c.what)
			h.first[c.what] = got
		}
		h.curves[c.what].Points = append(h.curves[c.what].Points, [2]float64{float64(n), float64(got)})
		if last {
			budget(line, "as with 100, + 20 %", 1.2*h.first[c.what])
			if c.what == "cat the newest version" {
				newest = got
			}
			if c.what == "cat the oldest version" {
				budget(line, "≤ 2 × the newest", 2*newest)
			}
		}
	}
	return nil
}

// gc collects half of n checkpoints, in a copy.
func (h *history) gc(n int) error {
	q := &project{name: "collected", root: filepath.Join(h.dir, "trees", "collected"), title: report.Count(n) + " checkpoints, half of them kept", saved: true}
	if err := h.copyTree(h.p.root, q.root); err != nil {
		return err
	}
	ours := h.ours(q, "gc", "--keep", strconv.Itoa(n/2), "--quiet")
	ours.calls, ours.disk = false, q.store()
	copied := &subject{role: report.Floor, Turn: measure.Turn{Name: "copying the store", Command: func(int) measure.Command {
		return measure.Command{Args: []string{"cp", "-r", q.store(), filepath.Join(h.dir, "trees", "copied")}}
	}}}
	_, err := h.compare(comparison{what: "gc", tree: q.title, rounds: 1, subjects: []*subject{copied, ours}})
	return err
}

func (h *history) draw() {
	times := &report.Curve{Name: "history-time", Title: "Commands with many checkpoints behind them", X: "checkpoints", Y: "ms", LogX: true}
	for _, what := range h.order {
		times.Series = append(times.Series, *h.curves[what])
	}
	sizes := &report.Curve{Name: "history-size", Title: "The store, one edit per checkpoint", X: "checkpoints", Y: "MB allocated", LogX: true, Series: []report.Series{h.size}}
	h.out.Curves = append(h.out.Curves, times, sizes)
}
