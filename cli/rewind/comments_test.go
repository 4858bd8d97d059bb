package main

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// foreignNames are in comments and in no code: events of agents and settings of programs that we do not read, and names of companies and products.
var foreignNames = map[string]bool{"ignoreCase": true, "macOS": true, "OpenAI": true, "PreCompress": true, "BeforeModel": true, "AfterModel": true, "TypeScript": true, "uXXXX": true}

// A comment names what the code has: a doc comment that begins with a name begins with the declared one, and a name of several words exists.
func TestCommentsNameWhatIsThere(t *testing.T) {
	word := regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)
	severalWords := regexp.MustCompile(`\b[A-Za-z]*[a-z][A-Z][A-Za-z0-9]*\b`)
	inCode := map[string]bool{}
	fset := token.NewFileSet()
	var files []*ast.File
	err := filepath.WalkDir(filepath.Join("..", ".."), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		var s scanner.Scanner
		s.Init(token.NewFileSet().AddFile(name, -1, len(data)), data, nil, 0)
		for _, tok, text := s.Scan(); tok != token.EOF; _, tok, text = s.Scan() {
			for _, w := range word.FindAllString(text, -1) {
				inCode[w] = true
			}
		}
		if !strings.HasSuffix(name, "_test.go") {
			f, err := parser.ParseFile(fset, name, data, parser.ParseComments)
			if err != nil {
				return err
			}
			files = append(files, f)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	begins := func(doc *ast.CommentGroup, names ...*ast.Ident) {
		first := word.FindString(doc.Text())
		if first == "" || !strings.HasPrefix(doc.Text(), first) || first[0] < 'a' { // an English sentence, or a name that it may begin with
			return
		}
		for _, n := range names {
			if n.Name == first {
				return
			}
		}
		t.Errorf("%s: the comment begins with %q, the declaration is %s", fset.Position(doc.Pos()), first, names[0].Name)
	}
	for _, f := range files {
		for _, c := range f.Comments {
			for _, w := range severalWords.FindAllString(c.Text(), -1) {
				if !inCode[w] && !foreignNames[w] {
					t.Errorf("%s: nothing is called %s", fset.Position(c.Pos()), w)
				}
			}
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				begins(fn.Doc, fn.Name)
				continue
			}
			group := d.(*ast.GenDecl)
			for _, s := range group.Specs {
				var doc *ast.CommentGroup
				var names []*ast.Ident
				switch s := s.(type) {
				case *ast.TypeSpec:
					doc, names = s.Doc, []*ast.Ident{s.Name}
				case *ast.ValueSpec:
					doc, names = s.Doc, s.Names
				default:
					continue
				}
				begins(doc, names...)
				if !group.Lparen.IsValid() {
					begins(group.Doc, names...)
				}
			}
		}
	}
}
