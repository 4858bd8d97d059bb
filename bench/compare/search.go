package main

import (
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/rewind-cli/rewind/bench/measure"
	"github.com/rewind-cli/rewind/bench/report"
)

// searchPart looks for a text in the contents of many checkpoints of GOROOT/src, of which each follows
// one-line edits of three files. The peer is git with the same states as commits.
func (b *bench) searchPart() error {
	goroot, err := b.tree("goroot")
	if err != nil {
		return err
	}
	p := &project{name: "searched", root: filepath.Join(b.dir, "trees", "searched"), beside: filepath.Join(b.dir, "beside", "searched")}
	if err := b.copyTree(filepath.Join(goroot.root, "src"), p.root); err != nil {
		return err
	}
	if p.files, err = countFiles(p.root); err != nil {
		return err
	}
	if err := b.ensureSaved(p); err != nil {
		return err
	}
	n := b.pick(10_000, 500)
	make := measure.Command{Args: []string{b.program("history"), "-seed", fmt.Sprint(b.seed), "-glob", "*/*.go", "-each", "3", p.root, "1", strconv.Itoa(n)}}
	if err := b.do(make); err != nil {
		return err
	}
	p.title = fmt.Sprintf("%s checkpoints of GOROOT/src, %s files", report.Count(n), report.Count(p.files))
	const text = "func Sprintf("
	ours := b.ours(p, "grep", "-F", text)
	ours.calls = false
	subjects := []*subject{ours}
	if measure.Version(b.ctx, "rg", "--version") != "" {
		subjects = append(subjects, &subject{role: report.Floor, Turn: measure.Turn{Name: "rg of the tree alone", Command: func(int) measure.Command {
			return measure.Command{Args: []string{"rg", "-F", text}, Dir: p.root}
		}}})
	}
	if b.has["git"] {
		repository := p.in("git")
		if err := b.do(b.rewindCommand(p, "export", "--format", "git", "-o", repository, "--quiet")); err != nil {
			return err
		}
		subjects = append(subjects, &subject{role: report.Peer, Turn: measure.Turn{Name: "git log -S", Command: func(int) measure.Command {
			return measure.Command{Args: []string{"git", "-C", repository, "log", "--all", "--oneline", "-S" + text}}
		}}})
	}
	_, err = b.compare(comparison{what: "grep of all checkpoints", tree: p.title, rounds: b.pick(5, 3), subjects: subjects})
	if err != nil {
		return err
	}
	path := filepath.Join("fmt", "print.go")
	for _, c := range []struct {
		what string
		arg  []string
	}{{"history of a file", []string{"history", path}}, {"all of a file's history", []string{"history", path, "--limit", "0"}}} {
		s := b.ours(p, c.arg...)
		s.calls = false
		if _, err := b.compare(comparison{what: c.what, tree: p.title, rounds: b.pick(11, 5), subjects: []*subject{s}}); err != nil {
			return err
		}
	}
	return nil
}
