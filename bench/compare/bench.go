package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/rewind-cli/rewind/bench/measure"
	"github.com/rewind-cli/rewind/bench/report"
)

// bench is one run: its directory, its programs, and what was found so far.
type bench struct {
	options
	ctx   context.Context
	log   io.Writer
	run   *measure.Runner
	out   *report.Report
	trees map[string]*project
	has   map[string]bool // programs that are installed

	curves bool // this run has some
}

// prepare builds the programs and looks for the peers.
func (b *bench) prepare() error {
	b.trees, b.has = map[string]*project{}, map[string]bool{}
	home := filepath.Join(b.dir, "home")
	for _, d := range []string{home, filepath.Join(b.dir, "bin"), filepath.Join(b.dir, "tmp")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	b.run = &measure.Runner{
		Launch: b.program("launch"),
		Tmp:    filepath.Join(b.dir, "tmp"),
		Env: []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "LC_ALL=C", "RESTIC_PASSWORD=bench", "KOPIA_PASSWORD=bench", "KOPIA_CHECK_FOR_UPDATES=false", "GIT_CONFIG_NOSYSTEM=1",
			"GIT_AUTHOR_NAME=bench", "GIT_AUTHOR_EMAIL=bench@localhost", "GIT_COMMITTER_NAME=bench", "GIT_COMMITTER_EMAIL=bench@localhost",
			"BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK=yes", "BORG_RELOCATED_REPO_ACCESS_IS_OK=yes"},
	}
	programs := []string{"./bench/rawwalk", "./bench/launch", "./bench/writeloop", "./bench/hashloop", "./bench/history", "./bench/mergeloop"}
	if b.rewind == "" {
		programs = append(programs, "./cli/rewind")
	}
	if _, err := b.goTool(".", append([]string{"build", "-tags", "nethttpomithttp2", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(b.dir, "bin") + "/"}, programs...)...); err != nil {
		return err
	}
	if b.rewind == "" {
		b.rewind = b.program("rewind")
	} else {
		var err error
		if b.rewind, err = filepath.Abs(b.rewind); err != nil {
			return err
		}
	}
	for _, tool := range [][]string{{"git", "--version"}, {"restic", "version"}, {"borg", "--version"}, {"tar", "--version"}, {"zstd", "--version"}, {"pigz", "--version"}, {"strace", "--version"}} {
		v := measure.Version(b.ctx, tool[0], tool[1:]...)
		if b.has[tool[0]] = v != ""; v == "" {
			b.note("%s is not installed: its numbers are left out", tool[0])
			continue
		}
		b.out.Tools = append(b.out.Tools, strings.Trim(v, "* "))
	}
	b.lookAtLoad()
	return nil
}

func (b *bench) program(name string) string { return filepath.Join(b.dir, "bin", name) }

// goTool runs the go command in a directory of this module.
func (b *bench) goTool(dir string, arg ...string) (string, error) {
	cmd := exec.CommandContext(b.ctx, "go", arg...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // all as make build does
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("go %s: %w: %s", strings.Join(arg, " "), err, strings.TrimSpace(complaints.String()))
	}
	return strings.TrimSpace(out.String()), nil
}

// note is kept in the report; say is for who waits.
func (b *bench) note(format string, a ...any) {
	b.out.Notes = append(b.out.Notes, fmt.Sprintf(format, a...))
	b.say(format, a...)
}

func (b *bench) say(format string, a ...any) {
	fmt.Fprintf(b.log, "bench: "+format+"\n", a...)
}

// lookAtLoad keeps the range of the load average and warns when others are at
// work: then the spread says more than the median.
func (b *bench) lookAtLoad() float64 {
	load, ok := measure.Load()
	if !ok {
		return 0
	}
	if b.out.LoadMax == 0 {
		b.out.LoadMin, b.out.LoadMax = load, load
		if load > 0.5*float64(runtime.NumCPU()) {
			b.note("the machine was busy when this began (load average %.1f on %d processors): look at the spread", load, runtime.NumCPU())
		}
	}
	b.out.LoadMin, b.out.LoadMax = min(b.out.LoadMin, load), max(b.out.LoadMax, load)
	return load
}

