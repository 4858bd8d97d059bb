package rootfs

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"syscall"
)

type portableFS struct {
	root    *os.Root
	mount   uint64
	written unsynced
}

// OpenPortable opens the project's root with nothing but package os. It is
// what systems other than Linux use. Exchange takes several steps there.
func OpenPortable(dir string) (FS, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	mount, err := mountOf(root, ".")
	if err != nil {
		root.Close()
		return nil, err
	}
	return &portableFS{root: root, mount: mount, written: unsynced{sync: toDevice}}, nil
}

func (f *portableFS) Close() error { return f.root.Close() }

func (f *portableFS) OpenDir(path string) (Dir, error) {
	if err := CheckPath(path); err != nil {
		return nil, err
	}
	root, err := f.root.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	d := &portableDir{fs: f, root: root}
	if path == "" {
		return d, nil
	}
	for rest, more := path, true; more; {
		var name string
		name, rest, more = strings.Cut(rest, "/")
		next, err := d.Subdir(name)
		d.Close()
		if err != nil {
			return nil, err
		}
		d = next.(*portableDir)
	}
	return d, nil
}

// portableDir is a directory held by an os.Root of its own. os.Root keeps
// operations below it but follows links that stay there, so whatever opens a
// name looks at it first and compares afterwards.
type portableDir struct {
	fs   *portableFS
	root *os.Root
	path string
}

func (d *portableDir) Path() string { return d.path }
func (d *portableDir) Close() error { return d.root.Close() }

func (d *portableDir) below(name string) string { return Join(d.path, name) }

func (d *portableDir) fail(op, name string, err error) error {
	if err == nil {
		return nil
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	var le *os.LinkError
	if errors.As(err, &le) {
		err = le.Err
	}
	return &fs.PathError{Op: op, Path: d.below(name), Err: err}
}

func (d *portableDir) Stat() (Info, error) {
	fi, err := d.root.Stat(".")
	if err != nil {
		return Info{}, d.fail("stat", ".", err)
	}
	return InfoOf(fi), nil
}

func (d *portableDir) lstat(name string) (fs.FileInfo, error) {
	fi, err := d.root.Lstat(name)
	return fi, d.fail("lstat", name, err)
}

func (d *portableDir) Lstat(name string) (Info, error) {
	if err := CheckName(name); err != nil {
		return Info{}, err
	}
	fi, err := d.lstat(name)
	if err != nil {
		return Info{}, err
	}
	return InfoOf(fi), nil
}

func (d *portableDir) Mounted(name string) bool {
	id, err := mountOf(d.root, name)
	return err == nil && id != d.fs.mount
}

func (d *portableDir) HasGit() bool {
	_, err := d.root.Lstat(".git")
	return err == nil
}

func (d *portableDir) Names() ([]string, error) {
	f, err := d.root.Open(".")
	if err != nil {
		return nil, d.fail("list", ".", err)
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	return names, d.fail("list", ".", err)
}

func (d *portableDir) OpenFile(name string) (*os.File, Info, error) {
	if err := CheckName(name); err != nil {
		return nil, Info{}, err
	}
	before, err := d.lstat(name)
	if err != nil {
		return nil, Info{}, err
	}
	if k := InfoOf(before).Kind; k == Link {
		return nil, Info{}, d.fail("open", name, ErrLink)
	} else if k != Regular {
		return nil, Info{}, d.fail("open", name, ErrNotRegular)
	} else if d.Mounted(name) {
		return nil, Info{}, d.fail("open", name, ErrMount)
	}
	f, err := d.root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, Info{}, d.fail("open", name, err)
	}
	after, err := f.Stat()
	if err == nil && !os.SameFile(before, after) {
		err = ErrLink
	}
	if err != nil {
		f.Close()
		return nil, Info{}, d.fail("open", name, err)
	}
	return f, InfoOf(after), nil
}

func (d *portableDir) Readlink(name string) (string, error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	target, err := d.root.Readlink(name)
	return target, d.fail("readlink", name, err)
}

func (d *portableDir) Subdir(name string) (Dir, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	before, err := d.lstat(name)
	if err != nil {
		return nil, err
	}
	info := InfoOf(before)
	switch {
	case info.Kind == Link:
		return nil, d.fail("open", name, ErrLink)
	case info.Kind != Directory:
		return nil, d.fail("open", name, ErrNotDir)
	case d.Mounted(name):
		return nil, d.fail("open", name, ErrMount)
	}
	root, err := d.root.OpenRoot(name)
	if err != nil {
		return nil, d.fail("open", name, err)
	}
	after, err := root.Stat(".")
	if err == nil && !os.SameFile(before, after) {
		err = ErrLink
	}
	if err != nil {
		root.Close()
		return nil, d.fail("open", name, err)
	}
	return &portableDir{fs: d.fs, root: root, path: d.below(name)}, nil
}

func (d *portableDir) Create(name string) (File, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, d.fail("create", name, err)
	}
	return &portableFile{f, d, name}, nil
}

