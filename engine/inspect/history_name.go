package inspect

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// SeveralPathsError: a glob that has to mean one path means several.
type SeveralPathsError struct {
	Pattern string
	Matches []string // the first of them
}

func (e *SeveralPathsError) Error() string {
	return fmt.Sprintf("%q matches several paths", e.Pattern)
}

// maxMatches is how many paths a SeveralPathsError names.
const maxMatches = 8

// PathEver says which path an argument means among all that there are and ever were: the one that exists
// literally, in the working tree or in any checkpoint, else the only one that it matches as a glob. Errors: *NoPathError, *SeveralPathsError.
func PathEver(ctx context.Context, p *project.Project, arg pathspec.PathArg, glob bool) (found string, err error) {
	if arg.Path == "" {
		return "", nil
	}
	if _, err := os.Lstat(filepath.Join(p.Root(), filepath.FromSlash(arg.Path))); err == nil && !glob {
		return arg.Path, nil
	}
	err = p.Query(ctx, func(db *manifest.DB) error {
		if !glob {
			for _, err := range db.History(arg.Path) {
				if err == nil {
					found = arg.Path
				}
				return err
			}
		}
		found, err = onlyMatch(ctx, p, db, arg)
		return err
	})
	return found, err
}

func onlyMatch(ctx context.Context, p *project.Project, db *manifest.DB, arg pathspec.PathArg) (string, error) {
	patterns, err := pathspec.Patterns(ctx, p, []pathspec.PathArg{arg}, pathspec.PatternOptions{Glob: true})
	if err != nil {
		return "", err
	}
	if _, plain := pathspec.PlainPath(patterns[0]); plain {
		return "", &project.NoPathError{Path: arg.Path}
	}
	chosen, err := pathspec.Select(patterns)
	if err != nil {
		return "", err
	}
	seen := map[string]bool{}
	several := &SeveralPathsError{Pattern: arg.Path}
	for at, err := range db.Paths("") {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return "", err
		}
		if seen[at] || !chosen.Match(at) {
			continue
		}
		if dir := path.Dir(at); dir != "." && chosen.Match(dir) {
			continue // it is that directory which is meant
		}
		seen[at] = true
		if several.Matches = append(several.Matches, at); len(several.Matches) == maxMatches {
			break
		}
	}
	switch len(several.Matches) {
	case 0:
		return "", &project.NoPathError{Path: arg.Path}
	case 1:
		return several.Matches[0], nil
	}
	return "", several
}

// NameEver is a name that a directory has, or had in some checkpoint.
type NameEver struct {
	Name string
	Dir  bool // it is known by what is below it; an empty directory cannot be distinguished from a file
}

// NamesEver lists the names that a directory ("" is the root) ever had in a checkpoint.
func NamesEver(ctx context.Context, p *project.Project, dir string) ([]NameEver, error) {
	isDir := map[string]bool{}
	prefix := ""
	if dir != "" {
		prefix = dir + "/"
	}
	err := p.Query(ctx, func(db *manifest.DB) error {
		for at, err := range db.Paths(dir) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
			name, _, deeper := strings.Cut(strings.TrimPrefix(at, prefix), "/")
			isDir[name] = isDir[name] || deeper
		}
		return nil
	})
	out := make([]NameEver, 0, len(isDir))
	for _, name := range slices.Sorted(maps.Keys(isDir)) {
		out = append(out, NameEver{name, isDir[name]})
	}
	return out, err
}
