package gitrepo_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/gitrepo"
)

// box is a home and a work tree for git, with nobody's configuration.
type box struct {
	t         *testing.T
	git       string
	home, dir string
	env       map[string]string
}

func newBox(t *testing.T) *box {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("needs git as the judge")
	}
	base, err := filepath.EvalSymlinks(scratch(t))
	if err != nil {
		t.Fatal(err)
	}
	b := &box{t: t, git: git, home: filepath.Join(base, "home"), dir: filepath.Join(base, "work")}
	mkdir(t, b.home)
	mkdir(t, b.dir)
	b.env = map[string]string{
		"HOME": b.home, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C", "PATH": os.Getenv("PATH"),
		"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com",
		"GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
	}
	return b
}

// at runs git in dir and gives its output.
func (b *box) at(dir string, args ...string) string {
	b.t.Helper()
	out, err := b.try(dir, args...)
	if err != nil {
		b.t.Fatalf("git %v: %v", args, err)
	}
	return out
}

func (b *box) try(dir string, args ...string) (string, error) {
	cmd := exec.Command(b.git, args...)
	cmd.Dir = dir
	for k, v := range b.env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, stderr.Bytes())
	}
	return string(out), err
}

func (b *box) run(args ...string) string { b.t.Helper(); return b.at(b.dir, args...) }

func (b *box) write(path, text string) {
	b.t.Helper()
	mkdir(b.t, filepath.Dir(filepath.Join(b.dir, path)))
	write(b.t, filepath.Join(b.dir, path), text)
}

func (b *box) find(dir string) gitrepo.Repo {
	b.t.Helper()
	r, ok := gitrepo.Find(dir)
	if !ok {
		b.t.Fatalf("no repository around %s", dir)
	}
	r.Getenv = func(name string) string { return b.env[name] }
	return r
}

