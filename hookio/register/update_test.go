package register

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/cas/vfs"
)

func atNoon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

func appendLine(b []byte) ([]byte, error) { return append(b, "x\n"...), nil }

func listing(t *testing.T, dir string) string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(file)
		rel, _ := filepath.Rel(dir, file)
		out = append(out, fmt.Sprintf("%s=%q", rel, b))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, " ")
}

func TestUpdate(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "sub", "settings.json")
	u := Updater{Now: atNoon}
	w, err := u.Update(file, appendLine)
	if err != nil || w != (Written{Path: file, Changed: true}) {
		t.Fatalf("a new file: %+v, %v", w, err)
	}
	if st, _ := os.Stat(file); st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", st.Mode())
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	backup := file + ".rewind-backup-20261120T120000Z"
	for i, want := range []string{backup, backup + "-2", backup + "-3"} {
		w, err := u.Update(file, appendLine)
		if err != nil || w != (Written{Path: file, Backup: want, Changed: true}) {
			t.Fatalf("%+v, %v", w, err)
		}
		if b, _ := os.ReadFile(w.Backup); string(b) != strings.Repeat("x\n", i+1) {
			t.Errorf("backup %d holds %q", i, b)
		}
		for _, f := range []string{file, w.Backup} {
			if st, _ := os.Stat(f); st.Mode().Perm() != 0o644 {
				t.Errorf("%s has mode %v", f, st.Mode())
			}
		}
	}
	u.Made = func(b []byte) bool { return string(b) == strings.Repeat("x\n", 4) }
	if w, err := u.Update(file, appendLine); err != nil || w != (Written{Path: file, Changed: true}) {
		t.Errorf("a backup of what is made: %+v, %v", w, err)
	}
	if w, err := u.Update(file, appendLine); err != nil || w.Backup != backup+"-4" {
		t.Errorf("no backup of what is not: %+v, %v", w, err)
	}
	before := listing(t, dir)
	if w, err := u.Update(file, func(b []byte) ([]byte, error) { return b, nil }); err != nil || w.Changed || w.Backup != "" {
		t.Errorf("nothing to do: %+v, %v", w, err)
	}
	broken := errors.New("no JSON")
	if _, err := u.Update(file, func([]byte) ([]byte, error) { return nil, broken }); !errors.Is(err, broken) || !strings.Contains(err.Error(), file) {
		t.Errorf("%v", err)
	}
	if now := listing(t, dir); now != before {
		t.Errorf("touched:\n%s\n%s", before, now)
	}
	w, err = u.Update(file, func([]byte) ([]byte, error) { return nil, nil })
	if err != nil || !w.Removed || w.Backup == "" {
		t.Errorf("removing: %+v, %v", w, err)
	}
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		t.Error("it is still there")
	}
	if w, err := u.Update(file, func(b []byte) ([]byte, error) { return b, nil }); err != nil || w.Changed {
		t.Errorf("missing and to stay so: %+v, %v", w, err)
	}
}

func TestUpdateFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	dotfiles := filepath.Join(dir, "dotfiles")
	if err := os.Mkdir(dotfiles, 0o755); err != nil {
		t.Fatal(err)
	}
	real := filepath.Join(dotfiles, "claude.json")
	link := filepath.Join(dir, "settings.json")
	if err := os.Symlink("dotfiles/link", link); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	if err := os.Symlink(real, filepath.Join(dotfiles, "link")); err != nil {
		t.Fatal(err)
	}
	for i := range 2 { // first the target is missing
		w, err := Updater{}.Update(link, appendLine)
		if err != nil || w.Path != real || (w.Backup != "") != (i == 1) || i == 1 && filepath.Dir(w.Backup) != dotfiles {
			t.Fatalf("%+v, %v", w, err)
		}
	}
	if target, _ := os.Readlink(link); target != "dotfiles/link" {
		t.Errorf("the link leads to %q", target)
	}
	loop := filepath.Join(dir, "loop")
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	if _, err := (Updater{}).Update(loop, appendLine); err == nil {
		t.Error("a loop of links is taken")
	}
}

