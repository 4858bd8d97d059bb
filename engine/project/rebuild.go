package project

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"rewind/cas"
	"rewind/cas/vfs"
)

// rebuildingName marks a store that is being brought back: until it is gone, what
// is there is not to be taken for a store.
const rebuildingName = "rebuilding"

// rebuildStore brings a vanished store back from its mirror, with its
// settings. Packs alone are enough. Only the directory that had the store gets it
// back, and it shares no file with a store that has taken part of it along.
func rebuildStore(ctx context.Context, env Env, at *place) error {
	release, err := lockAccount(ctx, env)
	if err != nil {
		return &VanishedError{Root: at.root, Reason: err.Error()}
	}
	defer release()
	lost := at.lost
	store := filepath.Join(at.root, filepath.FromSlash(StoreName))
	if lost.Mode == GlobalMode {
		store = GlobalStore(env, at.root)
	}
	if isStore(store) { // another process was faster
		at.store, at.mode = store, lost.Mode
		return nil
	}
	if mirror := MirrorDir(env, lost.ID); !isDir(mirror) {
		return &VanishedError{Root: at.root, Reason: "its mirror is gone too"}
	}
	now := *lost
	now.Root = at.root
	if dir, _, err := identity(at.root); err == nil {
		now.DirID = lost.DirID.refined(dir)
	}
	if err := fillStore(env, store, now); err != nil {
		return &VanishedError{Root: at.root, Reason: err.Error()}
	}
	if now != *lost {
		if err := Register(ctx, env, now, false); err != nil {
			return err
		}
	}
	at.store, at.mode = store, lost.Mode
	return nil
}

// fillStore makes a store of the mirror of k, the format file last.
func fillStore(env Env, store string, k KnownStore) error {
	owner := OwnerOf(existingParent(store))
	if err := makeStoreDirs(store, owner); err != nil {
		return err
	}
	mark := filepath.Join(store, rebuildingName)
	if err := WriteFile(mark, nil, owner); err != nil {
		return err
	}
	mirror := MirrorDir(env, k.ID)
	if err := restoreSettings(mirror, store, owner); err != nil {
		return err
	}
	origin, err := cas.RestoreFromMirror(vfs.OS, mirror, filepath.Join(store, ObjectsName), owner)
	if err != nil {
		return err
	}
	return finishStore(store, newFormat(k.ID, StoreID(origin), k), owner)
}

// finishStore writes the format file, and takes the mark away.
func finishStore(store string, f format, owner func(string) error) error {
	if err := WriteFile(filepath.Join(store, formatName), f.bytes(), owner); err != nil {
		return err
	}
	return RemoveIfThere(filepath.Join(store, rebuildingName))
}

// restoreSettings copies settings and .gitignore into a store; what there is no copy of
// is as in a new one. What is there already stays.
func restoreSettings(from, store string, owner func(string) error) error {
	fresh := map[string]string{ignoreName: "*\n", ConfigName: "{}\n"}
	for _, name := range mirrored {
		to := filepath.Join(store, name)
		if Exists(to) {
			continue
		}
		data, err := ReadSmall(filepath.Join(from, name), 1<<20)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) && !os.IsPermission(err) {
				return fmt.Errorf("bring the settings back: %w", err)
			}
			data = []byte(fresh[name])
		}
		if err := WriteFile(to, data, owner); err != nil {
			return err
		}
	}
	return nil
}
