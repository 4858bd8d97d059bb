package gitrepo_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Every candidate for an exclude file holds one pattern of its own; git's
// check-ignore then tells which of them are in force.
func TestExcludesAsGitFindsThem(t *testing.T) {
	markers := []string{"m-xdg", "m-xdg2", "m-home", "m-info", "m-rel", "m-inc", "m-sys", "m-abs", "m-env", "m-last", "m-wt"}
	for name, prepare := range map[string]func(b *box) string{
		"default": func(b *box) string { return "" },
		"info/exclude": func(b *box) string {
			b.write(".git/info/exclude", "m-info\n")
			return ""
		},
		"global": func(b *box) string { b.config(".gitconfig", "[core]\n\texcludesfile = ~/m-home\n"); return "" },
		"both global files, the home one counts": func(b *box) string {
			b.config(".config/git/config", "[core]\n\texcludesfile = ~/m-sys\n")
			b.config(".gitconfig", "[core]\n\texcludesfile = ~/m-home\n")
			return ""
		},
		"XDG_CONFIG_HOME": func(b *box) string { b.env["XDG_CONFIG_HOME"] = filepath.Join(b.home, "xdg2"); return "" },
		"XDG_CONFIG_HOME with a configuration": func(b *box) string {
			b.env["XDG_CONFIG_HOME"] = filepath.Join(b.home, "xdg2")
			b.config("xdg2/git/config", "[core]\n\texcludesFile = ~/m-abs\n")
			return ""
		},
		"GIT_CONFIG_GLOBAL": func(b *box) string {
			b.config(".gitconfig", "[core]\n\texcludesfile = ~/m-home\n")
			b.config("other", "[core]\n\texcludesfile = ~/m-env\n")
			b.env["GIT_CONFIG_GLOBAL"] = filepath.Join(b.home, "other")
			return ""
		},
		"GIT_CONFIG_SYSTEM": func(b *box) string {
			delete(b.env, "GIT_CONFIG_NOSYSTEM")
			b.env["GIT_CONFIG_SYSTEM"] = filepath.Join(b.home, "sys")
			b.config("sys", "[core]\n\texcludesfile = ~/m-sys\n")
			return ""
		},
		"GIT_CONFIG_NOSYSTEM": func(b *box) string {
			b.env["GIT_CONFIG_SYSTEM"] = filepath.Join(b.home, "sys")
			b.config("sys", "[core]\n\texcludesfile = ~/m-sys\n")
			return ""
		},
		"GIT_CONFIG_COUNT": func(b *box) string {
			b.env["GIT_CONFIG_COUNT"], b.env["GIT_CONFIG_KEY_0"], b.env["GIT_CONFIG_VALUE_0"] = "1", "core.EXCLUDESfile", "~/m-env"
			return ""
		},
		"local": func(b *box) string { b.run("config", "core.excludesFile", filepath.Join(b.home, "m-abs")); return "" },
		"local beats global": func(b *box) string {
			b.config(".gitconfig", "[core]\n\texcludesfile = ~/m-home\n")
			b.run("config", "core.excludesFile", "~/m-last")
			return ""
		},
		"relative": func(b *box) string { b.run("config", "core.excludesFile", "m-rel"); return "" },
		"empty":    func(b *box) string { b.run("config", "core.excludesFile", ""); return "" },
		"missing":  func(b *box) string { b.run("config", "core.excludesFile", "~/none"); return "" },
		"include": func(b *box) string {
			b.config(".gitconfig", "[include]\n\tpath = inc/one\n[core]\n\tother = x\n")
			b.config("inc/one", "[include]\n\tpath = two\n")
			b.config("inc/two", "[core]\n\texcludesFile = \"~/m-inc\"\n")
			return ""
		},
		"include, then something stronger": func(b *box) string {
			b.config(".gitconfig", "[include]\n\tpath = ~/inc/two\n[core]\n\texcludesFile = ~/m-last\n")
			b.config("inc/two", "[core]\n\texcludesFile = ~/m-inc\n")
			return ""
		},
		"endless include": func(b *box) string {
			b.config(".gitconfig", "[core]\n\texcludesFile = ~/m-inc\n[include]\n\tpath = gone\n")
			return ""
		},
		"includeIf gitdir": func(b *box) string {
			b.config(".gitconfig", "[includeIf \"gitdir:"+b.dir+"/\"]\n\tpath = inc\n")
			b.config("inc", "[core]\n\texcludesFile = ~/m-inc\n")
			return ""
		},
		"includeIf gitdir, other": func(b *box) string {
			b.config(".gitconfig", "[includeIf \"gitdir:"+b.dir+"x/\"]\n\tpath = inc\n[includeIf \"gitdir:"+b.dir+"\"]\n\tpath = inc\n")
			b.config("inc", "[core]\n\texcludesFile = ~/m-inc\n")
			return ""
		},
		"includeIf gitdir, relative pattern": func(b *box) string {
			b.config(".gitconfig", "[includeIf \"gitdir:work/.git\"]\n\tpath = inc\n")
			b.config("inc", "[core]\n\texcludesFile = ~/m-inc\n")
			return ""
		},
		"includeIf gitdir, glob": func(b *box) string {
			b.config(".gitconfig", "[includeIf \"gitdir:w*k/\"]\n\tpath = inc\n")
			b.config("inc", "[core]\n\texcludesFile = ~/m-inc\n")
			return ""
		},
		"includeIf gitdir, beside the file": func(b *box) string {
			b.write("../.gitconfig2", "[includeIf \"gitdir:./"+filepath.Base(b.dir)+"/\"]\n\tpath = home/inc\n")
			b.env["GIT_CONFIG_GLOBAL"] = filepath.Join(filepath.Dir(b.dir), ".gitconfig2")
			b.config("inc", "[core]\n\texcludesFile = ~/m-inc\n")
			return ""
		},
		"includeIf gitdir, case": func(b *box) string {
			b.config(".gitconfig", "[includeIf \"gitdir:WORK/\"]\n\tpath = bad\n[includeIf \"gitdir/i:WORK/\"]\n\tpath = inc\n")
			b.config("inc", "[core]\n\texcludesFile = ~/m-inc\n")
			b.config("bad", "[core]\n\texcludesFile = ~/m-abs\n")
			return ""
		},
		"includeIf gitdir below home": func(b *box) string {
			b.config(".gitconfig", "[includeIf \"gitdir:~/proj/\"]\n\tpath = inc\n")
			b.config("inc", "[core]\n\texcludesFile = ~/m-inc\n")
			b.at(b.home, "init", "-q", "proj")
			return filepath.Join(b.home, "proj")
		},
		"includeIf onbranch": func(b *box) string {
			b.run("symbolic-ref", "HEAD", "refs/heads/topic/x")
			b.config(".gitconfig", "[includeIf \"onbranch:topic/\"]\n\tpath = inc\n[includeIf \"onbranch:main\"]\n\tpath = bad\n")
			b.config("inc", "[core]\n\texcludesFile = ~/m-inc\n")
			b.config("bad", "[core]\n\texcludesFile = ~/m-abs\n")
			return ""
		},
		"linked work tree": func(b *box) string {
			b.write("f", "")
			b.run("add", "f")
			b.run("commit", "-qm", "x")
			b.write(".git/info/exclude", "m-info\n")
			b.run("worktree", "add", "-q", "../linked", "-b", "side")
			b.run("config", "core.excludesFile", "~/m-last")
			b.run("config", "extensions.worktreeConfig", "true")
			linked := filepath.Join(filepath.Dir(b.dir), "linked")
			b.at(linked, "config", "--worktree", "core.excludesFile", "~/m-wt")
			return linked
		},
		"worktree configuration that is not on": func(b *box) string {
			b.write(".git/config.worktree", "[core]\n\texcludesFile = ~/m-wt\n")
			b.run("config", "core.excludesFile", "~/m-last")
			return ""
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			b.run("init", "-q", "-b", "main")
			if err := os.RemoveAll(filepath.Join(b.dir, ".git", "info")); err != nil {
				t.Fatal(err)
			}
			b.config(".config/git/ignore", "m-xdg\n")
			b.config("xdg2/git/ignore", "m-xdg2\n")
			b.write("m-rel", "m-rel\n")
			for _, m := range []string{"m-home", "m-inc", "m-sys", "m-abs", "m-env", "m-last", "m-wt"} {
				b.config(m, m+"\n")
			}
			dir := prepare(b)
			if dir == "" {
				dir = b.dir
			}
			out, err := b.try(dir, append([]string{"check-ignore", "--no-index"}, markers...)...)
			if err != nil && out != "" {
				t.Fatal(err)
			}
			sources, _, err := b.find(dir).Excludes(b.home)
			if err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			for _, s := range sources {
				if !strings.HasPrefix(string(s.Text), "#") { // git's own template
					text.Write(s.Text)
				}
			}
			if got, want := lines(text.String(), "\n"), lines(out, "\n"); !slices.Equal(got, want) {
				t.Errorf("in force: %q, want %q", got, want)
			}
		})
	}
}

