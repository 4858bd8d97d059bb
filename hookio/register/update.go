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
	FS  vfs.FS           // nil: the operating system's
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

// BusyFileError: another program kept writing the file at the same time. It holds
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
	if u.FS == nil {
		u.FS = vfs.OS
	}
	if u.Now == nil {
		u.Now = time.Now
	}
	real, err := followLinks(file)
	if err != nil {
		return Written{}, err
	}
	vfs.RemoveLeft(filepath.Dir(real), temporaryPrefix(real))
	for range 5 {
		w, err := u.update(real, edit)
		if !errors.As(err, new(*BusyFileError)) {
			return w, err
		}
	}
	return Written{}, &BusyFileError{real}
}

func (u Updater) update(file string, edit func([]byte) ([]byte, error)) (Written, error) {
	w := Written{Path: file}
	old, mode, err := readSettings(file)
	if err != nil {
		return w, err
	}
	edited, err := edit(bytes.Clone(old))
	if err != nil {
		return w, fmt.Errorf("%s: %w", file, err)
	}
	if same(old, edited) {
		return w, nil
	}
	backup := ""
	if old == nil {
		mode, err = 0o600, os.MkdirAll(filepath.Dir(file), 0o700)
	} else if u.Made == nil || !u.Made(old) {
		backup, err = u.backUp(file, old, mode)
	}
	if err != nil {
		return w, err
	}
	err = u.replace(file, old, edited, mode)
	if err != nil && !errors.As(err, new(*vfs.NotDurableError)) {
		if backup != "" {
			_ = u.FS.Remove(backup) // best effort; it holds nothing that is not elsewhere
		}
		return w, err
	}
	w.Backup, w.Changed, w.Removed = backup, true, edited == nil
	if err != nil {
		return w, err
	}
	if backup != "" {
		u.removeOldBackups(file, backup)
	}
	if w.Removed {
		u.removeEmpty(filepath.Dir(file))
	}
	return w, nil
}

// replace puts the edited content in the place of the old one, unless another program has written the file meanwhile.
func (u Updater) replace(file string, old, edited []byte, mode fs.FileMode) error {
	dir := filepath.Dir(file)
	unchanged := func() error {
		again, _, err := readSettings(file)
		if err == nil && !same(again, old) {
			err = &BusyFileError{file}
		}
		return err
	}
	if edited != nil {
		temporary := filepath.Join(dir, fmt.Sprintf("%s%d-%d%s", temporaryPrefix(file), os.Getpid(), u.Now().UnixNano(), vfs.LeftSuffix))
		own := func(made string) error { return ownLike(made, file) }
		return vfs.Replace(u.FS, file, vfs.Replacement{Temp: temporary, Mode: mode, Own: own, Before: unchanged}, func(f vfs.File) error {
			_, err := f.Write(edited)
			return err
		})
	}
	err := unchanged()
	if err == nil {
		err = u.FS.Remove(file)
	}
	if err != nil {
		return err
	}
	if err = u.FS.SyncDir(dir); err != nil {
		return &vfs.NotDurableError{File: file, Err: err}
	}
	return nil
}

// same reports whether two contents are equal; a missing file equals no empty one.
func same(a, b []byte) bool { return bytes.Equal(a, b) && (a == nil) == (b == nil) }

// removeOldBackups keeps the first backup of a file and the newest ones. Best
// effort: a backup too many harms no one.
func (u Updater) removeOldBackups(file, newest string) {
	all, err := u.backups(file)
	if err != nil || len(all) <= keptBackups {
		return
	}
	for _, b := range all[1 : len(all)-(keptBackups-1)] {
		if b != newest {
			_ = u.FS.Remove(b)
		}
	}
}

// removeEmpty removes dir and the directories above it that are below u.Below, as long as they are empty.
func (u Updater) removeEmpty(dir string) {
	for u.Below != "" {
		if !vfs.IsBelow(u.Below, dir) || u.FS.Remove(dir) != nil { // or it is not empty
			return
		}
		dir = filepath.Dir(dir)
	}
}

const backupInfix = ".rewind-backup-"

// backupStamp is the time in a backup's name, by which names sort as they were made.
const backupStamp = "20060102T150405Z"

// backUp writes a copy beside the file, under a name that nothing has yet. After an error there is none.
func (u Updater) backUp(file string, content []byte, mode fs.FileMode) (backup string, err error) {
	base := file + backupInfix + u.Now().UTC().Format(backupStamp)
	var f vfs.File
	for n := 1; ; n++ {
		backup = base
		if n > 1 {
			backup = fmt.Sprintf("%s-%d", base, n)
		}
		f, err = u.FS.OpenFile(backup, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) || n > 1000 {
			return "", err
		}
	}
	if _, err = f.Write(content); err == nil {
		err = ownLike(backup, file)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		_ = u.FS.Remove(backup) // half a copy
		return "", err
	}
	return backup, nil
}

// The name of a temporary file holds the process that makes it.
func temporaryPrefix(file string) string { return "." + filepath.Base(file) + ".rewind-" }

func followLinks(file string) (string, error) {
	for range 40 {
		info, err := os.Lstat(file)
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode()&fs.ModeSymlink == 0 {
			return file, nil
		}
		target, err := os.Readlink(file)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(file), target)
		}
		file = target
	}
	return "", fmt.Errorf("%s: too many symbolic links", file)
}

// readSettings gives nil without an error for a file that is not there.
func readSettings(file string) ([]byte, fs.FileMode, error) {
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
	return b, st.Mode().Perm(), nil
}

// backups lists the backups of a file, oldest first.
func (u Updater) backups(file string) ([]string, error) {
	entries, err := u.FS.ReadDir(filepath.Dir(file))
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
