//go:build unix

package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/hook"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/save"
	"github.com/rewind-cli/rewind/engine/settings"
	"github.com/rewind-cli/rewind/internal/testkit/testlab"
	"github.com/rewind-cli/rewind/manifest"
)

// git runs git in the project with an identity and no settings of the machine.
func (l *lab) git(args ...string) string {
	l.T.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = l.Root
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + l.Home, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		l.T.Fatalf("git %v: %v: %s", args, err, out)
	}
	return string(out)
}

func needGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is the judge, and is not there")
	}
}

// gitDir is every byte of a .git directory.
func (l *lab) gitDir(dir string) map[string]string {
	l.T.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(filepath.Join(l.Root, dir, ".git"), func(file string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(file)
		out[file] = string(data)
		return err
	})
	if err != nil {
		l.T.Fatal(err)
	}
	return out
}

// TestHistoryOfARepository: commits checked out one after another with a save
// each, random ones restored and compared with git's own tree.
func TestHistoryOfARepository(t *testing.T) {
	needGit(t)
	commits := 200
	if testing.Short() {
		commits = 30
	}
	l := newLab(t)
	l.git("init", "-q")
	random := rand.New(rand.NewPCG(1, 2))
	for i := range commits {
		for range 1 + random.IntN(4) {
			p := fmt.Sprintf("d%d/s%d/f%d.txt", random.IntN(4), random.IntN(4), random.IntN(6))
			switch random.IntN(5) {
			case 0:
				l.Remove(p)
			case 1:
				l.Remove(filepath.Dir(p))
			default:
				l.Write(p, strings.Repeat(fmt.Sprintf("line %d\n", random.IntN(50)), random.IntN(300)))
			}
		}
		l.git("add", "-A")
		l.git("commit", "-q", "--allow-empty", "-m", fmt.Sprint(i))
	}
	hashes := strings.Fields(l.git("rev-list", "--reverse", "HEAD"))
	l.Init()
	saved := make([]manifest.Checkpoint, len(hashes))
	for i, hash := range hashes {
		l.git("checkout", "-q", hash)
		s := l.Save()
		saved[i] = s.Checkpoint
		if s.Checkpoint.GitHead != hash {
			t.Fatalf("the checkpoint says %q of commit %s", s.Checkpoint.GitHead, hash)
		}
	}
	before := l.gitDir(".")
	for range 12 {
		i := random.IntN(len(hashes))
		l.Do(func(ctx context.Context, p *project.Project) error {
			_, err := restore.Restore(ctx, p, restore.Options{Checkpoint: saved[i]})
			return err
		})
		if after := l.gitDir("."); len(after) != len(before) {
			t.Fatal("a restore made or removed a file of .git")
		} else {
			for file, data := range before {
				if after[file] != data {
					t.Fatalf("a restore changed %s", file)
				}
			}
		}
		// A work tree that git compares with the commit; its index lies elsewhere.
		index := filepath.Join(t.TempDir(), "index")
		run := func(args ...string) string {
			cmd := exec.Command("git", args...)
			cmd.Dir = l.Root
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + l.Home, "GIT_CONFIG_NOSYSTEM=1", "GIT_INDEX_FILE=" + index}
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("git %v: %v: %s", args, err, out)
			}
			return string(out)
		}
		run("read-tree", hashes[i])
		if out := run("diff", "--name-status") + run("ls-files", "-o", "--exclude-standard"); out != "" {
			t.Fatalf("restored commit %d, git sees:\n%s", i, out)
		}
	}
}

// TestNestedRepositories: repositories inside, one without commits, are plain
// files; their .git is left alone, by a restore too.
func TestNestedRepositories(t *testing.T) {
	needGit(t)
	l := newLab(t)
	for _, dir := range []string{"outer", "outer/in/inner", "outer/in/inner/deep"} {
		l.Write(dir+"/file.txt", dir)
		sub := &lab{&testlab.Lab{T: t, Root: filepath.Join(l.Root, dir), Home: l.Home}}
		sub.git("init", "-q")
		if dir != "outer/in/inner" {
			sub.git("add", "file.txt")
			sub.git("commit", "-q", "-m", "one")
		}
	}
	first := l.Init()
	if first.Checkpoint.Files != 3 {
		t.Errorf("%d files, want 3", first.Checkpoint.Files)
	}
	want := l.Read()
	git := l.gitDir("outer/in/inner/deep")
	l.Write("outer/in/inner/deep/file.txt", "changed")
	l.Write("outer/in/inner/new.txt", "new")
	l.Do(func(ctx context.Context, p *project.Project) error {
		_, err := restore.Restore(ctx, p, restore.Options{Checkpoint: first.Checkpoint})
		return err
	})
	l.Is(want, "after restore")
	for file, data := range l.gitDir("outer/in/inner/deep") {
		if git[file] != data {
			t.Errorf("%s was changed", file)
		}
	}
}

