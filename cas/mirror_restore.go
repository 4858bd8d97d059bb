package cas

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/rewind-cli/rewind/cas/pack"
	"github.com/rewind-cli/rewind/cas/vfs"
)

// RestoreFromMirror brings packs back that the objects directory has lost: each
// is linked (or copied, across file systems) from the mirror, so that it has the names
// again that it had: another account's mirror has one, too, and what is dropped says so.
// It returns the store id that the packs carry. Packs alone are the
// truth, so a store whose objects directory is gone is whole again after this. owner
// may be nil. Callers take care that one process at a time does it.
func RestoreFromMirror(fsys vfs.FS, mirrorDir, objectsDir string, owner func(string) error) (storeID [16]byte, err error) {
	s := &Store{o: Options{Dir: objectsDir, Owner: owner, Random: randomName, Now: time.Now}, fs: fsys, mirrorDir: mirrorDir}
	var of origin
	err = s.eachInMirror(func(n pack.Name, from string, info fs.FileInfo) error {
		if err := of.see(fsys, from, "the mirror contains packs of two stores"); err != nil {
			return err
		}
		if s.hasName(objectsDir, n) {
			return nil
		}
		_, err := s.bringBack(from, n)
		return err
	})
	if err != nil {
		return of.store, err
	}
	if !of.found {
		return of.store, fmt.Errorf("no pack in %s has a readable header: %w", mirrorDir, fs.ErrNotExist)
	}
	return of.store, errors.Join(s.noteDropped(nil, false), fsys.SyncDir(objectsDir))
}

// CopyPacks copies the packs of a directory, another store's objects or its
// mirror, into objectsDir: no file is shared. The log comes first, so that what
// a commit refers to is there. It returns the store id that the packs carry. What
// is in objectsDir already stays; the caller keeps the packs from being collected
// meanwhile, or tries again.
func CopyPacks(ctx context.Context, fsys vfs.FS, fromDir, objectsDir string, owner func(string) error, progress func(Checking)) (storeID [16]byte, err error) {
	s := &Store{o: Options{Dir: objectsDir, Owner: owner}, fs: fsys, mirrorDir: fromDir}
	var of origin
	now := Checking{}
	if progress != nil {
		if err := s.eachInMirror(func(_ pack.Name, _ string, info fs.FileInfo) error {
			now.AllPacks, now.AllBytes = now.AllPacks+1, now.AllBytes+info.Size()
			return nil
		}); err != nil {
			return storeID, err
		}
		progress(now)
	}
	err = s.eachInMirror(func(n pack.Name, from string, info fs.FileInfo) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := of.see(fsys, from, "it is of another store"); err != nil {
			return err
		}
		if err := s.copyFile(from, filepath.Join(objectsDir, n.File())); err != nil {
			return err
		}
		now.Packs, now.Bytes = now.Packs+1, now.Bytes+info.Size()
		// A store that is in use gains packs, and its packs bytes, while they are copied.
		if progress != nil && now.Packs <= now.AllPacks && now.Bytes <= now.AllBytes {
			progress(now)
		}
		return nil
	})
	if err != nil {
		return of.store, err
	}
	if !of.found {
		return of.store, fmt.Errorf("no pack in %s has a readable header: %w", fromDir, fs.ErrNotExist)
	}
	return of.store, fsys.SyncDir(objectsDir)
}

// eachInMirror visits the packs of the mirror, those of the log first, when there
// is a directory for them. What is no file, or was dropped, is left out.
func (s *Store) eachInMirror(visit func(n pack.Name, file string, info fs.FileInfo) error) error {
	mirror, err := s.ownMirror()
	if err != nil {
		return err
	}
	if mirror == "" {
		return &fs.PathError{Op: "read", Path: s.mirrorDir, Err: fs.ErrNotExist}
	}
	entries, err := s.fs.ReadDir(mirror)
	if err != nil {
		return err
	}
	if err := s.makeDir(s.o.Dir); err != nil {
		return err
	}
	dropped, err := s.droppedIn(mirror)
	if err != nil {
		return err
	}
	for _, kind := range []pack.Kind{pack.Log, pack.Data} {
		for _, e := range entries {
			n, ok := pack.ParseName(e.Name())
			if !ok || n.Kind != kind {
				continue
			}
			if part, err := s.droppedPart(mirror, n, dropped); err != nil {
				return err
			} else if part.all {
				continue
			}
			file := filepath.Join(mirror, n.File())
			info, err := s.fs.Lstat(file)
			if err != nil {
				return err
			}
			if !info.Mode().IsRegular() {
				continue
			}
			if err := visit(n, file, info); err != nil {
				return err
			}
		}
	}
	return nil
}

// headerStore reads the store id in a pack's header.
func headerStore(fsys vfs.FS, file string) (id [16]byte, ok bool) {
	f, err := fsys.OpenFile(file, os.O_RDONLY, 0)
	if err != nil {
		return id, false
	}
	defer f.Close()
	h, err := pack.ReadHeader(f)
	return h.Store, err == nil
}

// PackOrigin is the store id that the packs of a directory carry. Errors: fs.ErrNotExist
// where none has a readable header, *DamagedError where two disagree.
func PackOrigin(fsys vfs.FS, dir string) (id [16]byte, err error) {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return id, err
	}
	var of origin
	for _, e := range entries {
		if _, ok := pack.ParseName(e.Name()); !ok || e.Type() != 0 {
			continue
		}
		if err := of.see(fsys, filepath.Join(dir, e.Name()), "it is of another store"); err != nil {
			return of.store, err
		}
	}
	if !of.found {
		return id, &fs.PathError{Op: "read packs", Path: dir, Err: fs.ErrNotExist}
	}
	return of.store, nil
}

// origin is the store that some packs are of.
type origin struct {
	store [16]byte
	found bool // a pack says it
}

// see looks at one of the packs; it is a *DamagedError with the reason where that is of another store than those before. One without a
// readable header says nothing.
func (o *origin) see(fsys vfs.FS, file, reason string) error {
	store, ok := headerStore(fsys, file)
	if ok && o.found && store != o.store {
		return &DamagedError{Pack: filepath.Base(file), Reason: reason}
	}
	if ok {
		o.store, o.found = store, true
	}
	return nil
}

// bringBack gives a pack that only the mirror has its first name again.
func (s *Store) bringBack(from string, n pack.Name) (done bool, err error) {
	to := filepath.Join(s.o.Dir, n.File())
	if err := s.dropLeftIndex(n); err != nil {
		return false, err
	}
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
	return s.replace(to, vfs.Replacement{Temp: tmp, KeepDir: true}, func(out vfs.File) error {
		_, err := io.Copy(out, in)
		return err
	})
}

// PacksOf is the store id that the packs of a directory carry, false where none is readable.
func PacksOf(fsys vfs.FS, dir string) (storeID [16]byte, ok bool) {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return storeID, false
	}
	for _, e := range entries {
		n, isPack := pack.ParseName(e.Name())
		if !isPack || !e.Type().IsRegular() {
			continue
		}
		if storeID, ok = headerStore(fsys, filepath.Join(dir, n.File())); ok {
			return storeID, true
		}
	}
	return storeID, false
}
