package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Words of other programs for what the glossary has a word for. ~/.rewind/vault is a directory's name, and
// vault a JSON field's.
var bannedWords = []string{
	"snapshot", "save point", "blob", "vault", "second name", "compaction", "rollback", "settle", "talk", "harness",
}

// fixedTexts are said as an agent's extension has always said them.
var fixedTexts = map[string]bool{"◆ %d points / %d snapshots": true}

// What a person reads uses the glossary's words: messages have a space in them, which
// keys and fields have not.
func TestWords(t *testing.T) {
	banned := regexp.MustCompile(`(?i)\b(` + strings.Join(bannedWords, "|") + `)s?\b`)
	seen := 0
	for _, room := range []string{".", "../engine", "../hookio"} {
		err := filepath.WalkDir(room, func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				return err
			}
			files := token.NewFileSet()
			parsed, err := parser.ParseFile(files, file, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(parsed, func(n ast.Node) bool {
				lit, ok := n.(*ast.BasicLit)
				if !ok || lit.Kind != token.STRING {
					return true
				}
				text, _ := strconv.Unquote(lit.Value)
				if !strings.Contains(text, " ") || strings.HasPrefix(text, "json:") || fixedTexts[text] {
					return true
				}
				seen++
				if word := banned.FindString(strings.ReplaceAll(text, "~/.rewind/vault", "")); word != "" {
					t.Errorf("%s: %q: not a word of the glossary: %s", files.Position(lit.Pos()), text, word)
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen < 500 {
		t.Errorf("only %d strings were seen", seen)
	}
}

// What the page offers has one name for each action: revert, undo, redo. In other words it may be explained in a
// sentence, but no text of the page calls it by the name that the sentence would have.
func TestWordsOfThePage(t *testing.T) {
	other := regexp.MustCompile(`(?i)\b(tak(e|es|en|ing)|took)\b( it| that| this)? back\b`)
	comment := regexp.MustCompile(`(?m)(^|\s)//.*$`)
	files, err := filepath.Glob("web/page/*.js")
	if err != nil {
		t.Fatal(err)
	}
	own, err := filepath.Glob("page/*.go")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, file := range append(files, own...) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		seen++
		for _, said := range other.FindAllString(comment.ReplaceAllString(string(data), ""), -1) {
			t.Errorf("%s says %q: the page's words are revert, undo and redo", file, said)
		}
	}
	if seen < 20 {
		t.Errorf("only %d files were read", seen)
	}
}
