package project

import (
	"os"
	"path"
	"path/filepath"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/gitrepo"
)

// The program of this name that went before kept its checkpoints and settings where a project's
// store is now, as files of its own. A store is made beside them, and nothing of theirs goes.
const (
	OlderCheckpoints = "checkpoints"
	OlderTranscript  = "transcript.jsonl.gz" // in a checkpoint of its: the conversation
	OlderSuffix      = ".older"              // of its files whose names we need
)

// Older is what the older program has left in a project.
type Older struct {
	Dir         string   // .agent/rewind of the project
	Checkpoints string   // where its checkpoints lie, "" where there are none
	Count       int      // of them
	Settings    string   // its settings file, as it was; "" where there is none
	Taken       []string // keys that were taken over from it
	Unread      error    // why none could be
}

// OlderIn is the older program's directory of root, "" where there is none: it has checkpoints, or
// a settings file where no store was ever begun.
func OlderIn(root string) string {
	dir := filepath.Join(root, filepath.FromSlash(account.StoreName))
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() || account.IsStore(dir) {
		return ""
	}
	if HasOlder(dir) ||
		!Begun(dir) && account.Exists(filepath.Join(dir, account.ConfigName)) {
		return dir
	}
	return ""
}

// HasOlder reports whether the older program keeps something of its own in a store's directory.
func HasOlder(store string) bool {
	return account.IsDir(filepath.Join(store, OlderCheckpoints)) || account.Exists(filepath.Join(store, account.ConfigName+OlderSuffix))
}

// Begun reports whether an init of ours has begun to make a store at dir.
func Begun(dir string) bool { return account.Exists(filepath.Join(dir, account.ObjectsName)) }

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
	return err != nil || set.HasBelow(path.Join(filepath.ToSlash(repo.Prefix), account.StoreName))
}

// GoesOn reports whether a hook may make the store by itself: the older program was initialised
// in this project, by a person of this machine.
func (e *NotInitializedError) GoesOn() bool { return e.Older != "" && !shipped(e.Root) }

// nearestOlder is where the search of a root remembers the nearest directory of the older program.
func nearestOlder(env account.Env, found, dir string) string {
	if found != "" || OlderIn(dir) == "" || RefuseRoot(env, dir) != nil {
		return found
	}
	return dir
}
