package project

import (
	"path/filepath"
	"slices"

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
	below := func(dir string) bool { return dir != p.Root() && within(dir, p.Root()) }
	dir = filepath.Join(there, gone)
	if !below(dir) {
		return "", false
	}
	known, _ := account.KnownStores(p.Env) // what cannot be read says nothing
	if gone != "" {
		around := func(k account.KnownStore) bool { return below(k.Root) && within(dir, k.Root) }
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
