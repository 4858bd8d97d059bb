package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// allowed says which of the project's packages a package may import: itself and
// its sub-packages are always allowed. Imports point one way.
var allowed = map[string][]string{
	"cas":      {},
	"manifest": {},
	"hookio":   {},
	"engine":   {"cas", "manifest"},
	"cli":      {"engine", "hookio", "manifest"},
	"bench":    {"cas", "manifest", "engine", "hookio", "cli"},
	"internal": {"cas"},
}

// inside says it of the packages below cli, hookio and manifest.
var inside = map[string][]string{
	"cli/screen":      {"engine/graph"},
	"cli/web":         {},
	"hookio/shell":    {},
	"hookio/jsonscan": {},
	"hookio/register": {"hookio", "hookio/shell"},
	"manifest/wire":   {},
	"manifest/table":  {"manifest/wire"},
	"cas/pack":        {},
	"cas/oid":         {},
	"cas/vfs":         {},
}

// inCLI says of the packages below cli which of their neighbours they use, from the bottom up. All of them may import
// what cli may. Commands never import each other.
var inCLI = map[string][]string{
	"cli/app":             {"cli/screen"},
	"cli/rows":            {"cli/app", "cli/screen"},
	"cli/report":          {"cli/app", "cli/registration", "cli/rows", "cli/screen"},
	"cli/registration":    {"cli/app"},
	"cli/command/show":    {"cli/app", "cli/report", "cli/rows", "cli/screen"},
	"cli/command/restore": {"cli/app", "cli/report", "cli/rows", "cli/screen"},
	"cli/command/remote":  {"cli/app", "cli/report", "cli/rows"},
	"cli/command/store":   {"cli/app", "cli/registration", "cli/report", "cli/rows", "cli/screen"},
	"cli/command/setup":   {"cli/app", "cli/registration", "cli/report", "cli/rows", "cli/screen"},
	"cli/plan":            {"cli/app", "cli/report", "cli/rows", "cli/screen"},
	"cli/picker":          {"cli/app", "cli/plan", "cli/rows", "cli/screen"},
	"cli/page":            {"cli/app", "cli/picker", "cli/plan", "cli/report", "cli/rows", "cli/screen", "cli/web"},
	"cli/hook":            {"cli/app", "cli/registration", "cli/report", "cli/screen"},
}

