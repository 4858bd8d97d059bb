package account

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/settings"
)

// mirrored are the files beside the packs that a rebuilt store gets back.
var mirrored = [...]string{IgnoreName, ConfigName, RemotesFile}

// MirrorSettings keeps copies of a store's settings beside the mirror of its packs.
func MirrorSettings(store, mirror string, owner func(string) error) error {
	if !IsDir(mirror) {
		return nil // there is no mirror: status says so
	}
	for _, name := range mirrored {
		data, err := vfs.ReadSmall(filepath.Join(store, name), 1<<20, vfs.NoFollow)
		if os.IsNotExist(err) {
			continue // a copy that is there is worth more than none
		}
		if err != nil {
			return err
		}
		if name == ConfigName && !settings.Readable(data) {
			continue // the last good ones are worth more
		}
		copied := filepath.Join(mirror, name)
		if old, err := vfs.ReadSmall(copied, 1<<20, vfs.NoFollow); err == nil && string(old) == string(data) {
			continue
		}
		if err := WriteFile(copied, data, owner); err != nil {
			return err
		}
	}
	return nil
}

// RebuildingName marks a store that is being brought back: until it is gone, what
// is there is not to be taken for a store.
const RebuildingName = "rebuilding"

// FillStore makes a store of the mirror of k, the format file last.
func FillStore(env Env, store string, k KnownStore) error {
	owner := OwnerOf(ExistingParent(store))
	if err := MakeStoreDirs(store, owner); err != nil {
		return err
	}
	mark := filepath.Join(store, RebuildingName)
	if err := WriteFile(mark, nil, owner); err != nil {
		return err
	}
	mirror := MirrorDir(env, k.ID)
	if err := RestoreSettings(mirror, store, owner); err != nil {
		return err
	}
	origin, err := cas.RestoreFromMirror(vfs.OS, mirror, filepath.Join(store, ObjectsName), owner)
	if err != nil {
		return err
	}
	if err := restoreHomes(mirror, store, owner); err != nil {
		return err
	}
	return FinishStore(store, NewFormat(k.ID, StoreID(origin), k), owner)
}

// FinishStore writes the format file, and takes the mark away.
func FinishStore(store string, f Format, owner func(string) error) error {
	if err := WriteFile(filepath.Join(store, FormatName), f.Bytes(), owner); err != nil {
		return err
	}
	return RemoveIfThere(filepath.Join(store, RebuildingName))
}

// RestoreSettings copies settings and .gitignore into a store; what there is no copy of
// is as in a new one. What is there already stays.
func RestoreSettings(from, store string, owner func(string) error) error {
	fresh := map[string]string{IgnoreName: "*\n", ConfigName: "{}\n"}
	for _, name := range mirrored {
		to := filepath.Join(store, name)
		if Exists(to) {
			continue
		}
		data, err := vfs.ReadSmall(filepath.Join(from, name), 1<<20, vfs.NoFollow)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) && !os.IsPermission(err) {
				return fmt.Errorf("bring the settings back: %w", err)
			}
			if data = []byte(fresh[name]); len(data) == 0 {
				continue
			}
		}
		if err := WriteFile(to, data, owner); err != nil {
			return err
		}
	}
	return nil
}

// MakeStoreDirs makes the directories of a store; those above it that are
// missing too, all with the owner of the nearest one that is there.
func MakeStoreDirs(store string, owner func(string) error) error {
	if err := InPlace(store, true, nil); err != nil {
		return err
	}
	var missing []string
	for dir := store; !Exists(dir); dir = filepath.Dir(dir) {
		missing = append(missing, dir)
	}
	for i := len(missing) - 1; i >= 0; i-- {
		if err := MakeDir(missing[i], owner); err != nil {
			return err
		}
		if err := vfs.OS.SyncDir(filepath.Dir(missing[i])); err != nil {
			return err // or a power cut could take the store with all that is durable in it
		}
	}
	// What was there already may be open to others, whose settings would then be obeyed. The store itself may be a link
	// that the person allowed.
	if err := os.Chmod(store, 0o700); err != nil {
		return err
	}
	for _, name := range []string{ObjectsName, ManifestsName, LockName, TmpName, RestoreName} {
		dir := filepath.Join(store, name)
		if err := MakeDir(dir, owner); err != nil {
			return err
		}
		if err := os.Chmod(dir, 0o700); err != nil {
			return err
		}
	}
	return nil
}
