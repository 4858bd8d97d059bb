package project

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"rewind/engine/gitrepo"
	"rewind/engine/rootfs"
	"rewind/engine/settings"
)

// The program of this name that went before kept its checkpoints and settings where a project's
// store is now, as files of its own. A store is made beside them, and nothing of theirs goes.
const (
	olderCheckpoints = "checkpoints"
	olderSuffix      = ".older" // of its files whose names we need
)

// olderFiles are the names that both programs use: what is there is kept beside.
var olderFiles = []string{ConfigName, RestoreHistoryName}

// Older is what the older program has left in a project.
type Older struct {
	Dir         string   // .agent/rewind of the project
	Checkpoints string   // where its checkpoints lie, "" where there are none
	Count       int      // of them
	Settings    string   // its settings file, as it was; "" where there is none
	Taken       []string // keys that were taken over from it
	Unread      error    // why none could be
}

// olderIn is the older program's directory of root, "" where there is none: it has checkpoints, or
// a settings file where no store was ever begun.
func olderIn(root string) string {
	dir := filepath.Join(root, filepath.FromSlash(StoreName))
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() || isStore(dir) {
		return ""
	}
	if isDir(filepath.Join(dir, olderCheckpoints)) || Exists(filepath.Join(dir, ConfigName+olderSuffix)) ||
		!begun(dir) && Exists(filepath.Join(dir, ConfigName)) {
		return dir
	}
	return ""
}

// keepOlder puts those of the older program's files aside whose names the store that is about to be
// made has too, and gives the settings of that store, which begin as config. It can be repeated, also
// by an init that goes on where one was killed, or that runs beside another.
func (at *place) keepOlder(config []byte) ([]byte, error) {
	o := &Older{Dir: olderIn(at.root)}
	if o.Dir == "" {
		return config, nil
	}
	for _, name := range olderFiles {
		file := filepath.Join(o.Dir, name)
		if at.store != o.Dir || !Exists(file) || Exists(file+olderSuffix) || begun(o.Dir) && name == ConfigName && sameBytes(file, config) {
			continue
		}
		if err := os.Rename(file, file+olderSuffix); err != nil && !os.IsNotExist(err) {
			return nil, err
		}
	}
	for _, name := range []string{ConfigName + olderSuffix, ConfigName} {
		file := filepath.Join(o.Dir, name)
		data, err := ReadSmall(file, settings.MaxFileBytes)
		if os.IsNotExist(err) {
			continue
		}
		if err == nil {
			config, o.Taken, err = settings.TakeOver(config, data)
		}
		o.Settings, o.Unread = file, err
		break
	}
	if entries, err := os.ReadDir(filepath.Join(o.Dir, olderCheckpoints)); err == nil && len(entries) > 0 {
		o.Checkpoints, o.Count = filepath.Join(o.Dir, olderCheckpoints), len(entries)
	}
	at.older = o
	return config, nil
}

// begun reports whether an init of ours has begun to make a store at dir.
func begun(dir string) bool { return Exists(filepath.Join(dir, ObjectsName)) }

func sameBytes(file string, want []byte) bool {
	data, err := ReadSmall(file, int64(len(want))+1)
	return err == nil && bytes.Equal(data, want)
}

// Older is, for a project that Init has just made, what the older program has left there.
func (p *Project) Older() *Older { return p.older }

// shipped reports whether git tracks something in the older program's directory of root: then
// somebody else may have made it.
func shipped(root string) bool {
	repo, ok := gitrepo.Find(root)
	if !ok {
		return false
	}
	set, err := repo.Tracked()
	if os.IsNotExist(err) {
		return false
	}
	return err != nil || set.HasBelow(path.Join(filepath.ToSlash(repo.Prefix), StoreName))
}

// GoesOn reports whether a hook may make the store by itself: the older program was initialised
// in this project, by a person of this machine.
func (e *NotInitializedError) GoesOn() bool { return e.Older != "" && !shipped(e.Root) }

// nearestOlder is where the search of a root remembers the nearest directory of the older program.
func nearestOlder(env Env, found, dir string) string {
	if found != "" || olderIn(dir) == "" || refuseRoot(env, dir) != nil {
		return found
	}
	return dir
}

// isOlders reports whether a name in a project's store is the older program's: its checkpoints, and
// what keepOlder has put aside.
func isOlders(name string) bool {
	return name == olderCheckpoints || slices.Contains(olderFiles, trimOlder(name))
}

// trimOlder is the name that a file had before it was put aside, "" for others.
func trimOlder(name string) string {
	if stem, aside := strings.CutSuffix(name, olderSuffix); aside {
		return stem
	}
	return ""
}

// removeButOlders removes a store that was renamed to aside, and gives the older program back what
// is its own, at place. It can be repeated.
func removeButOlders(d rootfs.Dir, aside, place string) error {
	sub, err := d.Subdir(aside)
	if err != nil {
		return gone(err)
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
		} else if err := removeTree(sub, name); err != nil {
			return err
		}
	}
	if len(kept) == 0 {
		return gone(d.Rmdir(aside))
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
