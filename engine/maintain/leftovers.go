package maintain

import (
	"context"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/engine/treeio"
)

// Leftover is a temporary file in the project of a restore that was killed, and whose journal is lost: no command
// puts it back or removes it.
type Leftover struct {
	Path string // below a directory that was displaced, too
	ID   oid.ID // of its content; zero for what is no regular file, or cannot be read
	Held bool   // the store has that content
}

// Leftovers finds them in the working tree. There are none while a restore runs, or where its journal says what becomes of
// them: neither in this project, nor in one around it. dirs are the directories among them, the deepest first.
func Leftovers(ctx context.Context, p *project.Project) (files []Leftover, dirs []string, err error) {
	known, err := account.KnownStores(p.Env)
	if err != nil {
		return nil, nil, err
	}
	others, restores := map[string]bool{}, []string{p.RestoreDir()}
	explained := func() bool {
		return slices.ContainsFunc(restores, func(dir string) bool {
			j, err := treeio.Open(dir)
			return err != nil || j != nil && j.Touched
		})
	}
	for _, k := range known {
		others[k.Root] = k.Root != p.Root()
		if rel, err := filepath.Rel(k.Root, p.Root()); err == nil && filepath.IsLocal(rel) && k.Root != p.Root() {
			restores = append(restores, filepath.Join(k.Store(p.Env), account.RestoreName))
		}
	}
	if explained() {
		return nil, nil, nil
	}
	err = filepath.WalkDir(p.Root(), func(file string, d fs.DirEntry, err error) error {
		rel, rerr := filepath.Rel(p.Root(), file)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil || rerr != nil:
			return nil // what cannot be listed, no restore has written into
		case d.IsDir() && (rootfs.IsDotGit(d.Name()) || file == p.StoreDir() || file == p.Env.AccountDir() || others[file] || file != p.Root() && account.IsStore(filepath.Join(file, filepath.FromSlash(account.StoreName)))):
			return filepath.SkipDir
		}
		path, within := filepath.ToSlash(rel), false
		for dir, name := "", path; name != "" && !within; name = dir {
			dir, name = rootfs.Split(name)
			within = rootfs.IsRestores(name)
		}
		switch {
		case within && d.IsDir():
			dirs = append(dirs, path)
		case within:
			files = append(files, Leftover{Path: path})
		}
		return nil
	})
	slices.Reverse(dirs)
	if err != nil || len(files) == 0 {
		return nil, dirs, err
	}
	if explained() { // it has begun meanwhile
		return nil, nil, nil
	}
	tree, err := rootfs.Open(p.Root())
	if err != nil {
		return nil, nil, err
	}
	defer tree.Close()
	tx := commit.Look(p)
	defer func() { _ = tx.Discard() }() // nothing was staged
	for i := range files {
		l := &files[i]
		dir, name := rootfs.Split(l.Path)
		d, err := tree.OpenDir(dir)
		if err != nil {
			continue
		}
		if f, info, err := d.OpenFile(name); err == nil {
			_, id, n, err := tx.Content(0, f, info.Size, oid.ID{})
			f.Close()
			if err == nil && n == info.Size {
				known, err := p.Store.Has(id)
				l.ID, l.Held = id, n == 0 || known && err == nil
			}
		}
		d.Close()
	}
	return files, dirs, nil
}

// RemoveHeld removes those of which the store has the content. The caller holds the tree lock.
func RemoveHeld(ctx context.Context, p *project.Project) (removed []string, err error) {
	return removeLeftovers(ctx, p, func(l Leftover) bool { return l.Held })
}

// removeLeftovers removes those that goes says of, and then the directories that are empty.
func removeLeftovers(ctx context.Context, p *project.Project, goes func(Leftover) bool) (removed []string, err error) {
	files, dirs, err := Leftovers(ctx, p)
	if err != nil || len(files)+len(dirs) == 0 {
		return nil, err
	}
	tree, err := rootfs.Open(p.Root())
	if err != nil {
		return nil, err
	}
	defer tree.Close()
	remove := func(path string, unlink func(rootfs.Dir, string) error) error {
		dir, name := rootfs.Split(path)
		d, err := tree.OpenDir(dir)
		if err != nil {
			return err
		}
		defer d.Close()
		return unlink(d, name)
	}
	for _, l := range files {
		if l.ID == (oid.ID{}) || !goes(l) {
			continue
		}
		if err := remove(l.Path, rootfs.Dir.Unlink); err != nil {
			return removed, err
		}
		removed = append(removed, l.Path)
	}
	for _, dir := range dirs {
		_ = remove(dir, rootfs.Dir.Rmdir) // one that is not empty stays
	}
	return removed, nil
}