// subject is one program in a line.
type subject struct {
	role report.Role
	measure.Turn
	calls   bool             // count its system calls
	traffic *measure.Traffic // what its runs sent and received; nil: not counted
	disk    string           // directory whose allocated bytes are its cost; "": none
}

// comparison is one line to be measured.
type comparison struct {
	what, tree string
	rounds     int
	each       func(round int) error    // before each round; may be nil
	settle     func(*report.Line) error // after the last one; may be nil
	subjects   []*subject               // nil ones are peers that are not installed
}

// compare measures one line. System calls are counted last, in runs of their
// own: strace makes everything slow.
func (b *bench) compare(c comparison) (*report.Line, error) {
	line := &report.Line{What: c.what, Tree: c.tree, Load: b.lookAtLoad()}
	var turns []*measure.Turn
	var present []*subject
	for _, s := range c.subjects {
		if s != nil {
			turns, present = append(turns, &s.Turn), append(present, s)
		}
	}
	if err := b.run.Alternate(b.ctx, c.rounds, c.each, turns...); err != nil {
		return nil, err
	}
	for _, s := range present {
		line.Subjects = append(line.Subjects, b.row(s))
	}
	b.out.Lines = append(b.out.Lines, line)
	if c.settle != nil {
		if err := c.settle(line); err != nil {
			return nil, err
		}
	}
	for i, s := range present {
		b.count(c, s, line.Subjects[i])
		r := line.Subjects[i]
		b.say("%s, %s: %s: %s (%s to %s) %s", c.what, c.tree, r.Name, r.Median, r.Min, r.P90, r.Failed)
	}
	return line, nil
}

// row is what a subject's samples come to.
func (b *bench) row(s *subject) *report.Subject {
	r := &report.Subject{Name: s.Name, Role: s.role, PeakRSS: s.PeakRSS,
		Min: report.ToMillis(s.Times.Min()), Median: report.ToMillis(s.Times.Median()), P90: report.ToMillis(s.Times.P90())}
	if len(s.Times) >= 100 {
		r.P99 = report.ToMillis(s.Times.P99())
	}
	for _, t := range s.Times {
		r.Times = append(r.Times, report.ToMillis(t))
	}
	if s.Err != nil {
		r.Failed = s.Err.Error()
		return r
	}
	if n := float64(len(s.Times)); s.traffic != nil && n > 0 {
		r.Requests, r.Wire = new(float64(s.traffic.Requests.Load())/n), int64(float64(s.traffic.Bytes.Load())/n)
	}
	if s.disk != "" {
		n, err := measure.Allocated(s.disk)
		if err != nil {
			r.Failed = err.Error()
		}
		r.Disk = n
	}
	return r
}

// count fills in the system calls of one more run.
func (b *bench) count(c comparison, s *subject, r *report.Subject) {
	if !s.calls || !b.has["strace"] || s.Err != nil {
		return
	}
	for _, prepare := range []func(int) error{c.each, s.Before} {
		if prepare != nil {
			if err := prepare(c.rounds); err != nil {
				r.Failed = err.Error()
				return
			}
		}
	}
	if calls, ok := b.run.Calls(b.ctx, s.Command(c.rounds)); ok {
		r.Syscalls, r.Fsyncs = calls.Total, calls.Fsyncs
	}
}

// do runs something that is not measured.
func (b *bench) do(c measure.Command) error {
	_, err := b.run.Run(b.ctx, c)
	return err
}

// pick chooses by -short.
func (b *bench) pick(full, short int) int {
	if b.short {
		return short
	}
	return full
}

// budget adds a promise about the time of our own subject.
func budget(l *report.Line, what string, limit report.Millis) {
	if ours := l.Find(report.Ours); ours != nil && limit > 0 {
		l.Budgets = append(l.Budgets, report.Budget{What: what, Got: float64(ours.Median), Limit: float64(limit), Unit: "ms"})
	}
}

// overFloor is factor × the floor's time and some more; 0 without a floor.
func overFloor(l *report.Line, factor float64, more report.Millis) report.Millis {
	floor := l.Find(report.Floor)
	if floor == nil {
		return 0
	}
	return report.Millis(factor)*floor.Median + more
}

var errNoTree = errors.New("there is no such tree here")
