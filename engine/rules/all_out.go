package rules

import (
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/rewind-cli/rewind/engine/ignore"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/rootfs"
)

// maxAllOut bounds the names that AllOut looks at: in a project with more of them something is captured.
const maxAllOut = 50_000

// AllOut names a path that the rules of now leave out, and the rule, where they leave out every file of the project but
// those that are captured in spite of rules: the rule files themselves, and precious ones. "" where they do not.
func AllOut(p *project.Project, kept []string) (path, rule string, err error) {
	tree, err := rootfs.Open(p.Root())
	if err != nil {
		return "", "", err
	}
	defer tree.Close()
	today, names, some := Today(p, kept, tree), 0, false
	_ = filepath.WalkDir(p.Root(), func(file string, e fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(p.Root(), file)
		if err != nil || relErr != nil || rel == "." {
			return nil // what cannot be read, the scan names
		}
		rel = filepath.ToSlash(rel)
		names++
		dir, name := rootfs.Split(rel)
		scope := today.scope(dir)
		if names > maxAllOut || today.Rules == nil || scope == nil {
			some = true
			return fs.SkipAll
		}
		d, label := scope.Decide(name, e.IsDir())
		out := d == ignore.Skip || d == ignore.Precious || d == ignore.Marked
		switch {
		case out && path == "" && !strings.HasPrefix(rel, "."):
			path, rule = rel, label
		case !out && !e.IsDir():
			some = true
			return fs.SkipAll
		}
		if e.IsDir() && d == ignore.Skip {
			return fs.SkipDir
		}
		return nil
	})
	if some {
		return "", "", nil
	}
	return path, rule, today.Failed
}
