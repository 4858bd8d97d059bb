package cas

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/rewind-cli/rewind/cas/pack"
	"github.com/rewind-cli/rewind/cas/vfs"
)

// A pack has two names: in the objects directory, and in the mirror. A third one
// is another store's, which was made by copying names (cp -al), or a backup's: such
// a file is never changed, not even by appending.

// SetMirror changes the mirror, for packs that are
// created from now on, and mirrors those that are there.
func (s *Store) SetMirror(dir string) error {
	s.mu.Lock()
	s.mirrorDir, s.mirrorErr = dir, nil
	s.mu.Unlock()
	return s.Mirror()
}

// Reset is SetMirror for a store whose packs have been replaced by others of the same
// content: what is known of them is forgotten.
func (s *Store) Reset(mirror string) error {
	s.mu.Lock()
	s.leaveAll()
	s.mu.Unlock()
	return s.SetMirror(mirror)
}

// Mirror puts every pack into the mirror that is not there, or stale there. It says why one
// could not be given.
func (s *Store) Mirror() error {
	mirror := s.mirrorNow()
	if mirror == "" || s.o.ReadOnly || s.purging() {
		return nil
	}
	names, err := s.names()
	if err != nil {
		return err
	}
	for _, n := range names {
		s.renewMirror(n, false)
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.mirrorErr
}

// Unshare gives the store files of its own in place of those that have names
// elsewhere than in the mirror: a copy that was made of names becomes one of files. Who
// reads meanwhile reads the same bytes.
func (s *Store) Unshare(ctx context.Context, progress func(Checking)) error {
	names, err := s.names()
	if err != nil {
		return err
	}
	var tell func(string, Checking)
	if progress != nil {
		tell = func(_ string, c Checking) { progress(c) }
	}
	done := s.pass("", names, tell)
	for _, n := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.unshare(n); err != nil {
			return err
		}
		done(n)
	}
	return s.syncDir()
}

// unshare copies a pack that has names elsewhere, and puts the copy in its place.
func (s *Store) unshare(n pack.Name) error {
	file := filepath.Join(s.o.Dir, n.File())
	info, err := s.fs.Lstat(file)
	if err != nil {
		return ignoreMissing(err)
	}
	shared, _, err := s.shared(n, info)
	if !shared || err != nil {
		return err
	}
	if err := s.copyFile(file, file); err != nil {
		return fmt.Errorf("make %s a file of its own: %w", n.File(), err)
	}
	s.renewMirror(n, false)
	return nil
}

// shared reports whether a pack has names elsewhere than in the objects directory and
// the mirror, and whether the mirror has it.
func (s *Store) shared(n pack.Name, info fs.FileInfo) (shared, mirrored bool, err error) {
	own := 1
	if mirror := s.mirrorNow(); mirror != "" {
		second, err := s.fs.Lstat(filepath.Join(mirror, n.File()))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, false, err
		}
		if err == nil && sameFile(info, second) {
			own, mirrored = 2, true
		}
	}
	return linkCount(info) > own, mirrored, nil
}

// mend looks at the newest log pack before it is added to, and reports whether it has
// names elsewhere. Where it is not in the mirror, none of the packs may have one:
// all of them are looked at.
func (s *Store) mend(n pack.Name, f vfs.File) (shared bool, err error) {
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	shared, mirrored, err := s.shared(n, info)
	if err != nil || mirrored || s.mirrorNow() == "" {
		return shared, err
	}
	if s.ahead(n.Tag) || s.purging() {
		return true, nil // an older state of the store: nothing is added to it
	}
	if s.renewMirror(n, false) { // else the mirror is out of reach, and it is of no use to try the others
		return shared, s.ignoreMirrorError(s.Mirror())
	}
	return shared, nil
}

// ignoreMirrorError: that the mirror cannot be written is none of a save's business;
// Mirrored tells.
func (s *Store) ignoreMirrorError(err error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err != nil && err == s.mirrorErr {
		return nil
	}
	return err
}

// mirrorPack links a new pack into the mirror. A failure is remembered for Mirrored and
// Unmirrored, and is none of the batch's business.
func (s *Store) mirrorPack(n pack.Name) {
	if s.renewMirror(n, false) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unmirrored = s.mirrorErr
}

// Unmirrored says why the mirror did not get a pack that was begun since the store was opened; nil if it did, or if it never
// got one.
func (s *Store) Unmirrored() error {
	s.mu.RLock()
	mirror, err := s.mirrorDir, s.unmirrored
	s.mu.RUnlock()
	if err == nil {
		return nil
	}
	names, _ := s.names()
	for _, n := range names {
		a, aerr := s.fs.Lstat(filepath.Join(s.o.Dir, n.File()))
		b, berr := s.fs.Lstat(filepath.Join(mirror, n.File()))
		if aerr == nil && berr == nil && sameFile(a, b) {
			return err
		}
	}
	return nil
}

// LinkedElsewhere is how many names, at most, a pack of a directory has outside of it and of a mirror.
func LinkedElsewhere(fsys vfs.FS, dir, mirror string) (names int) {
	return (&Store{o: Options{Dir: dir}, fs: fsys, mirrorDir: mirror}).Linked()
}

// Linked is LinkedElsewhere of the store and its mirror.
func (s *Store) Linked() (names int) {
	packs, _ := s.names() // what cannot be read has none that are known
	return s.linked(packs)
}

// LinkedThen is 1 if an earlier version noted in the list of dropped packs that one had names elsewhere, else 0.
func (s *Store) LinkedThen() int {
	list, _ := s.droppedIn(s.o.Dir) // what cannot be read notes nothing
	if slices.ContainsFunc(list, func(d droppedPack) bool { return d.linked }) {
		return 1
	}
	return 0
}

