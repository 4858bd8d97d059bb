package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSequentialPackages: what the Makefile tests without -race alone starts no goroutine, in its code or in its tests.
func TestSequentialPackages(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^SEQUENTIAL = (.+)$`).FindSubmatch(text)
	if line == nil {
		t.Fatal("the Makefile has no SEQUENTIAL")
	}
	for _, dir := range strings.Fields(string(line[1])) {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(dir), "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", dir, len(files), err)
		}
		set := token.NewFileSet()
		for _, file := range files {
			parsed, err := parser.ParseFile(set, file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(parsed, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.GoStmt:
					t.Errorf("%s: a goroutine: test the package with -race", set.Position(n.Pos()))
				case *ast.ImportSpec:
					if n.Path.Value == `"sync"` || n.Path.Value == `"sync/atomic"` {
						t.Errorf("%s: %s: test the package with -race", set.Position(n.Pos()), n.Path.Value)
					}
				case *ast.SelectorExpr:
					if n.Sel.Name == "Parallel" {
						t.Errorf("%s: tests at once: test the package with -race", set.Position(n.Pos()))
					}
				}
				return true
			})
		}
	}
}
