package report

import (
	"fmt"
	"slices"
	"testing"

	"github.com/rewind-cli/rewind/engine/gitrestore"
	"github.com/rewind-cli/rewind/engine/restore"
)

// TestManyReferences: of many references of which a line says the same, the first are named, and the others counted.
func TestManyReferences(t *testing.T) {
	r := &restore.Restored{}
	add := func(n int, change gitrestore.Change, repo string) {
		for i := range n {
			r.GitState = append(r.GitState, gitrestore.Line{What: gitrestore.Ref, Change: change, Name: fmt.Sprintf("refs/heads/b%04d", i), Repo: repo})
		}
	}
	add(1200, gitrestore.Returns, "")
	add(11, gitrestore.Goes, "")
	add(12, gitrestore.Goes, "mods/lib")
	text := GitStateText(r)
	if len(text) != 11+11+11 || text[9] != "branch b0009 returns" || text[10] != "1190 more references return" || text[21] != "branch b0010 goes" || text[32] != "in mods/lib, 2 more references go" {
		t.Errorf("%d lines: %q", len(text), slices.Concat(text[9:11], text[21:]))
	}
}
