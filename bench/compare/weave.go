package main

import (
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/rewind-cli/rewind/bench/measure"
	"github.com/rewind-cli/rewind/bench/report"
)

// linesPart measures what blame and revert do to lines, without a store (bench/weaveloop): git blame and git merge-file
// on the same texts are the peers.
func (b *bench) linesPart() error {
	dir := filepath.Join(b.dir, "lines")
	loop := func(arg ...string) measure.Command {
		return measure.Command{Args: append([]string{b.program("weaveloop")}, arg...)}
	}
	ours := func(arg ...string) *subject {
		return &subject{role: report.Ours, Turn: measure.Turn{Name: "rewind's weave", Command: func(int) measure.Command { return loop(arg...) }}}
	}
	const lines, versions, files = 1000, 100, 20
	one, many, texts := filepath.Join(dir, "one"), filepath.Join(dir, "many"), filepath.Join(dir, "texts")
	for _, c := range []measure.Command{
		loop("make", one, "1", strconv.Itoa(lines), strconv.Itoa(versions)),
		loop("make", many, strconv.Itoa(files), strconv.Itoa(lines), strconv.Itoa(versions)),
		loop("texts", texts, "10000", strconv.Itoa(8<<20)),
	} {
		if err := b.do(c); err != nil {
			return err
		}
	}
	rounds := b.pick(21, 5)

	subjects := []*subject{ours("blame", filepath.Join(one, "file-00"))}
	if b.has["git"] {
		repository := filepath.Join(one, "git")
		script := fmt.Sprintf("git init -q %[1]s && git -C %[1]s symbolic-ref HEAD refs/heads/main && git -C %[1]s fast-import --quiet <%[2]s && git -C %[1]s reset -q --hard", repository, filepath.Join(one, "import"))
		if err := b.do(measure.Command{Args: []string{"sh", "-ec", script}}); err != nil {
			return err
		}
		subjects = append(subjects, &subject{role: report.Peer, Turn: measure.Turn{Name: "git blame", Command: func(int) measure.Command {
			return measure.Command{Args: []string{"git", "-C", repository, "blame", "file-00"}}
		}}})
	}
	title := fmt.Sprintf("%s lines, %d versions", report.Count(lines), versions)
	line, err := b.compare(comparison{what: "whose each line is", tree: title, rounds: rounds, subjects: subjects})
	if err != nil {
		return err
	}
	budget(line, "≤ 60 ms", 60)

	line, err = b.compare(comparison{what: "take every second step out of files", tree: fmt.Sprintf("%d files of %s", files, title), rounds: rounds, subjects: []*subject{ours("revert", many)}})
	if err != nil {
		return err
	}
	budget(line, "≤ 150 ms", 150)
	line.Detail = true

	for _, c := range []struct {
		what, name, budget string
		limit              report.Millis
	}{
		{"merge, both sides rewrote all", "rewritten", "≤ 100 ms", 100},
		{"merge, the same lines again and again", "repetitive", "≤ 1 s", 1000},
	} {
		names := []string{filepath.Join(texts, c.name+".ours"), filepath.Join(texts, c.name+".base"), filepath.Join(texts, c.name+".theirs")}
		subjects := []*subject{ours(append([]string{"merge"}, names...)...)}
		if b.has["git"] {
			var conflicts []int // are the exit code
			for n := range 127 {
				conflicts = append(conflicts, n+1)
			}
			subjects = append(subjects, &subject{role: report.Peer, Turn: measure.Turn{Name: "git merge-file", Command: func(int) measure.Command {
				return measure.Command{Args: append([]string{"git", "merge-file", "-p", "--diff3"}, names...), Exits: conflicts}
			}}})
		}
		tree := "10,000 lines"
		if c.name == "repetitive" {
			tree = "8 MiB"
		}
		line, err := b.compare(comparison{what: c.what, tree: tree, rounds: rounds, subjects: subjects})
		if err != nil {
			return err
		}
		budget(line, c.budget, c.limit)
		line.Detail = true
	}
	return nil
}
