package lives

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/cli"
	"github.com/rewind-cli/rewind/engine/account"
)

// TestGitLives plays lives of git repositories through the program, with git as the judge: what is saved comes back with
// --git=exact, what was there before is there after it, and undo takes it back.
func TestGitLives(t *testing.T) {
	n := uint64(4)
	if testing.Short() {
		n = 1
	}
	playGit(t, "", 0, n)
	if *seedFlag == 0 && *livesFlag == 0 && !testing.Short() {
		for _, seed := range failedGitOnce {
			gitLives(t, seed, "")
		}
	}
}

// failedGitOnce are lives that found something: objects that gc let go of, a rebase's file without a line's end, a stash that has no line in
// its reflog and that an exact restore left, a repository below that the checkpoint does not have.
var failedGitOnce = []uint64{254, 372, 20_402, 20_053, 20_320, 20_664}

// TestSoakGitLives plays 1,000 of them, a tenth with the program as it is built, and kills.
func TestSoakGitLives(t *testing.T) {
	if os.Getenv("REWIND_SOAK") == "" {
		t.Skip("set REWIND_SOAK, as make soak does")
	}
	playGit(t, builtProgram(t), 10_000, 100)
	playGit(t, "", 20_000, 900)
}

// playGit plays lives from a seed on; with flags, others.
func playGit(t *testing.T, program string, seed, n uint64) {
	if *seedFlag > 0 {
		seed, n = *seedFlag, 1
	} else if *livesFlag > 0 {
		n = uint64(*livesFlag)
	}
	begun := time.Now()
	for i := range n {
		if *forFlag > 0 && time.Since(begun) > *forFlag {
			t.Logf("%d lives", i)
			break
		}
		gitLives(t, seed+i, program)
	}
}

// TestGitLivesOfTheProgram kills the restores, too: the same one, run again, ends as if nothing had happened.
func TestGitLivesOfTheProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program and runs it many times")
	}
	playGit(t, builtProgram(t), 1000, 2)
}

// gitLife is a life of a repository.
type gitLife struct {
	*testing.T
	r       *rand.Rand
	program string // "": in this process
	home    string
	top     string // the main work tree
	dir     string // the project
	log     strings.Builder
	saves   []gitTruth // by the number in the name of the checkpoint
	restart int        // restores that were killed
	below   []string   // a submodule and a repository below the project, in some lives
}

// gitTruth is what git says of a repository.
type gitTruth struct {
	said  map[string]string
	logs  map[string][]string // lines of reflogs, by file
	files map[string]string
	ids   string // of all objects that something reaches
	below map[string]gitTruth
}

func gitLives(t *testing.T, seed uint64, program string) {
	t.Run(fmt.Sprint(seed), func(t *testing.T) {
		base := scratch(t)
		l := &gitLife{T: t, r: rand.New(rand.NewPCG(seed, 28)), program: program, home: filepath.Join(base, "home"), top: filepath.Join(base, "top")}
		defer func() {
			if t.Failed() {
				t.Log(l.log.String())
			}
		}()
		for _, dir := range []string{l.home, l.top} {
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for key, value := range map[string]string{
			"HOME": l.home, "GIT_CONFIG_NOSYSTEM": "1", "GIT_EDITOR": "true", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C",
			"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
		} {
			t.Setenv(key, value)
		}
		l.dir = l.top
		format := "--object-format=" + []string{"sha1", "sha1", "sha256"}[l.r.IntN(3)]
		l.must(l.top, "init", "-q", "-b", "main", format)
		l.write("a", "1\n2\n3\n4\n5\n")
		l.write("sub/b", "b\n")
		l.must(l.top, "add", ".")
		l.must(l.top, "commit", "-qm", "one")
		if seed%8 == 2 {
			l.makeBelow(format)
		}
		if seed%4 == 3 {
			l.dir = filepath.Join(base, "linked")
			l.must(l.top, "worktree", "add", "-q", "-b", "linked", l.dir)
		}
		l.rewind(0, "init")
		l.save()
		for range 25 {
			l.work()
			if !l.there() {
				l.restore()
			}
			if l.r.IntN(4) == 0 {
				l.save()
			}
			if l.r.IntN(6) == 0 {
				l.restore()
			}
		}
		if l.dir == l.top {
			l.save()
			if err := os.RemoveAll(l.top); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(l.top, 0o755); err != nil {
				t.Fatal(err)
			}
			l.rewind(0, "rescue", "1")
			l.same(l.saves[len(l.saves)-1], l.look(), "rescue", "refs", "stash", "head", "index", "files")
			l.sameBelow(l.saves[len(l.saves)-1].below, l.lookBelow(), "rescue", true)
		}
		l.rewind(0, "verify")
	})
}

func (l *gitLife) there() bool {
	_, err := os.Lstat(filepath.Join(l.top, ".git", "HEAD"))
	return err == nil
}

func (l *gitLife) git(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-c", "gc.auto=0", "-c", "advice.detachedHead=false"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	fmt.Fprintf(&l.log, "$ git %s: %v\n%s", strings.Join(args, " "), err, out)
	return string(out), err
}

func (l *gitLife) try(args ...string) { _, _ = l.git(l.dir, args...) } // most may fail

func (l *gitLife) must(dir string, args ...string) string {
	l.Helper()
	out, err := l.git(dir, args...)
	if err != nil {
		l.Fatalf("git %v: %v: %s", args, err, out)
	}
	return out
}

// rewind runs the program and gives what it prints. It must end with code, unless that is negative.
func (l *gitLife) rewind(code int, args ...string) (string, int) {
	l.Helper()
	var out bytes.Buffer
	got := 0
	if l.program == "" {
		env := account.Environment()
		env.Home, env.Dir = l.home, l.dir
		got = cli.Main(append([]string{"rewind"}, args...), env, cli.Stdio{In: strings.NewReader(""), Out: &out, Err: &out})
	} else {
		cmd := exec.Command(l.program, args...)
		cmd.Dir, cmd.Stdout, cmd.Stderr = l.dir, &out, &out
		if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
			l.Fatal(err)
		}
		got = cmd.ProcessState.ExitCode()
	}
	fmt.Fprintf(&l.log, "$ rewind %s: %d\n%s", strings.Join(args, " "), got, out.String())
	if code >= 0 && got != code {
		l.Fatalf("rewind %v: exit %d: %s", args, got, out.String())
	}
	return out.String(), got
}

