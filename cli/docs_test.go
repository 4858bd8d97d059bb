package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestInvariantsNameTests: the tests that docs/INVARIANTS.md names are there, in the packages that it names.
func TestInvariantsNameTests(t *testing.T) {
	text, err := os.ReadFile("../docs/INVARIANTS.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, list := range regexp.MustCompile(`(?s)\nTests: .*?(\n\n|$)`).FindAllString(string(text), -1) {
		for _, part := range strings.Split(strings.TrimPrefix(list, "\nTests: "), ";") {
			pkg := regexp.MustCompile("`([^`]+)`").FindStringSubmatch(part)
			for _, name := range regexp.MustCompile(`\bTest\w+`).FindAllString(part, -1) {
				if pkg == nil {
					t.Errorf("%s is in no package", name)
				} else if !declares(t, filepath.Join("..", pkg[1]), name) {
					t.Errorf("%s has no %s", pkg[1], name)
				}
				found++
			}
			if _, scenes, ok := strings.Cut(part, "the scenes"); ok {
				for _, scene := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(scenes, -1) {
					if _, err := os.Stat("testdata/script/" + scene[1] + ".txt"); err != nil {
						t.Error(err)
					}
				}
			}
		}
	}
	if found < 80 {
		t.Errorf("only %d tests are named", found)
	}
}

func declares(t *testing.T, dir, name string) bool {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+name+"(") {
			return true
		}
	}
	return false
}

// TestPlainWords: what people read has the words of the field.
func TestPlainWords(t *testing.T) {
	private := regexp.MustCompile(`(?i)\b(said|told|nobody|kept as found|stands (on|beside|in)|goes on)\b`)
	for _, glob := range []string{"../README.md", "../docs/*.md", "testdata/help/*.txt"} {
		files, err := filepath.Glob(glob)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", glob, len(files), err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for i, line := range strings.Split(string(text), "\n") {
				if word := private.FindString(line); word != "" {
					t.Errorf("%s:%d: %q", file, i+1, word)
				}
			}
		}
	}
}
