package engine

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"rewind/manifest"
)

// Status of a project, for rewind status.
type Status struct {
	Root, Store           string
	Mode                  Mode
	Last                  *Listed
	Checkpoints           int
	Bytes                 int64 // that the store takes on disk
	SecondName            bool  // the packs have their second names
	SecondNameReason      string
	NotCovered            []Problem // of the newest checkpoint
	Precious              int       // files of the newest checkpoint that are marked as precious
	Crashed               *CrashedRestore
	FreeDisk, MinFreeDisk int64
	MaxSize               int64
	Orphans               []string // stores of this account whose project is gone
	ReadOnly              bool
	LastHookError         *HookError // nil: none, or a hook succeeded since
	Forgetting            *time.Time // since when bytes wait that were forgotten; nil: none do
}

// Status looks at the store; it changes nothing.
func (p *Project) Status(ctx context.Context) (*Status, error) {
	s := &Status{
		Root: p.place.root, Store: p.place.store, Mode: p.place.mode, ReadOnly: p.readOnly != nil,
		MinFreeDisk: p.settings.MinFreeDisk, MaxSize: p.settings.Retention.MaxSize,
	}
	newest, err := p.List(ctx, ListOptions{Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(newest) > 0 {
		s.Last = &newest[0]
		if s.NotCovered, err = p.Coverage(ctx, s.Last.Checkpoint); err != nil {
			return nil, err
		}
		err := p.Tree(ctx, s.Last.Checkpoint, "", func(e TreeEntry) error {
			if e.Precious {
				s.Precious++
			}
			return nil
		})
		if err != nil && !isDamage(err) { // verify tells of that
			return nil, err
		}
	}
	if err := p.query(ctx, func(db *manifest.DB) (err error) {
		s.Checkpoints, _, err = db.Count()
		return err
	}); err != nil {
		return nil, err
	}
	if s.Bytes, err = p.storeSize(); err != nil {
		return nil, err
	}
	if err := p.SecondName(); err != nil {
		s.SecondNameReason = err.Error()
	} else {
		s.SecondName = true
	}
	if s.FreeDisk, err = freeDisk(p.place.store); err != nil {
		return nil, err
	}
	if s.Crashed, err = p.Crashed(ctx); err != nil {
		return nil, err
	}
	if s.Forgetting, err = p.PendingForget(ctx); err != nil {
		return nil, err
	}
	s.LastHookError = readHookState(p.place.store).Error
	s.Orphans, err = orphans(p.env)
	return s, err
}

// orphans are the stores of this account whose root is no longer there.
func orphans(env Env) ([]string, error) {
	known, err := knownStores(env)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, k := range known {
		if _, err := os.Lstat(k.root); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		store := vaultDir(env, k.id)
		if k.mode == GlobalMode {
			store = globalStore(env, k.root)
		}
		if exists(store) {
			out = append(out, store)
		}
	}
	slices.Sort(out)
	return out, nil
}

// storeSize is what the store takes on disk, in bytes. The packs' second names take nothing.
func (p *Project) storeSize() (int64, error) {
	var total int64
	err := p.eachStoreFile(func(_ string, info fs.FileInfo) { total += allocated(info) })
	return total, err
}

// eachStoreFile visits the store's files; those that vanish meanwhile are left out.
func (p *Project) eachStoreFile(visit func(rel string, info fs.FileInfo)) error {
	seen := map[[2]uint64]bool{}
	return filepath.WalkDir(p.place.store, func(file string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if key, shared := linkKey(info); shared {
			if seen[key] {
				return nil // tables that two generations of the database share
			}
			seen[key] = true
		}
		rel, err := filepath.Rel(p.place.store, file)
		visit(filepath.ToSlash(rel), info)
		return err
	})
}
