package testlab

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas/oid"
)

// Write writes a file of mode 0644, and makes its directories.
func (l *Lab) Write(path, content string) {
	l.T.Helper()
	file := filepath.Join(l.Root, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		l.T.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		l.T.Fatal(err)
	}
}

// Remove removes a path and what is below it.
func (l *Lab) Remove(path string) {
	l.T.Helper()
	if err := os.RemoveAll(filepath.Join(l.Root, filepath.FromSlash(path))); err != nil {
		l.T.Fatal(err)
	}
}

// Tree is the plain model of a working tree: for each path its mode and content, of a large file its size and hash.
type Tree map[string]string

// Read gives the tree as it is on disk, without the store.
func (l *Lab) Read() Tree {
	l.T.Helper()
	return l.ReadAt(l.Root)
}

// ReadAt is Read of another directory.
func (l *Lab) ReadAt(root string) Tree {
	l.T.Helper()
	out := Tree{}
	err := filepath.WalkDir(root, func(file string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil || rel == "." {
			return err
		}
		if rel == ".agent" || d.Name() == ".git" {
			return filepath.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := info.Mode().String()
		switch {
		case info.Mode()&os.ModeSymlink != 0:
			target, err := os.Readlink(file)
			if err != nil {
				return err
			}
			text += " -> " + target
		case info.Mode().IsRegular():
			data, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			if len(data) > 1000 {
				data = fmt.Appendf(nil, "%d bytes %s", len(data), oid.Sum(data))
			}
			text += " " + string(data)
		}
		out[filepath.ToSlash(rel)] = text
		return nil
	})
	if err != nil {
		l.T.Fatal(err)
	}
	return out
}

// Diff lists where other differs from m, a line each.
func (m Tree) Diff(other Tree) string {
	var lines []string
	for p := range m {
		if other[p] != m[p] {
			lines = append(lines, fmt.Sprintf("%q: %q, want %q", p, other[p], m[p]))
		}
	}
	for p := range other {
		if _, ok := m[p]; !ok {
			lines = append(lines, fmt.Sprintf("%q: %q, want nothing", p, other[p]))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// Is fails the test if the tree on disk is not want.
func (l *Lab) Is(want Tree, when string) {
	l.T.Helper()
	if d := want.Diff(l.Read()); d != "" {
		l.T.Errorf("tree %s:\n%s", when, d)
	}
}

// Contents gives the files as "path=content", in order, without the store.
func (l *Lab) Contents() string {
	l.T.Helper()
	var out []string
	err := filepath.WalkDir(l.Root, func(file string, d os.DirEntry, err error) error {
		if err != nil || file == l.Root {
			return err
		}
		if d.Name() == ".agent" || d.Name() == ".git" {
			return filepath.SkipDir
		}
		rel, _ := filepath.Rel(l.Root, file)
		if d.Type().IsRegular() {
			data, err := os.ReadFile(file)
			out = append(out, rel+"="+string(data))
			return err
		}
		return nil
	})
	if err != nil {
		l.T.Fatal(err)
	}
	return strings.Join(out, " ")
}

// Want ends the test if the files are not contents, written as Contents gives them.
func (l *Lab) Want(contents string) {
	l.T.Helper()
	if got := l.Contents(); got != contents {
		l.T.Fatalf("the tree has %.300q, want %.300q", got, contents)
	}
}
