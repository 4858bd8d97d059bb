package port

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// exported visits what an export holds, in path order. leftOut is called for what is
// chosen, and left out since it is precious; it may be nil.
func exported(p *project.Project, o ExportOptions, chosen pathspec.Selection, leftOut func(string), visit func(string, manifest.Entry) error) error {
	if o.WithPrecious {
		return manifest.Walk(p.LoadDir, o.Checkpoint.Root, func(path string, e manifest.Entry) error {
			if !chosen.Match(path) {
				return nil
			}
			return visit(path, e)
		})
	}
	w := plainWalk{visit: func(path string, e manifest.Entry) error {
		if !chosen.Match(path) {
			return nil
		}
		return visit(path, e)
	}, leftOut: func(path string) {
		if leftOut != nil && chosen.Match(path) {
			leftOut(path)
		}
	}}
	if err := manifest.Walk(p.LoadDir, o.Checkpoint.Root, w.entry); err != nil {
		return err
	}
	return w.close("")
}

// OnlyPreciousError: all that was named is precious, so that an archive would be empty.
type OnlyPreciousError struct{ Path string } // the first

func (e *OnlyPreciousError) Error() string {
	return fmt.Sprintf("%q is precious, and an archive leaves precious files out", e.Path)
}

// holdsSome refuses (*OnlyPreciousError) an archive that would have none of the paths that were named.
func holdsSome(p *project.Project, o ExportOptions, chosen pathspec.Selection) error {
	some, precious := errors.New("something is in it"), ""
	err := exported(p, o, chosen, func(path string) { precious = cmp.Or(precious, path) }, func(string, manifest.Entry) error { return some })
	switch {
	case err == some:
		return nil
	case err == nil && precious != "":
		return &OnlyPreciousError{precious}
	}
	return err
}

// plainWalk leaves out what is marked, and directories that hold nothing else. So a
// directory waits for the first path below it that is visited; one without any is
// visited when it ends.
type plainWalk struct {
	visit   func(string, manifest.Entry) error
	leftOut func(string)
	open    []waiting
}

type waiting struct {
	path   string
	e      manifest.Entry
	filled bool // something is in it
	told   bool // it was visited
}

func (w *plainWalk) entry(path string, e manifest.Entry) error {
	if err := w.close(path); err != nil {
		return err
	}
	if n := len(w.open); n > 0 {
		w.open[n-1].filled = true
	}
	switch {
	case e.Precious:
		w.leftOut(path)
		return nil
	case e.Kind == manifest.Subdir:
		w.open = append(w.open, waiting{path: path, e: e})
		return nil
	}
	if err := w.tell(); err != nil {
		return err
	}
	return w.visit(path, e)
}

// close ends the directories that next does not lie in.
func (w *plainWalk) close(next string) error {
	for n := len(w.open) - 1; n >= 0 && (next == "" || !strings.HasPrefix(next, w.open[n].path+"/")); n-- {
		if !w.open[n].filled {
			if err := w.tell(); err != nil {
				return err
			}
		}
		w.open = w.open[:n]
	}
	return nil
}

// tell visits the open directories that still wait.
func (w *plainWalk) tell() error {
	for i := range w.open {
		if d := &w.open[i]; !d.told {
			d.told = true
			if err := w.visit(d.path, d.e); err != nil {
				return err
			}
		}
	}
	return nil
}
