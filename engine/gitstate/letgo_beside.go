package gitstate

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/gitrepo"
	"github.com/rewind-cli/rewind/engine/project"
)

// heldBeside are the directories in which other stores of the account, as those of linked worktrees, hold objects of the git directories.
func heldBeside(p *project.Project, commons []string) (dirs []string) {
	known, _ := account.KnownStores(p.Env) // what cannot be read says nothing
	trees := workTreesOf(commons)
	for _, k := range known {
		if k.ID == p.ID {
			continue
		}
		of := rootAmong(p.Env, k, trees) != ""
		for _, dir := range heldOf(p.Env, k) {
			if filepath.IsAbs(dir) && (of && account.IsDir(dir) || slices.ContainsFunc(commons, func(common string) bool { return account.Exists(filepath.Join(dir, heldName(common))) })) {
				dirs = append(dirs, dir)
			}
		}
	}
	return dirs
}

// heldOf is where another store of the account holds objects.
func heldOf(env account.Env, k account.KnownStore) []string {
	return []string{filepath.Join(account.MirrorDir(env, k.ID), account.GitName), filepath.Join(k.PlaceIn(env), account.GitName, "objects")}
}

// StoresWith are the ids of the other stores of the account that hold one of some objects.
func StoresWith(p *project.Project, ids []string) map[string]bool {
	stores, wanted := map[string]bool{}, setOf(ids)
	known, _ := account.KnownStores(p.Env) // what cannot be read says nothing
	for _, k := range known {
		if k.ID == p.ID {
			continue
		}
		for _, dir := range heldOf(p.Env, k) {
			if filepath.IsAbs(dir) && (slices.ContainsFunc(ids, func(id string) bool { return account.Exists(loose(dir, id)) }) || len(packsWith(dir, wanted)) > 0) {
				stores[k.ID.String()] = true
			}
		}
	}
	return stores
}

// workTreesOf are the directories that are checked out from the git directories: their own, and the linked worktrees that they name and
// that name them. A store of one of them can hold objects under the path that a git directory had before it was moved.
func workTreesOf(commons []string) (roots []string) {
	for _, common := range commons {
		if filepath.Base(common) == ".git" {
			roots = append(roots, filepath.Dir(common))
		}
		linked, _ := os.ReadDir(filepath.Join(common, "worktrees")) // there may be none
		for _, w := range linked {
			own := filepath.Join(common, "worktrees", w.Name())
			if data, err := vfs.ReadSmall(filepath.Join(own, "gitdir"), maxFile, vfs.NoFollow); err == nil {
				to := strings.TrimSpace(string(data))
				if !filepath.IsAbs(to) { // as newer versions of git write it where they are asked to
					to = filepath.Join(own, to)
				}
				if linksTo(to, own) {
					roots = append(roots, filepath.Dir(to))
				}
			}
		}
	}
	return roots
}

// linksTo reports whether the file ".git" of a linked worktree names its directory in a repository: by the path that it has, or by one
// where nothing is any more, since the repository was moved. A repository can name any directory, and no store of another one is changed for that.
func linksTo(dotGit, own string) bool {
	to, ok := gitrepo.LinkTarget(dotGit)
	if !ok {
		return false
	}
	is, _, err := account.Identity(own)
	at, _, aerr := account.Identity(to)
	if vfs.IsMissing(aerr) {
		return filepath.Base(to) == filepath.Base(own) && filepath.Base(filepath.Dir(to)) == "worktrees"
	}
	return err == nil && aerr == nil && is == at
}

// StoresOf are the ids of the other stores of the account that are of work trees of the repositories.
func StoresOf(p *project.Project, commons []string) map[string]bool {
	stores, trees := map[string]bool{}, workTreesOf(commons)
	known, _ := account.KnownStores(p.Env) // what cannot be read says nothing
	for _, k := range known {
		if k.ID != p.ID && rootAmong(p.Env, k, trees) != "" {
			stores[k.ID.String()] = true
		}
	}
	return stores
}

