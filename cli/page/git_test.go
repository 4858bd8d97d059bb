package page

import (
	"os/exec"
	"strings"
	"testing"
)

// git runs git in the lab's project.
func (l *lab) git(args ...string) {
	l.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = l.env.Dir
	cmd.Env = append(cmd.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	if out, err := cmd.CombinedOutput(); err != nil {
		l.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// The page says what git did after a row, and where it was; a plan offers what git has lost since, and brings it back.
func TestUIGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	l := newLab(t)
	l.git("init", "-q", "-b", "main")
	l.git("add", ".")
	l.git("commit", "-q", "-m", "one")
	l.git("branch", "<b>")
	l.run(l.env, "save", "with a branch")
	l.git("branch", "-q", "-D", "<b>")
	l.git("commit", "-q", "--allow-empty", "-m", "two")
	place := l.logIn(l.ui(l.env).URL)
	row := func(text string) (found rowView) {
		for _, r := range l.rows(place) {
			if strings.Contains(r.Text, text) {
				found = r
			}
		}
		return found
	}
	target := row("with a branch")
	if want := "1 commit on main ("; !strings.Contains(target.Git, want) || !strings.Contains(target.Git, "branch <b> deleted (was ") {
		t.Errorf("the row says of git %q, not %q", target.Git, want)
	}
	var look filesView
	l.get("/api/v1"+place+"/look?id="+target.ID, &look)
	if all := strings.Join(look.Git, "\n"); len(look.Git) != 3 || !strings.HasPrefix(all, "git: on main ") || !strings.Contains(all, "branch <b> deleted") {
		t.Errorf("the details say of git %q", look.Git)
	}
	moved := func(of, other string) string {
		t.Helper()
		look = filesView{}
		l.get("/api/v1"+place+"/look?id="+of+"&other="+other, &look)
		if look.Head == nil {
			return ""
		}
		return look.Head.From.Branch + " to " + look.Head.To.Branch
	}
	l.git("switch", "-q", "-c", "topic")
	l.run(l.env, "save", "on topic")
	on := row("on topic")
	if got := moved(on.ID, "") + ", " + moved(on.ID, target.ID) + ", " + moved(target.ID, "@") + ", " + moved(on.ID, "@"); got != "main to topic, main to topic, main to topic, " {
		t.Errorf("HEAD moved %s", got)
	}
	l.git("switch", "-q", "main")
	var plan planView
	ask := func(a action) {
		t.Helper()
		a.Verb, a.ID = "restore", target.ID
		plan = planView{}
		if code := l.ask("POST", "/api/v1"+place+"/plans", a, &plan); code != 200 {
			t.Fatal(code)
		}
	}
	if ask(action{Half: "code"}); !plan.Git || plan.Question != "" || !strings.Contains(strings.Join(plan.Facts, "\n"), "git has lost branch <b> since that state") {
		t.Errorf("the plan without git: %+v", plan)
	}
	if ask(action{Half: "code", Git: true}); !plan.Git || !strings.Contains(plan.Question, "with git") || !strings.Contains(strings.Join(plan.Facts, "\n"), "Git: branch <b> returns") {
		t.Errorf("the plan with git: %+v", plan)
	}
	var done struct{ Said string }
	if code := l.ask("POST", "/api/v1"+place+"/plans/"+plan.ID+"/apply", nil, &done); code != 200 {
		t.Fatal(code, done)
	}
	l.git("rev-parse", "--verify", "-q", "refs/heads/<b>")
	if ask(action{Half: "code"}); plan.Git {
		t.Errorf("the plan offers what is there: %+v", plan)
	}
}
