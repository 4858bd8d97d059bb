package stores

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/rewind-cli/rewind/engine/account"
)

// maxLooks bounds the search for a directory that was moved.
const maxLooks = 20_000

// whereabouts looks for the directory of k where it is likely to be if it was moved: under another
// name beside its place, with a directory above it renamed, where the person is now, or
// beside the other projects. "" says that it was not found, not that it is nowhere.
func whereabouts(k account.KnownStore, env account.Env, known []account.KnownStore) string {
	looks := 0
	is := func(dir string) bool {
		looks++
		now, _, err := account.Identity(dir)
		return err == nil && now.Inode != 0 && k.IsOf(env, dir, now)
	}
	among := func(parent, rest string) string {
		entries, err := os.ReadDir(parent)
		if err != nil {
			return ""
		}
		for _, e := range entries {
			if dir := filepath.Join(parent, e.Name(), rest); looks < maxLooks && e.IsDir() && is(dir) {
				return dir
			}
		}
		return ""
	}
	seen := map[string]bool{}
	for dir, rest := k.Root, ""; ; {
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		if found := among(parent, rest); found != "" {
			return found
		}
		if rest == "" {
			seen[parent] = true
		}
		dir, rest = parent, filepath.Join(filepath.Base(dir), rest)
	}
	for dir := env.Dir; dir != ""; dir = filepath.Dir(dir) {
		if is(dir) {
			return dir
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	for _, other := range known {
		for _, parent := range []string{filepath.Dir(other.Root), other.Root} {
			if other.Root == "" || seen[parent] || strings.HasPrefix(parent, env.AccountDir()) {
				continue
			}
			seen[parent] = true
			if found := among(parent, ""); found != "" {
				return found
			}
		}
	}
	return ""
}

// storageOf is the directory of the global store of k, even if its project is gone; "" if there is none, or another
// registration claims it.
func storageOf(k account.KnownStore, env account.Env, known []account.KnownStore) string {
	if k.Mode != account.GlobalMode {
		return ""
	}
	store := k.PlaceIn(env)
	if store == "" || !account.IsStore(store) {
		return ""
	}
	if f, err := account.ReadFormat(store); err == nil {
		if f.ID == k.ID.String() {
			return store
		}
		return ""
	}
	for _, other := range known {
		if other.ID != k.ID && other.PlaceIn(env) == store {
			return "" // whose it is cannot be read
		}
	}
	return store
}
