// Command weaveloop does what blame and revert do to lines, without a store: it reads the versions
// of files from a directory, and merges texts. With "make" it makes them, so that git can have the same.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rewind-cli/rewind/engine/linediff"
	"github.com/rewind-cli/rewind/engine/weave"
)

const usage = `weaveloop make DIR FILES LINES VERSIONS   DIR/file-N/version-N, and DIR/import for git fast-import
weaveloop blame DIR                       of DIR/version-*: how many lines are whose
weaveloop revert DIR                      of DIR/file-*: without every second step
weaveloop texts DIR LINES BYTES           DIR/{rewritten,repetitive}.{base,ours,theirs}
weaveloop merge OURS BASE THEIRS          the merge, as git merge-file -p`

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "weaveloop:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	numbers := func(from int) []int {
		var out []int
		for _, a := range args[from:] {
			n, _ := strconv.Atoi(a)
			out = append(out, n)
		}
		return out
	}
	switch {
	case len(args) == 5 && args[0] == "make":
		n := numbers(2)
		return makeVersions(args[1], n[0], n[1], n[2])
	case len(args) == 2 && args[0] == "blame":
		return blame(args[1])
	case len(args) == 2 && args[0] == "revert":
		return revert(args[1])
	case len(args) == 4 && args[0] == "texts":
		n := numbers(2)
		return makeTexts(args[1], n[0], n[1])
	case len(args) == 4 && args[0] == "merge":
		return merge(args[1], args[2], args[3])
	}
	return fmt.Errorf("usage:\n%s", usage)
}

// makeVersions makes files whose every version differs from the one before in three places of a few lines.
func makeVersions(dir string, files, lines, versions int) error {
	var stream bytes.Buffer
	random := rand.New(rand.NewPCG(5, 6))
	texts := make([][]string, files)
	for v := range versions {
		fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter bench <bench@localhost> %d +0000\ndata 1\nv\n", 1_700_000_000+v)
		for f := range texts {
			if v == 0 {
				texts[f] = newLines(random, lines)
			} else {
				for range 3 {
					at := random.IntN(len(texts[f]) - 4)
					n := 1 + random.IntN(3)
					texts[f] = slices.Replace(texts[f], at, at+n, newLines(random, n)...)
				}
			}
			text := strings.Join(texts[f], "")
			name := filepath.Join(dir, fmt.Sprintf("file-%02d", f))
			if err := os.MkdirAll(name, 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(name, fmt.Sprintf("version-%04d", v)), []byte(text), 0o644); err != nil {
				return err
			}
			fmt.Fprintf(&stream, "M 644 inline file-%02d\ndata %d\n%s\n", f, len(text), text)
		}
	}
	return os.WriteFile(filepath.Join(dir, "import"), stream.Bytes(), 0o644)
}

func newLines(random *rand.Rand, n int) []string {
	var out []string
	for range n {
		switch random.IntN(8) {
		case 0:
			out = append(out, "\n")
		case 1:
			out = append(out, "\t}\n")
		default:
			out = append(out, fmt.Sprintf("\t%x := call(%x, \"%x\")\n", random.Uint32(), random.Uint32(), random.Uint64()))
		}
	}
	return out
}

func read(dir string) (*weave.Weave, error) {
	names, err := filepath.Glob(filepath.Join(dir, "version-*"))
	if err != nil || len(names) == 0 {
		return nil, fmt.Errorf("no versions in %s", dir)
	}
	var w *weave.Weave
	for step, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if lines := linediff.Lines(string(text)); w == nil {
			w = weave.New(lines)
		} else if err := w.Add(lines, step); err != nil {
			return nil, err
		}
	}
	return w, nil
}

func blame(dir string) error {
	w, err := read(dir)
	if err != nil {
		return err
	}
	whose := map[int]int{}
	for _, step := range w.Birth() {
		whose[step]++
	}
	fmt.Println(len(whose))
	return nil
}

func revert(dir string) error {
	dirs, err := filepath.Glob(filepath.Join(dir, "file-*"))
	if err != nil {
		return err
	}
	var conflicts atomic.Int64
	errs := make([]error, len(dirs))
	var next atomic.Int64
	var files sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		files.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(dirs)); i = next.Add(1) - 1 {
				w, err := read(dirs[i])
				if errs[i] = err; err == nil {
					conflicts.Add(int64(w.Without(func(step int) bool { return step%2 == 1 }, weave.Options{}).Conflicts()))
				}
			}
		})
	}
	files.Wait()
	fmt.Println(len(dirs), conflicts.Load())
	return errors.Join(errs...)
}

// makeTexts makes three texts that both sides rewrote, and three that say the same again and again.
func makeTexts(dir string, lines, size int) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	numbered := func(word string) string {
		var b strings.Builder
		for i := range lines {
			fmt.Fprintf(&b, "%s %d\n", word, i)
		}
		return b.String()
	}
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "\tline %d\n", i%7*i%5)
	}
	text := b.String()
	for name, text := range map[string]string{
		"rewritten.base": numbered("old"), "rewritten.ours": numbered("our"), "rewritten.theirs": numbered("their"),
		"repetitive.base": text, "repetitive.ours": "begin\n" + text[len(text)/3/9*9:], "repetitive.theirs": text + "end\n" + text[:len(text)/2/9*9],
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func merge(names ...string) error {
	var texts [3][]string
	for i, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		texts[i] = linediff.Lines(string(text))
	}
	ours, base, theirs := texts[0], texts[1], texts[2]
	var out strings.Builder
	for _, p := range linediff.Merge(base, ours, theirs) {
		lines := ours[p.Ours:p.OursEnd]
		switch p.Origin {
		case linediff.Theirs:
			lines = theirs[p.Theirs:p.TheirsEnd]
		case linediff.Conflict:
			lines = linediff.Markers(lines, base[p.Base:p.BaseEnd], theirs[p.Theirs:p.TheirsEnd], linediff.Labels{})
		}
		for _, l := range lines {
			out.WriteString(l)
		}
	}
	_, err := os.Stdout.WriteString(out.String())
	return err
}
