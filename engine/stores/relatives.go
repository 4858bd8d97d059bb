package stores

import (
	"path/filepath"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// Relative is another store of the account.
type Relative struct {
	Registered
	// SameOrigin: one was copied from the other, by cp or by init --adopt, so that what was saved before is in both.
	SameOrigin bool
	// Suspect: it was looked into, and may hold what is forgotten here. forget says so of those that it lists.
	Suspect bool
	SameGit bool // it is suspect since it has state of the same git repository, with what is forgotten
	Holds   bool // it is suspect since it holds objects of git with it, and its project has this one in it
	origin  account.StoreID
	dirs    []string // where its packs are
}

// Relatives lists the other stores of the account, living or not. A
// copy that has not been written to since is not known to the account, and so not among them.
func Relatives(p *project.Project) ([]Relative, error) {
	known, err := all(p.Env)
	if err != nil {
		return nil, err
	}
	origin, err := account.ParseStoreID(p.Format.Origin)
	if err != nil {
		return nil, err
	}
	var out []Relative
	for _, k := range known {
		if k.ID == p.ID {
			continue
		}
		r := Relative{}
		r.ID, r.Root, r.Mode = k.ID.String(), k.Root, k.Mode
		r.State, _ = fate(k, p.Env, known)
		mirror := account.MirrorDir(p.Env, k.ID)
		dirs := []string{mirror, mirror + goingSuffix}
		if store := k.PlaceIn(p.Env); store != "" && store != p.StoreDir() {
			if f, err := account.ReadFormat(store); err != nil || f.ID == r.ID {
				dirs = append(dirs, filepath.Join(store, account.ObjectsName))
			}
		}
		for _, dir := range dirs {
			id, ok := cas.PacksOf(vfs.OS, dir)
			if ok && len(r.dirs) == 0 {
				r.origin, r.SameOrigin = id, account.StoreID(id) == origin
			}
			if ok && id == r.origin {
				r.dirs = append(r.dirs, dir)
			}
		}
		if len(r.dirs) > 0 {
			out = append(out, r)
		}
	}
	return out, nil
}

// MayHold reports whether a store has one of some objects, or a record that says is true of. What
// cannot be read may hold anything. says may be nil.
func (r Relative) MayHold(ids []oid.ID, says func(*cas.Store, manifest.Record) bool) bool {
	for _, dir := range r.dirs {
		if packsMayHold(dir, r.origin, ids, says) {
			return true
		}
	}
	return false
}

// Forgetting reports whether something was forgotten in the store whose bytes it may still have. Nobody writes to a store that
// is gone, and what finishes it elsewhere does not finish it there.
func (r Relative) Forgetting() bool {
	for _, dir := range r.dirs {
		if filepath.Base(dir) == account.ObjectsName {
			dir = filepath.Dir(dir)
		}
		if n := project.ReadForgetting(filepath.Join(dir, project.ForgettingName)); n != nil && n.Sweeping {
			return true
		}
	}
	return r.MayHold(nil, func(_ *cas.Store, record manifest.Record) bool { return record.Amend != nil || record.Rewrite != nil })
}

func packsMayHold(dir string, origin account.StoreID, ids []oid.ID, says func(*cas.Store, manifest.Record) bool) bool {
	s, err := cas.Open(cas.Options{Dir: dir, StoreID: origin, ReadOnly: true})
	if err != nil {
		return true
	}
	defer s.Close()
	for _, id := range ids {
		if has, err := s.Has(id); has || err != nil {
			return true
		}
	}
	if says == nil {
		return false
	}
	for r, err := range project.LogOf(s).Records(0) {
		if err != nil || says(s, r.Record) {
			return true
		}
	}
	return false
}
