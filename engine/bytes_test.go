//go:build unix

package engine

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/rewind-cli/rewind/internal/testkit/remains"
)

// holding lists the files below dirs that hold a text.
func holding(t testing.TB, text string, dirs ...string) []string {
	t.Helper()
	found, err := remains.Find(text, dirs...)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// nowhere fails if a text is anywhere in the store, the mirror or the account's directory.
func (l *lab) nowhere(text, when string) {
	l.t.Helper()
	if found := holding(l.t, text, filepath.Join(l.root, ".agent"), filepath.Join(l.env.Home, ".rewind")); len(found) > 0 {
		l.t.Errorf("%s: the text is in %s", when, fmt.Sprint(found))
	}
}