// inEngine says it of the packages below engine, from the bottom up: each names those that it
// uses. engine itself holds no code, so that none can import it.
var inEngine = map[string][]string{
	"engine/ignore":     {"engine/problem"},
	"engine/linediff":   {},
	"engine/patch":      {"engine/linediff"},
	"engine/weave":      {"engine/linediff", "manifest"},
	"engine/rootfs":     {},
	"engine/sqlite":     {},
	"engine/settings":   {"engine/problem"},
	"engine/transcript": {},
	"engine/problem":    {},
	"engine/graph":      {},
	"engine/watch":      {},
	"engine/gitrepo":    {"engine/ignore"},
	"engine/scan":       {"engine/ignore", "engine/problem", "engine/rootfs", "engine/sqlite", "manifest"},
	"engine/treeio":     {"engine/problem", "engine/rootfs", "engine/sqlite", "manifest"},
	"engine/bisect":     {},
	"engine/gitprogram": {"engine/patch"},
	"engine/gitrestore": {"engine/gitprogram", "engine/gitrepo"},
	"engine/checkout":   {"engine/problem", "engine/rootfs", "engine/treeio", "manifest"},

	"engine/remote/bucket":         {"engine/gitprogram", "engine/gitrepo", "engine/problem"},
	"internal/testkit/faultbucket": {"engine/remote/bucket"},
	"internal/testkit/testlab":     {"engine", "manifest"},

	"engine/account":      {"cas", "engine/settings"},
	"engine/project":      {"cas", "engine/account", "engine/gitrepo", "engine/problem", "engine/treeio", "engine/scan", "engine/settings", "manifest"},
	"engine/stores":       {"cas", "engine/account", "engine/project", "engine/rootfs", "engine/settings", "manifest"},
	"engine/commit":       {"cas", "engine/project", "manifest"},
	"engine/window":       {"engine/account", "engine/project", "manifest"},
	"engine/pathspec":     {"engine/project", "manifest"},
	"engine/rules":        {"cas", "engine/account", "engine/gitrepo", "engine/ignore", "engine/problem", "engine/project", "engine/treeio", "engine/rootfs", "engine/sqlite", "manifest"},
	"engine/session":      {"cas", "engine/account", "engine/project", "engine/transcript", "manifest"},
	"engine/conversation": {"cas", "engine/account", "engine/commit", "engine/problem", "engine/project", "engine/session", "engine/transcript", "manifest"},
	"engine/rescue":       {"cas", "engine/account", "engine/conversation", "engine/gitprogram", "engine/gitstate", "engine/oplog", "engine/project", "engine/restore", "engine/stores", "manifest"},
	"engine/gitstate":     {"cas", "engine/account", "engine/commit", "engine/gitrepo", "engine/ignore", "engine/problem", "engine/project", "engine/rootfs", "engine/scan", "manifest"},
	"engine/checkpoint": {"cas", "engine/account", "engine/commit", "engine/conversation", "engine/gitrepo", "engine/gitstate", "engine/ignore", "engine/problem", "engine/project", "engine/session", "engine/treeio", "engine/rootfs",
		"engine/rules", "engine/scan", "engine/watch", "engine/window", "manifest"},
	"engine/search": {"cas", "engine/checkpoint", "engine/pathspec", "engine/project", "manifest"},
	"engine/oplog":  {"engine/project", "engine/session", "engine/treeio", "manifest"},
	"engine/reach":  {"cas", "engine/conversation", "engine/project", "engine/transcript", "manifest"},
	"engine/maintain": {"cas", "engine/account", "engine/checkpoint", "engine/commit", "engine/conversation", "engine/gitprogram", "engine/gitrepo", "engine/gitstate", "engine/ignore", "engine/notice", "engine/pathspec", "engine/problem", "engine/project", "engine/reach", "engine/remote", "engine/rootfs", "engine/rules", "engine/treeio",
		"engine/scan", "engine/settings", "engine/stores", "engine/transcript", "engine/window", "manifest"},
	"engine/remote":      {"cas", "engine/account", "engine/gitrepo", "engine/problem", "engine/project", "engine/reach", "engine/remote/bucket", "engine/stores", "manifest"},
	"engine/attribution": {"cas", "engine/project", "engine/rootfs", "engine/transcript", "engine/window", "manifest"},
	"engine/attempts":    {"cas", "engine/conversation", "engine/project", "engine/transcript", "manifest"},
	"engine/gitevents":   {"engine/account", "cas", "engine/gitrepo", "engine/gitstate", "manifest"},
	"engine/timeline":    {"cas", "engine/account", "engine/attribution", "engine/checkpoint", "engine/conversation", "engine/gitevents", "engine/gitstate", "engine/pathspec", "engine/problem", "engine/project", "engine/transcript", "engine/window", "engine/work", "manifest"},
	"engine/notice":      {"engine/account", "engine/project", "manifest"},
	"engine/work":        {"engine/attribution", "engine/conversation", "engine/linediff", "engine/oplog", "engine/patch", "engine/project", "engine/session", "engine/weave", "manifest"},
	"engine/hook":        {"cas", "engine/account", "engine/checkpoint", "engine/commit", "engine/conversation", "engine/maintain", "engine/notice", "engine/project", "engine/session", "engine/settings", "engine/stores", "engine/window", "manifest"},
	"engine/inspect": {"cas", "engine/account", "engine/attempts", "engine/attribution", "engine/checkpoint", "engine/conversation", "engine/gitevents", "engine/gitrepo", "engine/gitstate", "engine/linediff", "engine/oplog",
		"engine/patch", "engine/pathspec", "engine/problem", "engine/project", "engine/rules", "engine/session", "engine/weave", "engine/window", "engine/work", "manifest"},
	"engine/status": {"engine/account", "engine/hook", "engine/inspect", "engine/maintain", "engine/problem", "engine/project", "engine/remote", "engine/stores", "engine/watch", "manifest"},
	"engine/restore": {"cas", "engine/account", "engine/attribution", "engine/checkpoint", "engine/commit", "engine/conversation", "engine/gitevents", "engine/gitrepo", "engine/gitrestore", "engine/gitstate", "engine/ignore", "engine/inspect", "engine/linediff", "engine/maintain",
		"engine/notice", "engine/oplog", "engine/patch", "engine/pathspec", "engine/problem", "engine/project", "engine/rootfs", "engine/rules", "engine/session", "engine/sqlite", "engine/transcript", "engine/treeio", "engine/weave", "engine/window", "engine/work", "manifest"},
	"engine/revert": {"engine/attribution", "engine/conversation", "engine/inspect", "engine/linediff", "engine/notice", "engine/oplog", "engine/patch", "engine/pathspec", "engine/problem", "engine/project",
		"engine/restore", "engine/rules", "engine/session", "engine/sqlite", "engine/transcript", "engine/treeio", "engine/weave", "engine/window", "engine/work", "manifest"},
	"engine/port": {"cas", "engine/account", "engine/checkout", "engine/checkpoint", "engine/commit", "engine/conversation", "engine/gitprogram", "engine/ignore", "engine/inspect", "engine/patch",
		"engine/pathspec", "engine/problem", "engine/project", "engine/rootfs", "engine/rules", "engine/session", "engine/transcript", "manifest"},
	"engine/save": {"engine/account", "engine/checkpoint", "engine/conversation", "engine/gitrepo", "engine/ignore", "engine/maintain", "engine/project", "engine/restore", "engine/rootfs", "engine/rules", "engine/scan", "engine/session", "engine/stores",
		"engine/watch", "manifest"},
}

