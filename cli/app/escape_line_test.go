package app

import (
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"
)

func TestFirstLineIsBounded(t *testing.T) {
	for _, s := range []string{strings.Repeat("a", 1<<20), strings.Repeat("\x1b", 1<<20), strings.Repeat("界", 1<<18), strings.Repeat("é", 1<<18), " \n" + strings.Repeat("x", maxLine+1)} {
		got := FirstLine(s)
		if w := displaywidth.String(got); w > maxLine || w < maxLine-1 || !strings.HasSuffix(got, "…") {
			t.Errorf("%.10q: %d columns, ends with %q", s, w, got[max(len(got)-5, 0):])
		}
	}
	if s := strings.Repeat("a", maxLine); FirstLine(s) != s {
		t.Error("what fits is cut")
	}
}
