package inspect_test

import (
	"context"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/inspect"
)

// BenchmarkBlame: 1,000 lines, 100 versions with 10 changed lines each.
func BenchmarkBlame(b *testing.B) {
	l := newLab(b)
	l.Init()
	r := rand.New(rand.NewSource(1))
	lines := make([]string, 1000)
	for i := range lines {
		lines[i] = fmt.Sprintf("line %d %d\n", i, r.Int())
	}
	for v := range 100 {
		for range 10 {
			lines[r.Intn(len(lines))] = fmt.Sprintf("version %d %d\n", v, r.Int())
		}
		l.Write("f", strings.Join(lines, ""))
		l.Save()
	}
	p := l.Open()
	defer p.Close()
	for b.Loop() {
		if _, err := inspect.Blame(context.Background(), p, inspect.BlameOptions{Path: "f"}); err != nil {
			b.Fatal(err)
		}
	}
}
