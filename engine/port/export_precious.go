package port

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/engine/project"
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
	var dirs []held
	return manifest.Walk(p.LoadDir, o.Checkpoint.Root, func(path string, e manifest.Entry) error {
		for n := len(dirs) - 1; n >= 0 && !dirs[n].has(path); n-- { // each is in the one before it
			dirs = dirs[:n]
		}
		switch {
		case e.Precious:
			if leftOut != nil && chosen.Match(path) {
				leftOut(path)
			}
			return nil
		case e.Kind == manifest.Subdir && e.Files > 0:
			dirs = append(dirs, held{path, e})
			return nil
		}
		for _, d := range append(dirs, held{path, e}) {
			if err := all(d.path, d.e); err != nil {
				return err
			}
		}
		dirs = dirs[:0]
		return nil
	})
}

// held is a directory that is visited with the first thing in it that is not left out.
type held struct {
	path string
	e    manifest.Entry
}

func (d held) has(path string) bool {
	return len(path) > len(d.path) && path[len(d.path)] == '/' && path[:len(d.path)] == d.path
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
