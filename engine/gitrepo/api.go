// Package gitrepo reads a git repository's files directly: which paths git
// tracks, where its exclude files are, and what HEAD is. It never writes, and
// runs no git program.
package gitrepo

import "rewind/engine/ignore"

// Repo is the repository that contains a directory.
type Repo struct {
	WorkTree  string // root of the work tree
	GitDir    string // the git directory (of a linked worktree: its own)
	CommonDir string // the shared git directory
}

// Find looks for the repository that dir lies in (the directory itself or an
// ancestor). ok is false where there is none.
func Find(dir string) (repo Repo, ok bool) { panic("stub") }

// IndexFile is the path of the index, for its stat.
func (r Repo) IndexFile() string { panic("stub") }

// Tracked reads the index (versions 2 to 4; also sha256 repositories). Paths are relative to the work tree,
// sorted. Split or sparse indexes give *UnsupportedError: the caller says so in the coverage.
func (r Repo) Tracked() (*Tracked, error) { panic("stub") }

// Excludes reads core.excludesFile (system, global, local configuration, with the default
// $XDG_CONFIG_HOME/git/ignore) and info/exclude, weakest first.
func (r Repo) Excludes(home string) ([]ignore.Source, error) { panic("stub") }

// Head gives the commit id ("" if unborn) and the branch ("" if detached).
func (r Repo) Head() (commit, branch string, err error) { panic("stub") }

// Tracked is the set of paths in an index.
type Tracked struct{ _ int }

func (t *Tracked) Has(path string) bool     { panic("stub") }
func (t *Tracked) HasBelow(dir string) bool { panic("stub") }

// Hash changes when a path enters or leaves the set.
func (t *Tracked) Hash() uint64 { panic("stub") }
func (t *Tracked) Len() int     { panic("stub") }
