package bucket_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/remote/bucket"
)

func TestURLsOfDirectories(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	o := bucket.Options{Home: home, Dir: dir}
	for url, want := range map[string]string{
		filepath.Join(dir, "absolute"):                            filepath.Join(dir, "absolute"),
		"file://" + filepath.ToSlash(dir) + "/with%20space":       filepath.Join(dir, "with space"),
		"file://localhost" + filepath.ToSlash(dir) + "/localhost": filepath.Join(dir, "localhost"),
		"relative":                         filepath.Join(dir, "relative"),
		"./relative":                       filepath.Join(dir, "relative"),
		"../" + filepath.Base(dir) + "/up": filepath.Join(dir, "up"),
		"~/home":                           filepath.Join(home, "home"),
	} {
		if runtime.GOOS == "windows" && strings.HasPrefix(url, "file://") {
			url = strings.Replace(url, "//"+filepath.VolumeName(dir), "///"+filepath.VolumeName(dir), 1)
		}
		put(t, open(t, url, o), "w/1", url)
		if got, err := os.ReadFile(filepath.Join(want, "w", "1")); err != nil || string(got) != url {
			t.Errorf("%s: %q, %v", url, got, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, url := range []string{"", "ftp://host/dir", "git:origin", "https://host/bucket", "file://host/dir", "file:dir", "file:///dir?x=1", filepath.Join(dir, "file")} {
		var wrong *bucket.URLError
		if _, err := bucket.Open(url, o); !errors.As(err, &wrong) || wrong.Next == "" {
			t.Errorf("%q: %v", url, err)
		}
	}
	var wrong *bucket.URLError
	if _, err := bucket.Open("relative", bucket.Options{}); !errors.As(err, &wrong) {
		t.Errorf("a relative path to nowhere: %v", err)
	}
}

func TestMissingDirectory(t *testing.T) {
	dir := t.TempDir()
	var unreachable *bucket.UnreachableError
	deep := filepath.Join(dir, "nas", "rewind")
	if _, err := bucket.Open(deep, bucket.Options{}); !errors.As(err, &unreachable) || unreachable.Host != deep {
		t.Errorf("without a parent: %v", err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) > 0 {
		t.Errorf("%v was made", entries)
	}
	child := filepath.Join(dir, "child")
	if _, err := bucket.Open(child, bucket.Options{Existing: true}); !errors.As(err, &unreachable) {
		t.Errorf("one that should be there: %v", err)
	}
	b := open(t, child, bucket.Options{})
	if info, err := os.Stat(child); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	put(t, b, "a", "1")

	check := func(when string) {
		t.Helper()
		_, get := b.Get(t.Context(), "a", 1)
		_, list := b.List(t.Context(), "")
		for op, err := range map[string]error{"put": b.Put(t.Context(), "w/2", nil), "get": get, "list": list, "delete": b.Delete(t.Context(), "a")} {
			if !errors.As(err, &unreachable) || unreachable.Host != child {
				t.Errorf("%s, %s: %v", when, op, err)
			}
		}
	}
	if err := os.Rename(child, child+"-away"); err != nil {
		t.Fatal(err)
	}
	check("it vanished")
	if err := os.Mkdir(child, 0o700); err != nil {
		t.Fatal(err)
	}
	check("another is in its place") // as the empty mount point of a drive that is not mounted
	if entries, _ := os.ReadDir(child); len(entries) > 0 {
		t.Errorf("%v was made", entries)
	}
	if err := os.Remove(child); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(child+"-away", child); err != nil {
		t.Fatal(err)
	}
	holds(t, b, "a", "1")
}

func TestFilesArePrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no permission bits")
	}
	dir := t.TempDir()
	put(t, open(t, dir, bucket.Options{}), "w/a/1", "x")
	for name, want := range map[string]fs.FileMode{"w": 0o700, "w/a": 0o700, "w/a/1": 0o600} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	if os.Geteuid() == 0 {
		return // root may write everywhere
	}
	if err := os.Chmod(filepath.Join(dir, "w"), 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(filepath.Join(dir, "w"), 0o700)
	var denied *bucket.DeniedError
	if err := open(t, dir, bucket.Options{}).Put(t.Context(), "w/b/1", nil); !errors.As(err, &denied) || denied.Next == "" {
		t.Errorf("a directory that may not be written: %v", err)
	}
}

// What others left in the directory is not shown, not followed and not waited for.
func TestHostileDirectory(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	b := open(t, dir, bucket.Options{})
	put(t, b, "w/a/1", "x")
	secret := filepath.Join(outside, "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Thumbs.db", ".DS_Store", "w/a/.tmp-1", "w/a/1 (conflicted copy)", ".git/config"} {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink(secret, filepath.Join(dir, "w", "a", "2")), os.Symlink(outside, filepath.Join(dir, "w", "out"))); err != nil {
		t.Skip(err)
	}
	if got := names(t, b, ""); got != "w/a/1=1" {
		t.Errorf("it lists %s", got)
	}
	for _, name := range []string{"w/a/2", "w/out/secret"} {
		if got, err := b.Get(t.Context(), name, 100); err == nil {
			t.Errorf("%s: %q", name, got)
		}
	}
	if err := b.Put(t.Context(), "w/out/new", nil); err == nil {
		t.Error("a link led out of the directory")
	}
	if err := b.Put(t.Context(), "w/a/2", []byte("new")); err != nil { // the link is replaced, not followed
		t.Error(err)
	}
	if err := b.Delete(t.Context(), "w/out/secret"); err == nil {
		t.Error("a link led a deletion out of the directory")
	}
	if got, err := os.ReadFile(secret); err != nil || string(got) != "secret" {
		t.Errorf("the file outside: %q, %v", got, err)
	}
	if entries, _ := os.ReadDir(outside); len(entries) != 1 {
		t.Errorf("outside there is %v", entries)
	}
	if err := os.Mkdir(filepath.Join(dir, "w", "a", "3"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Get(t.Context(), "w/a/3", 1); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory in the place of an object: %v", err)
	}
}

func TestLeftFilesOfDeadProcesses(t *testing.T) {
	dir := t.TempDir()
	old, young := filepath.Join(dir, ".tmp-1"), filepath.Join(dir, ".tmp-2")
	for _, file := range []string{old, young} {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	week := time.Now().Add(-8 * 24 * time.Hour)
	if err := os.Chtimes(old, week, week); err != nil {
		t.Fatal(err)
	}
	put(t, open(t, dir, bucket.Options{}), "a", "")
	if _, err := os.Stat(old); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the old file is there: %v", err)
	}
	if _, err := os.Stat(young); err != nil {
		t.Error(err)
	}
}
