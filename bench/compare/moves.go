package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rewind-cli/rewind/bench/measure"
	"github.com/rewind-cli/rewind/bench/report"
	"github.com/rewind-cli/rewind/bench/workload"
)

// switchPart goes back and forth between two checkpoints that differ in many
// files. The floor writes those files, with one syncfs.
func (b *bench) switchPart() error {
	p, err := b.tree("made10k")
	if err != nil {
		return err
	}
	if err := b.ensureSaved(p); err != nil {
		return err
	}
	n := b.pick(5000, 1000)
	var files []workload.File
	for v, name := range []string{"v1", "v2"} {
		if files, err = workload.Rewrite(p.root, b.seed, shapes["made10k"], n, uint64(v)); err != nil {
			return err
		}
		if err := b.do(b.rewindCommand(p, "save", "--quiet", "--name", name)); err != nil {
			return err
		}
		if b.has["git"] {
			if err := b.ensureShadow(p); err != nil {
				return err
			}
			if err := b.do(b.gitScript(p, "shadow.git", gitSave+"\ngit update-ref refs/heads/"+name+" shadow")); err != nil {
				return err
			}
		}
	}
	list := filepath.Join(b.dir, "tmp", "list")
	if err := os.WriteFile(list, []byte(lines(files)), 0o644); err != nil {
		return err
	}
	to := p.in("written")
	write := &subject{role: report.Floor, calls: true, Turn: measure.Turn{Name: "write loop + syncfs",
		Before:  func(int) error { return b.settled(to) },
		Command: func(int) measure.Command { return measure.Command{Args: []string{b.program("writeloop"), to, list}} }}}
	// Each run starts from the other version, also in the index of git, and goes to
	// v1 and to v2 in turn.
	target := func(round int) string { return []string{"v1", "v2"}[round%2] }
	other := func(round int) error {
		if _, err := workload.Rewrite(p.root, b.seed, shapes["made10k"], n, uint64(1-round%2)); err != nil {
			return err
		}
		if err := b.do(b.rewindCommand(p, "save", "--quiet")); err != nil {
			return err
		}
		if b.has["git"] {
			if err := b.do(b.gitScript(p, "shadow.git", gitSave)); err != nil {
				return err
			}
		}
		return b.do(measure.Command{Args: []string{"sync"}})
	}
	ours := &subject{role: report.Ours, calls: true, Turn: measure.Turn{Name: "rewind", Before: other,
		Command: func(round int) measure.Command {
			return b.rewindCommand(p, "restore", "--quiet", "--yes", target(round))
		}}}
	var git *subject
	if b.has["git"] {
		git = &subject{role: report.Peer, calls: true, Turn: measure.Turn{Name: "shadow git", Before: other,
			Command: func(round int) measure.Command {
				return b.gitScript(p, "shadow.git", gitSave+"\ngit read-tree -u --reset "+target(round))
			}}}
	}
	line, err := b.compare(comparison{what: fmt.Sprintf("switch between checkpoints, %s files differ", report.Count(n)), tree: p.title,
		rounds: b.pick(10, 4), subjects: []*subject{write, ours, git}})
	if err != nil {
		return err
	}
	budget(line, "≤ 1.5 × floor", overFloor(line, 1.5, 0))
	return nil
}

// settled takes a directory away and waits until the disk has nothing to do.
func (b *bench) settled(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return b.do(measure.Command{Args: []string{"sync"}})
}

func lines(files []workload.File) string {
	var s strings.Builder
	for _, f := range files {
		fmt.Fprintf(&s, "%d %s\n", f.Size, f.Path)
	}
	return s.String()
}

// exportPart compares archives with what tar and a parallel compressor make,
// and looks how soon the first byte comes.
func (b *bench) exportPart() error {
	names := []string{"kernel"}
	if b.short {
		names[0] = "made10k"
	}
	return b.forTrees(names, func(p *project) error {
		if err := b.ensureSaved(p); err != nil {
			return err
		}
		for _, f := range []struct{ format, peer, pipe string }{{"tar.zst", "zstd", "zstd -q -T2"}, {"tar.gz", "pigz", "pigz -p 2"}} {
			if err := b.export(p, f.format, f.peer, f.pipe); err != nil {
				return err
			}
		}
		first := b.ours(p)
		first.calls = false
		first.Command = func(int) measure.Command {
			return measure.Command{Args: []string{"sh", "-c", b.rewind + " export last | head -c 1 >/dev/null"}, Dir: p.root}
		}
		_, err := b.compare(comparison{what: "export, the first byte", tree: p.title, rounds: 5, subjects: []*subject{first}})
		return err
	})
}

func (b *bench) export(p *project, format, peer, pipe string) error {
	mine, theirs := p.in("rewind."+format), p.in(peer+"."+format)
	for _, file := range []string{mine, theirs} {
		defer os.Remove(file) // scratch, as the rest of the directory
	}
	ours := b.ours(p, "export", "last", "--quiet", "--output", mine)
	ours.calls, ours.disk = false, mine
	var other *subject
	if b.has[peer] && b.has["tar"] {
		other = &subject{role: report.Floor, disk: theirs, Turn: measure.Turn{Name: "tar | " + pipe, Command: func(int) measure.Command {
			return measure.Command{Args: []string{"sh", "-c", "tar --exclude ./.agent -cf - . | " + pipe + " >" + theirs}, Dir: p.root}
		}}}
	}
	line, err := b.compare(comparison{what: "export as " + format, tree: p.title, rounds: 3, subjects: []*subject{other, ours}})
	if err != nil {
		return err
	}
	budget(line, "≤ 1.3 × floor", overFloor(line, 1.3, 0))
	return nil
}
