package cli

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine"
	"github.com/rewind-cli/rewind/engine/project"
)

// Nothing that comes from outside reaches the picker raw: it shows what it is given.
func TestPickIsEscaped(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := make([]project.Listed, 3)
		for i := range items {
			items[i].Kind, items[i].Tool = "tool", "a\x1b[2Jtool"
			items[i].Prompt = rapid.String().Draw(t, "prompt")
			items[i].Description = rapid.SampledFrom([]string{"", "say \x1b[2J", "世界 wide"}).Draw(t, "description")
		}
		var shown []string
		for _, row := range pickRows(items, time.Now()) {
			shown = append(shown, row.Cells...)
		}
		plan := &engine.Restored{Create: []string{"x\x1b[2J"}, Delete: []string{"\x1b]0;x\a"}}
		shown = append(shown, pickPreview(screen.Painter{}, plan, nil)...)
		shown = append(shown, pickPreview(screen.Painter{}, nil, errors.New("no \x1b[2J"))...)
		for _, text := range shown {
			if firstUnsafe(text) >= 0 || strings.ContainsRune(text, '\x1b') {
				t.Fatalf("raw escape in %q", text)
			}
		}
	})
}

// A preview names no more paths than the picker has lines for.
func TestPickPreviewIsShort(t *testing.T) {
	lines := pickPreview(screen.Painter{}, &engine.Restored{Delete: make([]string, 30), Create: []string{"x"}}, nil)
	if len(lines) != screen.PreviewLines {
		t.Errorf("%d lines, want %d", len(lines), screen.PreviewLines)
	}
}
