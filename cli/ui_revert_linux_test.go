package cli

import (
	"fmt"
	"strings"
	"testing"
)

// A revert that finds nothing says why: the turn changed nothing and the row's changes are the person's, or a restore has
// taken them back already. The page says what the command line says.
func TestUIRevertOfNothing(t *testing.T) {
	l := newTurnsLab(t)
	l.play(pageTurn{"add a test", "calc_test.go", "package calc\n", "Done."})
	l.play(pageTurn{prompt: "only think", said: "I thought."})
	for i := range 6 {
		l.write(fmt.Sprintf("mine%d.txt", i), "mine\n")
	}
	l.play(pageTurn{prompt: "and again", said: "Again."})
	u := &uiLab{t: t, env: l.env}
	place := u.logIn(u.ui(l.env).URL)
	revert := func(text string) (plan uiPlan) {
		t.Helper()
		for _, r := range u.rows(place) {
			if r.Prompt && strings.Contains(r.Text, text) {
				if code := u.ask("POST", "/api/v1"+place+"/plans", uiAction{Verb: "revert", ID: r.ID}, &plan); code != 200 {
					t.Fatal(code, plan)
				}
				return plan
			}
		}
		t.Fatalf("no row %q: %+v", text, u.rows(place))
		return plan
	}
	says := func(text string, want ...string) {
		t.Helper()
		plan := revert(text)
		said := strings.Join(append(append([]string{plan.Title}, plan.Facts...), plan.Notes...), "\n")
		for _, w := range want {
			if !strings.Contains(said, w) {
				t.Errorf("of %q the plan says %q, not %q", text, said, w)
			}
		}
		if strings.Contains(said, "It changed no file") || plan.Question != "" {
			t.Errorf("of %q the plan says %q", text, said)
		}
	}
	says("only think", "this turn changed no file")
	l.rewind("restore", "prompt~3", "--code-only", "--session", pageSession)
	says("add a test", "nothing of it is left where it was written")
}
