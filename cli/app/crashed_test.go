package app

import (
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// A revert leads to no checkpoint, so what is said of one that did not finish names none.
func TestCrashedCure(t *testing.T) {
	none := manifest.CheckpointID{}.String()
	crash := &project.CrashedRestore{Kind: manifest.OpRevert}
	said := CrashedWhat("the", crash) + ", " + CrashedCure(crash)
	if strings.Contains(said, none) || !strings.Contains(said, "the revert") || !strings.Contains(said, "rewind undo") {
		t.Error(said)
	}
	crash = &project.CrashedRestore{Kind: manifest.OpRestore}
	if got := CrashedWhat("a", crash) + CrashedCure(crash); strings.Count(got, none) != 2 {
		t.Error(got)
	}
	if got := CrashedWhat("a", &project.CrashedRestore{Kind: manifest.OpUndo}); got != "an undo" {
		t.Error(got)
	}
	for _, crash := range []*project.CrashedRestore{{Kind: manifest.OpRestore, Some: true}, {Kind: manifest.OpUndo}, {Kind: manifest.OpUndoRestore}, {Kind: manifest.OpRedoRestore}} {
		if got := CrashedCure(crash); got != "rewind undo puts it back" {
			t.Errorf("%+v: %s would change other paths, too", crash, got)
		}
	}
}
