package shell

import (
	"strings"
	"testing"
)

// known are the aliases of the tests.
func known(dir, name string) string {
	if dir == "/bare.git" || dir == "/p/sub/.git" || dir == "/p/sub" {
		return map[string]string{"there": "tag -d v1"}[name]
	}
	return map[string]string{
		"nuke": "reset --hard", "gone": "!sh -c 'rm -rf .git'", "f": "!f() { git branch \"$@\"; }; f", "pass": "!git", "br": "branch", "again": "nuke",
		"loop": "loop", "quoted": `log --format='%h; rm x'`, "l": "log --oneline", "s": "!git status && git diff", "in": "-C sub there",
	}[name]
}

func TestGitLosses(t *testing.T) {
	for what, scripts := range map[string][]string{
		"git stash":        {"git stash drop", "git stash clear", "git stash pop", "git stash", "git stash -m list", "git -c stash.x=y stash drop 'stash@{1}'", "echo 1 | xargs git stash drop"},
		"git branch":       {"git branch -D x", "git branch -d x", "git branch -f x HEAD~1", "git branch -M x y", "git branch -m y", "git branch -qD x", "git branch -rd o/x", "git branch --delete x", "git branch --del x", "git branch --force x y", "git branch -C a b", "git --no-pager branch -D x", "git br -D x", "git pass branch -D x", "echo -D x | xargs git branch"},
		"git tag":          {"git tag -d v1", "git tag -f v1", "git tag -fam msg v1", "git tag --delete v1", "git --git-dir=/bare.git there", "git --git-dir sub/.git there", "GIT_DIR=/bare.git git there", "env GIT_DIR=/bare.git git there", "export GIT_DIR=/bare.git; git there", "git in", "sudo -u x env GIT_DIR=sub/.git git there"},
		"git reset":        {"git reset", "git reset HEAD f", "git reset --soft HEAD~1", "cd a && git reset --hard", "git -C d --work-tree=w reset -q", "git nuke", "git NUKE", "git nuke HEAD~1", "git again", "git -C d again", "command git nuke", "(cd x; git nuke)", "sh -c 'git nuke'", "true && git nuke", "git -c alias.x='reset --hard' x", "git config alias.y 'reset --hard'; git y", "git config --global --add Alias.Z '!git reset' && git z", "GIT_DIR=x/.git git reset"},
		"git push":         {"git push -f", "git push --force origin main", "git push --force-with-lease", "git push --force-with-lease=main:abc origin main", "git push origin +main", "git push origin :old", "git push --delete origin x", "git push origin -d x", "git push --mirror o", "git push --prune o", "git push -uf origin main"},
		"git fetch":        {"git fetch -p", "git fetch --prune", "git fetch --all -f", "git fetch o +a:b", "git fetch --depth 1", "git fetch --depth=1 origin main"},
		"git commit":       {"git commit --amend", "git commit --amend --no-edit -a", "git commit --am"},
		"git rebase":       {"git rebase main", "git rebase --abort", "git rebase -i HEAD~3", "GIT_SEQUENCE_EDITOR=true git rebase -i x"},
		"git merge":        {"git merge --abort", "git merge x"},
		"git cherry-pick":  {"git cherry-pick --abort", "git cherry-pick --skip"},
		"git am":           {"git am --abort", "git am < p"},
		"git pull":         {"git pull --rebase", "git pull -f"},
		"git checkout":     {"git checkout -f", "git checkout -B x", "git checkout -- f", "git checkout ."},
		"git switch":       {"git switch -f x", "git switch -C x", "git switch --discard-changes x"},
		"git restore":      {"git restore --staged f", "git restore f", "command git restore .", "git-restore f", "/usr/lib/git-core/git-restore f"},
		"git rm":           {"git rm --cached f", "git rm -r d"},
		"git clean":        {"git clean -fdx", "git clean -fd -en", "git clean -fden"},
		"git remote":       {"git remote remove o", "git remote rm o", "git remote prune o", "git remote update -p", "git remote rename a b"},
		"git reflog":       {"git reflog expire --expire=now --all", "git reflog delete HEAD@{1}"},
		"git gc":           {"git gc", "git gc --prune=now", "git gc --auto --prune=now", "git gc --aggressive"},
		"git maintenance":  {"git maintenance run"},
		"git prune":        {"git prune"},
		"git repack":       {"git repack -ad", "git repack -A -d"},
		"git update-ref":   {"git update-ref -d refs/heads/x", "git update-ref refs/heads/x y", "git update-ref --stdin < f"},
		"git symbolic-ref": {"git symbolic-ref HEAD refs/heads/x", "git symbolic-ref -d X", "git symbolic-ref -- HEAD refs/heads/x"},
		"git worktree":     {"git worktree remove ../w", "git worktree remove --force w", "git worktree prune", "git worktree move a b", "git worktree add -B x ../w"},
		"git submodule":    {"git submodule deinit -f x", "git submodule --quiet update", "git submodule foreach 'git reset'"},
		"git notes":        {"git notes remove", "git notes --ref x remove", "git notes add -f -m x"},
		"git replace":      {"git replace a b", "git replace -d a"},
		"git filter-repo":  {"git filter-repo --path x", "git-filter-repo --path x"},
		"git config":       {"git config --unset a.b", "git config unset a.b"},
		"git log":          {"git log --output=f"},
		"rm":               {"rm -rf .git", "rm -r sub/.git", "git gone", "git -C x gone"},
		"rimraf":           {"npx rimraf .git", "npx --yes rimraf .git"},
		"mv":               {"mv .git ../old"},
		"a long command":   {"git loop"},
		"jj":               {"jj abandon", "jj -R x abandon @", "jj restore f", "jj undo", "jj op restore x", "jj --no-pager bookmark delete x", "jj workspace forget", "jj git push --deleted", "jj util gc"},

		"a git command that is not known": {"git $X", "git -C d $(cat x) y", "A='reset --hard'; git $A", "cat f | xargs git", "ls | xargs -I{} git {}"},
	} {
		for _, script := range scripts {
			if got := Destructive(script, "/p", known); got != what && !(what == "jj" && strings.HasPrefix(got, "jj ")) {
				t.Errorf("%q: %q, and not %q", script, got, what)
			}
		}
	}
	if got := Destructive("git f -D x", "/p", known); got == "" {
		t.Error("the function of an alias is not looked into")
	}
	for _, script := range []string{
		"git", "git status", "git add -A", "git commit -am x", "git commit -m 'git reset --hard'", "git commit --fixup HEAD", "git stash list", "git stash show -p", "git branch", "git branch -a", "git branch new", "git branch -vv --sort=-committerdate", "git branch --merged main",
		"git branch --format='%(refname)'", "git branch -c a b", "git tag", "git tag v1", "git tag -a v1 -m x", "git tag -l 'v*' -n3", "git push", "git push -u origin main", "git push --tags", "git push --follow-tags", "git push origin main:x", "git fetch", "git fetch --all --tags", "git fetch origin main",
		"git log --oneline", "git log --follow f", "git log -p", "git show HEAD", "git diff > /dev/null", "git diff --output-indicator-new=+", "git rev-parse HEAD", "git symbolic-ref --short HEAD", "git symbolic-ref HEAD", "git remote -v", "git remote add o u", "git remote set-url --push o u",
		"git worktree list", "git worktree add ../w -b x", "git submodule status", "git submodule add u d", "git reflog", "git reflog show", "git gc --auto", "git prune -n", "git repack -a", "git notes show", "git notes add -m x", "git notes append -m x", "git config a.b c", "git config --get a.b", "git config -l", "git bisect log", "git sparse-checkout list",
		"git clone u d", "git init", "git cherry-pick-x", "git rm -n x", "git clean -nfdx", "git l", "git s", "git quoted", "git unknown", "git lfs ls-files", "git config alias.x 'log -1'; git x", "git config alias.nuke; git l", "git -c alias.l='log -3' l", "git f", "jj log", "jj status", "jj bookmark list", "jj git push", "jj op log", "gh repo delete x",
	} {
		if what := Destructive(script, "/p", known); what != "" {
			t.Errorf("%q: %s", script, what)
		}
	}
}

// Where git knows the subcommand itself, nothing is asked of its configuration.
func TestAliasIsAskedOnlyForUnknownCommands(t *testing.T) {
	var asked []string
	Destructive("git status; git branch x; git a; cd b && git -C c d; cd $X; git e; git -c alias.f=log f; git", "/p", func(dir, name string) string {
		asked = append(asked, dir+" "+name)
		return ""
	})
	if got := strings.Join(asked, ", "); got != "/p a, /p/b/c d,  e" {
		t.Errorf("asked for %q", got)
	}
}
