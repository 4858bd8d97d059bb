// Package rescue brings back projects whose directory is gone: their files, git's own state and their store, from what
// the account keeps of them.
//
// List says which there are. Rescue makes the directory, gives it the store (package stores), and restores the newest
// checkpoint (package restore). Nothing that is there is overwritten.
package rescue

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/oplog"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/stores"
	"github.com/rewind-cli/rewind/manifest"
)

// List are the projects of the account whose directory is gone, was made anew without a store, or has nothing but its store, as
// where a rescue was interrupted; the one that was saved to last first, but each behind one around it, as linked worktrees are in their
// repository's directory. It changes nothing.
func List(ctx context.Context, env account.Env) ([]stores.Info, error) {
	all, err := stores.List(ctx, env)
	return outerFirst(slices.DeleteFunc(all, func(s stores.Info) bool {
		switch s.State {
		case account.Live:
			return !hasOnlyStore(s.Root) || !hadFiles(ctx, env, s)
		case account.Gone:
			return false
		case account.Replaced:
			return account.IsStore(filepath.Join(s.Root, filepath.FromSlash(account.StoreName)))
		}
		return true
	})), err
}

// outerFirst puts each project before those below it.
func outerFirst(list []stores.Info) (sorted []stores.Info) {
	for _, s := range list {
		i := slices.IndexFunc(sorted, func(o stores.Info) bool { return vfs.IsBelow(s.Root, o.Root) })
		if i < 0 {
			i = len(sorted)
		}
		sorted = slices.Insert(sorted, i, s)
	}
	return sorted
}

// IsKept reports whether the account has what a project's store held.
func IsKept(s *stores.Info) bool {
	names, err := os.ReadDir(s.Mirror)
	return s.Store != "" || s.Mirror != "" && (err != nil || slices.ContainsFunc(names, func(e fs.DirEntry) bool { return filepath.Ext(e.Name()) == ".pack" }))
}

// hasOnlyProjects reports whether all that a directory has is other projects of the account, and the directories above them.
func hasOnlyProjects(env account.Env, dir string) bool {
	known, _ := account.KnownStores(env) // what cannot be read says nothing
	var only func(dir string) bool
	only = func(dir string) bool {
		names, err := os.ReadDir(dir)
		return err == nil && len(names) > 0 && !slices.ContainsFunc(names, func(e fs.DirEntry) bool {
			at := filepath.Join(dir, e.Name())
			is := slices.ContainsFunc(known, func(k account.KnownStore) bool { return k.Root == at && account.IsStore(k.PlaceIn(env)) })
			return !e.IsDir() || !is && !only(at)
		})
	}
	return only(dir)
}

// hasOnlyStore reports whether a project's store is all that there is in its directory.
func hasOnlyStore(root string) bool {
	for _, name := range strings.Split(account.StoreName, "/") {
		names, err := os.ReadDir(root)
		if err != nil || len(names) != 1 || names[0].Name() != name {
			return false
		}
		root = filepath.Join(root, name)
	}
	return true
}

// hadFiles reports whether the newest checkpoint of a project has anything.
func hadFiles(ctx context.Context, env account.Env, s stores.Info) bool {
	id, err := account.ParseStoreID(s.ID)
	if err != nil {
		return false
	}
	p, err := project.OpenGone(env, id, s.Root, filepath.Join(s.Store, account.ObjectsName), s.Store)
	if err != nil {
		return false
	}
	defer p.Close()
	c, err := newest(ctx, p)
	if err != nil || c == nil {
		return false
	}
	dir, err := p.LoadDir(c.Root)
	return err == nil && len(dir.Entries) > 0 || !c.Git.IsZero()
}

// Options of one rescue.
type Options struct {
	project.OpenOptions
	Store string // id of the store
	Dir   string // where to, absolute; it is made, or must be empty, but for the store itself
}

// Rescue brings a project back into o.Dir: the store, and the files and git's own state of its newest checkpoint. The caller
// closes the project. Errors: *project.RefusedError where something is in o.Dir; those of stores.Init and restore.Restore: then the
// store is in place, and restore can be repeated.
func Rescue(ctx context.Context, o Options) (*project.Project, *restore.Restored, error) {
	notEmpty := &project.RefusedError{What: fmt.Sprintf("%s is not empty", o.Dir), Next: "name another directory, or move away what is there"}
	names, err := os.ReadDir(o.Dir)
	begun := hasOnlyStore(o.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, nil, err
	case len(names) > 0 && !begun && !hasOnlyProjects(o.Env, o.Dir):
		return nil, nil, notEmpty
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, nil, err
	}
	init := stores.InitOptions{OpenOptions: o.OpenOptions, NoSave: true, Adopt: o.Store}
	init.Root, init.Env.Dir = o.Dir, o.Dir
	if begun {
		init.Adopt = "" // it is there
	}
	p, _, err := stores.Init(ctx, init)
	if err != nil {
		return nil, nil, err
	}
	if p.ID.String() != o.Store {
		return p, nil, notEmpty
	}
	newest, err := newest(ctx, p)
	if err != nil || newest == nil {
		return p, nil, errors.Join(err, &project.NothingError{What: "bring back", Next: "its store has no checkpoint"})
	}
	ro := restore.Options{Checkpoint: *newest, Half: conversation.CodeOnly, Args: newest.ID.String()}
	if ro.GitOf, err = newestGit(ctx, p); err != nil {
		return p, nil, err
	}
	if !ro.GitOf.IsZero() {
		ro.Git = restore.GitLost
	}
	done, err := restore.Restore(ctx, p, ro)
	var refused *project.RefusedError
	var removed *restore.WorktreeRemovedError
	if ro.Git != restore.GitStays && (errors.As(err, &refused) || errors.As(err, &removed)) {
		p.Notify("git's own state was not brought back: " + err.Error())
		ro.Git = restore.GitStays
		if done, err = restore.Restore(ctx, p, ro); err == nil {
			done.GitLeft, done.GitRemoved = true, removed
		}
	}
	return p, done, err
}

// newest is the checkpoint that the project was last seen in: the newest one, or that to which an operation has gone since. What
// an operation took before it began does not count: of a rescue that is an empty directory.
func newest(ctx context.Context, p *project.Project) (*manifest.Checkpoint, error) {
	taken := func(c *manifest.Checkpoint) bool { return c.Kind != manifest.Safety }
	c, err := p.NewestInLog(ctx, 0, taken)
	if err != nil || c == nil {
		return c, err
	}
	ops, err := oplog.Operations(ctx, p, 1)
	if err != nil || len(ops) == 0 || ops[0].Seq < c.Seq || ops[0].After == c.Root {
		return c, err
	}
	then, err := p.NewestInLog(ctx, 0, func(c *manifest.Checkpoint) bool { return taken(c) && c.Root == ops[0].After })
	if err != nil || then == nil {
		return c, err
	}
	return then, nil
}

// newestGit is git's own state as it was last seen, by a checkpoint of any kind or after an operation; zero for none.
func newestGit(ctx context.Context, p *project.Project) (oid.ID, error) {
	c, err := p.NewestInLog(ctx, 0, func(c *manifest.Checkpoint) bool { return !c.Git.IsZero() })
	if err != nil || c == nil {
		return oid.ID{}, err
	}
	ops, err := oplog.Operations(ctx, p, 0)
	for _, op := range ops {
		if op.Seq > c.Seq && !op.GitAfter.IsZero() {
			return op.GitAfter, err
		}
	}
	return c.Git, err
}
