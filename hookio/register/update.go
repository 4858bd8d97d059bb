package register

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cas/vfs"
)

// Updater edits settings files on disk. The zero Updater works on the real file
// system.
type Updater struct {
	Now func() time.Time // for the backup's name; nil: time.Now
	FS  FileSystem       // nil: the operating system's
	// Made reports that a content is what we make and nothing else, of which no
	// backup is kept; nil: none is.
	Made func(content []byte) bool
	// Below is the agent's own directory. Directories below it that are empty after a file was removed go with it; neither
	// Below nor one above it does. "": none goes.
	Below string
}

// keptBackups is how many backups of one file stay: the first, from before rewind
// changed the file, and the newest.
const keptBackups = 3

// Written is what Update did.
type Written struct {
	Path    string // the real file, behind symbolic links
	Backup  string // copy of the file as it was; "" where there was none
	Changed bool
	Removed bool
}

// BusyFileError: somebody else kept writing the file at the same time. It holds
// what they wrote.
type BusyFileError struct{ Path string }

func (e *BusyFileError) Error() string {
	return fmt.Sprintf("%s is being changed by another program", e.Path)
}

// Update reads a settings file (nil where it is missing), lets edit change it,
// and puts the result in its place: backup beside it, temporary file, fsync,
// rename, fsync of the directory. A symbolic link is followed to the file that
// it names, as keepers of dotfiles use them; mode and owner are kept. Where edit
// returns the same bytes nothing is written; where it returns nil the file is
// removed. After an error the file is as it was, but for a *vfs.NotDurableError.
// What a process left that died in here is removed by the next one.
//
// Agents write these files too: where one did between reading and renaming, it
// is tried again.
func (u Updater) Update(file string, edit func([]byte) ([]byte, error)) (Written, error) {
	fsys := u.FS
	if fsys == nil {
		fsys = osFiles{}
	}
	now := u.Now
	if now == nil {
		now = time.Now
	}
	real, err := followLinks(fsys, file)
	if err != nil {
		return Written{}, err
	}
	fsys.RemoveLeft(real)
	for range 5 {
		w, err := u.update(fsys, now(), real, edit)
		var busy *BusyFileError
		if !errors.As(err, &busy) {
			return w, err
		}
	}
	return Written{}, &BusyFileError{real}
}

func (u Updater) update(fsys FileSystem, now time.Time, file string, edit func([]byte) ([]byte, error)) (w Written, err error) {
	w.Path = file
	old, mode, err := fsys.Read(file)
	if err != nil {
		return w, err
	}
	edited, err := edit(bytes.Clone(old))
	if err != nil {
		return w, fmt.Errorf("%s: %w", file, err)
	}
	if bytes.Equal(old, edited) && (old == nil) == (edited == nil) {
		return w, nil
	}
	dir := filepath.Dir(file)
	var made []string // to be taken back after an error
	defer func() {
		if err != nil && !w.Changed {
			for _, m := range made {
				_ = fsys.Remove(m) // best effort; it holds nothing that is not elsewhere
			}
			w = Written{Path: file}
		}
	}()
	if old == nil {
		mode = 0o600
		if err := fsys.MakeDir(dir); err != nil {
			return w, err
		}
	} else if u.Made == nil || !u.Made(old) {
		w.Backup, err = backUp(fsys, now, file, old, mode)
		if !errors.Is(err, fs.ErrExist) {
			made = append(made, w.Backup) // also one that is half written
		}
		if err != nil {
			return w, err
		}
	}
	temporary := ""
	if edited != nil {
		temporary = filepath.Join(dir, fmt.Sprintf("%s%d-%d%s", temporaryPrefix(file), os.Getpid(), now.UnixNano(), vfs.LeftSuffix))
		err = fsys.Create(temporary, edited, mode, file)
		if !errors.Is(err, fs.ErrExist) {
			made = append(made, temporary)
		}
		if err != nil {
			return w, err
		}
	}
	again, _, err := fsys.Read(file)
	if err != nil {
		return w, err
	}
	if !bytes.Equal(again, old) || (again == nil) != (old == nil) {
		err = &BusyFileError{file}
		return w, err
	}
	if edited == nil {
		err = fsys.Remove(file)
	} else {
		err = fsys.Rename(temporary, file)
	}
	if err != nil {
		return w, err
	}
	made = nil // from here on the edit is done
	w.Changed, w.Removed = true, edited == nil
	if err := fsys.SyncDir(dir); err != nil {
		return w, &vfs.NotDurableError{File: file, Err: err}
	}
	if w.Backup != "" {
		removeOldBackups(fsys, file, w.Backup)
	}
	if w.Removed {
		u.removeEmpty(fsys, dir)
	}
	return w, nil
}

