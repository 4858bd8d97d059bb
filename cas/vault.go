package cas

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"rewind/cas/vfs"
)

// RestoreFromVault brings packs back that the objects directory has lost: each
// is linked (or copied, across file systems) from its second name. It returns
// the store id that the packs carry. Packs alone are the truth, so a store whose
// objects directory is gone is whole again after this. owner may be nil.
func RestoreFromVault(fsys vfs.FS, vaultDir, objectsDir string, owner func(string) error) (storeID [16]byte, err error) {
	s := &Store{o: Options{Dir: objectsDir, Owner: owner}, fs: fsys}
	entries, err := fsys.ReadDir(vaultDir)
	if err != nil {
		return storeID, err
	}
	if err := s.makeDir(objectsDir); err != nil {
		return storeID, err
	}
	found := false
	for _, e := range entries {
		n, ok := parsePackName(e.Name())
		if !ok {
			continue
		}
		from := filepath.Join(vaultDir, n.file())
		if id, ok := headerStore(fsys, from); ok {
			if found && id != storeID {
				return storeID, &DamagedError{Pack: n.file(), Reason: "the vault holds packs of two stores"}
			}
			storeID, found = id, true
		}
		if _, err := s.bringBack(from, n); err != nil {
			return storeID, err
		}
	}
	if !found {
		return storeID, fmt.Errorf("no pack in %s has a readable header: %w", vaultDir, fs.ErrNotExist)
	}
	return storeID, fsys.SyncDir(objectsDir)
}

// headerStore reads the store id in a pack's header.
func headerStore(fsys vfs.FS, file string) (id [16]byte, ok bool) {
	f, err := fsys.OpenFile(file, os.O_RDONLY, 0)
	if err != nil {
		return id, false
	}
	defer f.Close()
	buf := make([]byte, headerSize)
	if ok, err := readFull(f, buf, 0); !ok || err != nil {
		return id, false
	}
	h, err := parsePackHeader(buf)
	return h.store, err == nil
}

// bringBack gives a pack that only the vault has its first name again.
func (s *Store) bringBack(from string, n packName) (done bool, err error) {
	to := filepath.Join(s.o.Dir, n.file())
	err = s.fs.Link(from, to)
	if err == nil {
		return true, nil
	}
	if _, serr := s.fs.Lstat(to); serr == nil || errors.Is(err, fs.ErrExist) {
		return false, nil // it is there
	}
	return true, s.copyFile(from, to)
}

// copyFile copies a file under a temporary name first.
func (s *Store) copyFile(from, to string) error {
	in, err := s.fs.OpenFile(from, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	tmp := to + tmpSuffix
	if err := ignoreMissing(s.fs.Remove(tmp)); err != nil {
		return err
	}
	out, err := s.create(tmp)
	if err != nil {
		return err
	}
	if _, err = io.Copy(out, in); err == nil {
		err = s.sync(out)
	}
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = s.fs.Rename(tmp, to)
	}
	if err != nil {
		return errors.Join(err, s.fs.Remove(tmp))
	}
	return nil
}
