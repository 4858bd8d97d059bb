package port

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/manifest"
)

// exported visits what an export holds, in path order. leftOut is called for what is
// chosen, and left out since it is precious; it may be nil.
func exported(p *project.Project, o ExportOptions, chosen pathspec.Selection, leftOut func(string), visit func(string, manifest.Entry) error) error {
	all := func(path string, e manifest.Entry) error {
		if !chosen.Match(path) {
			return nil
		}
		return visit(path, e)
	}
	if o.WithPrecious {
		return manifest.Walk(p.LoadDir, o.Checkpoint.Root, all)
	}
	w := plainWalk{load: p.LoadDir, visit: all, leftOut: func(path string) {
		if leftOut != nil && chosen.Match(path) {
			leftOut(path)
		}
	}}
	return w.dir("", o.Checkpoint.Root, 0, func() error { return nil })
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

// plainWalk leaves out what is marked, and directories that hold nothing else.
type plainWalk struct {
	load    func(oid.ID) (manifest.Dir, error)
	visit   func(string, manifest.Entry) error
	leftOut func(string)
}

// dir visits what is in a directory. enter comes first, to visit the directory itself, but not if all in it is left out.
func (w *plainWalk) dir(path string, id oid.ID, depth int, enter func() error) error {
	if depth > manifest.MaxDepth {
		return &manifest.DepthError{Path: path}
	}
	var d manifest.Dir
	if !id.IsZero() {
		var err error
		if d, err = w.load(id); err != nil {
			return &manifest.TreeError{Path: path, ID: id, Err: err}
		}
	}
	if len(d.Entries) == 0 {
		return enter()
	}
	for _, e := range d.Entries {
		at, entered := rootfs.Join(path, e.Name), false
		visit := func() error {
			if entered {
				return nil
			}
			entered = true
			if err := enter(); err != nil {
				return err
			}
			return w.visit(at, e)
		}
		var err error
		switch {
		case e.Precious:
			w.leftOut(at)
		case e.Kind == manifest.Subdir:
			err = w.dir(at, e.ID, depth+1, visit)
		default:
			err = visit()
		}
		if err != nil {
			return err
		}
	}
	return nil
}
