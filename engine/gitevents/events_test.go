package gitevents_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/gitevents"
	"github.com/rewind-cli/rewind/engine/gitstate"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/stores"
)

// box is a project in a git repository.
type box struct {
	*testing.T
	dir string
	p   *project.Project
}

func newBox(t *testing.T) *box {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	env := account.Env{Home: filepath.Join(base, "home"), Dir: filepath.Join(base, "project"), Getenv: func(string) string { return "" }}
	b := &box{T: t, dir: env.Dir}
	for _, dir := range []string{env.Home, env.Dir} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b.play("git init -q -b main; echo 1 >a; git add a; git commit -q -m one; echo 2 >a; git commit -q -a -m two; git branch old HEAD~1")
	p, _, err := stores.Init(t.Context(), stores.InitOptions{OpenOptions: project.OpenOptions{Env: env, Root: env.Dir}, NoSave: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	b.p = p
	return b
}

// play runs a shell script in the project. What the machine's own settings of git say does not count.
func (b *box) play(script string) {
	b.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_EDITOR=true",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%s: %v\n%s", script, err, out)
	}
}

func (b *box) point() gitevents.Point {
	b.Helper()
	saved, err := checkpoint.Take(b.Context(), b.p, checkpoint.TakeOptions{})
	if err != nil {
		b.Fatal(err)
	}
	c := saved.Checkpoint
	return gitevents.Point{Root: c.Root, State: c.Git, Repository: !c.Git.IsZero() || c.GitHead+c.GitBranch != ""}
}

// brief is an event without ids and times.
func brief(e gitevents.Event) string {
	text := fmt.Sprint(e.Kind, " ", e.Count)
	if len(e.Names) > 0 {
		text += " " + strings.Join(e.Names, ",")
	}
	switch e.Kind {
	case gitevents.Switch, gitevents.Renamed, gitevents.Merge:
		text += " from " + e.From
	}
	if e.Kind == gitevents.Switch {
		text += " to " + e.To
	}
	if e.New {
		text += " new"
	}
	if e.Text != "" {
		text += ": " + e.Text
	}
	if e.Repo != "" {
		text = e.Repo + ": " + text
	}
	return text
}

