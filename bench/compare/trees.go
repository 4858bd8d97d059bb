package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rewind-cli/rewind/bench/measure"
	"github.com/rewind-cli/rewind/bench/report"
	"github.com/rewind-cli/rewind/bench/workload"
)

// tree gives a project by name and makes it when it is first asked for. The
// error is errNoTree where this machine has none.
func (b *bench) tree(name string) (*project, error) {
	if p, ok := b.trees[name]; ok {
		if p == nil {
			return nil, errNoTree
		}
		return p, nil
	}
	b.trees[name] = nil // until it is whole
	p := &project{name: name, root: filepath.Join(b.dir, "trees", name), beside: filepath.Join(b.dir, "beside", name)}
	for _, d := range []string{filepath.Dir(p.root), p.beside} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return nil, err
		}
	}
	title, err := b.makeTree(name, p.root)
	if err != nil {
		return nil, err
	}
	if p.files, err = countFiles(p.root); err != nil {
		return nil, err
	}
	p.title = fmt.Sprintf("%s, %s files", title, report.Count(p.files))
	if err := b.do(measure.Command{Args: []string{"sync"}}); err != nil {
		return nil, err
	}
	b.say("tree: %s", p.title)
	b.trees[name] = p
	return p, nil
}

// shapes of the trees that are made.
var shapes = map[string]workload.Shape{
	"made10k":  {Files: 10_000, PerDir: 20, MeanSize: 6 << 10},
	"made100k": {Files: 100_000, PerDir: 20, MeanSize: 5 << 10},
	"made500k": {Files: 500_000, PerDir: 25, MeanSize: 2 << 10},
	"dirs300":  {Files: 15_000, PerDir: 300, MeanSize: 8 << 10},
	"wide":     {Files: 20_000, PerDir: 20_000, MeanSize: 2 << 10},
	// The same tree without a repository and in one.
	"alone":            {Files: 10_000, PerDir: 20, MeanSize: 6 << 10},
	"repository":       {Files: 10_000, PerDir: 20, MeanSize: 6 << 10},
	"repository-loose": {Files: 10_000, PerDir: 20, MeanSize: 6 << 10},
	"repository-large": {Files: 10_000, PerDir: 20, MeanSize: 6 << 10},
}

func (b *bench) makeTree(name, root string) (title string, err error) {
	switch name {
	case "goroot":
		return "GOROOT", b.copyGoroot(root)
	case "kernel":
		return "kernel source", b.copyKernel(root)
	case "wide":
		title = "one directory"
	case "dirs300":
		title = "directories of 300"
	default:
		title = "made"
	}
	shape, ok := shapes[name]
	if !ok {
		return "", fmt.Errorf("no shape for %q", name)
	}
	_, err = workload.Make(root, b.seed, shape)
	return title, err
}

func (b *bench) copyGoroot(root string) error {
	from := b.goroot
	if from == "" {
		var err error
		if from, err = b.goTool(".", "env", "GOROOT"); err != nil {
			return err
		}
	}
	return b.copyTree(from, root)
}

func (b *bench) copyTree(from, root string) error {
	return b.do(measure.Command{Args: []string{"cp", "-a", from, root}})
}

// copyKernel unpacks an archive or copies a directory; errNoTree is said once.
func (b *bench) copyKernel(root string) error {
	info, err := os.Stat(b.kernel)
	if errors.Is(err, fs.ErrNotExist) {
		b.note("no kernel source at %s: its lines are left out (-kernel names another place)", b.kernel)
		return errNoTree
	}
	if err != nil {
		return err
	}
	if info.IsDir() {
		err = b.copyTree(b.kernel, root)
	} else if err = os.MkdirAll(root, 0o755); err == nil {
		err = b.do(measure.Command{Args: []string{"tar", "-C", root, "--strip-components=1", "-xf", b.kernel}})
	}
	if err != nil {
		return err
	}
	// Debian's .gitignore ignores everything but the packaging. A clone is not affected, since its files are tracked; this
	// tree is no clone.
	if err := os.Remove(filepath.Join(root, ".gitignore")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// countFiles counts what is no directory, without the stores.
func countFiles(root string) (n int, err error) {
	err = filepath.WalkDir(root, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return err
	})
	return n, err
}

// sources are files of the tree that an agent could edit: text of 1 to 200 KB,
// evenly spread, at most n.
func (p *project) sources(n int) ([]string, error) {
	var all []string
	err := filepath.WalkDir(p.root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if strings.HasPrefix(d.Name(), ".") && file != p.root {
				return fs.SkipDir
			}
			return nil
		}
		if ext := filepath.Ext(file); ext != ".go" && ext != ".c" && ext != ".h" {
			return nil
		}
		info, err := d.Info()
		if err == nil && info.Mode().IsRegular() && info.Size() >= 1<<10 && info.Size() <= 200<<10 {
			all = append(all, file)
		}
		return err
	})
	if err != nil || len(all) == 0 {
		return nil, errors.Join(err, ifNone(all))
	}
	some := make([]string, n)
	for i := range some {
		some[i] = all[i*len(all)/n]
	}
	return some, nil
}

func ifNone(all []string) error {
	if len(all) == 0 {
		return errNoTree
	}
	return nil
}