func (d *portableDir) Mkdir(name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	return d.fail("mkdir", name, d.root.Mkdir(name, 0o700))
}

func (d *portableDir) Symlink(target, name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	return d.fail("symlink", name, d.root.Symlink(target, name))
}

func (d *portableDir) Unlink(name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	fi, err := d.lstat(name)
	if err != nil {
		return err
	}
	if fi.IsDir() { // os.Root.Remove takes empty directories too
		return d.fail("unlink", name, syscall.EISDIR)
	}
	return d.fail("unlink", name, d.root.Remove(name))
}

func (d *portableDir) Rmdir(name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	fi, err := d.lstat(name)
	if err != nil {
		return err
	}
	if !fi.IsDir() {
		return d.fail("rmdir", name, ErrNotDir)
	}
	return d.fail("rmdir", name, d.root.Remove(name))
}

func (d *portableDir) Chmod(name string, mode uint32) error {
	if err := CheckName(name); err != nil {
		return err
	}
	before, err := d.lstat(name)
	if err != nil {
		return err
	}
	switch info := InfoOf(before); {
	case info.Kind == Link:
		return d.fail("chmod", name, ErrLink)
	case d.Mounted(name):
		return d.fail("chmod", name, ErrMount)
	}
	f, err := d.root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return d.fail("chmod", name, err)
	}
	defer f.Close()
	after, err := f.Stat()
	if err == nil && !os.SameFile(before, after) {
		err = ErrLink
	}
	if err == nil {
		err = f.Chmod(GoMode(mode))
	}
	return d.fail("chmod", name, err)
}

func (d *portableDir) Chown(name string, uid, gid uint32) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if runtime.GOOS == "windows" {
		return nil
	}
	return d.fail("chown", name, d.root.Lchown(name, int(uid), int(gid)))
}

func (d *portableDir) Rename(from, to string) error {
	if err := checkNames(from, to); err != nil {
		return err
	}
	switch _, err := d.root.Lstat(to); {
	case err == nil:
		return d.fail("rename", to, fs.ErrExist)
	case !errors.Is(err, fs.ErrNotExist):
		return d.fail("rename", to, err)
	}
	err := d.root.Rename(from, to)
	if err == nil {
		d.fs.written.move(d.below(from), d.below(to))
	}
	return d.fail("rename", to, err)
}

func (d *portableDir) Exchange(a, b string) error {
	if err := checkNames(a, b); err != nil {
		return err
	}
	aside := Aside(a)
	fa, err := d.lstat(a)
	if err != nil {
		return err
	}
	fb, err := d.lstat(b)
	if err != nil {
		return err
	}
	// A second name for b, so that b is there at every moment.
	if fa.IsDir() || fb.IsDir() || d.root.Link(b, aside) != nil {
		if err := d.root.Rename(b, aside); err != nil {
			return d.fail("exchange", b, err)
		}
	}
	if err := d.root.Rename(a, b); err != nil {
		if d.root.Rename(aside, b) == nil {
			d.root.Remove(aside) // a rename between two names of one file leaves both
		}
		return d.fail("exchange", b, err)
	}
	d.fs.written.exchange(d.below(a), d.below(b))
	return d.fail("exchange", a, d.root.Rename(aside, a))
}

func checkNames(a, b string) error {
	if err := CheckName(a); err != nil {
		return err
	}
	return CheckName(b)
}

// portableFile is made durable by the next Sync of the file system.
type portableFile struct {
	f    *os.File
	dir  *portableDir
	name string
}

func (f *portableFile) Write(p []byte) (int, error) { return f.f.Write(p) }
func (f *portableFile) Chmod(mode uint32) error     { return f.f.Chmod(GoMode(mode)) }
func (f *portableFile) SetAttrs(a Attrs) error      { return setAttrs(int(f.f.Fd()), a) }
func (f *portableFile) Chown(uid, gid uint32) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	return f.f.Chown(int(uid), int(gid))
}
func (f *portableFile) Stat() (Info, error) {
	fi, err := f.f.Stat()
	if err != nil {
		return Info{}, err
	}
	return InfoOf(fi), nil
}

// Close leaves the sync of the file's bytes to Sync, except where Sync could not open the file again: on Windows,
// which wants it open for writing, and where its owner may not read it.
func (f *portableFile) Close() error {
	fi, err := f.f.Stat()
	if err == nil && (runtime.GOOS == "windows" || fi.Mode()&0o400 == 0) {
		err = f.f.Sync()
	} else if err == nil {
		f.dir.fs.written.add(f.dir.below(f.name))
	}
	return errors.Join(err, f.f.Close())
}