// TestEvents plays what people and agents do with git, and reads what happened from the two states alone.
func TestEvents(t *testing.T) {
	cases := []struct {
		name, before, script string
		want                 []string
	}{
		{"commits", "", "echo 3 >a; git commit -q -a -m three; echo 4 >a; git commit -q -a -m 'four: 4'", []string{"commit 2 refs/heads/main: four: 4"}},
		{"amend", "", "git commit -q --amend -m other", []string{"amend 1 refs/heads/main: other"}},
		{"nothing but the index", "", "echo x >b; git add b", nil},
		{"new branch", "", "git switch -q -c topic; git commit -q --allow-empty -m t", []string{"switch 0 from main to topic new", "commit 1 refs/heads/topic: t"}},
		{"there and back", "", "git switch -q old; git switch -q main", nil},
		{"detached", "", "git checkout -q main~1; git commit -q --allow-empty -m d", []string{"switch 0 from main to main~1", "commit 1: d"}},
		{"a branch came and went", "", "git switch -q -c topic; git commit -q --allow-empty -m t; git switch -q main; git merge -q topic; git branch -q -d topic",
			[]string{"switch 0 from main to topic", "commit 1 refs/heads/topic: t", "switch 0 from topic to main", "merge 1 refs/heads/main from topic"}},
		{"reset", "", "git reset -q --hard HEAD~1", []string{"reset 1 refs/heads/main"}},
		{"reset over two", "git commit -q --allow-empty -m three", "git reset -q --hard HEAD~2", []string{"reset 2 refs/heads/main"}},
		{"reset to where it is", "", "echo 5 >a; git reset -q --hard", nil},
		{"stash", "", "echo 5 >a; git stash push -q -m 'my work'", []string{"stash 1: "}},
		{"stash dropped", "echo 5 >a; git stash -q; echo 6 >a; git stash -q -m second", "git stash drop -q stash@{1}", []string{"stash-dropped 1"}},
		{"stash popped", "echo 5 >a; git stash -q", "git stash pop -q", []string{"stash-gone 1"}},
		{"stash cleared", "for i in 3 4 5 6; do echo $i >a; git stash -q -m s$i; done", "git stash clear", []string{"stash-dropped 4 On main: s6,On main: s5,On main: s4"}},
		{"branches deleted", "git branch topic; git pack-refs --all; git branch loose", "git branch -q -D old topic loose",
			[]string{"deleted 3 refs/heads/loose,refs/heads/old,refs/heads/topic"}},
		{"created", "", "git branch x; git tag v1; git tag -a -m v2 v2", []string{"created 1 refs/heads/x", "created 2 refs/tags/v1,refs/tags/v2"}},
		{"packed", "git tag v1", "git pack-refs --all", nil},
		{"gc", "", "git gc -q --prune=now", nil},
		{"renamed", "", "git branch -m old new", []string{"renamed 1 refs/heads/new from refs/heads/old"}},
		{"renamed where HEAD is", "", "git branch -m main trunk; git commit -q --allow-empty -m three", []string{"renamed 1 refs/heads/trunk from refs/heads/main", "commit 1 refs/heads/trunk: three"}},
		{"moved", "", "git branch -f old main", []string{"moved 1 refs/heads/old"}},
		{"moved there and back", "git checkout -q --detach", "git update-ref -m there HEAD HEAD~1; git update-ref -m back HEAD main", nil},
		{"moved without a log", "", "git update-ref refs/heads/main HEAD~1; git reflog expire --expire=now --all", []string{"moved 1 refs/heads/main"}},
		{"rebase", "git switch -q -c side main~1; echo q >q; git add q; git commit -q -m q; echo r >r; git add r; git commit -q -m r", "git rebase -q main",
			[]string{"rebase 2 refs/heads/side: r"}},
		{"rebase with a conflict", "git switch -q -c side main~1; echo q >a; git commit -q -a -m q", "git rebase -q main || true", []string{"rebase-begun 0 refs/heads/side"}},
		{"rebase aborted", "git switch -q -c side main~1; echo q >a; git commit -q -a -m q", "git rebase -q main || true; git rebase --abort", []string{"rebase-aborted 0 refs/heads/side"}},
		{"merge", "git switch -q -c side main~1; git commit -q --allow-empty -m s; git switch -q main", "git merge -q --no-edit side", []string{"merge 1 refs/heads/main from side"}},
		{"merge with a conflict", "git switch -q -c side main~1; echo q >a; git commit -q -a -m q; git switch -q main", "git merge -q side || true", []string{"merge-begun 1"}},
		{"that was resolved", "git switch -q -c side main~1; echo q >a; git commit -q -a -m q; git switch -q main; git merge -q side || true", "git add a; git commit -q --no-edit",
			[]string{"merge 1 refs/heads/main from : Merge branch 'side'"}},
		{"cherry-pick and revert", "git switch -q -c side; echo s >s; git add s; git commit -q -m s; git switch -q main", "git cherry-pick side; git revert --no-edit HEAD",
			[]string{"commit 2 refs/heads/main: Revert \"s\""}},
		{"worktrees", "git worktree add -q ../w1", "git worktree remove ../w1; git worktree add -q --detach ../w2", []string{"worktree-removed 1 w1", "worktree-added 1 w2"}},
		{"submodule", "git init -q -b main ../lib; git -C ../lib commit -q --allow-empty -m lib; git -c protocol.file.allow=always submodule --quiet add ../lib mods/lib; git commit -q -m sub",
			"git -C mods/lib switch -q -c topic; git -C mods/lib commit -q --allow-empty -m work; git tag v1",
			[]string{"created 1 refs/tags/v1", "mods/lib: switch 0 from main to topic new", "mods/lib: commit 1 refs/heads/topic: work"}},
		{"nested", "git init -q -b main in; git -C in commit -q --allow-empty -m in; git -C in branch topic", "git -C in branch -q -D topic; git init -q b",
			[]string{"b: git-created 0", "in: deleted 1 refs/heads/topic"}},
		{"nested is new", "", "git init -q -b main in", []string{"in: git-created 0"}},
		{"nested is gone", "git init -q -b main in; git -C in commit -q --allow-empty -m in", "rm -rf in/.git", []string{"in: git-removed 0"}},
		{"nested alone", "rm -rf .git; git init -q -b main in; git -C in commit -q --allow-empty -m one", "git -C in commit -q --allow-empty -m in", []string{"in: commit 1 refs/heads/main: in"}},
		{"nested alone is gone", "rm -rf .git; git init -q -b main in", "rm -rf in/.git", []string{"in: git-removed 0"}},
		{"gone", "", "rm -rf .git", []string{"git-removed 0"}},
		{"made", "rm -rf .git", "git init -q", []string{"git-created 0"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			if c.before != "" {
				b.play(c.before)
			}
			from := b.point()
			b.play(c.script)
			to := b.point()
			events, err := gitevents.NewReader(gitstate.InStore(b.p), b.dir).Between(from, to)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i, e := range events {
				got = append(got, brief(e))
				if i < len(c.want) && !strings.HasPrefix(c.want[i], got[i]) && strings.HasPrefix(got[i], strings.TrimSuffix(c.want[i], ": ")) {
					got[i] = c.want[i] // the message of a stash has an id
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestEventsOfDamage: files of a state that are no files of git's give no events, and no error.
func TestEventsOfDamage(t *testing.T) {
	b := newBox(t)
	from := b.point()
	b.play("printf 'no line\\n\\n%s %s\\n' 1 2 >>.git/logs/HEAD; echo nonsense >.git/refs/heads/old; head -c 300 /dev/urandom >.git/packed-refs; ln -sf /etc/passwd .git/refs/heads/link; git tag v1 2>/dev/null || true")
	to := b.point()
	if _, err := gitevents.NewReader(gitstate.InStore(b.p), b.dir).Between(from, to); err != nil {
		t.Error(err)
	}
}
