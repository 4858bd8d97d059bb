package ignore_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/ignore"
)

// files is a tree of rule files: path to content.
type files map[string]string

func (f files) read(path string) []byte {
	if text, ok := f[path]; ok {
		return []byte(text)
	}
	return nil
}

// index stands for git's.
type index []string

func (x index) has(path string) bool {
	for _, p := range x {
		if p == path {
			return true
		}
	}
	return false
}

func (x index) below(dir string) bool {
	for _, p := range x {
		if strings.HasPrefix(p, dir+"/") {
			return true
		}
	}
	return false
}

func compile(t testing.TB, c ignore.Config, tracked index) *ignore.Rules {
	t.Helper()
	if tracked != nil {
		c.Tracked, c.TrackedBelow = tracked.has, tracked.below
	}
	r, err := ignore.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// check asks for paths, directories with a "/" at the end, grouped by the expected decision.
func check(t *testing.T, r *ignore.Rules, tree files, want map[ignore.Decision]string) {
	t.Helper()
	for d, paths := range want {
		for _, p := range strings.Fields(paths) {
			path, dir := strings.CutSuffix(p, "/")
			if got, rule := r.Decide(path, dir, tree.read); got != d {
				t.Errorf("%s: %v (%s), want %v", p, got, rule, d)
			}
		}
	}
}

type decisions = map[ignore.Decision]string

func TestDecide(t *testing.T) {
	for _, c := range []struct {
		name    string
		config  ignore.Config
		tracked index
		tree    files
		want    decisions
	}{
		{
			name: "nothing is ignored unless a rule says so",
			want: decisions{ignore.Capture: "a cmd/out/ cmd/out/x src/build/x dist/ target/ vendor/x .env .env.local bin/x logs/x.log .gitignore .github/workflows/x"},
		},
		{
			name:   ".git and the store never, whatever brings back",
			config: ignore.Config{StorePath: ".agent/rewind", ForceInclude: []string{"*", "/.git", ".agent", "config", "/a/.git/HEAD"}, NoIgnore: true},
			tracked: index{
				".git/config", ".agent/rewind/config.json", ".agent/rewind/objects/x",
			},
			want: decisions{
				ignore.Skip:    ".git/ .git .GIT/ a/.Git a/b/.git/ .git/config a/.git/HEAD .git/x/y .agent/rewind/ .agent/rewind/config.json .agent/rewind/objects/x",
				ignore.Capture: ".gitx git a/.agent/rewind/ .agent/rewindx .agent/x",
			},
		},
		{
			name:    "copies of another tool never, whatever brings back",
			config:  ignore.Config{ForceInclude: []string{"*", ".claudepoint"}, NoIgnore: true},
			tracked: index{".claudepoint/x"},
			want: decisions{
				ignore.Skip:    ".claudepoint/ .claudepoint/x a/.claudepoint/ a/.claudepoint/b/c",
				ignore.Capture: ".claudepointx claudepoint/",
			},
		},
		{
			name:    "names that are never source, unless git tracks them",
			tracked: index{"web/node_modules/own/index.js", "a.swp"},
			tree:    files{".gitignore": "!node_modules\n!*.swp\n!.cache\n"},
			want: decisions{
				ignore.Skip:    "node_modules/ node_modules a/b/node_modules/ .venv/ x/__pycache__/ .cache/ .next/ .nuxt/ b.swp x/.c.swp web/node_modules/other/ web/node_modules/own/x.js",
				ignore.Descend: "web/node_modules/ web/node_modules/own/",
				ignore.Capture: "web/node_modules/own/index.js a.swp node_modulesx .cached",
			},
		},
		{
			name:   "rules written for rewind bring back what is never source",
			config: ignore.Config{Ignore: []string{"!/.next"}},
			tree:   files{"a/.rewindignore": "!.cache\n"},
			want: decisions{
				ignore.Capture: "a/.cache/ a/.cache/x a/b/.cache/x .next/x",
				ignore.Skip:    ".cache/ a/.next/",
			},
		},
		{
			name:    "agents' own directories are a person's work, but for their worktrees and the store",
			config:  ignore.Config{StorePath: ".agent/rewind", ForceInclude: []string{"*.forced"}},
			tracked: index{".claude/worktrees/t/tracked"},
			tree:    files{".gitignore": "/.codex/\n"},
			want: decisions{
				ignore.Descend: ".agent/ .claude/worktrees/ .claude/worktrees/t/ .codex/",
				ignore.Capture: ".claude/ .claude/commands/x.md .claude .factory/ .factory/droids/x .pi/x .cursor/rules/x .agent/rules/ .agent/rules/x sub/.claude/x worktrees/x .claude/worktrees/t/tracked .codex/a.forced",
				ignore.Skip:    ".agent .agent/rewind/ .agent/rewind/x .claude/worktrees/t/x sub/.claude/worktrees/ sub/.claude/worktrees/x .codex/x",
			},
		},
		{
			name:   "the directory with the store, ignored by git",
			config: ignore.Config{StorePath: ".agent/rewind"},
			tree:   files{".gitignore": ".agent\n"},
			want:   decisions{ignore.Skip: ".agent/ .agent/rules/x"},
		},
		{
			name:   "a rewindignore beats the gitignore beside it, and is beaten from further in",
			config: ignore.Config{Exclude: []ignore.Source{{Name: "global", Text: []byte("*.tmp\n*.bak\n")}, {Name: "exclude", Text: []byte("!x.bak\n")}}},
			tree: files{
				".gitignore":        "*.log\n!*.tmp\n",
				".rewindignore":     "!a.log\nbig.tmp\n",
				"in/.gitignore":     "a.log\n",
				"out/.gitignore":    "!keep.log\nbig\n",
				"own/.gitignore":    "!*\n",
				"own/.rewindignore": "data\n",
			},
			want: decisions{
				ignore.Capture: "a.log out/a.log out/keep.log x.tmp x.bak",
				ignore.Skip:    "b.log in/a.log out/b.log big.tmp y.bak out/big/ own/data",
			},
		},
		{
			name:   "the configuration beats every rule file",
			config: ignore.Config{Ignore: []string{"*.log", "!keep.log", "/big/"}},
			tree:   files{"a/.gitignore": "!*.log\nkeep.log\n", "a/.rewindignore": "!*.log\nkeep.log\n"},
			want: decisions{
				ignore.Skip:    "a/x.log big/ big/x",
				ignore.Capture: "a/keep.log big a/big/",
			},
		},
		{
			name:    "tracked files of ignored directories, and nothing else of them",
			tracked: index{"build/keep/a.txt", "x.log", "lib/sub"},
			tree:    files{".gitignore": "build/\n*.log\nlib\n", "build/keep/.gitignore": "!*\n"},
			want: decisions{
				ignore.Descend: "build/ build/keep/ lib/",
				ignore.Capture: "build/keep/a.txt x.log lib/sub/ lib/sub/file",
				ignore.Skip:    "build/x build/other/ build/keep/b.txt build/keep/.gitignore y.log lib/other/ lib/sub/y.log",
			},
		},
		{
			name:   "forceInclude names a file below ignored directories",
			config: ignore.Config{ForceInclude: []string{"/build/gen/out.txt", "dist/*/map.json", "secret/**/x"}},
			tree:   files{".gitignore": "build\ndist\nsecret\n"},
			want: decisions{
				ignore.Descend: "build/ build/gen/ dist/ dist/a/ secret/ secret/a/ secret/a/b/",
				ignore.Capture: "build/gen/out.txt dist/a/map.json secret/a/b/x secret/x",
				ignore.Skip:    "build/x build/gen/x build/other/ build/gen/deep/ dist/a/b/ dist/map.json sub/build/ secret/y",
			},
		},
		{
			name:   "forceInclude without a directory reaches into ignored directories, not into what is never source",
			config: ignore.Config{ForceInclude: []string{".env", "**/keep.me", "node_modules/mine/"}},
			tree:   files{".gitignore": "build/\n.env\n"},
			want: decisions{
				ignore.Descend: "build/ build/a/ node_modules/",
				ignore.Capture: ".env build/.env build/a/.env build/a/keep.me node_modules/mine/ node_modules/mine/x node_modules/mine/.cache/y",
				ignore.Skip:    "build/x .venv/ a/node_modules/ node_modules/x node_modules/other/ node_modules/x/.env node_modules/mine",
			},
		},
		{
			name:   "a forceInclude pattern of several names at any depth reaches as one of one name does",
			config: ignore.Config{ForceInclude: []string{"**/own/cfg", "!/dist/x"}},
			tree:   files{".gitignore": "build/\ndist/\n"},
			want: decisions{
				ignore.Descend: "build/ build/own/ dist/",
				ignore.Capture: "build/own/cfg own/cfg",
				ignore.Skip:    "node_modules/ build/own/x",
			},
		},
		{
			name:   "what forceInclude takes away is no reason to look into an ignored directory",
			config: ignore.Config{ForceInclude: []string{"/x", "!/build/a/b", "!c"}},
			tree:   files{".gitignore": "build/\n"},
			want:   decisions{ignore.Skip: "build/ build/a/"},
		},
		{
			name:   "all below a forced directory, but for what forceInclude takes away again",
			config: ignore.Config{ForceInclude: []string{"build", "!build/tmp", "!*.o"}, Ignore: []string{"build"}},
			tree:   files{".gitignore": "build\n*.o\n", "build/.gitignore": "*\n"},
			want: decisions{
				ignore.Capture: "build/ build/x build/a/b/ build/a/b/c x.c",
				ignore.Descend: "build/tmp/", // there might be a "build" in it
				ignore.Skip:    "build/tmp/x build/x.o x.o",
			},
		},
		{
			name:   "captureIgnored small: files that git ignores, not directories, not what rewind's rules ignore",
			config: ignore.Config{CaptureIgnored: "small", Ignore: []string{"*.big"}, Exclude: []ignore.Source{{Name: "j", Text: []byte("*.own\n"), Own: true}}},
			tree:   files{".gitignore": "*.log\nbuild\n*.big\n", ".rewindignore": "*.tmp\n"},
			want: decisions{
				ignore.IfSmall: "a.log x/b.log build",
				ignore.Skip:    "build/ build/x a.big a.tmp a.own a.swp node_modules/",
			},
		},
		{
			name:   "captureIgnored all: directories, too",
			config: ignore.Config{CaptureIgnored: "all", Ignore: []string{"*.big"}},
			tree:   files{".gitignore": "*.log\nbuild\n*.big\n", ".rewindignore": "*.tmp\n"},
			want: decisions{
				ignore.Capture: "a.log build/ build/x build/y.log",
				ignore.Skip:    "a.big build/a.big build/a.tmp node_modules/ build/x/node_modules/ .git/",
			},
		},
		{
			name:   "no ignore: everything but .git, the store and agents' worktrees",
			config: ignore.Config{NoIgnore: true, StorePath: "store", Ignore: []string{"*.big"}},
			tree:   files{".gitignore": "*\n", ".rewindignore": "*\n"},
			want: decisions{
				ignore.Capture: "a node_modules/ node_modules/x a.swp .cache/x a.big .claude/x .agent/x",
				ignore.Descend: ".agent/",
				ignore.Skip:    ".git/ store/ store/x .agent .agent/rewind/ .claude/worktrees/",
			},
		},
		{
			name: "outer rule files see the path from where they lie",
			config: ignore.Config{
				StorePath: "sub/store", ForceInclude: []string{"/sub/f"}, Ignore: []string{"/c"},
				Exclude: []ignore.Source{
					{Name: "exclude", Text: []byte("/top/mid/x\n/x2\n*.o\n"), Below: "top/mid/"},
					{Name: "../../.gitignore", Text: []byte("!/top/mid/a.o\nmid/y\n"), Below: "top/mid/"},
					{Name: "../.gitignore", Text: []byte("/mid/sub/z\n/mid/*/w\n/z2\n"), Below: "mid/"},
				},
			},
			tree: files{"sub/.gitignore": "/f\n/g\n"},
			want: decisions{
				ignore.Skip:    "x sub/z sub/w b.o sub/a.o sub/store/ sub/g c",
				ignore.Capture: "x2 a.o y z z2 sub/sub/z sub/x sub/f sub/c",
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			check(t, compile(t, c.config, c.tracked), c.tree, c.want)
		})
	}
}

// A caller that goes into a .git or the store nevertheless finds nothing there.
func TestNothingBelowWhatIsNeverCaptured(t *testing.T) {
	c := ignore.Config{StorePath: "store", NoIgnore: true, ForceInclude: []string{"config", "/.git/HEAD", "store"}}
	s := compile(t, c, index{".git/x", "store/x"}).Root(nil)
	for _, dir := range []string{".git", "store"} {
		below := s.Child(dir, nil)
		for _, name := range []string{"config", "HEAD", "x", "store"} {
			if d, _ := below.Decide(name, false); d != ignore.Skip {
				t.Errorf("%s/%s: %v", dir, name, d)
			}
			if d, _ := below.Child("refs", nil).Decide(name, true); d != ignore.Skip {
				t.Errorf("%s/refs/%s/: %v", dir, name, d)
			}
		}
	}
}

// The rule that decided is named as a person would look it up.
func TestDecideNamesTheRule(t *testing.T) {
	tree := files{".gitignore": "# objects\n*.o\n", "a/.rewindignore": "/data\n!x.o\n"}
	r := compile(t, ignore.Config{Ignore: []string{"*.big"}, ForceInclude: []string{"f.big"}}, index{"t.o"})
	for path, want := range map[string]string{
		"x.o": ".gitignore:2: *.o", "a/y.o": ".gitignore:2: *.o", "a/x.o": "a/.rewindignore:2: !x.o", "a/data": "a/.rewindignore:1: /data",
		"x.big": "config ignore: *.big", "f.big": "config forceInclude: f.big", "t.o": "tracked by git", "x.c": "", "node_modules": "never source: node_modules",
	} {
		if _, rule := r.Decide(path, false, tree.read); rule != want {
			t.Errorf("%s: %q, want %q", path, rule, want)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	for _, c := range []ignore.Config{
		{CaptureIgnored: "some"},
		{Exclude: []ignore.Source{{Below: "a/b/"}, {Below: "a/"}}},
		{Exclude: []ignore.Source{{Below: "b"}}},
	} {
		var e *ignore.ConfigError
		if _, err := ignore.Compile(c); !errors.As(err, &e) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// Equal hashes promise equal decisions: whatever changes one changes the other.
func TestHashes(t *testing.T) {
	base := ignore.Config{Ignore: []string{"a"}, Exclude: []ignore.Source{{Name: "n", Text: []byte("b\n")}}}
	variants := []func(*ignore.Config){
		func(*ignore.Config) {},
		func(c *ignore.Config) { c.Ignore = []string{"a", "b"} },
		func(c *ignore.Config) { c.Ignore, c.ForceInclude = nil, []string{"a"} },
		func(c *ignore.Config) { c.Exclude = []ignore.Source{{Text: []byte("c\n")}} },
		func(c *ignore.Config) { c.Exclude = []ignore.Source{{Text: []byte("b\n"), Own: true}} },
		func(c *ignore.Config) { c.Exclude = []ignore.Source{{Text: []byte("b\n"), Below: "x/"}} },
		func(c *ignore.Config) { c.NoIgnore = true },
		func(c *ignore.Config) { c.CaptureIgnored = "all" },
		func(c *ignore.Config) { c.StorePath = "s" },
		func(c *ignore.Config) { c.AccountPath = "s" },
		func(c *ignore.Config) { c.SessionPaths = []string{"s"} },
		func(c *ignore.Config) { c.TrackedHash = 1 },
	}
	seen := map[uint64]int{}
	for i, change := range variants {
		c := base
		change(&c)
		h := compile(t, c, nil).Hash()
		if j, ok := seen[h]; ok {
			t.Errorf("variants %d and %d have the same hash", i, j)
		}
		seen[h] = i
	}
	c := base
	c.Exclude = []ignore.Source{{Name: "renamed", Text: []byte("b\n")}}
	if compile(t, c, nil).Hash() != compile(t, base, nil).Hash() {
		t.Error("the name of a source, which is for messages, changes the hash")
	}
}

func TestParseJSON(t *testing.T) {
	for _, c := range []struct {
		data, text string
		bad        bool
	}{
		{`["*.log", "/out/"]`, "*.log\n/out/\n", false},
		{`{"ignore": ["a"]}`, "a\n", false},
		{`{"patterns": ["a", "!b"], "version": 1}`, "a\n!b\n", false},
		{`{"ignore": ["a"], "patterns": ["b"]}`, "a\nb\n", false},
		{`{"ignorePatterns": ["a"], "additionalIgnores": ["b"], "forceInclude": [".env.example"]}`, "a\nb\n!.env.example\n", false},
		{`[]`, "", false},
		{`{}`, "", false},
		{`["a", 1, "b"]`, "a\nb\n", true},
		{`["a\nb", "c"]`, "c\n", true},
		{`{"ignore": "a"}`, "", true},
		{`["a"`, "", true},
		{``, "", true},
		{`"a"`, "", true},
	} {
		s, err := ignore.ParseJSON("rewind-checkpoint-ignore.json", []byte(c.data))
		if string(s.Text) != c.text || (err != nil) != c.bad {
			t.Errorf("%s: %q, %v", c.data, s.Text, err)
		}
		var e *ignore.JSONError
		if err != nil && !errors.As(err, &e) {
			t.Errorf("%s: %T", c.data, err)
		}
		if !s.Own {
			t.Errorf("%s: not rewind's own", c.data)
		}
	}
}

func TestRuleFile(t *testing.T) {
	for name, want := range map[string]bool{".gitignore": true, ".rewindignore": true, "gitignore": false, ".dockerignore": false, "": false} {
		if ignore.RuleFile(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}

// A rule file is captured whatever the rules say of it, but not where it leaves out all of its directory.
func TestRuleFilesAreCaptured(t *testing.T) {
	rules := map[string]string{
		".gitignore": ".*\nbuild/\n", "sub/.gitignore": "*.log\n", "sub/.rewindignore": "*.tmp\n",
		"cache/.gitignore": "# made by a program\n*\n", "half/.gitignore": "*\n!keep\n", "build/.gitignore": "x\n",
	}
	for _, capture := range []string{"none", "precious", "small", "all"} {
		r, err := ignore.Compile(ignore.Config{CaptureIgnored: capture, Ignore: []string{"*.rewindignore"}})
		if err != nil {
			t.Fatal(err)
		}
		in := func(dir string) func(string) []byte {
			return func(name string) []byte {
				if text, ok := rules[dir+name]; ok {
					return []byte(text)
				}
				return nil
			}
		}
		root := r.Root(in(""))
		for path, want := range map[string]bool{
			".gitignore": true, ".foo": false, "rewind-checkpoint-ignore.json": true,
			"sub/.gitignore": true, "sub/.rewindignore": true, "sub/a.log": false,
			"cache/.gitignore": false, "half/.gitignore": true, "half/keep": true, "build/.gitignore": false,
		} {
			scope, name := root, path
			if dir, base, ok := strings.Cut(path, "/"); ok {
				scope, name = root.Child(dir, in(dir+"/")), base
			}
			d, label := scope.Decide(name, false)
			if got := d != ignore.Skip && d != ignore.IfSmall; got != want && capture != "all" && capture != "small" || !got && want {
				t.Errorf("%s: %s: %v (%s)", capture, path, d, label)
			}
		}
	}
}
