// Command mergeloop merges a text as git merge-file -p does, with what takes work back.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/rewind-cli/rewind/engine/linediff"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "mergeloop:", err)
		os.Exit(1)
	}
}

func run(names []string) error {
	if len(names) != 3 {
		return errors.New("usage: mergeloop OURS BASE THEIRS")
	}
	var texts [3][]string
	var named [3][]int32
	var table linediff.Table
	for i, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		texts[i] = linediff.Lines(string(text))
		for _, l := range texts[i] {
			named[i] = append(named[i], table.Name(l))
		}
	}
	ours, base, theirs := texts[0], texts[1], texts[2]
	var out strings.Builder
	for _, p := range table.Merge(named[1], named[0], named[2]) {
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