// neutral are everybody's, and import nothing of ours but each other: what an object is called, how a
// file is opened and put in its place, how numbers and texts are read from untrusted bytes, and JSON
// that others write. hookio itself, which every hook starts with, and shell use the last alone.
var neutral = []string{"cas/oid", "cas/vfs", "manifest/wire", "hookio/jsonscan"}

// forTests are what tests break things with, and the browser that they drive. Any test may use them, and the measurements in bench.
const forTests = "internal/testkit/"

func TestImportsPointOneWay(t *testing.T) {
	root := filepath.Join("..", "..")
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	module, _, _ := strings.Cut(strings.TrimPrefix(string(mod), "module "), "\n") // its only place
	if ours, _ := filepath.Glob(filepath.Join(root, "cli", "main.go")); len(ours) == 0 || !strings.HasSuffix(module, "/rewind") {
		t.Fatalf("%q is not the module of this tree", module)
	}
	files := 0
	err = filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); strings.HasPrefix(name, ".") && name != ".." || name == "testdata" {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(file, ".go") {
			return nil
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		files++
		checkImports(t, module, file, path.Dir(filepath.ToSlash(rel)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 50 {
		t.Fatalf("only %d Go files were found: the walk is wrong", files)
	}
}

func checkImports(t *testing.T, module, file, pkg string) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"util", "utils", "common", "helpers", "misc"} {
		if path.Base(pkg) == name {
			t.Errorf("%s: a package is a noun, not %q", pkg, name)
		}
	}
	if pkg == "engine" && !strings.HasSuffix(file, "_test.go") && filepath.Base(file) != "doc.go" {
		t.Errorf("%s: engine holds no code, each verb is a package below it", file)
	}
	top, _, _ := strings.Cut(pkg, "/")
	rules, strict := inEngine[pkg]
	if inner, ok := inside[pkg]; ok {
		rules, strict = inner, true
	}
	if near, ok := inCLI[pkg]; ok {
		rules, strict = slices.Concat(near, allowed["cli"]), true
	}
	known := strict
	if !known {
		if rules, known = allowed[top]; !known && pkg != "." {
			t.Errorf("%s: a package at the top that the design does not name", pkg)
			return
		}
	}
	for _, spec := range parsed.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		ours, ok := strings.CutPrefix(imported, module+"/")
		if !ok {
			continue
		}
		if strings.HasPrefix(ours, forTests) {
			if !strings.HasSuffix(file, "_test.go") && !strings.HasPrefix(pkg, forTests) && top != "bench" {
				t.Errorf("%s imports %s, which is for tests", pkg, ours)
			}
			continue
		}
		if ours == "cas/pack" && top != "cas" {
			t.Errorf("%s imports %s: the bytes of packs are known to the store alone", pkg, ours)
		}
		if slices.Contains(neutral, ours) && (ours == "hookio/jsonscan" || pkg != "hookio" && pkg != "hookio/shell") {
			continue
		}
		if ours == pkg || strings.HasPrefix(ours, pkg+"/") || !strict && strings.HasPrefix(ours, top) && (ours == top || ours[len(top)] == '/') {
			continue
		}
		// A test may bring in a neighbour of its package as a judge or a source of data.
		fine := strings.HasSuffix(file, "_test.go") && (ours == top || strings.HasPrefix(ours, top+"/"))
		for _, a := range rules {
			if ours == a || strings.HasPrefix(ours, a+"/") {
				fine = true
			}
		}
		if !fine {
			t.Errorf("%s imports %s, which the design forbids", pkg, ours)
		}
	}
}
