package cli

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// aboutPaths is what the help says of path arguments.
const aboutPaths = "A path that exists, on disk or in the checkpoint, is taken literally, even with brackets\n" +
	"in it; any other is a glob: '*.md' matches at any depth, './*.md' only here."

// globFlag is the flag of the commands that take several paths.
// It is hidden, since a path that does not exist is taken for a pattern anyway.
func globFlag(f *pflag.FlagSet, glob *bool) {
	defer func() { _ = f.MarkHidden("glob") }()
	f.BoolVar(glob, "glob", false, "treat the paths as globs, even if a path of that name exists")
}

// patterns turns the path arguments into globs below the root. Like git's, they
// are relative to the working directory, or to the root where the working
// directory is outside of it. One that exists, on disk or in one of the checkpoints
// (none given: in any), is that path, unless glob says otherwise. An argument that is
// the root itself means everything, and the result is then empty.
func (c *call) patterns(ctx context.Context, p *project.Project, args []string, glob bool, in ...manifest.Checkpoint) ([]string, error) {
	var list []pathspec.PathArg
	for _, arg := range args {
		path, err := rootPath(p.Root(), c.env.Dir, arg)
		if err != nil {
			return nil, err
		}
		list = append(list, pathspec.PathArg{Path: path, Fixed: fixedNames(p.Root(), c.env.Dir, arg), Deep: !hasSlash(arg)})
	}
	return pathspec.Patterns(ctx, p, list, pathspec.PatternOptions{Glob: glob, Checkpoints: in})
}

// completed completes the hint of an error: of a path that was typed as it is called from the root, what it is called from
// the working directory; of a project without a store, the command with the --root that was typed.
func (c *call) completed(ctx context.Context, err error) error {
	var (
		notInit *project.NotInitializedError
		none    *project.NoPathError
		notHeld *maintain.NotHeldError
		typed   string
	)
	switch {
	case errors.As(err, &notInit) && c.root != "":
		return &hintedError{err, strings.ReplaceAll(explain(err).hint, "rewind init", "rewind init --root "+shellQuote(c.root))}
	case errors.As(err, &none):
		typed = none.Path
	case errors.As(err, &notHeld):
		typed = notHeld.Path
	}
	if typed == "" || c.project == nil {
		return err
	}
	base, berr := rootPath(c.project.Root(), c.env.Dir, ".")
	path, ok := strings.CutPrefix(typed, base+"/")
	if berr != nil || base == "" || !ok {
		return err
	}
	if _, perr := inspect.PathEver(ctx, c.project, pathspec.PathArg{Path: path, Fixed: len(path)}, false); perr != nil {
		return err
	}
	here, rerr := filepath.Rel(filepath.FromSlash(base), filepath.FromSlash(path))
	if rerr != nil {
		return err
	}
	return &hintedError{err, "paths are relative to the working directory: " + shellQuote(path) + " of the project is " + shellQuote(filepath.ToSlash(here)) + " here"}
}

func hasSlash(arg string) bool { return strings.ContainsRune(filepath.ToSlash(arg), '/') }

// fixedNames is how many names of an argument's path are those of the working
// directory: what it is called is no pattern.
func fixedNames(root, dir, arg string) int {
	if filepath.IsAbs(arg) {
		return 0
	}
	base, err := rootPath(root, dir, ".")
	if err != nil || base == "" {
		return 0
	}
	n := 1 + strings.Count(base, "/")
	for _, name := range strings.Split(filepath.ToSlash(filepath.Clean(arg)), "/") {
		if name != ".." {
			break
		}
		n--
	}
	return max(n, 0)
}

// rootPath converts one argument; "" is the root.
func rootPath(root, dir, arg string) (string, error) {
	if arg == "" {
		return "", usagef("the path is an empty string")
	}
	if strings.IndexByte(arg, 0) >= 0 {
		return "", usagef("%q contains a NUL byte, which no path can", arg)
	}
	if filepath.IsAbs(arg) {
		if rel, ok := below(root, filepath.Clean(arg)); ok {
			return rel, nil
		}
		// The root may have been reached through a symlink. Only the directories
		// above the last name are resolved: that may be a link which is meant itself.
		parent, err := filepath.EvalSymlinks(filepath.Dir(filepath.Clean(arg)))
		if err == nil {
			if rel, ok := below(root, filepath.Join(parent, filepath.Base(arg))); ok {
				return rel, nil
			}
		}
		return "", &project.OutsideError{Path: arg}
	}
	base := root
	if dir != "" {
		if _, ok := below(root, dir); ok {
			base = dir
		} else if real, err := filepath.EvalSymlinks(dir); err == nil {
			if _, ok := below(root, real); ok {
				base = real
			}
		}
	}
	rel, ok := below(root, filepath.Join(base, arg))
	if !ok {
		return "", &project.OutsideError{Path: arg}
	}
	return rel, nil
}

// below gives file's path relative to root, with /, and whether it lies there. Both are clean.
func below(root, file string) (string, bool) {
	rel, err := filepath.Rel(root, file)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	if rel == "." {
		return "", true
	}
	return filepath.ToSlash(rel), true
}
