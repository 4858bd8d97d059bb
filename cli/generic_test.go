package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What docs/GENERIC.md shows is what the scene "generic" runs.
func TestGenericExamples(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "GENERIC.md"))
	if err != nil {
		t.Fatal(err)
	}
	scene, err := os.ReadFile(filepath.Join("testdata", "script", "generic.txt"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(page), "```sh not run\n")[1:]
	if len(blocks) != 2 {
		t.Fatalf("%d examples", len(blocks))
	}
	for _, b := range blocks {
		if text, _, _ := strings.Cut(b, "```"); !strings.Contains(string(scene), " --\n"+text) {
			t.Errorf("the scene does not run\n%s", text)
		}
	}
}
