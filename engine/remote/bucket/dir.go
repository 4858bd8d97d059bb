package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/problem"
)

// dir is a bucket of files: an object is the file of its name. Each call opens the directory anew, so that a long-lived
// process does not keep a drive from being removed, and refuses another directory in its place.
type dir struct {
	path string
	same fs.FileInfo // the directory as Open found it

	mu    sync.Mutex
	known map[string]bool // directories below, of which this process synced the names
}

// leftForDays is the age at which the temporary file of another process is taken for that of one that died.
const leftForDays = 7

func openDir(path string, o Options) (Bucket, error) {
	path = filepath.Clean(path)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) && !o.Existing {
		if err = os.Mkdir(path, 0o700); err == nil {
			err = vfs.OS.SyncDir(filepath.Dir(path))
		}
		if err == nil || errors.Is(err, fs.ErrExist) {
			info, err = os.Stat(path)
		} else if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("neither the directory nor its parent is there: is the drive mounted? (%w)", err)
		}
	}
	if err == nil && !info.IsDir() {
		return nil, &URLError{path, "this is a file", "Name a directory."}
	}
	if err != nil {
		return nil, dirError(path, err)
	}
	return &dir{path: path, same: info, known: map[string]bool{}}, nil
}

// dirError says of a directory that cannot be used why that is so.
func dirError(path string, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return &DeniedError{path, "Make the directory readable and writable for your user.", err}
	}
	return &UnreachableError{path, err}
}

// open gives access to what is below the directory; no link leads out of it.
func (d *dir) open(ctx context.Context) (*os.Root, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(d.path)
	if err != nil {
		return nil, dirError(d.path, err)
	}
	info, err := root.Stat(".")
	if err == nil && !os.SameFile(info, d.same) {
		err = errors.New("another directory is in its place: was the drive unmounted?")
	}
	if err != nil {
		root.Close()
		return nil, dirError(d.path, err)
	}
	return root, nil
}

func (d *dir) Put(ctx context.Context, name string, body []byte) error {
	if err := CheckName(name); err != nil {
		return err
	}
	root, err := d.open(ctx)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := d.parents(root, path.Dir(name)); err != nil {
		return d.failed("put", name, err)
	}
	err = vfs.Replace(inRoot{root: root}, filepath.FromSlash(name), vfs.Replacement{}, vfs.Bytes(body))
	if err != nil {
		d.mu.Lock()
		delete(d.known, path.Dir(name))
		d.mu.Unlock()
	}
	return d.failed("put", name, err)
}

// parents makes the directory of a name, and makes its own name and those above it durable. It removes what
// processes that died left in it.
func (d *dir) parents(root *os.Root, below string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.known[below] {
		return nil
	}
	if err := root.MkdirAll(filepath.FromSlash(below), 0o700); err != nil {
		return err
	}
	fsys := inRoot{root: root}
	for at := below; at != "."; at = path.Dir(at) {
		if err := fsys.SyncDir(filepath.FromSlash(path.Dir(at))); err != nil {
			return err
		}
	}
	entries, err := fs.ReadDir(root.FS(), below)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasPrefix(e.Name(), ".tmp-") && time.Since(info.ModTime()) > leftForDays*24*time.Hour {
			_ = root.Remove(filepath.Join(filepath.FromSlash(below), e.Name())) // the next process tries again
		}
	}
	d.known[below] = true
	return nil
}

func (d *dir) Get(ctx context.Context, name string, limit int64) ([]byte, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	root, err := d.open(ctx)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|vfs.NoWait, 0)
	if err != nil {
		return nil, d.failed("get", name, err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, d.failed("get", name, errors.Join(vfs.ErrNotRegular, err))
	}
	body, err := readAll(f, name, limit)
	return body, d.failed("get", name, err)
}

// readAll reads an object of at most limit bytes.
func readAll(r io.Reader, name string, limit int64) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(body)) > limit {
		return nil, &TooLargeError{name, limit}
	}
	return body, nil
}

func (d *dir) List(ctx context.Context, prefix string) ([]Object, error) {
	if err := CheckPrefix(prefix); err != nil {
		return nil, err
	}
	root, err := d.open(ctx)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var found []Object
	start := "."
	if i := strings.LastIndexByte(prefix, '/'); i >= 0 {
		start = prefix[:i]
	}
	err = fs.WalkDir(root.FS(), start, func(name string, e fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if errors.Is(err, fs.ErrNotExist) { // it was deleted meanwhile, or never was
			return nil
		}
		if err != nil {
			return err
		}
		if e.IsDir() && name != start && (e.Name()[0] == '.' || !strings.HasPrefix(name+"/", prefix)) {
			return fs.SkipDir
		}
		if !e.Type().IsRegular() || !strings.HasPrefix(name, prefix) {
			return nil
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		found = append(found, Object{name, info.Size(), info.ModTime()})
		return nil
	})
	if err != nil {
		return nil, d.failed("list", prefix+"*", err)
	}
	return listing(found, prefix), nil
}

func (d *dir) Delete(ctx context.Context, name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	root, err := d.open(ctx)
	if err != nil {
		return err
	}
	defer root.Close()
	err = root.Remove(filepath.FromSlash(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = inRoot{root: root}.SyncDir(filepath.FromSlash(path.Dir(name)))
	}
	return d.failed("delete", name, err)
}

// failed says of an operation on one file what a caller can tell apart.
func (d *dir) failed(op, name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return dirError(d.path, fmt.Errorf("%s %s: %w", op, name, err))
	case errors.Is(err, syscall.EROFS):
		return &DeniedError{d.path, "Make the file system of the directory writable.", fmt.Errorf("%s %s: %w", op, name, err)}
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, fs.ErrExist):
		first, _, _ := strings.Cut(name, "/")
		return &DeniedError{d.path, "Something else is in the place of the directory " + first + ": move it away.", fmt.Errorf("%s %s: %w", op, name, err)}
	case problem.NoSpace(err):
		return &DeniedError{d.path, "Free some space there.", fmt.Errorf("%s %s: there is no space left", op, name)}
	}
	return about(op, name, err)
}

// inRoot is what vfs.Replace needs of a file system, below a directory that no link leads out of.
type inRoot struct {
	vfs.FS // has no value: the operations below are all that are used
	root   *os.Root
}

func (r inRoot) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	return r.root.OpenFile(name, flag, perm)
}

func (r inRoot) Rename(from, to string) error { return r.root.Rename(from, to) }

func (r inRoot) Remove(name string) error { return r.root.Remove(name) }

// SyncDir does nothing where the system, or the file system, has no such thing.
func (r inRoot) SyncDir(name string) error {
	if vfs.NoWait == 0 { // no Unix: a directory cannot be synced there, and the file system journals the names of files
		return nil
	}
	f, err := r.root.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}