func (l *gitLife) save() {
	l.Helper()
	l.saves = append(l.saves, l.look())
	l.rewind(0, "save", "--name", fmt.Sprintf("s%d", len(l.saves)-1))
}

func (l *gitLife) write(name, text string) {
	file := filepath.Join(l.dir, name)
	_ = os.MkdirAll(filepath.Dir(file), 0o755)
	_ = os.WriteFile(file, []byte(text), 0o644) // a directory may be in its place
}

var (
	progressNames = []string{"MERGE_HEAD", "MERGE_MSG", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG", "BISECT_START", "rebase-merge", "rebase-apply", "sequencer"}
	idPattern     = regexp.MustCompile(`\b([0-9a-f]{64}|[0-9a-f]{40})\b`)
)

// look asks git.
func (l *gitLife) look() gitTruth {
	l.Helper()
	t := gitTruth{said: map[string]string{}, logs: map[string][]string{}, files: map[string]string{}, below: l.lookBelow()}
	for name, args := range map[string][]string{
		"refs":   {"for-each-ref", "--format=%(refname) %(objectname) %(symref)"},
		"stash":  {"stash", "list", "--format=%H"},
		"head":   {"rev-parse", "--symbolic-full-name", "HEAD", "HEAD"},
		"index":  {"ls-files", "-s"},
		"status": {"status", "--porcelain=v2", "--branch"},
	} {
		t.said[name], _ = l.git(l.dir, args...) // HEAD may be unborn
	}
	if newest, err := l.git(l.dir, "rev-parse", "-q", "--verify", "refs/stash"); err == nil && !strings.Contains(t.said["stash"], newest) {
		t.said["stash"] = newest + t.said["stash"] // git's reflog expire leaves a reference that no entry names: the entry returns
	}
	t.said["status"] = regexp.MustCompile(`(?m)^# branch.ab.*\n`).ReplaceAllString(t.said["status"], "")
	gitDir := strings.TrimSpace(l.must(l.dir, "rev-parse", "--absolute-git-dir"))
	for _, name := range progressNames {
		for file, text := range filesBelow(filepath.Join(gitDir, name)) {
			t.said["progress"] += name + file + ": " + text + "\n" // which a file may end without
		}
	}
	t.said["progress"] = sortedLines(t.said["progress"])
	for file, text := range filesBelow(filepath.Join(gitDir, "logs")) {
		t.logs[file] = slices.Collect(strings.Lines(text))
	}
	for file, text := range filesBelow(l.dir) {
		if !strings.HasPrefix(file, "/.git") && !strings.Contains(file+"/", "/.git/") && !strings.HasPrefix(file, "/.agent/") {
			t.files[file] = text
		}
	}
	t.ids = l.must(l.dir, "rev-list", "--objects", "--no-object-names", "--ignore-missing", "--all", "--reflog")
	for line := range strings.Lines(t.said["index"]) { // and not the trees that git notes beside: it makes them anew
		if !strings.HasPrefix(line, "160000 ") { // a commit of a repository below
			t.ids += idPattern.FindString(line) + "\n"
		}
	}
	return t
}

func sortedLines(text string) string {
	return strings.Join(slices.Sorted(strings.SplitSeq(text, "\n")), "\n")
}

// filesBelow are the regular files below a directory, or the file itself, by what follows its name.
func filesBelow(dir string) map[string]string {
	files := map[string]string{}
	_ = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			text, _ := os.ReadFile(file)
			files[strings.TrimPrefix(file, dir)] = string(text)
		}
		return nil // most of what is in progress is not there
	})
	return files
}

