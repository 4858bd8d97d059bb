package gitstate_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/gitrepo"
	"github.com/rewind-cli/rewind/engine/gitstate"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/stores"
	"github.com/rewind-cli/rewind/manifest"
)

// box is a project in a git repository.
type box struct {
	testing.TB
	dir string
	p   *project.Project
}

func newBox(t testing.TB) *box {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	env := account.Env{Home: filepath.Join(base, "home"), Dir: filepath.Join(base, "project"), Getenv: func(string) string { return "" }}
	b := &box{TB: t, dir: env.Dir}
	for _, dir := range []string{env.Home, env.Dir} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b.git("init", "-q", "-b", "main")
	p, _, err := stores.Init(t.Context(), stores.InitOptions{OpenOptions: project.OpenOptions{Env: env, Root: env.Dir}, NoSave: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	b.p = p
	return b
}

// git runs git in the project, and gives what it prints. What the machine's own settings say does not count.
func (b *box) git(args ...string) string {
	b.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (b *box) write(name, text string) {
	b.Helper()
	if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
}

func (b *box) commit(name, text string) {
	b.Helper()
	b.write(name, text)
	b.git("add", "-A", name)
	b.git("commit", "-q", "-m", text)
}

func (b *box) save() manifest.Checkpoint {
	b.Helper()
	saved, err := checkpoint.Take(b.Context(), b.p, checkpoint.TakeOptions{})
	if err != nil {
		b.Fatal(err)
	}
	if len(saved.Partial) > 0 && len(gitrepo.LinkedRefs(filepath.Join(b.p.Root(), ".git"))) == 0 {
		b.Fatalf("partial: %v", saved.Partial)
	}
	return saved.Checkpoint
}

// settle waits until what was written is old enough for a signature.
func settle() { time.Sleep(30 * time.Millisecond) }

// TestStateIsWhatGitHad: the files of a captured state, read by git with the held objects alone, give the same
// references, stash, reflog and index, after the git directory was removed.
func TestStateIsWhatGitHad(t *testing.T) {
	b := newBox(t)
	b.commit("a", "one")
	b.commit("a", "two")
	b.git("branch", "topic", "HEAD~1")
	b.git("tag", "-a", "-m", "tag", "v1")
	b.git("pack-refs", "--all")
	b.write("a", "stashed")
	b.git("stash")
	b.write("b", "staged")
	b.git("add", "b")
	b.git("repack", "-q", "-d")
	asked := [][]string{{"for-each-ref"}, {"stash", "list"}, {"reflog"}, {"ls-files", "-s"}, {"rev-parse", "HEAD"}}
	var was []string
	for _, args := range asked {
		was = append(was, b.git(args...))
	}
	c := b.save()
	if err := os.RemoveAll(filepath.Join(b.dir, ".git")); err != nil {
		t.Fatal(err)
	}
	state, err := gitstate.Load(gitstate.InStore(b.p), c.Git, b.dir)
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(b.dir, ".git"); state.Common != want || state.GitDir != want || state.WorkTree != b.dir {
		t.Errorf("it was at %+v", state)
	}
	dir := filepath.Join(b.dir, ".git")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	indexes := t.TempDir()
	if err := state.WriteFiles(dir, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := state.WriteIndexes(indexes); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(indexes, "main"), filepath.Join(dir, "index")); err != nil {
		t.Fatal(err)
	}
	info := filepath.Join(dir, "objects", "info")
	if err := os.MkdirAll(info, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(info, "alternates"), []byte(strings.Join(gitstate.HeldDirs(b.p), "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for i, args := range asked {
		if now := b.git(args...); now != was[i] {
			t.Errorf("git %v\n%s\nwas\n%s", args, now, was[i])
		}
	}
	b.git("fsck", "--full", "--strict")
}

// TestUnchangedIsNotLookedAt: the signature decides, and each thing that git does changes it.
func TestUnchangedIsNotLookedAt(t *testing.T) {
	b := newBox(t)
	b.commit("a", "one")
	b.commit("a", "two")
	b.write("a", "stashed once")
	b.git("stash")
	b.write("a", "stashed twice")
	b.git("stash")
	settle()
	last := b.save()
	steps := []struct {
		name    string
		do      func()
		differs bool
	}{
		{"nothing", func() {}, false},
		{"a refresh of the index", func() { os.Chtimes(filepath.Join(b.dir, "a"), time.Now(), time.Now()); b.git("status") }, false},
		{"a commit", func() { b.commit("a", "three") }, true},
		{"a branch", func() { b.git("branch", "x") }, true},
		{"a branch in a directory", func() { b.git("branch", "d/y") }, true},
		{"a branch beside it", func() { b.git("branch", "d/z") }, true},
		{"a branch deleted", func() { b.git("branch", "-D", "d/y") }, true},
		{"an older entry of the stash", func() { b.git("stash", "drop", "stash@{1}") }, true},
		{"the index", func() { b.write("n", "new"); b.git("add", "n") }, true},
		{"a reset of the index", func() { b.git("reset", "-q") }, true},
		{"a reflog", func() { b.git("reflog", "expire", "--expire=now", "--all") }, true},
		{"packed references", func() { b.git("pack-refs", "--all") }, true},
		{"the configuration", func() { b.git("config", "x.y", "z") }, true},
		{"a hook that is written in place", func() { appendTo(b, "hooks/pre-commit", "echo v1\n") }, true},
		{"the same hook", func() { appendTo(b, "hooks/pre-commit", "echo v2\n") }, true},
		{"a worktree", func() { b.git("worktree", "add", "-q", filepath.Join(b.TempDir(), "w")) }, true},
		{"a detached HEAD", func() { b.git("checkout", "-q", "--detach") }, true},
		{"nothing more", func() {}, false},
	}
	for _, step := range steps {
		step.do()
		settle()
		now := b.save()
		if now.Git.IsZero() || (now.Git != last.Git) != step.differs {
			t.Errorf("%s: the state differs: %v", step.name, now.Git != last.Git)
		}
		last = now
	}
}

// TestHeldObjectsOutliveGit: what git prunes is still held, at no cost while git has it.
func TestHeldObjectsOutliveGit(t *testing.T) {
	b := newBox(t)
	b.commit("a", "one")
	b.commit("a", "two")
	b.save()
	lost := strings.TrimSpace(b.git("rev-parse", "HEAD"))
	held := filepath.Join(gitstate.HeldDirs(b.p)[0], lost[:2], lost[2:])
	own, err := os.Stat(filepath.Join(b.dir, ".git", "objects", lost[:2], lost[2:]))
	if err != nil {
		t.Fatal(err)
	}
	second, err := os.Stat(held)
	if err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(own, second) {
		t.Error("it is a copy")
	}
	b.git("reset", "-q", "--hard", "HEAD~1")
	b.git("reflog", "expire", "--expire=now", "--all")
	b.git("gc", "-q", "--prune=now")
	b.save()
	if _, err := os.Stat(held); err != nil {
		t.Error(err)
	}
	if out, err := exec.Command("git", "-C", b.dir, "cat-file", "-e", lost).CombinedOutput(); err == nil {
		t.Errorf("git still has it: %s", out)
	}
}

// TestOddGitDirectories: what is no repository as git makes it is captured or named, and never an error.
func TestOddGitDirectories(t *testing.T) {
	b := newBox(t)
	b.commit("a", "one")
	for name, text := range map[string]string{
		"index":               "DIRC\x00\x00\x00\x02\xff\xff\xff\xff",
		"refs/heads/broken":   "nothing\n",
		"refs/heads/x.lock":   "",
		"logs/refs/heads/odd": "\x00\xff",
	} {
		file := filepath.Join(b.dir, ".git", filepath.FromSlash(name))
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(b.dir, ".git", "refs", "heads", "link")); err != nil {
		t.Fatal(err)
	}
	c, err := checkpoint.Take(t.Context(), b.p, checkpoint.TakeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	state, err := gitstate.Load(gitstate.InStore(b.p), c.Checkpoint.Git, b.dir)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := state.WriteFiles(dir, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := state.WriteIndexes(dir); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "main")); err != nil || !bytes.HasPrefix(data, []byte("DIRC")) {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "refs", "heads", "x.lock")); err == nil {
		t.Error("a lock came back")
	}
	if target, err := os.Readlink(filepath.Join(dir, "refs", "heads", "link")); err != nil || target != "/etc/passwd" {
		t.Errorf("%q, %v", target, err)
	}
}

// appendTo writes at the end of a file of the git directory.
func appendTo(b *box, name, text string) {
	b.Helper()
	f, err := os.OpenFile(filepath.Join(b.dir, ".git", filepath.FromSlash(name)), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o755)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
}

// held reports whether an object is held.
func (b *box) held(id string) bool {
	for _, dir := range gitstate.HeldDirs(b.p) {
		if _, err := os.Stat(filepath.Join(dir, id[:2], id[2:])); err == nil {
			return true
		}
	}
	return false
}

// TestGCLetsGoOfObjects: gc keeps what a checkpoint needs and git has pruned, and removes it with the last such checkpoint;
// a pack that git has packed anew goes at once.
func TestGCLetsGoOfObjects(t *testing.T) {
	b := newBox(t)
	b.commit("a", "one")
	b.commit("a", "two")
	b.git("repack", "-q", "-d", "--no-write-bitmap-index")
	b.commit("a", "three")
	lost := strings.TrimSpace(b.git("rev-parse", "HEAD"))
	first := b.save()
	packs := func() int {
		names, _ := filepath.Glob(filepath.Join(gitstate.HeldDirs(b.p)[0], "pack", "*.pack"))
		return len(names)
	}
	b.git("reset", "-q", "--hard", "HEAD~1")
	b.git("update-ref", "-d", "ORIG_HEAD")
	b.git("reflog", "expire", "--expire=now", "--all")
	b.git("gc", "-q", "--prune=now", "--aggressive")
	b.commit("b", "four")
	b.git("gc", "-q", "--prune=now", "--aggressive")
	b.save()
	if n := packs(); n != 2 {
		t.Errorf("%d packs are held", n)
	}
	gc := func(keep int) {
		t.Helper()
		if _, err := maintain.GC(t.Context(), b.p, maintain.GCOptions{Keep: keep}); err != nil {
			t.Fatal(err)
		}
	}
	gc(10)
	if n := packs(); n != 1 {
		t.Errorf("%d packs are held after gc", n)
	}
	if !b.held(lost) {
		t.Errorf("checkpoint %s needs %s", first.ID, lost)
	}
	gc(1)
	if b.held(lost) {
		t.Error("no checkpoint needs it any more")
	}
	c := b.save()
	if c.Git.IsZero() {
		t.Error("no state")
	}
}

// TestHeldObjectsCountOnce: what git has, too, is no space that a store takes.
func TestHeldObjectsCountOnce(t *testing.T) {
	b := newBox(t)
	data := make([]byte, 1<<20)
	rand.NewChaCha8([32]byte{}).Read(data)
	b.write("big", string(data))
	b.git("add", "big")
	b.git("commit", "-q", "-m", "big")
	b.save()
	held := gitstate.HeldDirs(b.p)[0]
	if n := stores.DiskBytes(filepath.Dir(held)); n < 1<<20 || n > 3<<19 {
		t.Errorf("the mirror takes %d bytes", n)
	}
	b.git("update-ref", "-d", "HEAD")
	b.git("reflog", "expire", "--expire=now", "--all")
	b.git("rm", "-q", "--cached", "big")
	b.git("gc", "-q", "--prune=now")
	if n := stores.DiskBytes(filepath.Dir(held)); n < 2<<20 {
		t.Errorf("the mirror takes %d bytes, and has the object alone", n)
	}
}

// TestTooLargeToCopyIsNamed: a pack on another file system, of more than is copied, is named by each checkpoint until it is held.
func TestTooLargeToCopyIsNamed(t *testing.T) {
	b := newBox(t)
	b.commit("a", "one")
	other, err := os.MkdirTemp("/dev/shm", "objects-")
	if err != nil {
		t.Skip("NOT TESTED HERE: no /dev/shm")
	}
	defer os.RemoveAll(other)
	file := filepath.Join(other, "probe")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if os.Link(file, filepath.Join(b.dir, "probe")) == nil {
		t.Skip("NOT TESTED HERE: /dev/shm and the temporary directory are one file system")
	}
	pack := filepath.Join(other, "pack", "pack-"+strings.Repeat("a", 40)+".pack")
	if err := os.Mkdir(filepath.Dir(pack), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(pack, nil, 0o444); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(pack, 300<<20); err != nil { // without a block
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.dir, ".git", "objects", "info", "alternates"), []byte(other+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	named := func() bool {
		problems, err := b.p.Coverage(b.save().Coverage)
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(problems, func(p problem.Problem) bool {
			return strings.HasPrefix(p.Reason, "git objects or packs that are not held: 1.")
		})
	}
	for range 3 { // the last one by the signature
		settle()
		if !named() {
			t.Error("nothing names it")
		}
	}
	if err := os.Remove(pack); err != nil {
		t.Fatal(err)
	}
	b.commit("a", "two")
	if named() {
		t.Error("it is gone")
	}
}

// TestHowGitKeepsReferencesIsNoDifference: git packs them, and unpacks them, without anything being done.
func TestHowGitKeepsReferencesIsNoDifference(t *testing.T) {
	b := newBox(t)
	b.commit("a", "one")
	b.git("branch", "d/x")
	b.git("tag", "v1")
	b.git("symbolic-ref", "-m", "point", "refs/heads/other", "refs/heads/main")
	b.git("update-ref", "refs/remotes/origin/main", "HEAD")
	b.git("update-ref", "refs/heads/without-a-message", "HEAD")
	last := b.save()
	for _, step := range []struct {
		args    []string
		differs bool
	}{
		{[]string{"pack-refs", "--all"}, false},
		{[]string{"update-ref", "refs/remotes/origin/other", "HEAD"}, false},
		{[]string{"gc", "-q"}, false},
		{[]string{"tag", "-d", "v1"}, true},
		{[]string{"branch", "v1"}, true},
		{[]string{"gc", "-q"}, false},
		{[]string{"symbolic-ref", "-m", "point", "refs/heads/other", "refs/heads/v1"}, true},
		{[]string{"commit", "-q", "--allow-empty", "-m", "two"}, true},
	} {
		b.git(step.args...)
		settle()
		now := b.save()
		if got := gitstate.Differ(gitstate.InStore(b.p), last.Git, now.Git); got != step.differs {
			t.Errorf("git %v: they differ: %v", step.args, got)
		}
		last = now
	}
}