// TestSpecialFilesAreNamed: a FIFO, a socket-like special and a dangling link void nothing.
func TestSpecialFilesAreNamed(t *testing.T) {
	l := newLab(t)
	l.Write("a", "1")
	if err := syscall.Mkfifo(filepath.Join(l.Root, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/nowhere", filepath.Join(l.Root, "dangling")); err != nil {
		t.Fatal(err)
	}
	first := l.Init()
	if first.Checkpoint.Files != 2 || len(first.Partial) != 0 {
		t.Errorf("files %d, partial %v", first.Checkpoint.Files, first.Partial)
	}
	l.Do(func(ctx context.Context, p *project.Project) error {
		coverage, err := inspect.Coverage(ctx, p, first.Checkpoint)
		named := false
		for _, problem := range coverage {
			named = named || problem.Path == "pipe" && !problem.Failed
		}
		if !named {
			t.Errorf("the coverage is %v", coverage)
		}
		return err
	})
}

func TestDiskFloor(t *testing.T) {
	l := newLab(t)
	l.Write("a", "1")
	l.Init()
	if err := settings.Set(filepath.Join(l.Root, ".agent/rewind/config.json"), "minFreeDisk", "1000000GiB"); err != nil {
		t.Fatal(err)
	}
	err := l.Try(func(ctx context.Context, p *project.Project) error {
		_, err := save.Save(ctx, p, checkpoint.Options{})
		return err
	})
	var full *project.DiskFullError
	if !errors.As(err, &full) {
		t.Errorf("below the floor a save gives %v", err)
	}
}

// Directories of the store and of the account are 0700 and files 0600, whatever the umask.
func TestModesOfTheStore(t *testing.T) {
	for _, umask := range []int{0, 0o022, 0o077} {
		l := newLab(t)
		l.Write("a", "1")
		old := syscall.Umask(umask)
		l.Init()
		l.Save()
		l.Report(hook.Event{Kind: manifest.SessionStart, By: conversation.Trigger{Agent: "claude"}})
		l.Do(func(ctx context.Context, p *project.Project) error {
			p.NoteHookError(errors.New("a reason"))
			if _, err := maintain.Repair(ctx, p); err != nil {
				return err
			}
			_, err := maintain.GC(ctx, p, maintain.GCOptions{})
			return err
		})
		syscall.Umask(old)
		for _, dir := range []string{filepath.Join(l.Root, ".agent/rewind"), filepath.Join(l.Home, ".rewind")} {
			err := filepath.WalkDir(dir, func(file string, d os.DirEntry, err error) error {
				if err != nil {
					return err
				}
				info, err := d.Info()
				want := os.FileMode(0o600)
				if d.IsDir() {
					want = 0o700
				}
				if err == nil && info.Mode().Perm() != want {
					t.Errorf("umask %03o: %s has mode %v", umask, strings.TrimPrefix(file, filepath.Dir(dir)), info.Mode())
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestBytesAreBytes: what git would convert or filter is saved and restored as it is.
func TestBytesAreBytes(t *testing.T) {
	l := newLab(t)
	contents := map[string]string{
		".gitattributes": "* text=auto eol=lf\n*.bin filter=lfs diff=lfs merge=lfs -text\n*.id ident\n*.u16 working-tree-encoding=UTF-16\n",
		".gitconfig":     "[core]\n\tautocrlf = true\n",
		"crlf.txt":       "one\r\ntwo\r\n",
		"mixed.txt":      "one\r\ntwo\nthree\r",
		"pointer.bin":    "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n",
		"bom.txt":        "\xef\xbb\xbftext",
		"wide.u16":       "\xff\xfea\x00\r\x00\n\x00",
		"keyword.id":     "$Id$",
		"binary":         "\x00\x01\r\n\xff\xfe\r",
		"no-newline":     "end",
		"empty":          "",
	}
	for path, text := range contents {
		l.Write(path, text)
	}
	first := l.Init().Checkpoint
	for path := range contents {
		l.Write(path, "changed")
	}
	l.Do(func(ctx context.Context, p *project.Project) error {
		_, err := restore.Restore(ctx, p, restore.Options{Checkpoint: first})
		return err
	})
	for path, want := range contents {
		if got, err := os.ReadFile(filepath.Join(l.Root, path)); err != nil || string(got) != want {
			t.Errorf("%s came back as %q: %v", path, got, err)
		}
	}
}
