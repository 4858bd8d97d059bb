package account

import (
	"strings"
	"testing"
)

func TestHomeProblem(t *testing.T) {
	home := t.TempDir()
	with := func(named string) func(string) string {
		return func(string) string { return named }
	}
	for _, c := range []struct {
		env  Env
		says string
	}{
		{Env{Home: home, Getenv: with(home)}, ""}, {Env{Home: home}, ""},
		{Env{Home: home, Getenv: with("")}, "HOME is not set"},
		{Env{Home: home, Getenv: with("here")}, "HOME is not an absolute path"},
		{Env{Getenv: with("")}, "HOME is not set"},
		{Env{Home: home + "/none", Getenv: with(home + "/none")}, "the home directory " + home + "/none does not exist"},
	} {
		if got := c.env.HomeProblem(); !strings.HasPrefix(got, c.says) || (got == "") != (c.says == "") {
			t.Errorf("%q instead of %q", got, c.says)
		}
	}
}
