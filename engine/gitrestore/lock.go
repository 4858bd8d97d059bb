package gitrestore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rewind-cli/rewind/cas/vfs"
)

// workPrefix begins the name of the directory, in the common git directory, of an Apply that is at work; the number of its
// process follows. Its files are written there, and each lock is a second name of a file there, so that the locks of a process
// that was killed are known for its own: clearWork removes them.
const workPrefix = "rewind-restore-"

type work struct {
	dir     string
	n       int
	written []string // files that are not durable yet
}

// LockedError: another git holds a lock.
type LockedError struct{ File string }

func (e *LockedError) Error() string {
	return "another git is at work: " + e.File + " is there"
}

// startWork makes the directory.
func startWork(common string) (*work, error) {
	if err := clearWork(common); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(common, workPrefix+strconv.Itoa(os.Getpid())+"-")
	return &work{dir: dir}, err
}

// end makes all durable, and removes the directory.
func (w *work) end() error {
	return errors.Join(syncAll(filepath.Dir(w.dir), w.written), dropWork(w.dir))
}

// clearWork removes the directories of processes that have ended, and the locks that they held.
func clearWork(common string) error {
	for _, dir := range leftBy(common, workPrefix) {
		if err := dropWork(dir); err != nil {
			return err
		}
	}
	return nil
}

// leftBy are the names in a directory that begin with prefix and the number of a process that has ended, in full.
func leftBy(dir, prefix string) (list []string) {
	files, _ := os.ReadDir(dir) // who writes there will find out
	for _, f := range files {
		rest, ok := strings.CutPrefix(f.Name(), prefix)
		number, _, _ := strings.Cut(rest, "-")
		if pid, err := strconv.Atoi(number); ok && err == nil && (pid == os.Getpid() || !vfs.Alive(pid)) {
			list = append(list, filepath.Join(dir, f.Name()))
		}
	}
	return list
}

// locksName is the file in it that names the locks: the file of which one is a second name, and the lock, in turn, each with a NUL behind it.
const locksName = "locks"

func dropWork(dir string) error {
	locks, err := locksOf(dir)
	if err != nil {
		return err
	}
	for _, l := range locks {
		if err := unlock(l.mine, l.file); err != nil {
			return err
		}
	}
	if err := dropGitLocks(dir); err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// locksOf are the locks that a directory names.
func locksOf(dir string) (list []lock, err error) {
	text, err := vfs.ReadRegular(filepath.Join(dir, locksName), 0)
	if err != nil && !vfs.IsMissing(err) {
		return nil, err
	}
	names := strings.Split(string(text), "\x00")
	for i := 0; i+1 < len(names); i += 2 { // what is cut off at the end was not taken
		list = append(list, lock{names[i+1], filepath.Join(dir, names[i])})
	}
	return list, nil
}

// leftLocks are the locks of processes that have ended, which the next Apply removes.
func leftLocks(common string) map[string]bool {
	left := map[string]bool{}
	for _, dir := range leftBy(common, workPrefix) {
		list, _ := locksOf(dir) // the next Apply says why not
		for _, l := range list {
			if isLock(l.mine, l.file) {
				left[l.file] = true
			}
		}
		ofGit, _ := gitLocks(dir)
		for _, file := range ofGit {
			left[file] = true
		}
	}
	return left
}

// unlock removes a lock that is a second name of a file.
func unlock(file, lock string) error {
	if !isLock(file, lock) {
		return nil
	}
	return os.Remove(lock)
}

func isLock(file, lock string) bool {
	a, err := os.Lstat(file)
	b, berr := os.Lstat(lock)
	return err == nil && berr == nil && os.SameFile(a, b)
}

// lock is a git lock: a file with ".lock" after its name that is there.
type lock struct {
	file, mine string
}

// lock takes the lock of a file of git's. Errors: *LockedError, of the file system.
func (w *work) lock(file string) (*lock, error) {
	list, err := w.locks([]string{file})
	if err != nil {
		return nil, err
	}
	return list[0], list[0].take()
}

// locks are those of files, to be taken one after the other: they share what is written.
func (w *work) locks(files []string) (list []*lock, err error) {
	mine := w.temp()
	var text strings.Builder
	for _, file := range files {
		text.WriteString(filepath.Base(mine) + "\x00" + file + ".lock\x00")
		list = append(list, &lock{file, mine})
	}
	if err := os.WriteFile(mine, nil, 0o666); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(w.dir, locksName), os.O_WRONLY|os.O_CREATE|os.O_APPEND|vfs.NoWait, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = f.WriteString(text.String())
	return list, errors.Join(err, f.Close())
}

func (w *work) temp() string {
	w.n++
	return filepath.Join(w.dir, strconv.Itoa(w.n))
}

func (l *lock) take() error {
	err := os.Link(l.mine, l.file+".lock")
	if vfs.IsMissing(err) {
		if err := os.MkdirAll(filepath.Dir(l.file), 0o777); err != nil {
			return err
		}
		err = os.Link(l.mine, l.file+".lock")
	}
	if errors.Is(err, fs.ErrExist) {
		return &LockedError{l.file + ".lock"}
	}
	return err
}

// put gives the file new content, and lets go of the lock: as git does, by writing into the lock and renaming it. The lock may share
// nothing with others.
func (l *lock) put(content []byte) error {
	if err := writeSync(l.mine, content); err != nil {
		return err
	}
	if err := rename(l.file+".lock", l.file); err != nil {
		return err
	}
	return vfs.OS.SyncDir(filepath.Dir(l.file))
}

// free lets go of it.
func (l *lock) free() error { return os.Remove(l.file + ".lock") }

// replace puts content in the place of another file, which a lock guards; it is not durable before syncAll.
func (w *work) replace(file string, content []byte) error {
	temp := w.temp()
	if err := os.WriteFile(temp, content, 0o666); err != nil {
		return err
	}
	w.written = append(w.written, file)
	return rename(temp, file)
}

// rename also makes the directories above the new name, and removes empty ones that have it.
func rename(from, to string) error {
	err := os.Rename(from, to)
	if vfs.IsMissing(err) {
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return err
		}
		err = os.Rename(from, to)
	}
	if info, lerr := os.Lstat(to); err != nil && lerr == nil && info.IsDir() {
		removeEmpty(to)
		err = os.Rename(from, to)
	}
	return err
}

// move gives a file another name in the same file system, if nothing has it. It also makes the directories above.
func move(from, to string) error {
	err := os.Link(from, to)
	if vfs.IsMissing(err) {
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return err
		}
		err = os.Link(from, to)
	}
	if err != nil {
		return err
	}
	_ = os.Remove(from) // a second name of a temporary file goes with its directory
	return nil
}

// removeEmpty removes a directory that has nothing but such directories.
func removeEmpty(dir string) {
	names, _ := os.ReadDir(dir)
	for _, name := range names {
		if name.IsDir() {
			removeEmpty(filepath.Join(dir, name.Name()))
		}
	}
	_ = os.Remove(dir) // where it is not empty, what needs the place finds out
}

func writeSync(file string, content []byte) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|vfs.NoWait, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