func (l *gitLife) same(was, is gitTruth, what string, names ...string) {
	l.Helper()
	for _, name := range names {
		if name == "files" {
			if !maps.Equal(was.files, is.files) {
				l.Errorf("%s: files were\n%q\nand are\n%q", what, was.files, is.files)
			}
		} else if was.said[name] != is.said[name] {
			l.Errorf("%s: %s was\n%s\nand is\n%s", what, name, was.said[name], is.said[name])
		}
	}
	l.keeps(was.ids, what)
	if out, err := l.git(l.dir, "fsck", "--full", "--no-dangling", "--no-progress"); err != nil || strings.Contains(out, "error") {
		l.Errorf("%s: git fsck: %v: %s", what, err, out)
	}
}

// keeps expects that all objects are there.
func (l *gitLife) keeps(ids, what string) {
	l.Helper()
	cmd := exec.Command("git", "cat-file", "--batch-check", "--buffer")
	cmd.Dir, cmd.Stdin = l.dir, strings.NewReader(ids)
	out, err := cmd.Output()
	if err != nil {
		l.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		if strings.HasSuffix(line, " missing\n") {
			l.Errorf("%s: %s", what, line)
		}
	}
}

// keepsLogs expects that no line of a reflog is gone, but for those of the stash, which are its entries.
func (l *gitLife) keepsLogs(was, is gitTruth, what string) {
	l.Helper()
	for file, lines := range was.logs {
		for _, line := range lines {
			if now, ok := is.logs[file]; ok && !strings.HasSuffix(file, "/stash") && !slices.Contains(now, line) {
				l.Errorf("%s: the reflog %s lacks %s", what, file, line)
			}
		}
	}
}

