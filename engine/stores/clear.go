package stores

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/rootfs"
)

// finish removes what is there of a store that is going. It can be repeated.
func (r *Removal) finish(ctx context.Context) error {
	var errs []error
	if r.Store != "" {
		errs = append(errs, r.removeAside())
	} else if r.place != "" {
		errs = append(errs, r.removeLeftAside())
	}
	if r.Copy {
		return errors.Join(errs...)
	}
	if account := r.env.AccountDir(); account != "" {
		errs = append(errs, removeMirror(account, r.ID))
	}
	if r.Root != "" && len(errs) > 0 && errors.Join(errs...) == nil {
		errs = append(errs, removeSessionsOf(r.env, r.Root))
	}
	if err := errors.Join(errs...); err != nil || r.known.Root == "" {
		return err
	}
	return account.Register(ctx, r.env, r.known, true)
}

// base opens the directory that the store lies in, and gives the store's name there. That of
// a project is reached from its root without following a link, but for one that the
// person has allowed.
func (r *Removal) base() (rootfs.FS, rootfs.Dir, string, error) {
	store := r.place
	top, below := filepath.Dir(store), ""
	if behind := behind(r.known); behind != "" && !r.Copy {
		store = behind
		top = filepath.Dir(behind)
	} else if r.Mode == account.ProjectMode {
		top, below = r.Root, filepath.Dir(filepath.FromSlash(account.StoreName))
	}
	f, err := rootfs.Open(top)
	if err != nil {
		return nil, nil, "", err
	}
	d, err := f.OpenDir(below)
	if err != nil {
		f.Close()
		return nil, nil, "", err
	}
	return f, d, filepath.Base(store), nil
}

// behind is where the store of k is if a link leads to it that the person has allowed.
func behind(k account.KnownStore) string {
	if k.Link == "" || filepath.IsAbs(k.Link) {
		return k.Link
	}
	return filepath.Join(k.Root, k.Link)
}

// reachable makes sure that the store is a directory that no link leads to. Nothing has
// been changed yet.
func (r *Removal) reachable() error {
	f, d, name, err := r.base()
	if err == nil {
		defer f.Close()
		defer d.Close()
		var info rootfs.Info
		if info, err = d.Lstat(name); err == nil && info.Kind != rootfs.Directory {
			err = rootfs.ErrLink
		}
	}
	if errors.Is(err, rootfs.ErrLink) {
		return &project.LinkError{Path: r.Store}
	}
	return err
}

// removeAside renames the store first, so that it stops being one in a single step, and then removes it.
func (r *Removal) removeAside() error {
	f, d, name, err := r.base()
	if err != nil {
		return err
	}
	defer f.Close()
	defer d.Close()
	aside := name + goingSuffix + "-" + r.ID
	err = rootfs.RemoveTree(d, aside, nil) // of one that was killed
	if err == nil {
		err = d.Rename(name, aside)
	}
	if err = rootfs.Gone(err); err == nil {
		err = vfs.OS.SyncDir(filepath.Dir(r.place))
	}
	if err != nil {
		return fmt.Errorf("remove the store: %w", err)
	}
	return r.removeRest(f, d, aside)
}

// removeLeftAside removes what removals that were killed have left beside the place of a store.
func (r *Removal) removeLeftAside() error {
	f, d, name, err := r.base()
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, rootfs.ErrNotDir) || errors.Is(err, rootfs.ErrLink) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	defer d.Close()
	names, err := d.Names()
	if err != nil {
		return err
	}
	for _, aside := range names {
		if strings.HasPrefix(aside, name+goingSuffix+"-") {
			if err := removeButOlders(d, aside, name); err != nil {
				return fmt.Errorf("remove the store: %w", err)
			}
		}
	}
	return r.removeRest(f, d, "")
}

// leftRemoval removes what is left in a project of a store that was a copy's.
func leftRemoval(env account.Env, root string) *Removal {
	r := &Removal{env: env, Copy: true, place: filepath.Join(root, filepath.FromSlash(account.StoreName))}
	r.Root, r.Mode, r.State, r.Checkpoints = root, account.ProjectMode, account.Going, -1
	return r
}

// leftAside reports whether a removal that was killed has left something in a project.
func leftAside(root string) bool {
	store := filepath.Join(root, filepath.FromSlash(account.StoreName))
	entries, err := os.ReadDir(filepath.Dir(store))
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return strings.HasPrefix(e.Name(), filepath.Base(store)+goingSuffix+"-")
	})
}

// removeRest removes what was renamed, if anything, and .agent if nothing else is in it.
func (r *Removal) removeRest(f rootfs.FS, d rootfs.Dir, aside string) error {
	if aside != "" {
		err := removeButOlders(d, aside, filepath.Base(r.place))
		if err == nil {
			err = vfs.OS.SyncDir(filepath.Dir(r.place)) // or a power cut could bring the name back
		}
		if err != nil {
			return fmt.Errorf("remove the store: %w", err)
		}
	}
	if r.Mode != account.ProjectMode || d.Path() != ".agent" {
		return nil
	}
	names, err := d.Names()
	if err != nil || len(names) > 0 {
		return err
	}
	top, err := f.OpenDir("")
	if err != nil {
		return err
	}
	defer top.Close()
	if err := top.Rmdir(".agent"); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return vfs.OS.SyncDir(r.Root)
}

// removeMirror removes the mirror of a store.
func removeMirror(accountDir, id string) error {
	f, err := rootfs.Open(accountDir)
	if err != nil {
		return err
	}
	defer f.Close()
	d, err := f.OpenDir(account.MirrorsName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("remove the mirror: %w", err)
	}
	defer d.Close()
	err = d.Rename(id, id+goingSuffix)
	if errors.Is(err, fs.ErrExist) { // of one that was killed before
		if err = rootfs.RemoveTree(d, id+goingSuffix, nil); err == nil {
			err = d.Rename(id, id+goingSuffix)
		}
	}
	if rootfs.Gone(err) == nil {
		err = rootfs.RemoveTree(d, id+goingSuffix, nil)
	}
	if err == nil {
		err = vfs.OS.SyncDir(filepath.Join(accountDir, account.MirrorsName))
	}
	if err != nil {
		return fmt.Errorf("remove the mirror: %w", err)
	}
	return nil
}

// removeSessionsOf removes what hooks remember of sessions that are certainly of this
// project: those whose root it is.
func removeSessionsOf(env account.Env, root string) error {
	dir := filepath.Join(env.AccountDir(), "sessions")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return rootfs.Gone(err)
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".json" {
			continue
		}
		file := filepath.Join(dir, e.Name())
		if s := account.ReadSession(file); s.Exact && s.Dir == root {
			if err := account.RemoveIfThere(file); err != nil {
				return err
			}
		}
	}
	return nil
}
