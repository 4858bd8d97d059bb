package page

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/account"
)

// pulled has another machine clone a project that run runs commands in, and push, and the project pull it: what the machine is called there.
func pulled(t *testing.T, env account.Env, run func(env account.Env, args ...string) string) (name string) {
	t.Helper()
	base := filepath.Dir(env.Home)
	place, other := filepath.Join(base, "nas"), env
	run(env, "remote", "add", "origin", place, "--manual")
	run(env, "push")
	other.Dir = base
	run(other, "clone", place, filepath.Join(base, "elsewhere"))
	other.Dir = filepath.Join(base, "elsewhere")
	// The clone pushes nothing by itself: the process that would is this test once more.
	remotes := filepath.Join(other.Dir, ".agent", "rewind", "remotes.json")
	data, err := os.ReadFile(remotes)
	if manual := bytes.ReplaceAll(data, []byte(`"manual": false`), []byte(`"manual": true`)); err != nil || bytes.Equal(manual, data) {
		t.Fatalf("%s, %v", data, err)
	} else if err := os.WriteFile(remotes, manual, 0o600); err != nil {
		t.Fatal(err)
	}
	run(other, "restore", "last")
	if err := os.WriteFile(filepath.Join(other.Dir, "a.txt"), []byte("theirs\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	run(other, "save", "theirs")
	run(other, "push")
	run(env, "pull")
	var status struct{ Pulled []struct{ Name string } }
	if err := json.Unmarshal([]byte(run(env, "status", "--json")), &status); err != nil || len(status.Pulled) != 1 {
		t.Fatal(status, err)
	}
	return status.Pulled[0].Name
}

// The page shows what was pulled of another machine as that machine's, and restores it; it changes nothing of it.
func TestUIPulled(t *testing.T) {
	l := newLab(t)
	name := pulled(t, l.env, l.run)
	own := l.logIn(l.ui(l.env).URL)
	if got := l.projects(); !slices.Equal(got, []string{"one", "elsewhere", "one of " + name}) {
		t.Fatalf("projects: %q", got)
	}
	var all struct{ Projects []struct{ ID, Name string } }
	l.get("/api/v1/projects", &all)
	place := "/p/" + all.Projects[2].ID
	rows := l.rows(place)
	i := slices.IndexFunc(rows, func(r rowView) bool { return r.Text == "theirs" })
	if i < 0 || slices.ContainsFunc(rows, func(r rowView) bool {
		return r.Of != name+"/" && r.Kind != "operation" || r.Text == "first of one" || r.ID == "@"
	}) {
		t.Fatalf("rows of %s: %+v", name, rows)
	}
	theirs := rows[i]
	if list := l.run(l.env, "list", name+"/"); !strings.Contains(list, name+"/"+theirs.N+" ") {
		t.Errorf("the page has %s, rewind list: %s", name+"/"+theirs.N, list)
	}
	var columns struct {
		Columns struct {
			Count int
			Of    string
		}
	}
	l.get("/api/v1"+place+"/timeline?form=columns", &columns)
	if columns.Columns.Count != len(rows) || columns.Columns.Of != name+"/" {
		t.Errorf("columns: %+v", columns.Columns)
	}
	for _, r := range l.rows(own) {
		if r.Of != "" || r.Text == "theirs" {
			t.Errorf("a row of the project itself: %+v", r)
		}
	}
	// Its changes and its messages are read like those of any row.
	var look filesView
	l.get("/api/v1"+place+"/look?id="+theirs.ID, &look)
	if len(look.Files) != 1 || look.Files[0].Path != "a.txt" || !strings.Contains(look.Files[0].Patch, "+theirs") {
		t.Errorf("look: %+v", look)
	}
	for _, what := range []string{"operations", "health", "series", "sessions", "paths?q=a", "history?path=a.txt", "talk?id=" + theirs.ID, "diff?path=a.txt&id=" + theirs.ID, "now"} {
		var v json.RawMessage
		l.get("/api/v1"+place+"/"+what, &v)
	}
	// It is not changed.
	l.fails("POST", "/api/v1"+place+"/marks", map[string]any{"id": theirs.ID, "pinned": true}, 500, "of "+name+", which was pulled", "")
	l.fails("POST", "/api/v1"+place+"/plans", action{Verb: "revert", ID: theirs.ID}, 500, "of "+name+", which was pulled", "")
	// It is restored into the project, and that is undone there.
	var plan planView
	if code := l.ask("POST", "/api/v1"+place+"/plans", action{Verb: "restore", ID: theirs.ID, Half: "code"}, &plan); code != 200 || !strings.Contains(plan.Title, name+"/"+theirs.N) {
		t.Fatal(code, plan)
	}
	holds := func(want string) {
		t.Helper()
		if got, _ := os.ReadFile(filepath.Join(l.env.Dir, "a.txt")); string(got) != want {
			t.Errorf("a.txt: %q", got)
		}
	}
	var done map[string]any
	if code := l.ask("POST", "/api/v1"+place+"/plans/"+plan.ID+"/apply", nil, &done); code != 200 {
		t.Fatal(code, done)
	}
	holds("theirs\n")
	if code := l.ask("POST", "/api/v1"+own+"/plans", action{Verb: "undo"}, &plan); code != 200 {
		t.Fatal(code, plan)
	}
	if code := l.ask("POST", "/api/v1"+own+"/plans/"+plan.ID+"/apply", nil, &done); code != 200 {
		t.Fatal(code, done)
	}
	holds("one\n")
	// When it goes, so does its place.
	l.run(l.env, "remote", "remove", "origin")
	if got := l.projects(); !slices.Equal(got, []string{"one", "elsewhere"}) {
		t.Errorf("projects without what was pulled: %q", got)
	}
	l.fails("GET", "/api/v1"+place+"/timeline", nil, 410, "nothing that was pulled has that name", "")
}
