package gitrepo_test

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/gitrepo"
)

// What counts in a directory is what git config says there.
func TestAliases(t *testing.T) {
	b := newBox(t)
	write(t, filepath.Join(b.home, ".gitconfig"), "[alias]\n\tNuke = reset --hard\n\tmine = branch -D\n[includeIf \"gitdir:**/work/.git\"]\n\tpath = more\n[include]\n\tpath = always\n")
	write(t, filepath.Join(b.home, "more"), "[alias]\n\there = \"!sh -c 'rm -rf .git'\"\n")
	write(t, filepath.Join(b.home, "always"), "[alias]\n\teverywhere = log\n")
	b.run("init", "-q")
	b.run("config", "alias.mine", "branch -d")
	b.run("config", "alias.own", "tag -d")
	mkdir(t, filepath.Join(b.dir, "below"))
	bare := filepath.Join(filepath.Dir(b.dir), "bare")
	b.run("init", "-q", "--bare", bare)
	b.at(bare, "config", "alias.bare", "gc")
	elsewhere := filepath.Join(filepath.Dir(b.dir), "elsewhere")
	mkdir(t, elsewhere)
	for _, dir := range []string{b.dir, filepath.Join(b.dir, "below"), filepath.Join(b.dir, ".git"), bare, elsewhere} {
		want := map[string]string{}
		for line := range strings.SplitSeq(strings.TrimSpace(b.at(dir, "config", "--get-regexp", "^alias\\.")), "\n") {
			key, value, _ := strings.Cut(line, " ")
			want[strings.TrimPrefix(key, "alias.")] = value
		}
		if len(want) < 3 {
			t.Fatalf("git itself knows %q in %s", want, dir)
		}
		got := gitrepo.Aliases(dir, b.home, func(name string) string { return b.env[name] })
		if !maps.Equal(got, want) {
			t.Errorf("%s: %q, want %q", dir, got, want)
		}
	}
	write(t, filepath.Join(b.dir, ".git", "config"), "[alias \"Later\"]\n\tcommand = prune\n")
	if got := gitrepo.Aliases(b.dir, "", func(string) string { return "" })["later"]; got != "prune" {
		t.Errorf("of a later git: %q", got)
	}
}
