package cli

import (
	"path/filepath"
	"strings"

	"rewind/engine"
)

// rootPaths turns path arguments into paths below the root. Like git's, they
// are relative to the working directory, or to the root where the working
// directory is outside of it. An argument that is the root itself means
// everything, and the result is then empty.
func rootPaths(p *engine.Project, dir string, args []string) ([]string, error) {
	var out []string
	for _, a := range args {
		path, err := rootPath(p.Root(), dir, a)
		if err != nil {
			return nil, err
		}
		if path == "" {
			return nil, nil
		}
		out = append(out, path)
	}
	return out, nil
}

// rootPath converts one argument; "" is the root.
func rootPath(root, dir, arg string) (string, error) {
	if arg == "" {
		return "", usagef("an empty path is no path")
	}
	if strings.IndexByte(arg, 0) >= 0 {
		return "", usagef("%q has a zero byte, which no path can have", arg)
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
		return "", &engine.OutsideError{Path: arg}
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
		return "", &engine.OutsideError{Path: arg}
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
