package scan

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/ignore"
)

// The benchmarks run on the tree that REWIND_BENCH_TREE names, else on one of
// 5,000 files that they make. Run BenchmarkRawWalk and BenchmarkUnchanged
// together: their ratio is the budget.

func benchTree(b *testing.B) string {
	if dir := os.Getenv("REWIND_BENCH_TREE"); dir != "" {
		return dir
	}
	dir := b.TempDir()
	for i := range 250 {
		d := filepath.Join(dir, fmt.Sprintf("p%02d", i/25), fmt.Sprintf("d%02d", i%25))
		if err := os.MkdirAll(d, 0o755); err != nil {
			b.Fatal(err)
		}
		for j := range 20 {
			if err := os.WriteFile(filepath.Join(d, fmt.Sprintf("file%02d", j)), []byte("x"), 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	settle()
	return dir
}

// benchCache makes a stat cache of the tree beside nothing in it.
func benchCache(b *testing.B, dir string) (file string, o Options) {
	rules, err := ignore.Compile(ignore.Config{NoIgnore: os.Getenv("REWIND_BENCH_TREE") != ""})
	if err != nil {
		b.Fatal(err)
	}
	o = Options{Root: dir, Rules: rules, Sink: newMemory(), Start: time.Now(), Workers: 2}
	file = filepath.Join(b.TempDir(), "head")
	r, err := Run(context.Background(), o)
	if err != nil {
		b.Fatal(err)
	}
	if err := r.Publish(file, Stamp{}, nil); err != nil {
		b.Fatal(err)
	}
	return file, o
}

func BenchmarkUnchanged(b *testing.B) {
	dir := benchTree(b)
	file, o := benchCache(b, dir)
	for b.Loop() {
		h, err := LoadCache(file)
		if err != nil || h == nil {
			b.Fatal(err)
		}
		o.Cache = h
		r, err := Run(context.Background(), o)
		if err != nil || !r.Unchanged || r.top != nil {
			b.Fatal("not unchanged", err)
		}
	}
}

func BenchmarkLoadCache(b *testing.B) {
	file, _ := benchCache(b, benchTree(b))
	for b.Loop() {
		if h, err := LoadCache(file); err != nil || h == nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRedecide(b *testing.B) {
	file, o := benchCache(b, benchTree(b))
	rules, err := ignore.Compile(ignore.Config{Ignore: []string{"never-there"}})
	if err != nil {
		b.Fatal(err)
	}
	o.Rules = rules
	for b.Loop() {
		if o.Cache, err = LoadCache(file); err != nil {
			b.Fatal(err)
		}
		r, err := Run(context.Background(), o)
		if err != nil || !r.Unchanged {
			b.Fatal("not unchanged", err)
		}
	}
}
