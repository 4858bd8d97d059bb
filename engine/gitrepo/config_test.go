package gitrepo

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Random configuration files that git accepts mean to us what they mean to git.
func TestConfigAsGitReadsIt(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("needs git as the judge")
	}
	rounds := 600
	if testing.Short() {
		rounds = 80
	}
	tokens := []string{
		"[core]\n", "[core]", "[Core \"Sub.x\"]\n", "[a.B]\n", "[a \"q\\\"\\\\\"]\n", "[ core ]\n", "[core]excludesFile = x\n", "name = value\n", "name=value\n",
		"Name = \"a  b\" ; c\n", "n = a  b  \n", "n = a \"  \"\n", "n = a\\\n  b\n", "n = \\t\\n\\\"\\\\\n", "n\n", "n # c\n", "n = # c\n", "n =\n", "n = \"#;\"\n", "x-1 = a\tb\n",
		"# comment\n", "; comment [x]\n", "\n", "  \t", "n = a\r\n", "[core]\r\n", "é = x\n", "n = é\xff\n", "n = \"open\n", "1 = x\n", "n = a\\x\n", "]", "= x\n", "n = a # b \\\nm = c\n", "n = \"a\\\nb\"\n", "n = a\rb\n", "\xef\xbb\xbf", "n = x",
		"[core]\n", "[core]\n", "[core]\n", "n = x\n", "n = x\n", "m = y\n",
	}
	file := filepath.Join(t.TempDir(), "config")
	rnd := rand.New(rand.NewPCG(1, 2))
	valid := 0
	for range rounds {
		var b strings.Builder
		if rnd.IntN(8) > 0 {
			b.WriteString("[core]\n")
		}
		for range rnd.IntN(7) {
			b.WriteString(tokens[rnd.IntN(len(tokens))])
		}
		text := b.String()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		entries := parseConfig([]byte(text))
		cmd := exec.Command(git, "config", "--file", file, "--list", "-z")
		cmd.Env = []string{"HOME=/nowhere", "GIT_CONFIG_NOSYSTEM=1", "PATH=" + os.Getenv("PATH")}
		out, err := cmd.Output()
		if err != nil {
			continue // git gives the file up; we do not
		}
		valid++
		var got strings.Builder
		for _, e := range entries {
			got.WriteString(e.key)
			if e.value.set {
				fmt.Fprintf(&got, "\n%s", e.value.text)
			}
			got.WriteByte(0)
		}
		if got.String() != string(out) {
			t.Errorf("%q:\ngot  %q\nwant %q", text, got.String(), out)
		}
	}
	if valid < rounds/4 {
		t.Errorf("git accepted only %d of %d files", valid, rounds)
	}
}

// A line that git would give up at costs that line only.
func TestConfigGoesOnAfterABadLine(t *testing.T) {
	for text, want := range map[string]string{
		"[core]\n= x\nn = y\n":                   "core.n=y",
		"[core]\nn = a\\x\nm = y\n":              "core.m=y",
		"[core\nn = x\n[core]\nm = y\n":          "core.m=y",
		"[core \"x]\nn = x\n[core]\nm = y\n":     "core.m=y",
		"[core]\nn = \"open\nm = y\n":            "core.m=y",
		"n = x\n[core]\nm = y\n":                 "n=x core.m=y",
		"[core]\nn = x\x00y\nm = y":              "core.n=x\x00y core.m=y",
		"<<<<<<< HEAD\n[core]\nn = y\n=======\n": "core.n=y",
	} {
		var got []string
		for _, e := range parseConfig([]byte(text)) {
			got = append(got, e.key+"="+e.value.text)
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%q: %q, want %q", text, s, want)
		}
	}
}

func FuzzConfig(f *testing.F) {
	f.Add([]byte("[core]\n\texcludesFile = ~/x ; c\n[include \"a\\\"b\"]\n\tpath = \"y\"\\\n"))
	f.Add([]byte("\xef\xbb\xbf[a.b]\r\nc\r\n[d"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, e := range parseConfig(data) {
			if e.key == "" || strings.HasSuffix(e.key, ".") {
				t.Fatalf("key %q", e.key)
			}
		}
	})
}
