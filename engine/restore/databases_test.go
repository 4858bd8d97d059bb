//go:build unix

package restore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
)

// database writes a database of SQLite and its write-ahead log, both of one state; without the log for wal false.
func (l *lab) database(state string, wal bool) {
	l.T.Helper()
	page := func(head string) string { return head + strings.Repeat(state, 512-len(head)) }
	l.Write("app.db", page("SQLite format 3\x00"))
	if wal {
		l.Write("app.db-wal", page("\x37\x7f\x06\x82"))
	} else {
		l.Remove("app.db-wal")
	}
}

// wantDatabase fails unless the files are as database writes them.
func (l *lab) wantDatabase(state string, wal bool, when string) {
	l.T.Helper()
	is := l.Read()
	l.database(state, wal)
	l.Is(is, when)
}

// Who names one file of a database gets all of them, and an undo takes all of them back.
func TestDatabaseOfSomePaths(t *testing.T) {
	for _, paths := range [][]string{{"app.db"}, {"app.db-wal"}, {"*.db"}, {"app.db", "other"}} {
		for _, wals := range [][2]bool{{true, true}, {true, false}, {false, true}} {
			t.Run(fmt.Sprint(paths, wals), func(t *testing.T) {
				l := newLab(t)
				l.Write("other", "1")
				l.database("A", wals[0])
				first := l.Init().Checkpoint
				l.database("B", wals[1])
				before := l.Read()
				o := restore.Options{Checkpoint: first, Paths: paths}
				dry := o
				dry.DryRun = true
				plan, done := l.Must(restore.Restore, dry), l.Must(restore.Restore, o)
				l.wantDatabase("A", wals[0], "after the restore")
				if fmt.Sprint(plan.Along, plan.Replace, plan.Delete) != fmt.Sprint(done.Along, done.Replace, done.Delete) || len(done.Along) != 1 {
					t.Errorf("along: planned %q, done %q", plan.Along, done.Along)
				}
				l.Must(restore.Undo, restore.Options{})
				l.Is(before, "after the undo")
				l.Must(restore.Undo, restore.Options{Paths: paths})
				l.wantDatabase("A", wals[0], "after an undo of some paths")
			})
		}
	}
}

// Files that only have such names are not taken along.
func TestNoDatabaseOfSomePaths(t *testing.T) {
	l := newLab(t)
	l.Write("notes", "1")
	l.Write("notes-journal", "1")
	first := l.Init().Checkpoint
	l.Write("notes", "2")
	l.Write("notes-journal", "2")
	l.Must(restore.Restore, restore.Options{Checkpoint: first, Paths: []string{"notes"}})
	l.Want("notes=1 notes-journal=2")
}

// Beside a log that no checkpoint has, no file of the database changes, and each is named as a failure.
func TestDatabaseBesideAnIgnoredLog(t *testing.T) {
	l := newLab(t)
	l.settings(`{"captureIgnored": "none"}`)
	l.Write(".gitignore", "*.db-wal\n")
	l.Write("other", "1")
	l.database("A", true)
	first := l.Init().Checkpoint
	l.database("B", true)
	l.Write("other", "2")
	for _, dry := range []bool{true, false} {
		l.Do(func(ctx context.Context, p *project.Project) error {
			done, err := restore.Restore(ctx, p, restore.Options{Checkpoint: first, DryRun: dry})
			if err == nil && (len(done.Skip) != 1 || done.Skip[0].Path != "app.db" || !done.Skip[0].Failed || !strings.Contains(done.Skip[0].Reason, "app.db-wal") || len(done.Replace) != 1) {
				t.Errorf("replaced %q, skipped %+v", done.Replace, done.Skip)
			}
			return err
		})
	}
	is := l.Read()
	l.Write("other", "1")
	l.wantDatabase("B", true, "after the restore")
	l.Is(is, "of the rest")

	// Without the log the database comes as it was captured.
	l.Remove("app.db-wal")
	l.Must(restore.Restore, restore.Options{Checkpoint: first})
	l.wantDatabase("A", false, "without the log")
}

// A precious database that stays keeps its log.
func TestPreciousDatabaseKeepsItsLog(t *testing.T) {
	l := newLab(t)
	l.Write(".gitignore", "*.db*\n")
	l.Write("other", "1")
	first := l.Init().Checkpoint
	l.database("A", true)
	l.Write("other", "2")
	l.Must(restore.Restore, restore.Options{Checkpoint: first})
	l.wantDatabase("A", true, "after the restore")
}

// An undo does not put a database beside a log that came since: it refuses, and with force the log goes, too.
func TestUndoBesideALaterLog(t *testing.T) {
	for _, ignored := range []bool{false, true} {
		l := newLab(t)
		l.database("A", false)
		first := l.Init().Checkpoint
		l.database("B", false)
		if ignored {
			l.settings(`{"captureIgnored": "none"}`)
			l.Write(".gitignore", "*.db-wal\n")
		}
		l.Save()
		l.Must(restore.Restore, restore.Options{Checkpoint: first, Paths: []string{"app.db"}})
		before := l.Read()
		l.Write("app.db-wal", "")
		l.Must(restore.UndoRestore, restore.Options{}) // an empty log is none
		l.Remove("app.db-wal")
		l.Must(restore.RedoRestore, restore.Options{})
		l.Is(before, "with an empty log")

		l.database("A", true)
		before = l.Read()
		_, err := l.Run(restore.UndoRestore, restore.Options{})
		var refused *project.RefusedError
		if !errors.As(err, &refused) || !slices.Contains(refused.Paths, "app.db-wal") {
			t.Fatalf("the undo: %v", err)
		}
		l.Is(before, "after a refusal")
		l.Must(restore.UndoRestore, restore.Options{Force: true})
		l.wantDatabase("B", false, "by force")
	}
}

// Of files that are chosen one by one a database is one, too.
func TestDatabaseOfHunks(t *testing.T) {
	for _, wals := range [][2]bool{{true, true}, {true, false}, {false, true}} {
		l := newLab(t)
		l.database("A", wals[0])
		first := l.Init().Checkpoint
		l.database("B", wals[1])
		l.Do(func(ctx context.Context, p *project.Project) error {
			files, err := restore.Hunks(ctx, p, inspect.DiffOptions{A: first})
			if err != nil || len(files) != 2 || files[0].Path != "app.db" {
				t.Fatalf("%d files, %v", len(files), err)
			}
			done, err := restore.RestoreHunks(ctx, p, restore.Options{Checkpoint: first}, []restore.HunkChoice{{File: files[0], Whole: true}})
			if err == nil && (fmt.Sprint(done.Along) != "[app.db-wal]" || len(problem.FailedOf(done.Skip)) > 0) {
				t.Errorf("along %q, skipped %+v", done.Along, done.Skip)
			}
			return err
		})
		l.wantDatabase("A", wals[0], "after the restore")
		l.Must(restore.UndoRestore, restore.Options{})
		l.wantDatabase("B", wals[1], "after the undo")
	}
}
