//go:build linux || darwin

package treeio

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/rootfs"
)

// BenchmarkSwitch goes back and forth between two trees that differ in 5,000
// files of 200 directories, against writing those files in a bare loop and one
// syncfs, in turn. The store is memory: this is the price of safety alone.
func BenchmarkSwitch(b *testing.B) {
	w := newWorld(b)
	const dirs, files = 200, 25
	make := func(tag string) {
		for d := range dirs {
			for f := range files {
				w.write(fmt.Sprintf("d%d/f%d", d, f), tag+string(bytes.Repeat([]byte("line of text\n"), 50+f*37)))
			}
		}
	}
	make("one")
	one := w.now()
	make("two")
	two := w.now()
	bare := filepath.Join(filepath.Dir(w.root), "bare")
	var ours, theirs, read, apply time.Duration
	i := 0
	for b.Loop() {
		target := one
		if i++; i%2 == 0 {
			target = two
		}
		b.StopTimer()
		current := w.now()
		time.Sleep(30 * time.Millisecond)
		f, err := rootfs.Open(w.root)
		must(b, err)
		must(b, f.Sync())
		b.StartTimer()
		start := time.Now()
		o := Options{FS: f, Source: w.memStore, Current: current, Target: target}
		p, err := NewPlan(b.Context(), o)
		must(b, err)
		must(b, p.Read(b.Context(), memSink{w.memStore}))
		read += time.Since(start)
		mid := time.Now()
		out, err := p.Apply(b.Context(), w.options())
		must(b, err)
		apply += time.Since(mid)
		ours += time.Since(start)
		b.StopTimer()
		if len(out.Skips) > 0 || len(out.Changes) != dirs*files {
			b.Fatalf("%d changes, skips %v", len(out.Changes), out.Skips)
		}
		f.Close()
		os.RemoveAll(bare)
		must(b, os.MkdirAll(bare, 0o755))
		for d := range dirs {
			must(b, os.Mkdir(fmt.Sprintf("%s/d%d", bare, d), 0o755))
		}
		f, err = rootfs.Open(bare)
		must(b, err)
		must(b, f.Sync())
		start = time.Now()
		for d := range dirs {
			for n := range files {
				data := bytes.Repeat([]byte("line of text\n"), 50+n*37)
				must(b, os.WriteFile(fmt.Sprintf("%s/d%d/f%d", bare, d, n), data, 0o644))
			}
		}
		must(b, f.Sync())
		theirs += time.Since(start)
		f.Close()
		b.StartTimer()
	}
	b.ReportMetric(float64(ours)/float64(theirs), "ratio")
	b.ReportMetric(float64(theirs.Milliseconds())/float64(i), "bare-ms")
	b.ReportMetric(float64(read.Milliseconds())/float64(i), "plan+read-ms")
	b.ReportMetric(float64(apply.Milliseconds())/float64(i), "apply-ms")
}
