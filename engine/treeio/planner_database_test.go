//go:build linux || darwin

package treeio

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/problem"
)

var databaseFiles = []string{"d/app.db", "d/app.db-wal", "d/app.db-journal"}

// state writes the files of a database, each as a letter says: a state of it, e for an empty file, - for none.
func (w *world) state(letters string) {
	w.Helper()
	for i, path := range databaseFiles {
		head := []string{"SQLite format 3\x00", "\x37\x7f\x06\x82", "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"}[i]
		switch c := letters[i : i+1]; c {
		case "-":
			if err := os.Remove(w.file(path)); err != nil && !os.IsNotExist(err) {
				w.Fatal(err)
			}
		case "e":
			w.write(path, "")
		default:
			w.write(path, head+strings.Repeat(c, 512-len(head)))
		}
	}
}

// is says what the files have, as state takes it.
func (w *world) is() (letters string) {
	for _, path := range databaseFiles {
		switch data, err := os.ReadFile(w.file(path)); {
		case err != nil:
			letters += "-"
		case len(data) == 0:
			letters += "e"
		default:
			letters += string(data[511:])
		}
	}
	return letters
}

// The files of a database are all as in the target or all as they were, whichever of them differ, are ignored, torn, or not
// selected. What is left alone has a reason, and what the target has of a database and could not be put back is a failure.
func TestDatabaseIsOne(t *testing.T) {
	states := []string{"A--", "B--", "AA-", "AB-", "BB-", "B-B", "A-A", "BBB", "---", "Be-", "-B-"}
	none := strings.NewReplacer("e", "-")
	for _, then := range states {
		for _, now := range states {
			for _, hidden := range []string{"", "db", "wal", "torn db", "torn wal", "now wal", "one"} {
				t.Run(then+" "+now+" "+hidden, func(t *testing.T) {
					w := newWorld(t)
					w.write("d/other", "1")
					w.state(then)
					should, torn := then, -1
					switch hidden {
					case "db":
						w.ignored = databaseFiles[:1]
						should = "?" + then[1:]
					case "wal":
						w.ignored = databaseFiles[1:2]
						should = then[:1] + "-" + then[2:]
					case "torn db", "torn wal":
						if torn = 0; hidden == "torn wal" {
							torn = 1
						}
						w.o.Whole = func(path string) (c problem.Cause) {
							if path == databaseFiles[torn] {
								c = problem.Cause{Code: problem.TargetIsTorn, Text: "torn"}
							}
							return c
						}
					case "one":
						w.o.Select = NewExactly(databaseFiles[:1])
					}
					target := w.now()
					w.state(now)
					if hidden == "now wal" {
						w.ignored = databaseFiles[1:2]
					}
					w.write("d/other", "2")
					_, out := w.restore(target)
					is := w.is()
					became := fmt.Sprintf("%s became %s, changes %d, skips %+v", now, is, len(out.Changes), out.Skips)
					same := func(a, b string) bool { return none.Replace(a) == none.Replace(b) }
					orphan := hidden == "db" && now[0] == '-' && same(is[1:], then[1:])
					if !same(is, now) && !same(is, should) && !orphan {
						t.Error(became)
					}
					if torn >= 0 && !same(then[torn:torn+1], "-") && is != now {
						t.Error("torn: " + became)
					}
					if hidden == "" && is != then || hidden == "wal" && now[1] != 'A' && now[1] != 'B' && !same(is, should) {
						t.Error("not restored: " + became)
					}
					failed := slices.ContainsFunc(out.Skips, func(s problem.Problem) bool { return s.Failed })
					if failed != (torn < 0 && hidden != "db" && len(out.Skips) > 0 && then[0] != '-') {
						t.Error("failed: " + became)
					}
					if data, _ := os.ReadFile(w.file("d/other")); hidden != "one" && string(data) != "1" {
						t.Error("the other file was not restored")
					}
					w.ignored, w.o = nil, Options{}
					w.back(out)
					if got := w.is(); got != now {
						t.Errorf("taken back: %s, not %s", got, now)
					}
				})
			}
		}
	}
}

// back takes a restore back, on the paths that it changed.
func (w *world) back(out *Outcome) {
	w.Helper()
	var paths []string
	var edits []Edit
	for _, c := range out.Changes {
		paths = append(paths, c.Path)
		edits = append(edits, Edit{Path: c.Path, Entry: c.Before})
	}
	target, err := EditTree(w.memStore, memSink{w.memStore}, w.now(), edits, nil)
	must(w, err)
	w.o.Select = NewExactly(paths)
	w.restore(target)
}

// Files that only have such names are restored one by one.
func TestNoDatabase(t *testing.T) {
	w := newWorld(t)
	w.ignored = []string{"notes-wal"}
	text := strings.Repeat("text ", 1024)
	w.write("notes", text)
	w.write("notes-journal", "1")
	target := w.now()
	w.write("notes", strings.ToUpper(text))
	w.write("notes-journal", "2")
	w.write("notes-wal", "mine")
	w.restoreExactly(target)
}

// What cannot be read while the plan is made takes the rest of its database out of it; what fails later ends all, and all is put back.
func TestDatabaseWithAFault(t *testing.T) {
	w := newWorld(t)
	w.state("AA-")
	target := w.now()
	w.state("BB-")
	p := w.plan(target)
	if len(p.Changes) != 2 || p.Changes[0].database == "" || p.Changes[0].database != p.Changes[1].database {
		t.Fatalf("the plan: %+v", p.Changes)
	}
	must(t, os.Remove(w.file("d/app.db")))
	must(t, os.Mkdir(w.file("d/app.db"), 0o755))
	if _, err := p.Apply(w.Context(), w.options()); err == nil || !strings.Contains(err.Error(), "d/app.db") {
		t.Errorf("it ends with %v", err)
	}
	must(t, os.Remove(w.file("d/app.db")))
	if got := w.is(); got != "-B-" {
		t.Errorf("the files are %s", got)
	}
	w.noTemps()

	w.state("BB-")
	o := w.o
	o.FS, o.Source, o.Current, o.Target = w.fs(), w.memStore, w.now(), target
	p, err := NewPlan(w.Context(), o)
	must(t, err)
	must(t, os.Remove(w.file("d/app.db-wal")))
	w.write("d/app.db-wal/x", "x")
	must(t, p.Read(w.Context(), memSink{w.memStore}))
	if len(p.Changes) != 0 || len(p.Skips) != 2 {
		t.Errorf("changes %+v, skips %+v", p.Changes, p.Skips)
	}
}
