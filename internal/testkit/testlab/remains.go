package testlab

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/rewind-cli/rewind/internal/testkit/remains"
)

// Secret is a text that tests forget.
const Secret = "hunter2-correct-horse-battery"

// Holding lists the files below dirs that hold a text.
func Holding(t testing.TB, text string, dirs ...string) []string {
	t.Helper()
	found, err := remains.Find(text, dirs...)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Nowhere fails the test if a text is anywhere in the store, its mirror or the directory of the account.
func (l *Lab) Nowhere(text, when string) {
	l.T.Helper()
	if found := Holding(l.T, text, filepath.Join(l.Root, ".agent"), filepath.Join(l.Env.Home, ".rewind")); len(found) > 0 {
		l.T.Errorf("%s: the text is in %s", when, fmt.Sprint(found))
	}
}
