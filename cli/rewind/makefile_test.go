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
	inPackages(t, "SEQUENTIAL", func(file, at string, n ast.Node) {
		switch n := n.(type) {
		case *ast.GoStmt:
			t.Errorf("%s: a goroutine: test the package with -race", at)
		case *ast.ImportSpec:
			if n.Path.Value == `"sync"` || n.Path.Value == `"sync/atomic"` {
				t.Errorf("%s: %s: test the package with -race", at, n.Path.Value)
			}
		case *ast.SelectorExpr:
			if n.Sel.Name == "Parallel" {
				t.Errorf("%s: tests at once: test the package with -race", at)
			}
		}
	})
}

// TestPackagesWithoutGoroutines: what only soak tests with -race by itself starts no goroutine, but in its tests.
func TestPackagesWithoutGoroutines(t *testing.T) {
	inPackages(t, "ALONE", func(file, at string, n ast.Node) {
		goes := false
		switch n := n.(type) {
		case *ast.GoStmt:
			goes = true
		case *ast.SelectorExpr:
			goes = n.Sel.Name == "Go"
		}
		if goes && !strings.HasSuffix(file, "_test.go") {
			t.Errorf("%s: a goroutine: test the package with -race", at)
		}
	})
}

// inPackages visits the source of the packages that a variable of the Makefile lists.
func inPackages(t *testing.T, variable string, visit func(file, at string, n ast.Node)) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^` + variable + ` = (.+)$`).FindSubmatch(text)
	if line == nil {
		t.Fatalf("the Makefile has no %s", variable)
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
				if n != nil {
					visit(file, set.Position(n.Pos()).String(), n)
				}
				return true
			})
		}
	}
}
