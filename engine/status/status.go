package status

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/hook"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/remote"
	"github.com/rewind-cli/rewind/engine/stores"
	"github.com/rewind-cli/rewind/engine/watch"
	"github.com/rewind-cli/rewind/manifest"
)

// Status of a project.
type Status struct {
	Root, Store           string
	Mode                  account.Mode
	Last                  *project.Listed
	Checkpoints, Safety   int   // safety checkpoints are counted apart
	Bytes                 int64 // that the store takes on disk
	Mirrored              bool  // all packs are in the mirror
	MirrorReason          string
	MirrorsNext           bool              // the next save gives the mirror what it is without
	Copied                bool              // the store is a copy: it becomes one of its own at its first save
	NotCovered            []problem.Problem // of the newest checkpoint
	Precious              int               // files of the newest checkpoint that are marked as precious
	Crashed               *project.CrashedRestore
	FreeDisk, MinFreeDisk int64
	MaxSize               int64
	Orphans               []string      // stores of this account whose project is gone
	Gone                  []stores.Info // stores of deleted projects
	ReadOnly              bool
	LastHookError         *project.HookError // nil: none, or a hook succeeded since
	Outsiders             []hook.Outsider    // sessions that work here and are captured elsewhere
	Strays                []maintain.Stray   // what lies in the store's directory and is not the store's
	Generic               *time.Time         // when the newest checkpoint for an event of hook generic was taken; nil: none is known
	Forgetting            *time.Time         // since when bytes wait that were forgotten; nil: none do
	Remotes               []remote.State
	Watcher               *Watcher            // nil: no process of this account watches the project, or none that hooks can ask
	Pulled                []project.PulledLog // of other machines
	Ahead                 map[string]bool     // by name: those that go on from where this store is
}

// Watcher is a process that watches the project and tells hooks what changed.
type Watcher struct {
	PID, Directories int
	Since            time.Time
}

// Of looks at the store; it changes nothing.
func Of(ctx context.Context, p *project.Project) (*Status, error) {
	s := &Status{
		Root: p.Root(), Store: p.StoreDir(), Mode: p.Mode(), ReadOnly: p.ReadOnly != nil,
		MinFreeDisk: p.Settings().MinFreeDisk, MaxSize: p.Settings().Retention.MaxSize,
	}
	newest, err := p.List(ctx, project.ListOptions{Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(newest) > 0 {
		s.Last = &newest[0]
		if s.NotCovered, err = inspect.Coverage(ctx, p, s.Last.Checkpoint); err != nil {
			return nil, err
		}
		err := inspect.Tree(ctx, p, s.Last.Checkpoint, "", func(e inspect.TreeEntry) error {
			if e.Precious {
				s.Precious++
			}
			return nil
		})
		if err != nil && !project.IsDamage(err) { // verify tells of that
			return nil, err
		}
	}
	if err := p.Query(ctx, func(db *manifest.DB) (err error) {
		if s.Generic, err = lastGeneric(db); err != nil {
			return err
		}
		s.Checkpoints, s.Safety, err = db.Count()
		return err
	}); err != nil {
		return nil, err
	}
	if s.Bytes, err = p.StoreSize(); err != nil {
		return nil, err
	}
	s.Copied = p.Copied
	if a := watch.Ask(p.Root(), watch.Question{}); a != nil {
		s.Watcher = &Watcher{a.PID, a.Directories, a.Since}
		a.Close()
	}
	if err := hook.Mirrored(p); err != nil {
		s.MirrorReason = problem.Text(err)
		s.MirrorsNext = !p.Copied && p.ReadOnly == nil && p.Store.MirrorsNext()
		if mirror := account.MirrorDir(p.Env, p.ID); s.MirrorsNext {
			if err := account.CanWrite(mirror); err != nil {
				s.MirrorsNext, s.MirrorReason = false, fmt.Sprintf("not all packs are in the mirror, and %s cannot be written: %s", mirror, problem.Text(err))
			}
		}
	} else if bare, mirrors := p.Store.Bare(); bare {
		s.MirrorsNext, s.MirrorReason = mirrors, "there is no checkpoint yet"
		if !mirrors {
			s.MirrorReason = "the account's directory " + p.Env.AccountDir() + " is on another file system"
		}
	} else {
		s.Mirrored = true
	}
	if s.FreeDisk, err = account.FreeDisk(p.StoreDir()); err != nil {
		return nil, err
	}
	if s.Crashed, err = p.Crashed(ctx); err != nil {
		return nil, err
	}
	if s.Forgetting, err = maintain.PendingForget(ctx, p); err != nil {
		return nil, err
	}
	if s.Strays, err = maintain.Strays(p); err != nil {
		return nil, err
	}
	if s.Pulled, err = p.Pulled(); err != nil {
		return nil, err
	}
	s.Ahead = map[string]bool{}
	for _, l := range s.Pulled {
		if s.Ahead[l.Name], err = l.IsAhead(p); err != nil {
			return nil, err
		}
	}
	if s.Remotes, err = remote.States(p); err != nil {
		return nil, err
	}
	s.LastHookError = project.LastHookError(p.Env, p)
	s.Outsiders = hook.Outsiders(p)
	if s.Orphans, err = orphans(p.Env); err != nil {
		return nil, err
	}
	s.Gone, err = stores.Gone(ctx, p.Env, 0)
	return s, err
}

// genericDepth bounds the checkpoints, the newest first, that lastGeneric looks at: a status must not read a whole store.
const genericDepth = 500

// lastGeneric is the time of the newest checkpoint that a script of docs/GENERIC.md caused, nil for none.
func lastGeneric(db *manifest.DB) (*time.Time, error) {
	for c, err := range db.Checkpoints(manifest.Query{Limit: genericDepth}) {
		if err != nil {
			return nil, err
		}
		if c.Agent == "generic" {
			return &c.Time, nil
		}
	}
	return nil, nil
}

// orphans are the stores of this account whose root is no longer there.
func orphans(env account.Env) ([]string, error) {
	known, err := account.KnownStores(env)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, k := range known {
		if _, err := os.Lstat(k.Root); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		store := account.MirrorDir(env, k.ID)
		if k.Mode == account.GlobalMode {
			store = account.GlobalStore(env, k.Root)
		}
		if account.Exists(store) {
			out = append(out, store)
		}
	}
	slices.Sort(out)
	return out, nil
}