// StoresAround are the ids of the stores of the account whose projects this one lies in: they hold objects of its git directory from
// the time before it had a store of its own, under the path that it had then.
func StoresAround(p *project.Project) map[string]bool {
	var dirs []string
	for dir := filepath.Dir(p.Root()); ; dir = filepath.Dir(dir) {
		if dirs = append(dirs, dir); dir == filepath.Dir(dir) {
			break
		}
	}
	stores := map[string]bool{}
	known, _ := account.KnownStores(p.Env) // what cannot be read says nothing
	for _, k := range known {
		if k.ID != p.ID && rootAmong(p.Env, k, dirs) != "" {
			stores[k.ID.String()] = true
		}
	}
	return stores
}

// rootAmong is which of some work trees a store of the account is of, "" for none.
func rootAmong(env account.Env, k account.KnownStore, trees []string) string {
	i := slices.IndexFunc(trees, func(root string) bool {
		now, _, err := account.Identity(root)
		return k.Root == root || err == nil && k.IsOf(env, root, now)
	})
	if i < 0 {
		return ""
	}
	return trees[i]
}

// Beside is another account that uses the store of another work tree of a repository, and may hold there what is forgotten.
type Beside struct {
	account.Home
	Root  string
	Asked bool // it lets go with its next command there: this account uses that store, too
}

// besideStore is the store of another work tree of a repository, with the other accounts that may hold objects of git for it.
type besideStore struct {
	root, dir string
	asked     bool // this account uses it, too
	homes     []account.Home
	note      forgottenNote
}

func storesBeside(p *project.Project, commons []string) (list []besideStore, err error) {
	known, _ := account.KnownStores(p.Env) // what cannot be read says nothing
	for _, root := range workTreesOf(commons) {
		s := besideStore{root: root, dir: filepath.Join(root, account.StoreName)}
		for _, k := range known {
			if rootAmong(p.Env, k, []string{root}) != "" && k.ID != p.ID {
				s.dir, s.asked = k.PlaceIn(p.Env), true
			}
		}
		format, ferr := account.ReadFormat(s.dir)
		id, perr := account.ParseStoreID(format.ID)
		if ferr != nil || perr != nil || id == p.ID {
			continue
		}
		var herr error
		s.homes, herr = othersHolding(s.dir, account.OwnHome(account.MirrorDir(p.Env, id)))
		err = errors.Join(err, herr)
		s.note = readForgottenIn(s.dir)
		list = append(list, s)
	}
	return list, err
}

// NoteBeside tells the other accounts of the stores of other work trees what to let go of, and gives those that have not done so. To a
// store that this account does not use nothing is written.
func NoteBeside(p *project.Project, commons, ids []string) (behind []Beside, err error) {
	list, err := storesBeside(p, commons)
	for _, s := range list {
		n, before := s.note, len(s.note.IDs)
		n.IDs = union(n.IDs, ids)
		more := len(n.IDs) > before
		if s.asked && len(s.homes) > 0 && (more || slices.ContainsFunc(s.homes, func(h account.Home) bool { return h.Since })) {
			n.Time = p.Env.Time().UTC()
			err = errors.Join(err, n.saveIn(s.dir, account.OwnerOf(s.dir)))
		}
		for _, h := range s.homes {
			if more || h.Git != n.name() {
				behind = append(behind, Beside{h, s.root, s.asked})
			}
		}
	}
	return behind, err
}

// IsBehindBeside reports whether an account of a store of another work tree has not let go of what was noted before.
func IsBehindBeside(p *project.Project, commons []string) (bool, error) {
	list, err := storesBeside(p, commons)
	ids := Forgotten(p)
	return slices.ContainsFunc(list, func(s besideStore) bool {
		more := len(union(s.note.IDs, ids)) > len(s.note.IDs)
		return slices.ContainsFunc(s.homes, func(h account.Home) bool { return more || h.Git != s.note.name() })
	}), err
}

// othersHolding are the accounts that may hold objects of git for a store, but for this one.
func othersHolding(store, own string) ([]account.Home, error) {
	homes, _, err := account.Homes(store)
	return slices.DeleteFunc(homes, func(h account.Home) bool { return filepath.Base(h.File) == own || h.Known() && !h.Holds }), err
}
