package weave

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// versions are of a text of so many lines, each with three small edits.
func versions(lines, n int) [][]string {
	r := rand.New(rand.NewPCG(7, 8))
	write := func(n int) (out []string) {
		for range n {
			switch r.IntN(8) {
			case 0:
				out = append(out, "\n")
			case 1:
				out = append(out, "\t}\n")
			default:
				out = append(out, fmt.Sprintf("\t%x := call(%x, \"%x\")\n", r.Uint32(), r.Uint32(), r.Uint64()))
			}
		}
		return out
	}
	out := [][]string{write(lines)}
	for range n - 1 {
		next := slices.Clone(out[len(out)-1])
		for range 3 {
			at, k := r.IntN(len(next)-4), 1+r.IntN(3)
			next = slices.Replace(next, at, at+k, write(k)...)
		}
		out = append(out, next)
	}
	return out
}

func woven(versions [][]string) *Weave {
	w := New(versions[0])
	for i, v := range versions[1:] {
		w.Add(v, i)
	}
	return w
}

// BenchmarkBlame: budget 60 ms for 1,000 lines in 100 versions.
func BenchmarkBlame(b *testing.B) {
	for _, size := range []struct{ lines, versions int }{{1000, 100}, {10_000, 500}} {
		all := versions(size.lines, size.versions)
		b.Run(fmt.Sprintf("%dx%d", size.lines, size.versions), func(b *testing.B) {
			for b.Loop() {
				woven(all).Birth(nil)
			}
		})
	}
}

// BenchmarkWithout: of one file of 1,000 lines in 100 versions, every second step is taken out.
func BenchmarkWithout(b *testing.B) {
	w := woven(versions(1000, 100))
	for b.Loop() {
		w.Without(func(s int) bool { return s%2 == 0 }, Options{})
	}
}
