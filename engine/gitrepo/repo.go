package gitrepo

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/rewind-cli/rewind/cas/vfs"
)

// Sizes beyond which a file is not what it should be.
const (
	maxIndex  = 1 << 30
	maxConfig = 8 << 20
	maxRefs   = 256 << 20
	maxRules  = 32 << 20 // an exclude file; git itself stops at 100 MB
	maxSmall  = 64 << 10 // HEAD, commondir, a ".git" file, a loose reference
)

// Repo is the repository that contains a directory.
type Repo struct {
	WorkTree  string // root of the work tree
	GitDir    string // the git directory (of a linked worktree: its own)
	CommonDir string // the shared git directory
	Prefix    string // path from WorkTree to the directory given to Find, with "/": "" or ending in "/"

	// Getenv looks up environment variables that point to git's configuration;
	// nil means os.Getenv. Variables that would move the repository (GIT_DIR)
	// are not asked: it is the one around the directory.
	Getenv func(string) string

	local config // the repository's own file without includes: what git reads for the repository's layout
}

// UnsupportedError is a repository layout that this package does not read.
type UnsupportedError struct{ File, Feature string }

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("%s: %s is not supported", e.File, e.Feature)
}

// FormatError is a file that is not what it should be.
type FormatError struct{ File, Reason string }

func (e *FormatError) Error() string { return e.File + ": " + e.Reason }

// Find looks for the repository that dir (an absolute path) lies in: the directory itself or an
// ancestor. ok is false where there is none, or where it has no work tree around dir.
func Find(dir string) (repo Repo, ok bool) {
	dir = filepath.Clean(dir)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for top := dir; ; {
		if gitDir, ok := gitDirOf(filepath.Join(top, ".git")); ok {
			return newRepo(top, gitDir, dir)
		}
		if isGitDir(top) {
			return Repo{}, false // bare, or inside a .git
		}
		up := filepath.Dir(top)
		if up == top {
			return Repo{}, false
		}
		top = up
	}
}

func newRepo(top, gitDir, dir string) (Repo, bool) {
	r := Repo{WorkTree: top, GitDir: gitDir, CommonDir: commonDir(gitDir)}
	c := readConfig(filepath.Join(r.CommonDir, "config"))
	r.local = c
	if r.GitDir == r.CommonDir { // a linked worktree has neither
		if w, ok := c.last("core.worktree"); ok && w.text != "" {
			if !filepath.IsAbs(w.text) {
				w.text = filepath.Join(gitDir, w.text)
			}
			real, err := filepath.EvalSymlinks(w.text)
			if err != nil {
				return Repo{}, false
			}
			r.WorkTree = real
		}
	}
	below, err := filepath.Rel(r.WorkTree, dir)
	if err != nil || below == ".." || strings.HasPrefix(below, ".."+string(filepath.Separator)) {
		return Repo{}, false
	}
	if below != "." {
		r.Prefix = filepath.ToSlash(below) + "/"
	}
	return r, true
}

// gitDirOf follows a ".git": the git directory itself, or a file that names it.
func gitDirOf(file string) (string, bool) {
	info, err := os.Stat(file)
	if err != nil {
		return "", false
	}
	if info.IsDir() {
		return file, isGitDir(file)
	}
	dir, ok := LinkTarget(file)
	return dir, ok && isGitDir(dir)
}

// LinkTarget is the git directory that the file ".git" of a linked worktree or a submodule names. It need not exist.
func LinkTarget(file string) (dir string, ok bool) {
	text, err := readFile(file, maxSmall)
	if err != nil {
		return "", false
	}
	dir, ok = strings.CutPrefix(string(text), "gitdir: ")
	dir = strings.TrimRight(dir, "\r\n")
	if !ok || dir == "" || strings.ContainsRune(dir, 0) {
		return "", false
	}
	dir = filepath.FromSlash(dir)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(filepath.Dir(file), dir)
	}
	return filepath.Clean(dir), true
}

// isGitDir applies git's own test: a HEAD, and objects and refs.
func isGitDir(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil {
		return false
	}
	common := commonDir(dir)
	return isDir(filepath.Join(common, "objects")) && isDir(filepath.Join(common, "refs"))
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func commonDir(gitDir string) string {
	text, err := readFile(filepath.Join(gitDir, "commondir"), maxSmall)
	if err != nil {
		return gitDir
	}
	path := filepath.FromSlash(strings.TrimRight(string(text), "\r\n"))
	if path == "" || strings.ContainsRune(path, 0) {
		return gitDir
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(gitDir, path)
	}
	return filepath.Clean(path)
}

func (r Repo) getenv(name string) string {
	if r.Getenv != nil {
		return r.Getenv(name)
	}
	return os.Getenv(name)
}

// readFile reads a regular file of at most max bytes, following symbolic links.
func readFile(file string, max int64) ([]byte, error) { return readWith(file, max, 0) }

func readWith(file string, max int64, flags int) ([]byte, error) {
	f, size, err := openRegular(file, max, flags)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read only: nothing can be lost
	// One byte more than expected shows a file that grows meanwhile.
	data := make([]byte, size+1)
	n, err := io.ReadFull(f, data)
	switch {
	case err == nil:
		return nil, &FormatError{file, "changed while it was read"}
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return data[:n], nil
	}
	return nil, err
}

// openRegular opens a regular file of at most max bytes for reading.
func openRegular(file string, max int64, flags int) (*os.File, int64, error) {
	f, info, err := vfs.OpenRegular(file, flags)
	switch {
	case errors.Is(err, vfs.ErrNotRegular):
		return nil, 0, &FormatError{file, "not a regular file"}
	case err != nil:
		return nil, 0, err
	case info.Size() > max:
		f.Close() // read only: nothing can be lost
		return nil, 0, &FormatError{file, fmt.Sprintf("%d bytes are more than the %d that it may have", info.Size(), max)}
	}
	return f, info.Size(), nil
}