// Another program writes between reading and renaming: its change stays.
func TestUpdateBesideAnAgent(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settings.json")
	if err := os.WriteFile(file, []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	writes := 0
	edit := func(b []byte) ([]byte, error) {
		if writes++; writes == 1 {
			if err := os.WriteFile(file, []byte("2"), 0o600); err != nil {
				return nil, err
			}
		}
		return append(b, '!'), nil
	}
	w, err := Updater{}.Update(file, edit)
	got, _ := os.ReadFile(file)
	kept, _ := os.ReadFile(w.Backup)
	if err != nil || string(got) != "2!" || string(kept) != "2" {
		t.Errorf("%q, backup %q, %v", got, kept, err)
	}
	always := func(b []byte) ([]byte, error) {
		err := os.WriteFile(file, append(bytes.Clone(b), '?'), 0o600)
		return append(b, '!'), err
	}
	var busy *BusyFileError
	if _, err := (Updater{}).Update(file, always); !errors.As(err, &busy) {
		t.Errorf("%v", err)
	}
}

// faulty fails its k-th operation; a write that fails leaves half of what it was to write.
type faulty struct {
	vfs.FS
	left int
}

var errFault = errors.New("fault")

func (f *faulty) hit() bool { f.left--; return f.left == 0 }

func (f *faulty) try(do func() error) error {
	if f.hit() {
		return errFault
	}
	return do()
}

func (f *faulty) OpenFile(name string, flag int, perm fs.FileMode) (file vfs.File, err error) {
	err = f.try(func() error {
		file, err = f.FS.OpenFile(name, flag, perm)
		return err
	})
	return faultyFile{file, f}, err
}
func (f *faulty) Rename(from, to string) error {
	return f.try(func() error { return f.FS.Rename(from, to) })
}
func (f *faulty) Remove(file string) error { return f.try(func() error { return f.FS.Remove(file) }) }
func (f *faulty) SyncDir(dir string) error { return f.try(func() error { return f.FS.SyncDir(dir) }) }

type faultyFile struct {
	vfs.File
	f *faulty
}

func (f faultyFile) Write(b []byte) (int, error) {
	if f.f.hit() {
		n, err := f.File.Write(b[:len(b)/2])
		return n, errors.Join(errFault, err)
	}
	return f.File.Write(b)
}
func (f faultyFile) Sync() error { return f.f.try(f.File.Sync) }
func (f faultyFile) Close() error {
	return errors.Join(f.File.Close(), f.f.try(func() error { return nil }))
}

// Whichever operation fails, the file is old or new and whole, and nothing lies
// beside it but, after the change, the backup.
func TestUpdateFaults(t *testing.T) {
	for name, c := range map[string]struct {
		before string // "" for a missing file
		edit   func([]byte) ([]byte, error)
		after  string
	}{
		"change": {"old", func(b []byte) ([]byte, error) { return append(b, " and new"...), nil }, "old and new"},
		"create": {"", func([]byte) ([]byte, error) { return []byte("new"), nil }, "new"},
		"remove": {"old", func([]byte) ([]byte, error) { return nil, nil }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for k := 1; ; k++ {
				dir := t.TempDir()
				file := filepath.Join(dir, "settings.json")
				oldListing, newListing := "", ""
				if c.before != "" {
					if err := os.WriteFile(file, []byte(c.before), 0o600); err != nil {
						t.Fatal(err)
					}
					oldListing = listing(t, dir)
					newListing = fmt.Sprintf("settings.json.rewind-backup-20261120T120000Z=%q", c.before)
				}
				if c.after != "" {
					newListing = strings.TrimSpace(fmt.Sprintf("settings.json=%q %s", c.after, newListing))
				}
				f := &faulty{FS: vfs.OS, left: k}
				_, err := Updater{Now: atNoon, FS: f}.Update(file, c.edit)
				got := listing(t, dir)
				if f.left > 0 { // no fault was left to hit
					if err != nil || got != newListing || k < 5 {
						t.Fatalf("without a fault (%d operations): %v, %s", k, err, got)
					}
					return
				}
				if !errors.Is(err, errFault) || got != oldListing && got != newListing {
					t.Errorf("operation %d: %v, %s", k, err, got)
				}
			}
		})
	}
}

// What a process left that was killed in the middle goes with the next edit; what one has that lives, stays.
func TestUpdateRemovesWhatTheDeadLeft(t *testing.T) {
	dir := t.TempDir()
	const noProcess = 1<<31 - 1
	left := fmt.Sprintf(".settings.json.rewind-%d-1.tmp", noProcess)
	used := fmt.Sprintf(".settings.json.rewind-%d-1.tmp", os.Getpid())
	other := fmt.Sprintf(".other.json.rewind-%d-1.tmp", noProcess)
	for _, name := range []string{left, used, other} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := (Updater{}).Update(filepath.Join(dir, "settings.json"), appendLine); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{left: false, used: true, other: true} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s is there: %v", name, err == nil)
		}
	}
}

func TestUpdateRefusesWhatIsNoFile(t *testing.T) {
	if _, err := (Updater{}).Update(t.TempDir(), appendLine); err == nil {
		t.Error("a directory is taken")
	}
}

// Of many backups the first and the newest two stay; files with other names are not touched.
func TestBackupsDoNotPileUp(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "settings.json")
	hour := 0
	u := Updater{Now: func() time.Time { return time.Date(2026, 11, 20, hour, 0, 0, 0, time.UTC) }}
	for _, name := range []string{"settings.json.rewind-backup-mine", "other.json.rewind-backup-20200101T000000Z"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("kept"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for hour = range 8 {
		if _, err := u.Update(file, appendLine); err != nil {
			t.Fatal(err)
		}
	}
	want := `other.json.rewind-backup-20200101T000000Z="kept" settings.json="` + strings.Repeat(`x\n`, 8) + `"`
	for _, b := range []struct {
		hour  string
		lines int
	}{{"01", 1}, {"06", 6}, {"07", 7}} {
		want += ` settings.json.rewind-backup-20261120T` + b.hour + `0000Z="` + strings.Repeat(`x\n`, b.lines) + `"`
	}
	want += ` settings.json.rewind-backup-mine="kept"`
	if got := listing(t, dir); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// Directories that are empty once a file is removed go with it, up to the home directory.
func TestEmptyDirectoriesGo(t *testing.T) {
	for _, c := range []struct {
		name, beside, want string
	}{
		{"empty", "", "."},
		{"something is beside it", "agent/other", "agent"},
	} {
		t.Run(c.name, func(t *testing.T) {
			home := filepath.Join(t.TempDir(), "home")
			file := filepath.Join(home, "agent", "extensions", "rewind.ts")
			u := Updater{Now: atNoon, Below: home, Made: func([]byte) bool { return true }}
			if _, err := u.Update(file, appendLine); err != nil {
				t.Fatal(err)
			}
			if c.beside != "" {
				if err := os.WriteFile(filepath.Join(home, c.beside), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if w, err := u.Update(file, func([]byte) ([]byte, error) { return nil, nil }); err != nil || !w.Removed {
				t.Fatalf("%+v, %v", w, err)
			}
			if _, err := os.Stat(filepath.Join(home, c.want)); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(filepath.Join(home, c.want, map[bool]string{true: "agent", false: "extensions"}[c.beside == ""])); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("an empty directory is left: %v", err)
			}
		})
	}
}
