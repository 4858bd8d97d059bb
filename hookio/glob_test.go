package hookio

import "testing"

func TestMatchFile(t *testing.T) {
	for _, c := range []struct {
		pattern, file string
		want          bool
	}{
		{"package.json", "a/b/package.json", true}, {"*.config.{js,ts}", "x.config.ts", true}, {"*.config.{js,ts}", "x.config.tsx", false},
		{"*", ".env", true}, {".env.*", "a/.env.local", true}, {"a/*.go", "a/b.go", true}, {"a/*.go", "x/a/b.go", false}, {"a/**/c", "a/c", true}, {"a/**/c", "a/b/b/c", true},
		{"**/c", "c", true}, {"{a,b}{c,d}", "bd", true}, {"{a,{b,c}}x", "cx", true}, {"{a", "{a", true}, {"{}", "{}", true}, {"[", "[", false}, {"Makefile", `C:\p\Makefile`, true}, {"/top", "top", true},
		{"{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", "aaaaaaaaaa", false}, // too many: taken literally
	} {
		if got := MatchFile(c.pattern, c.file); got != c.want {
			t.Errorf("MatchFile(%q, %q) = %v", c.pattern, c.file, got)
		}
	}
}
