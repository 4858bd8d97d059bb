package project

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/treeio"
)

// rebuildStore brings a vanished store back from its mirror, with its
// settings. Packs alone are enough. Only the directory that had the store gets it
// back, and it shares no file with a store that has taken part of it along.
func rebuildStore(ctx context.Context, env account.Env, at *Location) error {
	lost := at.Lost
	mirror := account.MirrorDir(env, lost.ID)
	vanished := func(err error) error {
		e := &VanishedError{Root: at.Root, Reason: problem.Text(err), Err: err, Mirror: mirror}
		if errors.Is(err, fs.ErrNotExist) {
			e.Mirror = "" // nothing in it can be read
		}
		return e
	}
	if !account.IsDir(mirror) {
		mirror = ""
	}
	release, err := account.Lock(ctx, env)
	if err != nil {
		return vanished(err)
	}
	defer release()
	store := filepath.Join(at.Root, filepath.FromSlash(account.StoreName))
	if lost.Mode == account.GlobalMode {
		store = account.GlobalStore(env, at.Root)
	}
	if account.IsStore(store) { // another process was faster
		at.Store, at.Mode = store, lost.Mode
		return nil
	}
	if mirror == "" {
		return &VanishedError{Root: at.Root, Reason: "its mirror is gone too"}
	}
	now := *lost
	now.Root = at.Root
	if dir, _, err := account.Identity(at.Root); err == nil {
		now.DirID = lost.DirID.Refined(dir)
	}
	if err := account.FillStore(env, store, now); err != nil {
		return vanished(err)
	}
	_ = treeio.Suspect(filepath.Join(store, account.RestoreName), account.OwnerOf(store)) // else status --check tells
	if now != *lost {
		if err := account.Register(ctx, env, now, false); err != nil {
			return err
		}
	}
	at.Store, at.Mode = store, lost.Mode
	return nil
}
