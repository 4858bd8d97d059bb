package vfs_test

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/internal/testkit/crashfs"
)

const replaced = "/d/config.json"

// disk is one with the file on it, if there is to be one, and its directory.
func disk(t *testing.T, old string) *crashfs.FS {
	d := crashfs.New()
	if err := d.MkdirAll("/d", 0o700); err != nil {
		t.Fatal(err)
	}
	if old == "" {
		return d
	}
	if err := vfs.Replace(d, replaced, vfs.Replacement{Mode: 0o640}, vfs.Bytes([]byte(old))); err != nil {
		t.Fatal(err)
	}
	return d
}

func content(t *testing.T, d vfs.FS) string {
	t.Helper()
	f, err := d.OpenFile(replaced, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 100)
	n, _ := f.Read(b)
	return string(b[:n])
}

var errFault = errors.New("fault")

// Whatever operation fails, the file holds the old content or the new one, whole, the failure is
// told, and nothing is left behind. Where the power goes instead, the temporary file may stay.
func TestReplaceFaults(t *testing.T) {
	for _, old := range []string{"", "old"} {
		for _, gone := range []bool{false, true} {
			for k := 1; ; k++ {
				d, n := disk(t, old), 0
				d.Hook = func(op, name string) error {
					if n++; n == k || gone && n > k {
						if gone {
							return crashfs.ErrGone
						}
						return errFault
					}
					return nil
				}
				err := vfs.Replace(d, replaced, vfs.Replacement{}, vfs.Bytes([]byte("new")))
				d.Hook = nil
				if n < k {
					if err != nil || content(t, d) != "new" || k < 6 {
						t.Errorf("without a fault (%d operations): %v, %q", n, err, content(t, d))
					}
					break
				}
				if err == nil {
					t.Errorf("operation %d fails, and nothing is told", k)
				}
				if gone {
					d = d.Crash(rand.New(rand.NewPCG(1, uint64(k))))
				}
				var late *vfs.NotDurableError
				switch got := content(t, d); {
				case got != old && got != "new", !gone && (got == "new") != errors.As(err, &late):
					t.Errorf("operation %d: %v, and the file holds %q", k, err, got)
				}
				entries, _ := d.ReadDir("/d")
				for _, e := range entries {
					if !gone && e.Name() != filepath.Base(replaced) {
						t.Errorf("operation %d leaves %s", k, e.Name())
					}
				}
			}
		}
	}
}

// What was reported as done survives the power.
func TestReplacePowerCut(t *testing.T) {
	for seed := range uint64(200) {
		d := disk(t, "old")
		long := strings.Repeat("new", 1000)
		if err := vfs.Replace(d, replaced, vfs.Replacement{}, vfs.Bytes([]byte(long))); err != nil {
			t.Fatal(err)
		}
		d = d.Crash(rand.New(rand.NewPCG(seed, 0)))
		if got := content(t, d); got != long[:100] {
			t.Fatalf("after the power cut: %q", got)
		}
	}
}

func TestReplaceModeAndOwner(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	owned := ""
	own := func(name string) error { owned = name; return nil }
	r := vfs.Replacement{Temp: file + ".new", Mode: 0o644, Own: own}
	if err := vfs.Replace(vfs.OS, file, r, vfs.Bytes([]byte("x"))); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(file); err != nil || st.Mode().Perm() != 0o644 || owned != r.Temp {
		t.Errorf("%v, %v, given to its owner: %q", st, err, owned)
	}
	r.Own = func(string) error { return errFault }
	if err := vfs.Replace(vfs.OS, file, r, vfs.Bytes([]byte("y"))); !errors.Is(err, errFault) {
		t.Error(err)
	}
	if b, _ := os.ReadFile(file); string(b) != "x" {
		t.Errorf("%q", b)
	}
}

// Neither a FIFO nor a directory nor, where that is asked, a link is opened.
func TestOpenRegular(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "f"), filepath.Join(dir, "l")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := vfs.OpenRegular(dir, 0); !errors.Is(err, vfs.ErrNotRegular) {
		t.Errorf("a directory: %v", err)
	}
	f, info, err := vfs.OpenRegular(file, vfs.NoFollow)
	if err != nil || info.Size() != 1 {
		t.Fatal(info, err)
	}
	f.Close()
	if os.Symlink(file, link) != nil || vfs.NoFollow == 0 {
		t.Skip("no links here")
	}
	if _, _, err := vfs.OpenRegular(link, vfs.NoFollow); err == nil {
		t.Error("a link is followed")
	}
	f, _, err = vfs.OpenRegular(link, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}
