package project

import (
	"os"
	"path/filepath"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
)

// OpenGone opens the packs that are left of a store whose project's directory, root, is gone, for reading the log and what it refers
// to. temp takes the place of the store's directory: an existing one, where nothing is written. The caller closes the project.
// Errors: of the file system; fs.ErrNotExist where no pack is there.
func OpenGone(env account.Env, id account.StoreID, root, packs, temp string) (*Project, error) {
	origin, err := cas.PackOrigin(vfs.OS, packs)
	if err != nil {
		return nil, err
	}
	p := &Project{Env: env, ID: id, at: Location{Root: root, Store: temp}, ReadOnly: &ReadOnlyError{Store: packs, Err: os.ErrPermission}}
	p.settings, _ = LoadSettings(env, "")
	p.Store, err = cas.Open(cas.Options{Dir: packs, LockDir: filepath.Join(temp, account.LockName), StoreID: origin, ReadOnly: true, Now: env.Time})
	return p, err
}
