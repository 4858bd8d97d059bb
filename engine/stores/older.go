package stores

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/engine/settings"
)

// olderFiles are the names that both programs use: what is there is kept beside.
var olderFiles = []string{account.ConfigName, account.RestoreHistoryName}

// keepOlder puts those of the older program's files aside whose names the store that is about to be
// made has too, and gives the settings of that store, which begin as config. It can be repeated, also
// by an init that continues one that was killed, or that runs beside another.
func keepOlder(at *project.Location, config []byte) ([]byte, error) {
	o := &project.Older{Dir: project.OlderIn(at.Root)}
	if o.Dir == "" {
		return config, nil
	}
	for _, name := range olderFiles {
		file := filepath.Join(o.Dir, name)
		if at.Store != o.Dir || !account.Exists(file) || account.Exists(file+project.OlderSuffix) || project.Begun(o.Dir) && name == account.ConfigName && sameBytes(file, config) {
			continue
		}
		if err := os.Rename(file, file+project.OlderSuffix); err != nil && !os.IsNotExist(err) {
			return nil, err
		}
	}
	for _, name := range []string{account.ConfigName + project.OlderSuffix, account.ConfigName} {
		file := filepath.Join(o.Dir, name)
		data, err := vfs.ReadSmall(file, settings.MaxFileBytes, vfs.NoFollow)
		if os.IsNotExist(err) {
			continue
		}
		if err == nil {
			config, o.Taken, err = settings.TakeOver(config, data)
		}
		o.Settings, o.Unread = file, err
		break
	}
	if entries, err := os.ReadDir(filepath.Join(o.Dir, project.OlderCheckpoints)); err == nil && len(entries) > 0 {
		o.Checkpoints, o.Count = filepath.Join(o.Dir, project.OlderCheckpoints), len(entries)
	}
	at.Older = o
	return config, nil
}

func sameBytes(file string, want []byte) bool {
	data, err := vfs.ReadSmall(file, int64(len(want))+1, vfs.NoFollow)
	return err == nil && bytes.Equal(data, want)
}

// isOlders reports whether a name in a project's store is the older program's: its checkpoints, and
// what keepOlder has put aside.
func isOlders(name string) bool {
	return name == project.OlderCheckpoints || slices.Contains(olderFiles, trimOlder(name))
}

// trimOlder is the name that a file had before it was put aside, "" for others.
func trimOlder(name string) string {
	if stem, aside := strings.CutSuffix(name, project.OlderSuffix); aside {
		return stem
	}
	return ""
}

// removeButOlders removes a store that was renamed to aside, and gives the older program back what
// is its own, at place. It can be repeated.
func removeButOlders(d rootfs.Dir, aside, place string) error {
	sub, err := d.Subdir(aside)
	if err != nil {
		return rootfs.Gone(err)
	}
	defer sub.Close()
	names, err := sub.Names()
	if err != nil {
		return err
	}
	kept := map[string]string{} // their names, and those that they had
	for _, name := range names {
		if isOlders(name) {
			kept[name] = trimOlder(name)
		} else if err := rootfs.RemoveTree(sub, name, nil); err != nil {
			return err
		}
	}
	if len(kept) == 0 {
		return rootfs.Gone(d.Rmdir(aside))
	}
	if err := d.Rename(aside, place); err != nil {
		return err
	}
	for name, was := range kept { // from here on it is the older program's, whatever stops us
		if was == "" {
			continue
		}
		if err := sub.Rename(name, was); err != nil {
			return err
		}
	}
	return nil
}

// holdsOlders reports whether a store has something of the older program's in it.
func holdsOlders(store string) bool {
	entries, err := os.ReadDir(store)
	return err == nil && slices.ContainsFunc(entries, func(e os.DirEntry) bool { return isOlders(e.Name()) })
}
