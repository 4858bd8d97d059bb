package shell_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/hookio/shell"
)

var (
	losses     = flag.Int("losses", 400, "how many git commands TestHarmlessByGit runs")
	lossesSeed = flag.Uint64("losses-seed", 1, "which ones")
)

// lab is a directory with a repository, work, that has something of all that git commands can take away; a linked
// worktree of it, tree; and the repository that it pushes to, remote.git.
type lab struct {
	t    *testing.T
	dir  string // is replaced by a copy of saved after a command that changed something
	base string
}

func newLab(t *testing.T) *lab {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git as the judge")
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{t: t, dir: filepath.Join(base, "lab"), base: base}
	l.must(os.MkdirAll(filepath.Join(l.dir, "work"), 0o755))
	l.git("init", "-q", "--bare", "../remote.git")
	l.git("init", "-q", "-b", "main")
	commit := func(files ...string) {
		for _, f := range files {
			l.write(f, strings.Repeat("of "+f+"\n", 9)+fmt.Sprint(len(files), time.Now().UnixNano()))
		}
		l.git("add", "-A")
		l.git("commit", "-qm", "c"+files[0])
	}
	commit("f", "g", "d/h", ".gitignore")
	l.git("tag", "v1")
	commit("f")
	l.git("tag", "-a", "v2", "-m", "two")
	l.git("branch", "merged", "HEAD~1")
	l.git("checkout", "-qb", "topic")
	commit("t")
	commit("g")
	l.git("commit", "-q", "--amend", "-m", "another")
	l.git("checkout", "-q", "main")
	commit("d/h")
	l.git("remote", "add", "origin", "../remote.git")
	l.git("push", "-qu", "origin", "main", "topic", "v1")
	l.git("push", "-q", "origin", "topic:stale")
	l.git("fetch", "-q", "origin")
	l.gitIn("remote.git", "update-ref", "-d", "refs/heads/stale")
	l.git("notes", "add", "-m", "note", "v1")
	l.git("worktree", "add", "-q", "-b", "linked", "../tree")
	l.must(os.WriteFile(filepath.Join(l.dir, "tree", "n"), []byte("n"), 0o644))
	for _, text := range []string{"one", "two"} {
		l.write("f", text)
		l.git("stash", "-q")
	}
	l.write("f", "staged")
	l.git("add", "f")
	l.write("f", "and changed again")
	l.write("d/h", "changed")
	l.write("new", "staged only")
	l.git("add", "new")
	l.write("untracked", "u")
	l.write(".gitignore", "ignored\n")
	l.write("ignored", "i")
	old := time.Now().Add(-100 * 24 * time.Hour)
	l.must(filepath.WalkDir(l.dir, func(file string, e fs.DirEntry, err error) error {
		if err == nil && strings.Contains(file, "/objects/") && e.Type().IsRegular() {
			err = os.Chtimes(file, old, old)
		}
		return err
	}))
	l.must(os.Rename(l.dir, l.saved()))
	l.renew()
	return l
}

func (l *lab) saved() string { return filepath.Join(l.base, "saved") }

func (l *lab) renew() {
	l.must(os.RemoveAll(l.dir))
	if out, err := exec.Command("cp", "-a", l.saved(), l.dir).CombinedOutput(); err != nil {
		l.t.Skipf("cp -a: %s", out)
	}
}

func (l *lab) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) write(path, text string) {
	file := filepath.Join(l.dir, "work", path)
	l.must(os.MkdirAll(filepath.Dir(file), 0o755))
	l.must(os.WriteFile(file, []byte(text), 0o644))
}

func (l *lab) git(args ...string) string { l.t.Helper(); return l.gitIn("work", args...) }

