package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// AboutPaths is what the help says of path arguments.
const AboutPaths = "A path that exists, on disk or in the checkpoint, is taken literally, even with brackets\n" +
	"in it; any other is a glob: '*.md' matches at any depth, './*.md' only here."

// GlobFlag is the flag of the commands that take several paths.
// It is hidden, since a path that does not exist is taken for a pattern anyway.
func GlobFlag(f *pflag.FlagSet, glob *bool) {
	defer func() { _ = f.MarkHidden("glob") }()
	f.BoolVar(glob, "glob", false, "treat the paths as globs, even if a path of that name exists")
}

// Patterns turns the path arguments into globs below the root. Like git's, they
// are relative to the working directory, or to the root where the working
// directory is outside of it. One that exists, on disk or in one of the checkpoints
// (none given: in any), is that path, unless glob says otherwise. An argument that is
// the root itself means everything, and the result is then empty.
func (c *Call) Patterns(ctx context.Context, p *project.Project, args []string, glob bool, in ...manifest.Checkpoint) ([]string, error) {
	var list []pathspec.PathArg
	for _, arg := range args {
		path, err := RootPath(p.Root(), c.Env.Dir, arg)
		if err != nil {
			return nil, err
		}
		list = append(list, pathspec.PathArg{Path: path, Fixed: FixedNames(p.Root(), c.Env.Dir, arg), Deep: !HasSlash(arg)})
	}
	patterns, err := pathspec.Patterns(ctx, p, list, pathspec.PatternOptions{Glob: glob, Checkpoints: in})
	for i := range patterns {
		if len(patterns) == len(args) && list[i].Deep && strings.HasPrefix(patterns[i], anyDepth) {
			c.deep = append(c.deep, args[i])
		}
	}
	return patterns, err
}

// anyDepth is what a pattern without a slash has in front of it, once it is one from the root.
const anyDepth = "**/"

// asTyped is a pattern from the root as it was typed.
func (c *Call) asTyped(pattern string) string {
	if arg, ok := strings.CutPrefix(pattern, anyDepth); ok && slices.Contains(c.deep, arg) {
		return arg
	}
	return pattern
}

// Completed completes the hint of an error: of a path that was typed as it is called from the root, what it is called from
// the working directory; of a project without a store, the command with the --root that was typed.
func (c *Call) Completed(ctx context.Context, err error) error {
	var (
		notInit *project.NotInitializedError
		none    *project.NoPathError
		notHeld *maintain.NotHeldError
		typed   string
	)
	switch {
	case errors.As(err, &notInit) && c.Root != "":
		return Hinted(err, strings.ReplaceAll(Explain(err).Hint, "rewind init", "rewind init --root "+ShellQuote(c.Root)))
	case errors.As(err, &none):
		none.Path = c.asTyped(none.Path)
		typed = none.Path
	case errors.As(err, &notHeld):
		notHeld.Path = c.asTyped(notHeld.Path)
		typed = notHeld.Path
	}
	if typed == "" || c.Project == nil {
		return err
	}
	if none != nil {
		if ignored := c.leftOut(ctx, typed); ignored != nil {
			return Hinted(fmt.Errorf("%w: %s is %s", err, Escape(ignored.Path), Escape(ignored.Reason)), "rewind show last --coverage lists what no checkpoint has")
		}
	}
	base, berr := RootPath(c.Project.Root(), c.Env.Dir, ".")
	path, ok := strings.CutPrefix(typed, base+"/")
	if berr != nil || base == "" || !ok {
		return err
	}
	if _, perr := inspect.PathEver(ctx, c.Project, pathspec.PathArg{Path: path, Fixed: len(path)}, false); perr != nil {
		return err
	}
	here, rerr := filepath.Rel(filepath.FromSlash(base), filepath.FromSlash(path))
	if rerr != nil {
		return err
	}
	return Hinted(err, "paths are relative to the working directory: "+ShellQuote(path)+" of the project is "+ShellQuote(filepath.ToSlash(here))+" here")
}

// leftOut finds the rule for which the newest checkpoint is without a path, or without a directory that it is in; nil for none.
func (c *Call) leftOut(ctx context.Context, path string) *problem.Problem {
	l, err := inspect.Resolve(ctx, c.Project, "last")
	if err != nil {
		return nil
	}
	problems, err := c.Project.Coverage(l.Coverage)
	if err != nil {
		return nil
	}
	i := slices.IndexFunc(problems, func(p problem.Problem) bool {
		return p.Code == problem.Ignored && p.Path != "" && (path == p.Path || strings.HasPrefix(path, p.Path+"/"))
	})
	if i < 0 {
		return nil
	}
	return &problems[i]
}

func HasSlash(arg string) bool { return strings.ContainsRune(filepath.ToSlash(arg), '/') }

// FixedNames is how many names of an argument's path are those of the working
// directory: what it is called is no pattern.
func FixedNames(root, dir, arg string) int {
	if filepath.IsAbs(arg) {
		return 0
	}
	base, err := RootPath(root, dir, ".")
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

// RootPath converts one argument; "" is the root.
func RootPath(root, dir, arg string) (string, error) {
	if arg == "" {
		return "", Usagef("the path is an empty string")
	}
	if strings.IndexByte(arg, 0) >= 0 {
		return "", Usagef("%q contains a NUL byte, which no path can", arg)
	}
	if filepath.IsAbs(arg) {
		if rel, ok := vfs.Below(root, filepath.Clean(arg)); ok {
			return rel, nil
		}
		// The root may have been reached through a symlink. Only the directories
		// above the last name are resolved: that may be a link which is meant itself.
		parent, err := filepath.EvalSymlinks(filepath.Dir(filepath.Clean(arg)))
		if err == nil {
			if rel, ok := vfs.Below(root, filepath.Join(parent, filepath.Base(arg))); ok {
				return rel, nil
			}
		}
		return "", &project.OutsideError{Path: arg}
	}
	base := root
	if dir != "" {
		if vfs.Within(root, dir) {
			base = dir
		} else if real, err := filepath.EvalSymlinks(dir); err == nil {
			if vfs.Within(root, real) {
				base = real
			}
		}
	}
	rel, ok := vfs.Below(root, filepath.Join(base, arg))
	if !ok {
		return "", &project.OutsideError{Path: arg}
	}
	return rel, nil
}

// FromHere is a path of the project as it is typed in the working directory.
func (c *Call) FromHere(root, path string) string {
	if rel, err := filepath.Rel(c.Env.Dir, filepath.Join(root, filepath.FromSlash(path))); err == nil && c.Env.Dir != "" {
		return filepath.ToSlash(rel)
	}
	return path
}