// config writes a file below home.
func (b *box) config(path, text string) { b.t.Helper(); b.write("../home/"+path, text) }

// An include that names itself, or many that name each other, come to an end.
func TestEndlessIncludes(t *testing.T) {
	b := newBox(t)
	b.run("init", "-q")
	b.config("loop", strings.Repeat("[include]\n\tpath = loop\n", 10)+"[core]\n\texcludesFile = ~/m\n")
	b.config(".gitconfig", "[include]\n\tpath = loop\n")
	b.config("m", "marker\n")
	sources, _, err := b.find(b.dir).Excludes(b.home)
	if err != nil || len(sources) == 0 || string(sources[0].Text) != "marker\n" {
		t.Errorf("%v, %v", sources, err)
	}
}

func TestExcludesNames(t *testing.T) {
	b := newBox(t)
	b.run("init", "-q")
	b.config(".gitconfig", "[core]\n\texcludesFile = ~/m\n")
	b.config("m", "m\n")
	b.write(".git/info/exclude", "i\n")
	b.write(".gitignore", "top\n")
	b.write("a/.gitignore", "a\n")
	b.write("a/b/.gitignore", "b\n")
	sources, _, err := b.find(filepath.Join(b.dir, "a", "b")).Excludes(b.home)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range sources {
		got = append(got, s.Name+"|"+s.Below+"|"+strings.TrimSpace(string(s.Text)))
	}
	want := []string{"~/m|a/b/|m", ".git/info/exclude|a/b/|i", "../../.gitignore|a/b/|top", "../.gitignore|b/|a"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
