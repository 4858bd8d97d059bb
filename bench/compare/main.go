// Command compare measures rewind beside its peers and the machine's floor and
// writes the tables. See package bench for its flow; -help for its flags.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/bench/measure"
	"github.com/rewind-cli/rewind/bench/report"
)

type options struct {
	short  bool
	json   bool
	only   string
	dir    string
	kernel string
	goroot string
	docs   string
	readme string
	rewind string
	before string
	verify int64 // bytes that verify reads
	seed   uint64
}

func main() {
	var o options
	flag.BoolVar(&o.short, "short", false, "small trees, few rounds: under three minutes")
	flag.BoolVar(&o.json, "json", false, "the result as JSON on standard output instead of tables")
	flag.StringVar(&o.only, "run", "", "only the parts whose name matches this expression: "+partNames())
	flag.StringVar(&o.dir, "dir", "", "where to work (default: a new directory in /var/tmp); needs about 25 GB, 2 GB with -short")
	flag.StringVar(&o.kernel, "kernel", "/usr/src/linux-source-6.1.tar.xz", "kernel source: an archive or a directory")
	flag.StringVar(&o.goroot, "goroot", "", "a Go tree to copy (default: what go env GOROOT says)")
	flag.StringVar(&o.docs, "docs", "", "directory for the full table, the result as JSON and the plots")
	flag.StringVar(&o.readme, "readme", "", "file that gets the short table")
	flag.StringVar(&o.rewind, "rewind", "", "binary to measure (default: built from this source)")
	flag.StringVar(&o.before, "before", "", "binary of an earlier release, whose start is measured beside")
	flag.Int64Var(&o.verify, "verify-bytes", 5_000_000_000, "how much verify --read-data reads, with -short 128 MiB")
	flag.Uint64Var(&o.seed, "seed", 1, "of the generated trees and changes")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := compare(ctx, o, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench: error:", err)
		stop()
		os.Exit(1)
	}
}

// part is one group of lines. The parts run in this order, in trees that those
// before may have left behind.
type part struct {
	name string
	run  func(*bench) error
}

var parts = []part{
	{"start", (*bench).startPart},
	{"unchanged", (*bench).unchangedParts},
	{"hook", (*bench).hookParts},
	{"edit", (*bench).editParts},
	{"first", (*bench).firstParts},
	{"restore", (*bench).restoreParts},
	{"switch", (*bench).switchPart},
	{"export", (*bench).exportPart},
	{"day", (*bench).dayPart},
	{"transcript", (*bench).transcriptPart},
	{"together", (*bench).togetherPart},
	{"verify", (*bench).verifyPart},
	{"history", (*bench).historyPart},
	{"search", (*bench).searchPart},
	{"lines", (*bench).linesPart},
	{"page", (*bench).pagePart},
	{"git", (*bench).gitPart},
	{"remote", (*bench).remotePart},
}

func partNames() string {
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
	}
	return strings.Join(names, ", ")
}

// compare runs all parts and writes the result.
func compare(ctx context.Context, o options, stdout, stderr io.Writer) error {
	only, err := regexp.Compile(o.only)
	if err != nil {
		return err
	}
	if o.dir == "" {
		if o.dir, err = os.MkdirTemp("/var/tmp", "rewind-bench-"); err != nil {
			return err
		}
	} else if o.dir, err = os.MkdirTemp(o.dir, "rewind-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(o.dir) // scratch: what stays is a nuisance, no loss
	start := time.Now()
	b := &bench{ctx: ctx, options: o, log: stderr, out: &report.Report{Started: start.UTC(), Machine: measure.Machine(o.dir), Command: command(o)}}
	if err := b.prepare(); err != nil {
		return err
	}
	for _, p := range parts {
		if !only.MatchString(p.name) {
			continue
		}
		began := time.Now()
		if err := p.run(b); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			b.note("%s: %v", p.name, err)
		}
		b.say("%s took %s", p.name, time.Since(began).Round(time.Second))
	}
	b.out.Took = report.ToMillis(time.Since(start))
	b.curves = len(b.out.Curves) > 0
	if b.docs != "" && b.only != "" {
		if err := b.intoWhole(); err != nil {
			return err
		}
	}
	return b.write(stdout)
}

// write hands the result out.
func (b *bench) write(stdout io.Writer) error {
	if b.json {
		e := json.NewEncoder(stdout)
		e.SetIndent("", "  ")
		if err := e.Encode(b.out); err != nil {
			return err
		}
	} else if _, err := io.WriteString(stdout, b.out.Page()); err != nil {
		return err
	}
	if b.docs != "" {
		if err := b.writeDocs(); err != nil {
			return err
		}
	}
	if b.readme != "" {
		return report.ReplaceIn(b.readme, b.section())
	}
	return nil
}

// intoWhole has the report of a run of some parts be that of the last whole run, with what these parts found.
func (b *bench) intoWhole() error {
	data, err := os.ReadFile(filepath.Join(b.docs, "result.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	whole := &report.Report{}
	if err == nil {
		err = json.Unmarshal(data, whole)
	}
	if err == nil {
		b.out.Into(whole)
		b.out = whole
	}
	return err
}

// writeDocs writes the full table, the data, and the plots. The plots are made
// by a module of its own, so that drawing weighs on nobody else: without it
// (no network for its libraries) the rest stands.
func (b *bench) writeDocs() error {
	if err := os.MkdirAll(b.docs, 0o755); err != nil {
		return err
	}
	data, err := json.MarshalIndent(b.out, "", " ")
	if err != nil {
		return err
	}
	file := filepath.Join(b.docs, "result.json")
	if err := os.WriteFile(file, append(data, '\n'), 0o644); err != nil {
		return err
	}
	if b.curves {
		if err := b.plot(file); err != nil {
			b.note("no plots: %v", err)
			b.out.Curves = nil
		}
	}
	return os.WriteFile(filepath.Join(b.docs, "README.md"), []byte(b.out.Page()), 0o644)
}

func (b *bench) plot(result string) error {
	result, err := filepath.Abs(result)
	if err != nil {
		return err
	}
	_, err = b.goTool("bench/plot", "run", ".", result, filepath.Dir(result))
	return err
}

// section is the text of the README.
func (b *bench) section() string {
	var s strings.Builder
	met, all := b.out.Kept()
	fmt.Fprintf(&s, "## Measured\n\n%s; load average %.1f to %.1f. Whole processes, page cache warm, medians; all of a line in turns, by `%s`. "+
		"The floor is the least that the job takes: a raw parallel walk, a bare loop of writes, tar and zstd. "+
		"%d of %d budgets are met; all lines, spread, memory, disk and the curves: [docs/bench](docs/bench/README.md).\n\n",
		b.out.Machine, b.out.LoadMin, b.out.LoadMax, b.out.Command, met, all)
	s.WriteString(b.out.Headlines())
	return s.String()
}

// command is what makes this result again.
func command(o options) string {
	var flags []string
	if o.short {
		flags = append(flags, "-short")
	}
	if o.only != "" {
		flags = append(flags, "-run="+o.only)
	}
	if len(flags) == 0 {
		return "make bench"
	}
	return "make bench BENCHFLAGS='" + strings.Join(flags, " ") + "'"
}
