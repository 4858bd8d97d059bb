package vfs

import (
	"path/filepath"
	"strings"
)

// Below is the path of a file relative to a directory, with /, "" for the directory itself; false where the file lies elsewhere. Both
// are clean, and no link is followed.
func Below(dir, file string) (rel string, ok bool) {
	rel, err := filepath.Rel(dir, file)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	if rel == "." {
		return "", true
	}
	return filepath.ToSlash(rel), true
}

// Within reports whether a path is a directory or below it.
func Within(dir, file string) bool {
	_, ok := Below(dir, file)
	return ok
}

// IsBelow reports whether a path is below a directory, and not that itself.
func IsBelow(dir, file string) bool {
	rel, ok := Below(dir, file)
	return ok && rel != ""
}

// RealAsFar resolves the links of as much of a path as there is.
func RealAsFar(path string) string {
	for at, rest := filepath.Clean(path), ""; ; at, rest = filepath.Dir(at), filepath.Join(filepath.Base(at), rest) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		} else if filepath.Dir(at) == at {
			return path
		}
	}
}