// removeOldBackups keeps the first backup of a file and the newest ones. Best
// effort: a backup too many harms no one.
func removeOldBackups(fsys FileSystem, file, newest string) {
	all, err := fsys.Backups(file)
	if err != nil || len(all) <= keptBackups {
		return
	}
	for _, b := range all[1 : len(all)-(keptBackups-1)] {
		if b != newest {
			_ = fsys.Remove(b)
		}
	}
}

// removeEmpty removes dir and the directories above it that are below u.Below, as long as they are empty.
func (u Updater) removeEmpty(fsys FileSystem, dir string) {
	for u.Below != "" {
		rel, err := filepath.Rel(u.Below, dir)
		if err != nil || rel == "." || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return
		}
		if fsys.Remove(dir) != nil { // not empty
			return
		}
		dir = filepath.Dir(dir)
	}
}

const backupInfix = ".rewind-backup-"

// backupStamp is the time in a backup's name, by which names sort as they were made.
const backupStamp = "20060102T150405Z"

// backUp writes a copy beside the file, under a name that nothing has yet. After an
// error that is not fs.ErrExist a part of the copy can be there.
func backUp(fsys FileSystem, now time.Time, file string, content []byte, mode fs.FileMode) (backup string, err error) {
	base := file + backupInfix + now.UTC().Format(backupStamp)
	for n := 1; ; n++ {
		backup = base
		if n > 1 {
			backup = fmt.Sprintf("%s-%d", base, n)
		}
		err = fsys.Create(backup, content, mode, file)
		if !errors.Is(err, fs.ErrExist) || n > 1000 {
			return backup, err
		}
	}
}

// The name of a temporary file holds the process that makes it.
func temporaryPrefix(file string) string { return "." + filepath.Base(file) + ".rewind-" }

func followLinks(fsys FileSystem, file string) (string, error) {
	for range 40 {
		target, err := fsys.Link(file)
		if err != nil {
			return "", err
		}
		if target == "" {
			return file, nil
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(file), target)
		}
		file = target
	}
	return "", fmt.Errorf("%s: too many symbolic links", file)
}

// FileSystem is what Update needs of one.
type FileSystem interface {
	// Read returns nil without an error for a file that is not there.
	Read(file string) (content []byte, mode fs.FileMode, err error)
	// Link returns where a symbolic link leads, "" for anything else.
	Link(file string) (target string, err error)
	// Create writes a new file durably, owned like the file like, or else like
	// its directory. An existing file is fs.ErrExist.
	Create(file string, content []byte, mode fs.FileMode, like string) error
	MakeDir(dir string) error
	// RemoveLeft removes the temporary files beside file whose processes are no more.
	RemoveLeft(file string)
	Rename(from, to string) error
	// Remove removes a file, or a directory that is empty.
	Remove(file string) error
	// Backups lists the backups of a file, oldest first.
	Backups(file string) ([]string, error)
	SyncDir(dir string) error
}

type osFiles struct{}

func (osFiles) Read(file string) ([]byte, fs.FileMode, error) {
	f, st, err := vfs.OpenRegular(file, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxSettingsBytes+1))
	if err != nil {
		return nil, 0, err
	}
	if b == nil {
		b = []byte{}
	}
	return b, st.Mode().Perm(), nil
}

func (osFiles) Link(file string) (string, error) {
	st, err := os.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) || err == nil && st.Mode()&fs.ModeSymlink == 0 {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return os.Readlink(file)
}

func (osFiles) Create(file string, content []byte, mode fs.FileMode, like string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = ownLike(f, like)
	}
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func (osFiles) RemoveLeft(file string)       { vfs.RemoveLeft(filepath.Dir(file), temporaryPrefix(file)) }
func (osFiles) MakeDir(dir string) error     { return os.MkdirAll(dir, 0o700) }
func (osFiles) Rename(from, to string) error { return os.Rename(from, to) }
func (osFiles) Remove(file string) error     { return os.Remove(file) }
func (osFiles) SyncDir(dir string) error     { return vfs.OS.SyncDir(dir) }

func (osFiles) Backups(file string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil {
		return nil, err
	}
	type backup struct {
		stamp string
		n     int
		file  string
	}
	var all []backup
	for _, e := range entries {
		rest, ours := strings.CutPrefix(e.Name(), filepath.Base(file)+backupInfix)
		stamp, number, numbered := strings.Cut(rest, "-")
		n := 1
		if numbered {
			n, err = strconv.Atoi(number)
		}
		if _, bad := time.Parse(backupStamp, stamp); !ours || bad != nil || err != nil || !e.Type().IsRegular() {
			err = nil
			continue
		}
		all = append(all, backup{stamp, n, filepath.Join(filepath.Dir(file), e.Name())})
	}
	slices.SortFunc(all, func(a, b backup) int { return cmp.Or(strings.Compare(a.stamp, b.stamp), a.n-b.n) })
	files := make([]string, len(all))
	for i, b := range all {
		files[i] = b.file
	}
	return files, nil
}
