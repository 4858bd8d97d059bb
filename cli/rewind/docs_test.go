package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDocsNameWhatIsThere: every test and file of the source that the pages name exists, and each name that a page places in a
// file ("`name` in `file.go`") is in that file.
func TestDocsNameWhatIsThere(t *testing.T) {
	root := filepath.Join("..", "..")
	var source strings.Builder
	var files []string
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files = append(files, "/"+strings.TrimPrefix(filepath.ToSlash(file), "../../"))
		if strings.HasSuffix(file, "_test.go") {
			b, err := os.ReadFile(file)
			source.Write(b)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	test := regexp.MustCompile(`\b(Test|Fuzz|Benchmark)[A-Z]\w*(\*?)`)
	placed := regexp.MustCompile("`([A-Za-z][\\w.]*)` (?:in |\\()`([\\w/]+\\.go)`")
	goFile := regexp.MustCompile("`([\\w/]+\\.go)`")
	for _, page := range []string{"ARCHITECTURE.md", "INVARIANTS.md", "SITUATIONS.md", "RACY.md", "SPEED.md", "FORMAT.md", "PI.md", "AGENTS.md", "CONTRIBUTING.md", "SECURITY.md", "CERTAINTY.md", "RECIPES.md", "../README.md"} {
		text, err := os.ReadFile(filepath.Join(root, "docs", page))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range test.FindAllString(string(text), -1) {
			name, family := strings.CutSuffix(m, "*")
			if !family {
				name += "("
			}
			if !strings.Contains(source.String(), "func "+name) {
				t.Errorf("%s names %s, which is not there", page, m)
			}
		}
	files:
		for _, m := range goFile.FindAllStringSubmatch(string(text), -1) {
			for _, file := range files {
				if strings.HasSuffix(file, "/"+m[1]) {
					continue files
				}
			}
			t.Errorf("%s names %s, which is not there", page, m[1])
		}
		for _, m := range placed.FindAllStringSubmatch(string(text), -1) {
			if strings.HasSuffix(m[1], ".go") {
				continue
			}
			name := regexp.MustCompile(`\b` + m[1][strings.LastIndex(m[1], ".")+1:] + `\b`)
			if !slices.ContainsFunc(files, func(file string) bool {
				b, err := os.ReadFile(filepath.Join(root, file))
				return strings.HasSuffix(file, "/"+m[2]) && err == nil && name.Match(b)
			}) {
				t.Errorf("%s looks for %s in %s, which does not have it", page, m[1], m[2])
			}
		}
	}
}
