//go:build unix

package restore_test

import (
	"fmt"
	"testing"

	"github.com/rewind-cli/rewind/engine/restore"
)

// An undo directly after a restore gives back the files from before it, and a redo those after it, whatever the rules of the
// target and of the time of the restore leave out.
func TestUndoOverRules(t *testing.T) {
	rules := []string{"", "app.db-wal\n", "*.db*\n", "plain\napp.db\n"}
	files := []func(*lab){
		func(l *lab) { l.Write("plain", "1"); l.database("A", true) },
		func(l *lab) { l.Write("plain", "1"); l.database("A", false) },
		func(l *lab) { l.Write("plain", "2"); l.database("B", true) },
		func(l *lab) { l.Remove("plain"); l.Remove("app.db"); l.Remove("app.db-wal") },
	}
	for _, file := range []string{".rewindignore", ".gitignore"} {
		for i, target := range rules {
			for j, now := range rules {
				if target != "" && now != "" && i != j || file == ".gitignore" && target != "" {
					continue // as one of them alone
				}
				t.Run(fmt.Sprintf("%s %q, then %q", file, target, now), func(t *testing.T) {
					for at, first := range files {
						if at > 0 && (testing.Short() || file == ".gitignore") {
							break
						}
						for is, second := range files {
							l := newLab(t)
							l.settings(`{"captureIgnored": "none", "durability": "fast"}`)
							l.Write("other", "1")
							first(l)
							rule := func(text string) {
								if l.Remove(file); text != "" {
									l.Write(file, text)
								}
							}
							rule(target)
							c := l.Init().Checkpoint
							l.Write("other", "2")
							second(l)
							rule(now)
							for _, saved := range []bool{false, true} {
								if saved {
									l.Save()
								}
								when := fmt.Sprintf("files %d, then %d, saved %t: ", at, is, saved)
								before := l.Read()
								l.any(restore.Restore, restore.Options{Checkpoint: c})
								after := l.Read()
								l.any(restore.Undo, restore.Options{})
								l.Is(before, when+"undo")
								l.any(restore.Redo, restore.Options{})
								l.Is(after, when+"redo")
								l.any(restore.UndoRestore, restore.Options{})
								l.Is(before, when+"undo-restore")
							}
						}
					}
				})
			}
		}
	}
}