// scratch is a temporary directory, in memory where there is one: git's many
// small files are made several times as fast there.
func scratch(t testing.TB) string {
	dir, err := os.MkdirTemp("/dev/shm", "gitrepo")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func mkdir(t testing.TB, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}

func write(t testing.TB, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func lines(out, sep string) []string {
	var list []string
	for _, l := range strings.Split(out, sep) {
		if l != "" {
			list = append(list, l)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func paths(tracked *gitrepo.Tracked) []string {
	var list []string
	for i := range tracked.Len() {
		list = append(list, tracked.At(i))
	}
	return list
}

// checkIndex compares the index around dir with what git lists.
func (b *box) checkIndex(dir string) *gitrepo.Tracked {
	b.t.Helper()
	tracked, err := b.find(dir).Tracked()
	if err != nil {
		b.t.Fatal(err)
	}
	want := lines(b.at(dir, "ls-files", "-z", "--full-name", ":/"), "\x00")
	if got := paths(tracked); !slices.Equal(got, want) {
		b.t.Fatalf("got %d paths %.300q\nwant %d %.300q", len(got), got, len(want), want)
	}
	return tracked
}

var names = []string{
	"a.b", "a/b/c", "a/bb", "a-b", "a0", "dir/x", "dir/y/z", "dir.x", "dir0", "é/ü", "\xff\xfe", "new\nline", "sp ace", "Z",
	"long/" + strings.Repeat("d/", 40) + "f", strings.Repeat("n", 200),
}

func (b *box) init(args ...string) {
	b.t.Helper()
	b.run(append([]string{"init", "-q", "-b", "main"}, args...)...)
	for _, n := range names {
		b.write(n, n)
	}
}

func TestTrackedAsGitListsIt(t *testing.T) {
	for name, prepare := range map[string]func(*box){
		"empty repository":  func(b *box) { b.run("init", "-q") },
		"version 2":         func(b *box) { b.init(); b.run("add", "-A") },
		"version 2, partly": func(b *box) { b.init(); b.run("add", "dir", "a") },
		"committed":         func(b *box) { b.init(); b.run("add", "-A"); b.run("commit", "-qm", "x") },
		"intent to add":     func(b *box) { b.init(); b.run("add", "dir"); b.run("add", "-N", "a", "é") },
		"skip worktree":     func(b *box) { b.init(); b.run("add", "-A"); b.run("update-index", "--skip-worktree", "dir/x", "Z") },
		"assume unchanged":  func(b *box) { b.init(); b.run("add", "-A"); b.run("update-index", "--assume-unchanged", "dir/x") },
		"version 4":         func(b *box) { b.init(); b.run("add", "-A"); b.run("update-index", "--index-version", "4") },
		"version 4 extended": func(b *box) {
			b.init()
			b.run("add", "dir")
			b.run("add", "-N", "a")
			b.run("update-index", "--index-version", "4")
		},
		"sha256": func(b *box) { b.init("--object-format=sha256"); b.run("add", "-A"); b.run("commit", "-qm", "x") },
		"sha256 version 4": func(b *box) {
			b.init("--object-format=sha256")
			b.run("add", "-A")
			b.run("update-index", "--index-version", "4")
		},
		"untracked cache and a filled tree": func(b *box) {
			b.init()
			b.run("add", "-A")
			b.run("update-index", "--force-untracked-cache")
			b.run("commit", "-qm", "x")
			b.run("status")
		},
		"parallel index": func(b *box) {
			b.init()
			b.run("config", "index.threads", "2")
			for i := range 200 {
				b.write(fmt.Sprintf("many/f%03d", i), "")
			}
			b.run("add", "-A")
		},
		"sparse checkout without a sparse index": func(b *box) {
			b.init()
			b.run("add", "-A")
			b.run("commit", "-qm", "x")
			b.run("sparse-checkout", "set", "--no-cone", "/dir/")
		},
		"split": func(b *box) { b.init(); b.run("add", "-A"); b.run("update-index", "--split-index") },
		"split, then changed": func(b *box) {
			b.init()
			b.run("config", "splitIndex.maxPercentChange", "100")
			b.run("add", "-A")
			b.run("update-index", "--split-index")
			b.run("rm", "-q", "--cached", "a-b", "dir/x")
			b.run("update-index", "--skip-worktree", "Z")
			b.write("added", "x")
			b.write("a0", "changed")
			b.run("add", "added", "a0")
		},
		"conflict": func(b *box) {
			b.init()
			b.run("add", "-A")
			b.run("commit", "-qm", "x")
			b.run("checkout", "-qb", "other")
			b.write("dir/x", "other")
			b.run("commit", "-qam", "y")
			b.run("checkout", "-q", "main")
			b.write("dir/x", "mine")
			b.run("commit", "-qam", "z")
			if _, err := b.try(b.dir, "merge", "-q", "other"); err == nil {
				b.t.Fatal("no conflict")
			}
			if out := b.run("ls-files", "-u"); strings.Count(out, "\n") != 3 {
				b.t.Fatalf("stages: %q", out)
			}
		},
		"submodule entry": func(b *box) {
			b.init()
			b.run("add", "dir")
			b.run("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",sub")
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			prepare(b)
			tracked := b.checkIndex(b.dir)
			all := paths(tracked)
			checkSet(t, tracked, all)
			for _, prefix := range []string{"dir", "dir/", "a/", "a/b/", "none/", "é"} {
				dir := strings.TrimSuffix(prefix, "/") + "/"
				var below []string
				for _, p := range all {
					if rest, ok := strings.CutPrefix(p, dir); ok {
						below = append(below, rest)
					}
				}
				sub := tracked.Sub(prefix)
				if got := paths(sub); !slices.Equal(got, below) {
					t.Errorf("below %q: %q, want %q", prefix, got, below)
				}
				checkSet(t, sub, below)
			}
		})
	}
}

// checkSet compares all answers of a set with a plain list.
func checkSet(t *testing.T, set *gitrepo.Tracked, list []string) {
	t.Helper()
	ask := []string{"", "a", "a/", "dir", "dir/y", "dir.", "di", "dirx", "none", "\xff\xff"}
	for _, p := range list {
		ask = append(ask, p, p+"x", p+"/", p[:len(p)-1])
		for i := range len(p) {
			if p[i] == '/' {
				ask = append(ask, p[:i])
			}
		}
	}
	for _, p := range ask {
		if got, want := set.Has(p), slices.Contains(list, p); got != want {
			t.Errorf("Has(%q) = %v", p, got)
		}
		below := p == "" && len(list) > 0 || slices.ContainsFunc(list, func(q string) bool { return strings.HasPrefix(q, p+"/") })
		if got := set.HasBelow(p); got != below {
			t.Errorf("HasBelow(%q) = %v", p, got)
		}
	}
}

func TestTrackedHashFollowsThePaths(t *testing.T) {
	b := newBox(t)
	b.init()
	b.run("add", "dir", "Z")
	read := func() *gitrepo.Tracked { return b.checkIndex(b.dir) }
	first := read()
	b.write("Z", "changed")
	b.run("add", "Z")
	b.run("update-index", "--index-version", "4")
	if read().Hash() != first.Hash() {
		t.Error("the hash follows content or format")
	}
	b.run("add", "a")
	more := read()
	if more.Hash() == first.Hash() {
		t.Error("a new path leaves the hash as it was")
	}
	if more.Sub("dir/").Hash() != first.Sub("dir/").Hash() {
		t.Error("a path elsewhere changes the hash below dir")
	}
	b.run("rm", "-rq", "--cached", "a")
	if read().Hash() != first.Hash() {
		t.Error("the same paths have another hash")
	}
}

// The key changes with the paths, and is not trusted where there is no checksum.
func TestIndexKey(t *testing.T) {
	b := newBox(t)
	b.init()
	key := func(dir string) string { return b.find(filepath.Join(b.dir, dir)).IndexKey() }
	none := key("")
	b.run("add", "dir", "a-b")
	first := key("")
	if none == "" || first == "" || first == none || key("dir") == first || key("") != first {
		t.Errorf("keys %q, %q, below dir %q", none, first, key("dir"))
	}
	b.run("mv", "a-b", "a-c") // same size
	if key("") == first {
		t.Error("another name, the same key")
	}
	lazy := b.find(filepath.Join(b.dir, "dir")).Lazy(false)
	if !lazy.Has("x") || !lazy.HasBelow("y") || lazy.Has("a-c") {
		t.Error("a lazy set below dir has other paths")
	}
	file := filepath.Join(b.dir, ".git", "index")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	write(t, file, string(data[:len(data)-20])+strings.Repeat("\x00", 20))
	if k := key(""); k != "" {
		t.Errorf("without a checksum: %q", k)
	}
	b.checkIndex(b.dir)
	write(t, file, "garbage")
	lazy = b.find(b.dir).Lazy(false)
	if _, err := lazy.Load(); err == nil || lazy.Has("dir/x") || lazy.HasBelow("dir") {
		t.Errorf("garbage: %v", err)
	}
}