func (l *lab) gitIn(dir string, args ...string) string {
	l.t.Helper()
	out, err := l.try(dir, args...)
	if err != nil {
		l.t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return out
}

func (l *lab) try(dir string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.WaitDelay = time.Second
	cmd.Dir = filepath.Join(l.dir, dir)
	cmd.Env = []string{"HOME=" + l.base, "PATH=" + os.Getenv("PATH"), "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_EDITOR=true", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0", "GIT_CEILING_DIRECTORIES=" + l.base,
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com"}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

// marks is the size and time of each file of the lab: a command that leaves these as they are has changed nothing.
func (l *lab) marks() map[string]string {
	marks := map[string]string{}
	l.must(filepath.WalkDir(l.dir, func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			marks[file] = fmt.Sprint(info.Mode(), info.Size(), info.ModTime().UnixNano())
		}
		return err
	}))
	return marks
}

// state is what may not get less, by its kind and name; lost says what may be replaced by something later.
type state map[string]string

func (l *lab) state() state {
	s := state{}
	lines := func(kind, text string) {
		for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
			key, value, _ := strings.Cut(line, "\t")
			s[kind+" "+key] = value
		}
	}
	for _, repository := range []string{"work", "remote.git"} {
		lines("reference of "+repository, l.gitIn(repository, "for-each-ref", "--format=%(refname)%09%(objectname)"))
		lines("object of "+repository, l.gitIn(repository, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)"))
	}
	lines("HEAD", l.git("symbolic-ref", "HEAD"))
	lines("stash", l.git("stash", "list", "--format=%H"))
	lines("reflog", l.git("log", "--walk-reflogs", "--all", "--format=%H"))
	lines("worktree", l.git("worktree", "list", "--porcelain"))
	for line := range strings.SplitSeq(strings.TrimSpace(l.git("ls-files", "-s")), "\n") {
		what, path, _ := strings.Cut(line, "\t")
		s["staged "+path] = strings.Fields(what)[1]
	}
	for _, tree := range []string{"work", "tree"} {
		l.must(filepath.WalkDir(filepath.Join(l.dir, tree), func(file string, e fs.DirEntry, err error) error {
			if e != nil && e.Name() == ".git" {
				if e.IsDir() {
					return fs.SkipDir
				}
				return nil
			}
			if err == nil && e.Type().IsRegular() {
				var text []byte
				text, err = os.ReadFile(file)
				s["file "+strings.TrimPrefix(file, l.dir+"/")] = string(text)
			}
			return err
		}))
	}
	return s
}

// lost lists what was before and is not now.
func (l *lab) lost(before, now state) (lost []string) {
	for what, then := range before {
		value, there := now[what]
		switch kind, name, _ := strings.Cut(what, " "); {
		case !there:
			lost = append(lost, what)
		case value == then:
		case kind == "reference": // it may go on
			repository, _, _ := strings.Cut(strings.TrimPrefix(name, "of "), " ")
			if _, err := l.try(repository, "merge-base", "--is-ancestor", then, value); err != nil {
				lost = append(lost, what+" is elsewhere")
			}
		case kind == "staged": // what is in the work tree may be staged
			if strings.TrimSpace(l.git("hash-object", "--", name)) != value {
				lost = append(lost, what+" is another")
			}
		default:
			lost = append(lost, what+" changed")
		}
	}
	slices.Sort(lost)
	return lost
}

// hanging are subcommands that serve, wait for a person, or reach into a network.
const hanging = " add--interactive citool credential credential-cache credential-store daemon difftool gui http-backend http-fetch http-push imap-send instaweb receive-pack remote-ext remote-fd " +
	"remote-ftp remote-ftps remote-http remote-https send-email shell upload-archive upload-pack version help web--browse "

// What the table calls harmless takes nothing away: git itself is the judge, for commands made at random of its
// subcommands, of the options that it lists for each, and of operands.
func TestHarmlessByGit(t *testing.T) {
	count := *losses
	if testing.Short() {
		count /= 4
	}
	l := newLab(t)
	before := l.state()
	if lost := l.lost(before, l.state()); len(lost) > 0 {
		t.Fatalf("the judge takes away by itself: %q", lost)
	}
	unchanged := l.marks()
	random := rand.New(rand.NewPCG(*lossesSeed, 0))
	subs := strings.Fields(l.git("--list-cmds=main"))
	operands := []string{"topic", "main", "HEAD", "HEAD~1", "v1", "v2", "f", "d", "new", "untracked", ".", "origin", "origin topic", "origin main", "origin +main:topic", "origin :stale", "origin HEAD:refs/heads/main", "../tree", "refs/heads/topic HEAD",
		"refs/heads/topic", "merged", "linked", "stash@{0}", "v1 v2", "--all", "-- f", "fresh", "fresh topic", "a.b c", "add", "create", "apply", "list", "show", "remove", "drop", "clear", "delete", "prune", "expire", "set", "init", "write", "run", "store", "copy", "append", "update", "lock ../tree", "add ../other", "remove ../tree", "set-head origin topic", "drop topic@{1}"}
	options := map[string][]string{}
	ran, changing := 0, 0
	for range count * 40 {
		sub := subs[random.IntN(len(subs))]
		if strings.Contains(hanging, " "+sub+" ") {
			continue
		}
		if options[sub] == nil {
			listed, _ := l.try("work", sub, "--git-completion-helper-all")
			options[sub] = []string{""}
			for _, o := range strings.Fields(listed) {
				if strings.HasPrefix(o, "--") && o != "--" {
					options[sub] = append(options[sub], o)
				}
			}
			for c := 'A'; c <= 'z'; c++ {
				if c <= 'Z' || c >= 'a' {
					options[sub] = append(options[sub], "-"+string(c))
				}
			}
		}
		args := []string{sub}
		for range random.IntN(4) {
			o := options[sub][random.IntN(len(options[sub]))]
			if strings.HasSuffix(o, "=") {
				o += []string{"f", "topic", "now", "1", "all"}[random.IntN(5)]
			}
			if o != "" {
				args = append(args, o)
			}
		}
		for range random.IntN(3) {
			args = slices.Insert(args, 1+random.IntN(len(args)), strings.Fields(operands[random.IntN(len(operands))])...)
		}
		line := "git"
		for _, a := range args {
			line += " " + shell.Quote(a)
		}
		if shell.Destructive(line, filepath.Join(l.dir, "work"), nil) != "" {
			continue
		}
		if ran++; ran > count {
			break
		}
		_, _ = l.try("work", args...) // most fail, which is one way to be harmless
		if maps.Equal(unchanged, l.marks()) {
			continue
		}
		changing++
		if lost := l.lost(before, l.state()); len(lost) > 0 {
			t.Errorf("%s: %q", line, lost)
		}
		l.renew()
	}
	t.Logf("%d commands, %d of which changed something", ran, changing)
}