func (s *Store) linked(packs []pack.Name) (names int) {
	for _, n := range packs {
		info, err := s.fs.Lstat(filepath.Join(s.o.Dir, n.File()))
		if err != nil {
			continue
		}
		shared, mirrored, err := s.shared(n, info)
		if !shared || err != nil {
			continue
		}
		own := 1
		if mirrored {
			own = 2
		}
		copies, _ := s.Strays() // a purge removes them
		for _, c := range copies {
			if sameFile(c.info, info) {
				own++
			}
		}
		names = max(names, linkCount(info)-own)
	}
	return names
}

// renewMirror links a pack into the mirror, and reports whether it was not there,
// or another file had its name: one that has something which the pack lacks is replaced
// only where that is asked for.
func (s *Store) renewMirror(n pack.Name, always bool) (given bool) {
	mirror := s.mirrorNow()
	if mirror == "" {
		return false
	}
	first, second := filepath.Join(s.o.Dir, n.File()), filepath.Join(mirror, n.File())
	err := s.makeDir(mirror)
	if err == nil {
		err = s.linkSecond(first, second)
	}
	if errors.Is(err, fs.ErrExist) {
		var stale bool
		if stale, err = s.stale(n, always); !stale && err == nil {
			return false
		}
		if err == nil {
			err = s.relink(first, second)
		}
	}
	if err != nil {
		s.mu.Lock()
		s.mirrorErr = fmt.Errorf("mirror %s: %w", n.File(), err)
		s.mu.Unlock()
	}
	return err == nil
}

// linkSecond links a pack into the mirror. Before that, the store notes whose the mirror is.
func (s *Store) linkSecond(first, second string) error {
	if s.o.Mirroring == nil {
		return s.fs.Link(first, second)
	}
	a, err := s.fs.Lstat(first)
	if dir, derr := s.fs.Lstat(filepath.Dir(second)); err == nil && derr == nil && !sameDevice(a, dir) {
		return s.fs.Link(first, second) // which fails
	}
	if err := s.o.Mirroring(true); err != nil {
		return err
	}
	err = s.fs.Link(first, second)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return errors.Join(err, s.o.Mirroring(false))
	}
	return err
}

// relink makes second another name of first.
func (s *Store) relink(first, second string) error {
	tmp := second + tmpSuffix
	err := ignoreMissing(s.fs.Remove(tmp))
	if err == nil {
		err = s.fs.Link(first, tmp)
	}
	if err == nil {
		err = s.fs.Rename(tmp, second)
	}
	return err
}

// stale reports whether the name in the mirror leads to another file, with nothing that the pack lacks.
func (s *Store) stale(n pack.Name, always bool) (bool, error) {
	t := twin{name: n}
	if err := t.look(s, s.mirrorNow()); err != nil || sameFile(t.first, t.second) {
		return false, err
	}
	if always {
		return true, nil
	}
	if c, err := s.compare(n); c.store || err != nil {
		return c.store, err
	}
	return false, fmt.Errorf("%s is another file, with other content", filepath.Join(s.mirrorNow(), n.File()))
}

// sameEnd compares the headers of two files, and 4 KiB before an offset. The
// checksums of records depend on all that tells packs apart.
func (s *Store) sameEnd(first, second string, end int64) (bool, error) {
	var parts [2][]byte
	for i, file := range []string{first, second} {
		f, err := s.fs.OpenFile(file, os.O_RDONLY, 0)
		if err != nil {
			return false, err
		}
		from := max(end-4096, 0)
		buf := make([]byte, min(end, pack.HeaderSize)+end-from)
		ok, err := pack.ReadFull(f, buf[:min(end, pack.HeaderSize)], 0)
		if ok && err == nil {
			ok, err = pack.ReadFull(f, buf[min(end, pack.HeaderSize):], from)
		}
		if err := errors.Join(err, f.Close()); !ok || err != nil {
			return false, err
		}
		parts[i] = buf
	}
	return bytes.Equal(parts[0], parts[1]), nil
}

func (s *Store) mirrorNow() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.mirrorDir
}

// Bare reports whether the store has no pack yet, and whether its mirror can have those that come: where both are on
// one file system.
func (s *Store) Bare() (bare, mirrors bool) {
	names, err := s.names()
	mirror := s.mirrorNow()
	own, oerr := s.fs.Lstat(s.o.Dir)
	if len(names) > 0 || mirror == "" || errors.Join(err, oerr) != nil {
		return false, false
	}
	for dir := mirror; ; dir = filepath.Dir(dir) { // the mirror's directory is made with the first pack
		if there, err := s.fs.Lstat(dir); err == nil {
			return true, sameDevice(own, there)
		} else if dir == filepath.Dir(dir) {
			return true, false
		}
	}
}

// ownMirror is the mirror if it is there, and a directory: nothing is removed
// through a link. An error: it is not known; what has to go from it may still be there.
func (s *Store) ownMirror() (string, error) {
	mirror := s.mirrorNow()
	if mirror == "" {
		return "", nil
	}
	info, err := s.fs.Lstat(mirror)
	if err != nil {
		return "", ignoreMissing(err)
	}
	if !info.IsDir() {
		return "", nil
	}
	return mirror, nil
}

// removeNoFiles removes links and the like that have the name of a pack. What they lead
// to stays as it is.
func (s *Store) removeNoFiles() error {
	entries, err := s.fs.ReadDir(s.o.Dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if _, ok := pack.ParseName(e.Name()); ok && e.Type() != 0 {
			err := s.remove(filepath.Join(s.o.Dir, e.Name()))
			if err != nil && !errors.Is(err, syscall.ENOTEMPTY) {
				return err
			}
		}
	}
	return nil
}