// restore goes to a checkpoint of the last ones, with git, and back at times.
func (l *gitLife) restore() {
	l.Helper()
	n := max(0, len(l.saves)-1-l.r.IntN(5))
	there := l.there()
	var before gitTruth
	if there {
		before = l.look()
	}
	exact := l.r.IntN(2) == 0
	args := []string{"restore", fmt.Sprintf("s%d", n), "--git"}
	if exact {
		args[2] = "--git=exact"
	}
	if l.program != "" && l.r.IntN(2) == 0 {
		cmd := exec.Command(l.program, args...)
		cmd.Dir = l.dir
		if err := cmd.Start(); err != nil {
			l.Fatal(err)
		}
		time.Sleep(time.Duration(l.r.IntN(100)) * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		fmt.Fprintf(&l.log, "$ rewind %s: killed\n", strings.Join(args, " "))
		l.restart++
	}
	out, code := l.rewind(-1, args...)
	switch {
	case code == 8 && strings.Contains(out, "in progress") && exact && there:
		l.same(before, l.look(), "refused", "refs", "stash", "head", "index", "progress")
		l.try("merge", "--abort")
		l.try("rebase", "--abort")
		l.try("cherry-pick", "--abort")
		l.try("revert", "--abort")
		l.try("bisect", "reset")
		return
	case code != 0 && code != 3:
		l.Fatalf("rewind %v: exit %d: %s", args, code, out)
	}
	after, what := l.look(), strings.Join(args, " ")
	saved := l.saves[n]
	switch {
	case exact || !there:
		names := []string{"refs", "stash", "head", "index", "progress"}
		if exact {
			names = append(names, "files", "status")
		}
		is := after
		is.said = maps.Clone(after.said)
		for _, stays := range regexp.MustCompile(`(?m)^Git: branch (\S+) stays`).FindAllStringSubmatch(out, -1) { // it is checked out elsewhere
			is.said["refs"] = regexp.MustCompile(`(?m)^refs/heads/`+regexp.QuoteMeta(stays[1])+` .*\n`).ReplaceAllString(is.said["refs"], "")
		}
		for sub := range before.below { // a repository that the checkpoint does not have is not taken away
			if _, had := saved.below[sub]; !had {
				is.said["status"] = strings.Replace(is.said["status"], "? "+sub+"/\n", "", 1)
			}
		}
		l.same(saved, is, what, names...)
		l.sameBelow(saved.below, after.below, what, exact)
	default:
		l.same(before, after, what, "head", "index")
		l.keeps(saved.ids, what)
		l.sameBelow(saved.below, after.below, what, false)
		for line := range strings.Lines(before.said["refs"]) {
			if !strings.HasPrefix(line, "refs/stash") && !strings.Contains(after.said["refs"], line) {
				l.Errorf("%s: a reference moved or went: %s", what, line)
			}
		}
		for _, of := range []gitTruth{before, saved} {
			for line := range strings.Lines(of.said["stash"]) {
				if !strings.Contains(after.said["stash"], idPattern.FindString(line)) {
					l.Errorf("%s: the stash lacks %s", what, line)
				}
			}
		}
	}
	if there {
		l.keeps(before.ids, what)
		l.keepsLogs(before, after, what)
	}
	if l.Failed() || !there || l.r.IntN(2) == 0 || !strings.Contains(out, "Undo with") {
		return
	}
	l.rewind(0, "undo")
	if l.restart == 0 {
		back := l.look()
		l.same(before, back, "undo of "+what, "refs", "stash", "head", "index", "progress", "files")
		l.sameBelow(before.below, back.below, "undo of "+what, true)
	}
	l.rewind(0, "redo")
	again := l.look()
	l.same(after, again, "redo of "+what, "refs", "stash", "head", "index", "progress", "files")
	l.keepsLogs(after, again, "redo of "+what)
	l.sameBelow(after.below, again.below, "redo of "+what, true)
}

// work does something at random, which may fail.
func (l *gitLife) work() {
	r := l.r
	if len(l.below) > 0 && r.IntN(3) == 0 {
		l.workBelow()
		return
	}
	branch := []string{"one", "feat/two", "ü", "main"}[r.IntN(4)]
	edit := func() {
		file := []string{"a", "sub/b", "c", "sub/d"}[r.IntN(4)]
		if old, err := os.ReadFile(filepath.Join(l.dir, file)); err == nil && r.IntN(2) == 0 {
			lines := strings.Split(string(old), "\n")
			lines[r.IntN(len(lines))] = fmt.Sprint(r.Uint32())
			l.write(file, strings.Join(lines, "\n"))
			return
		}
		l.write(file, fmt.Sprintln(r.Uint32()))
	}
	switch r.IntN(36) {
	case 0, 1:
		edit()
	case 2, 3:
		edit()
		l.try("add", "-A")
	case 4, 5, 6, 7:
		edit()
		l.try("add", "-A")
		l.try("commit", "-qm", "c")
	case 8:
		l.try("commit", "-qa", "--amend", "-m", "amended")
	case 9, 10:
		l.try("branch", branch)
	case 11, 12:
		l.try("switch", "-q", branch)
	case 13:
		l.try("switch", "-q", "-f", branch)
	case 14:
		l.try("checkout", "-q", "--detach", "HEAD~1")
	case 15:
		l.try("tag", "-f", "-am", "m", "t"+fmt.Sprint(r.IntN(3)))
	case 16:
		l.try("tag", "-d", "t"+fmt.Sprint(r.IntN(3)))
	case 17, 18:
		edit()
		l.try("stash", "push", "-q", []string{"-u", "-k", "--all"}[r.IntN(3)])
	case 19:
		l.try("stash", "drop", "-q", []string{"stash@{0}", "stash@{1}"}[r.IntN(2)])
	case 20:
		l.try("stash", "clear")
	case 21:
		l.try("stash", "pop", "-q")
	case 22:
		l.try("rebase", []string{"--merge", "--apply"}[r.IntN(2)], branch)
	case 23:
		l.try("merge", "-q", "--no-ff", branch)
	case 24:
		l.try([]string{"cherry-pick", "revert"}[r.IntN(2)], branch)
	case 25:
		l.try("bisect", "start", "HEAD", "HEAD~2")
	case 26:
		l.try("worktree", "add", "-q", "-f", "-b", "in-"+fmt.Sprint(r.IntN(9)), filepath.Join(filepath.Dir(l.top), "linked-"+fmt.Sprint(r.IntN(2))))
	case 27:
		l.try("worktree", "remove", "--force", filepath.Join(filepath.Dir(l.top), "linked-"+fmt.Sprint(r.IntN(2))))
	case 28:
		l.try("pack-refs", "--all")
	case 29:
		l.try("gc", "-q", "--prune=now")
	case 30:
		l.try("reflog", "expire", "--expire=now", "--all")
		l.try("gc", "-q", "--prune=now")
	case 31:
		l.try("branch", "-qD", branch)
	case 32:
		l.try("reset", "-q", []string{"--hard", "--soft", "--mixed"}[r.IntN(3)], "HEAD~1")
	case 33:
		l.try("update-index", []string{"--split-index", "--no-split-index", "--index-version=4"}[r.IntN(3)])
	case 34:
		l.rewind(0, "gc", "-y")
	case 35:
		if err := os.RemoveAll(filepath.Join(l.top, ".git")); err != nil {
			l.Fatal(err)
		}
	}
}
