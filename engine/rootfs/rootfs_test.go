//go:build linux || darwin

package rootfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// each runs a test on every implementation that this system has.
func each(t *testing.T, test func(t *testing.T, root string, open func() FS)) {
	for name, open := range implementations {
		t.Run(name, func(t *testing.T) {
			root := filepath.Join(t.TempDir(), "root")
			must(t, os.Mkdir(root, 0o755))
			test(t, root, func() FS {
				f, err := open(root)
				must(t, err)
				t.Cleanup(func() { f.Close() })
				return f
			})
		})
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func openDir(t *testing.T, f FS, path string) Dir {
	t.Helper()
	d, err := f.OpenDir(path)
	must(t, err)
	t.Cleanup(func() { d.Close() })
	return d
}

func TestNames(t *testing.T) {
	for _, path := range []string{
		"/", "/etc", "a//b", "a/", "..", "a/../b", ".", "a/./b", "a\x00b", "\x00",
		".git", ".GIT", ".Git/hooks", "a/.gIt", ".git ", ".git.", ".git . .", "a/.git/config", "GIT~1", "git~1/x",
		".git::$INDEX_ALLOCATION", ".g\u200cit", "\ufeff.git", ".gi\u202et", strings.Repeat("x", 256),
	} {
		var refused *NameError
		if err := CheckPath(path); !errors.As(err, &refused) {
			t.Errorf("%q is not refused: %v", path, err)
		}
	}
	for _, path := range []string{
		"", "a", "a/b", ".gitignore", ".github", "git", "..a", "a..", "...", ".gi", "git~2", "x.git", ".git2",
		"nul", "\xff\xfe", "é", "a b", "\\", strings.Repeat("x", 255), "a\nb", "-rf",
	} {
		if err := CheckPath(path); err != nil && os.PathSeparator == '/' {
			t.Errorf("%q: %v", path, err)
		}
	}
	if !IsReserved(Reserved("1")) || IsReserved(".rewind") || IsReserved("x"+Reserved("1")) {
		t.Error("reserved names are not told from others")
	}
}

// No component may be a link, wherever it leads.
func TestNoLinkIsFollowed(t *testing.T) {
	each(t, func(t *testing.T, root string, open func() FS) {
		outside := filepath.Join(filepath.Dir(root), "outside")
		must(t, os.MkdirAll(filepath.Join(outside, "sub"), 0o755))
		must(t, os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o600))
		must(t, os.MkdirAll(filepath.Join(root, "real/deep"), 0o755))
		must(t, os.WriteFile(filepath.Join(root, "real/file"), []byte("x"), 0o600))
		must(t, os.MkdirAll(filepath.Join(root, ".git/hooks"), 0o755))
		for name, target := range map[string]string{
			"out": outside, "up": "..", "inside": "real", "docs": ".git/hooks", "self": ".", "dangling": "nowhere",
			"file": "real/file", "secret": filepath.Join(outside, "secret"),
		} {
			must(t, os.Symlink(target, filepath.Join(root, name)))
		}
		f := open()
		for _, path := range []string{"out", "out/sub", "up", "up/outside", "inside", "inside/deep", "docs", "self", "self/real", "dangling", "file"} {
			d, err := f.OpenDir(path)
			if err == nil {
				d.Close()
				t.Errorf("%s was opened", path)
				continue
			}
			if !strings.Contains(path, "/") && path != "file" && !errors.Is(err, ErrLink) {
				t.Errorf("%s: %v, want ErrLink", path, err)
			}
		}
		if _, err := f.OpenDir("real/file"); !errors.Is(err, ErrNotDir) {
			t.Errorf("a file as a directory: %v", err)
		}
		if _, err := f.OpenDir("real/none"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a missing directory: %v", err)
		}
		var refused *NameError
		if _, err := f.OpenDir(".git/hooks"); !errors.As(err, &refused) {
			t.Errorf(".git: %v", err)
		}
		d := openDir(t, f, "")
		for _, name := range []string{"file", "secret", "inside", "dangling"} {
			if _, _, err := d.OpenFile(name); !errors.Is(err, ErrLink) {
				t.Errorf("opening the link %s: %v", name, err)
			}
			if err := d.Chmod(name, 0o777); err == nil {
				t.Errorf("the mode of the link %s was changed", name)
			}
			if info, err := d.Lstat(name); err != nil || info.Kind != Link {
				t.Errorf("%s: %v %v", name, info.Kind, err)
			}
		}
		if fi, err := os.Stat(filepath.Join(outside, "secret")); err != nil || fi.Mode() != 0o600 {
			t.Error("the mode of a link's target changed")
		}
		if _, err := d.Create("dangling"); !errors.Is(err, fs.ErrExist) {
			t.Errorf("creating through a dangling link: %v", err)
		}
		for _, op := range []func(string) error{
			d.Mkdir, d.Unlink, d.Rmdir,
			func(n string) error { return d.Symlink("x", n) },
			func(n string) error { return d.Rename("file", n) },
			func(n string) error { return d.Rename(n, "file") },
			func(n string) error { return d.Exchange("file", n) },
			func(n string) error { return d.Exchange(n, "file") },
			func(n string) error { return d.Chmod(n, 0o777) },
			func(n string) error { return d.Chown(n, 0, 0) },
			func(n string) error { _, err := d.Create(n); return err },
			func(n string) error { _, _, err := d.OpenFile(n); return err },
			func(n string) error { _, err := d.Subdir(n); return err },
			func(n string) error { _, err := d.Lstat(n); return err },
			func(n string) error { _, err := d.Readlink(n); return err },
		} {
			for _, name := range []string{".git", ".GIT", "..", ".", "", "real/file", "../outside/secret", "a\x00"} {
				if err := op(name); !errors.As(err, &refused) {
					t.Errorf("%q got through: %v", name, err)
				}
			}
		}
		if !d.HasGit() || openDir(t, f, "real").HasGit() {
			t.Error("HasGit is wrong")
		}
	})
}

func TestOperations(t *testing.T) {
	each(t, func(t *testing.T, root string, open func() FS) {
		f := open()
		must(t, os.MkdirAll(filepath.Join(root, "a/b"), 0o755))
		d := openDir(t, f, "a/b")
		if d.Path() != "a/b" {
			t.Errorf("path %q", d.Path())
		}
		file, err := d.Create("new")
		must(t, err)
		_, err = io.WriteString(file, "content")
		must(t, err)
		must(t, file.Chmod(0o4750))
		info, err := file.Stat()
		must(t, err)
		must(t, file.Close())
		if got, err := d.Lstat("new"); err != nil || got.Mode != 0o4750 || got.Size != 7 || got.Kind != Regular || !got.Same(info) {
			t.Errorf("new file: %+v %v", got, err)
		}
		if _, err := d.Create("new"); !errors.Is(err, fs.ErrExist) {
			t.Errorf("creating over a file: %v", err)
		}
		must(t, d.Mkdir("dir"))
		must(t, d.Symlink("target", "link"))
		if target, err := d.Readlink("link"); err != nil || target != "target" {
			t.Errorf("link: %q %v", target, err)
		}
		if err := d.Rename("new", "dir"); !errors.Is(err, fs.ErrExist) {
			t.Errorf("rename over a directory: %v", err)
		}
		if err := d.Rename("dir", "link"); !errors.Is(err, fs.ErrExist) {
			t.Errorf("rename over a link: %v", err)
		}
		must(t, d.Rename("new", "newer"))
		kinds := func() string {
			var out []string
			names, err := d.Names()
			must(t, err)
			slices.Sort(names)
			for _, n := range names {
				i, err := d.Lstat(n)
				must(t, err)
				out = append(out, n+"="+i.Kind.String())
			}
			return strings.Join(out, " ")
		}
		want := func(s string) {
			t.Helper()
			if got := kinds(); got != s {
				t.Errorf("%s, want %s", got, s)
			}
		}
		want("dir=directory link=symlink newer=file")
		must(t, d.Exchange("newer", "link"))
		want("dir=directory link=file newer=symlink")
		must(t, d.Exchange("dir", "link"))
		want("dir=file link=directory newer=symlink")
		must(t, d.Exchange("link", "newer"))
		want("dir=file link=symlink newer=directory")
		if err := d.Unlink("newer"); err == nil {
			t.Error("Unlink took a directory")
		}
		if err := d.Rmdir("dir"); err == nil {
			t.Error("Rmdir took a file")
		}
		must(t, d.Chmod("newer", 0o711))
		if i, _ := d.Lstat("newer"); i.Mode != 0o711 {
			t.Errorf("mode %o", i.Mode)
		}
		sub, err := d.Subdir("newer")
		must(t, err)
		if sub.Path() != "a/b/newer" {
			t.Errorf("path %q", sub.Path())
		}
		must(t, sub.Close())
		must(t, d.Rmdir("newer"))
		must(t, d.Unlink("dir"))
		must(t, d.Unlink("link"))
		want("")
		must(t, f.Sync())
	})
}

// What is no regular file is not waited for.
func TestOpeningNeverBlocks(t *testing.T) {
	each(t, func(t *testing.T, root string, open func() FS) {
		mkfifo(t, filepath.Join(root, "pipe"))
		must(t, os.Mkdir(filepath.Join(root, "dir"), 0o755))
		d := openDir(t, open(), "")
		done := make(chan error, 2)
		go func() {
			_, _, err := d.OpenFile("pipe")
			done <- err
			_, _, err = d.OpenFile("dir")
			done <- err
		}()
		for range 2 {
			select {
			case err := <-done:
				if !errors.Is(err, ErrNotRegular) {
					t.Errorf("%v, want ErrNotRegular", err)
				}
			case <-time.After(30 * time.Second):
				t.Fatal("still waiting for a writer")
			}
		}
	})
}

// A path may be longer than the system takes in one call, and a name any bytes.
func TestLongPathsAndAnyBytes(t *testing.T) {
	each(t, func(t *testing.T, root string, open func() FS) {
		f := open()
		d, err := f.OpenDir("")
		must(t, err)
		var parts []string
		for i := range 40 {
			name := strings.Repeat(string(rune('a'+i%26)), 200) + "\xff\x01\n"
			must(t, d.Mkdir(name))
			next, err := d.Subdir(name)
			must(t, err)
			d.Close()
			d = next
			parts = append(parts, name)
		}
		file, err := d.Create("\xc3\x28.txt")
		must(t, err)
		must(t, file.Close())
		d.Close()
		long := strings.Join(parts, "/")
		deep := openDir(t, f, long)
		if deep.Path() != long {
			t.Error("the path is another")
		}
		if names, err := deep.Names(); err != nil || !slices.Equal(names, []string{"\xc3\x28.txt"}) {
			t.Errorf("names %q %v", names, err)
		}
		// t.TempDir's clean-up takes long paths in its stride: os.RemoveAll works by descriptors.
	})
}
