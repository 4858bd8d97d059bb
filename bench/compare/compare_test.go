package main

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/bench/measure"
	"github.com/rewind-cli/rewind/bench/report"
)

func tiny(t *testing.T) (*bench, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	b := &bench{ctx: context.Background(), log: &log, out: &report.Report{}, trees: map[string]*project{}, has: map[string]bool{},
		run: &measure.Runner{}, options: options{dir: t.TempDir(), kernel: filepath.Join(t.TempDir(), "nothing.tar.xz"), seed: 1}}
	return b, &log
}

func TestMissingKernelIsSaidAndLeftOut(t *testing.T) {
	b, log := tiny(t)
	for range 2 {
		if _, err := b.tree("kernel"); !errors.Is(err, errNoTree) {
			t.Fatalf("got %v", err)
		}
	}
	if n := strings.Count(log.String(), "no kernel source"); n != 1 || len(b.out.Notes) != 1 {
		t.Errorf("said %d times, noted %d times", n, len(b.out.Notes))
	}
	if err := b.forTrees([]string{"kernel"}, func(*project) error { return errors.New("it was asked for") }); err != nil {
		t.Error(err)
	}
}

func TestOneTreeThatFailsTakesNothingFromTheOthers(t *testing.T) {
	b, _ := tiny(t)
	b.trees["a"], b.trees["b"] = &project{name: "a"}, &project{name: "b"}
	var seen []string
	err := b.forTrees([]string{"a", "b"}, func(p *project) error {
		seen = append(seen, p.name)
		return errors.New("broken")
	})
	if len(seen) != 2 || err == nil || !strings.Contains(err.Error(), "a: broken") {
		t.Errorf("seen %v, %v", seen, err)
	}
}

func TestMissingPeersAreLeftOut(t *testing.T) {
	b, _ := tiny(t)
	p := &project{root: t.TempDir(), beside: t.TempDir()}
	if b.shadowGit(p) != nil || b.freshGit(p, 1) != nil || b.emptyGit(p, 1) != nil || b.restic(p, 1, true) != nil || b.borg(p, 1, true) != nil || b.tarball(p, 1) != nil {
		t.Error("a peer takes part that is not installed")
	}
	line, err := b.compare(comparison{what: "nothing", subjects: []*subject{nil, nil}})
	if err != nil || len(line.Subjects) != 0 {
		t.Errorf("%+v, %v", line, err)
	}
}

func TestBudgetsNeedTheirNumbers(t *testing.T) {
	line := &report.Line{Subjects: []*report.Subject{{Role: report.Ours, Times: []report.Millis{20}, Median: 20}}}
	budget(line, "≤ 1.2 × floor + 5 ms", overFloor(line, 1.2, 5))
	if len(line.Budgets) != 0 {
		t.Error("a budget without the floor that it is made of")
	}
	line.Subjects = append(line.Subjects, &report.Subject{Role: report.Floor, Times: []report.Millis{10}, Median: 10})
	budget(line, "≤ 1.2 × floor + 5 ms", overFloor(line, 1.2, 5))
	if len(line.Budgets) != 1 || line.Budgets[0].Limit != 17 || line.Budgets[0].Met() {
		t.Errorf("%+v", line.Budgets)
	}
}
