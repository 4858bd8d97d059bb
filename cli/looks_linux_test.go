package cli_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/internal/testkit/scratchfs"
)

// TestLookingWritesNothing: what only shows something works on a disk without a free byte, however much has changed since
// the newest checkpoint, and leaves the store and the account's directory as they are.
func TestLookingWritesNothing(t *testing.T) {
	base := scratchfs.Tmpfs(t, "112m")
	home, proj := filepath.Join(base, "home"), filepath.Join(base, "proj")
	for _, dir := range []string{home, proj, filepath.Join(home, ".rewind")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write := func(file string, data []byte) {
		t.Helper()
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(home, ".rewind", "config.json"), []byte(`{"minFreeDisk":0}`))
	write(filepath.Join(base, "hint"), nil)
	exe := program(t)
	run := func(args ...string) (out string, err error) {
		c := exec.Command(exe, args...)
		c.Dir = proj
		c.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + base, "PAGER=cat"}
		data, err := c.CombinedOutput()
		return string(data), err
	}
	work := func(tag byte) {
		source := rand.NewChaCha8([32]byte{tag})
		noise := func(n int) []byte {
			data := make([]byte, n)
			source.Read(data)
			return data
		}
		for i := range 60 { // small files, 12 MB together: more than a batch keeps in memory
			write(filepath.Join(proj, fmt.Sprintf("small%d", i)), noise(200<<10))
		}
		write(filepath.Join(proj, "large"), noise(10<<20)) // one that is cut into chunks
		write(filepath.Join(proj, "text"), []byte(strings.Repeat("same\n", 30)+fmt.Sprintf("tagged %d\n", tag)))
	}
	for tag, verb := range []string{"init", "save"} {
		work(byte(tag))
		if out, err := run(verb); err != nil {
			t.Fatal(verb, err, out)
		}
	}
	if out, err := run("restore", "2"); err != nil {
		t.Fatal(err, out)
	}
	work(3)

	ballast, err := os.Create(filepath.Join(base, "ballast"))
	if err != nil {
		t.Fatal(err)
	}
	defer ballast.Close()
	var st syscall.Statfs_t
	if err := syscall.Statfs(base, &st); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Fallocate(int(ballast.Fd()), 0, 0, int64(st.Bavail)*st.Bsize); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(base, "more"), make([]byte, 4096), 0o600); err == nil {
		t.Fatal("the disk is not full")
	}
	before := written(t, filepath.Join(proj, ".agent"), filepath.Join(home, ".rewind"))
	for _, look := range []string{
		"list", "list --all --json", "list --grep tagged", "list --path large", "show", "show 1 --files --coverage", "ls last", "cat last text",
		"diff", "diff --stat", "diff 1", "diff 2 1", "diff -- large small7", "history text -p", "history large", "grep tagged", "grep tagged -- text", "blame text",
		"log", "log --json", "status", "status --json", "stats", "verify", "verify --read-data", "validate", "config", "sessions", "stores", "attempts", "compare 2 1",
		"restore -n 1", "restore -n last --json", "restore -n 1 -- large", "undo -n", "undo-restore -n --force", "gc --dry-run", "gc -n --keep 1",
	} {
		out, err := run(strings.Fields(look)...)
		if err != nil && !(look == "validate" || look == "attempts" && strings.Contains(out, "no ")) {
			t.Errorf("%s: %v\n%s", look, err, out)
		}
		// A dry run of gc says that gc itself would need some.
		if strings.Contains(out, "no space") || strings.Contains(out, "free space") && !strings.Contains(out, "nothing would be removed now") {
			t.Errorf("%s:\n%s", look, out)
		}
	}
	if after := written(t, filepath.Join(proj, ".agent"), filepath.Join(home, ".rewind")); after != before {
		t.Errorf("what was only looked at is\n%s\nand was\n%s", after, before)
	}
}

// written lists all files below directories with what they hold.
func written(t *testing.T, dirs ...string) string {
	t.Helper()
	var list strings.Builder
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			data, err := os.ReadFile(file)
			fmt.Fprintln(&list, file, len(data), oid.Sum(data))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return list.String()
}
