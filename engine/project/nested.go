package project

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
)

// Nested is the root of the project below this one that a directory lies in, and whether that has, or had, a store; ""
// where it lies in none. Of a directory that is gone, its path and the registry say it.
func (p *Project) Nested(dir string) (root string, own bool) {
	if dir == "" || dir == p.Root() {
		return "", false
	}
	there, gone := filepath.Clean(dir), ""
	for {
		real, err := filepath.EvalSymlinks(there)
		if err == nil {
			there = real
			break
		}
		if there == filepath.Dir(there) {
			return "", false
		}
		there, gone = filepath.Dir(there), filepath.Join(filepath.Base(there), gone)
	}
	below := func(dir string) bool { return dir != p.Root() && vfs.Within(p.Root(), dir) }
	dir = filepath.Join(there, gone)
	if !below(dir) {
		return "", false
	}
	known, _ := account.KnownStores(p.Env) // what cannot be read says nothing
	if gone != "" {
		around := func(k account.KnownStore) bool { return below(k.Root) && vfs.Within(k.Root, dir) }
		if i := slices.IndexFunc(known, around); i >= 0 {
			return known[i].Root, true
		}
		if w := AgentWorktree(dir); w != "" && below(w) {
			return w, false
		}
	}
	env := p.Env
	env.Dir, env.Getenv = there, func(string) string { return "" } // whatever the environment names
	at, err := Discover(OpenOptions{Env: env}, known)
	if err != nil || !below(at.Root) {
		return "", false
	}
	return at.Root, at.Store != "" || at.Lost != nil
}

// Elsewhere is the root of another project, neither this one nor below it, that a directory lies in and that has a store; "" where
// it lies in none, or is gone: then this project may have been moved.
func (p *Project) Elsewhere(dir string) string {
	real, err := filepath.EvalSymlinks(dir)
	if dir == "" || err != nil || vfs.Within(p.Root(), real) {
		return ""
	}
	known, _ := account.KnownStores(p.Env) // what cannot be read says nothing
	env := p.Env
	env.Dir, env.Getenv = real, func(string) string { return "" } // whatever the environment names
	at, err := Discover(OpenOptions{Env: env}, known)
	if err != nil || at.Root == p.Root() || at.Store == "" && at.Lost == nil {
		return ""
	}
	there, err := os.Stat(at.Root)
	if err != nil {
		return ""
	}
	if here, err := os.Stat(p.Root()); err != nil || os.SameFile(there, here) {
		return ""
	}
	return at.Root
}

// NestedStore is a project below this one, with a store of its own.
type NestedStore struct {
	Path  string    // of its root below this one's, with slashes
	Since time.Time // when its store was made, as far as the file system tells; zero where it does not
}

// NestedStores lists the projects below this one that have a store on this account, the deepest first. This one captures their files,
// too, but the work of the sessions there is theirs.
func (p *Project) NestedStores() (list []NestedStore) {
	known, _ := account.KnownStores(p.Env) // what cannot be read says nothing
	for _, k := range known {
		rel, err := filepath.Rel(p.Root(), k.Root)
		if err != nil || !filepath.IsLocal(rel) || rel == "." {
			continue
		}
		place := k.PlaceIn(p.Env)
		info, err := os.Stat(filepath.Join(place, account.FormatName))
		if place == "" || err != nil || slices.ContainsFunc(list, func(n NestedStore) bool { return n.Path == filepath.ToSlash(rel) }) {
			continue
		}
		list = append(list, NestedStore{filepath.ToSlash(rel), info.ModTime()})
	}
	slices.SortFunc(list, func(a, b NestedStore) int {
		return cmp.Or(cmp.Compare(len(b.Path), len(a.Path)), cmp.Compare(a.Path, b.Path))
	})
	return list
}

// NestedOf is the one of a list of NestedStores that a path is in; nil for none. The root of one itself is in it.
func NestedOf(list []NestedStore, path string) *NestedStore {
	i := slices.IndexFunc(list, func(n NestedStore) bool {
		return strings.HasPrefix(path, n.Path) && (len(path) == len(n.Path) || path[len(n.Path)] == '/')
	})
	if i < 0 {
		return nil
	}
	return &list[i]
}
