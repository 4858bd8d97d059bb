package main

import (
	"path/filepath"

	"github.com/rewind-cli/rewind/bench/measure"
	"github.com/rewind-cli/rewind/bench/report"
)

// startPart measures what each command pays before it does anything.
func (b *bench) startPart() error {
	for _, build := range [][]string{{"bare"}, {"given", "-tags", "given"}} {
		args := append([]string{"build", "-trimpath", "-ldflags=-s -w", "-o", b.program(build[0])}, build[1:]...)
		if _, err := b.goTool(".", append(args, "./bench/bare")...); err != nil {
			return err
		}
	}
	version := func(name, program string, role report.Role) *subject {
		c := measure.Command{Args: []string{program, "--version"}}
		return &subject{role: role, Turn: measure.Turn{Name: name, Command: func(int) measure.Command { return c }}}
	}
	subjects := []*subject{version("bare Go program with flags", b.program("bare"), report.Floor), version("rewind --version", b.rewind, report.Ours),
		version("bare, with the packages of the store", b.program("given"), report.Peer)}
	if b.before != "" {
		before, err := filepath.Abs(b.before)
		if err != nil {
			return err
		}
		subjects = append(subjects, version("rewind --version, release before", before, report.Peer))
	}
	line, err := b.compare(comparison{what: "start of a command", tree: "no project", rounds: b.pick(400, 60), subjects: subjects})
	if err != nil {
		return err
	}
	budget(line, "≤ 1.3 × floor", overFloor(line, 1.3, 0))
	return nil
}
