package page

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/timeline"
)

// What a page is given with its login is what it would ask for, and not of before a save.
func TestUIStart(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	place := l.logIn(l.ui(l.env).URL)
	for _, save := range []string{"", "second", "third"} {
		if save != "" {
			l.write(filepath.Join(l.env.Dir, "a.txt"), save+"\n")
			l.run(l.env, "save", save)
		}
		var got struct {
			Project string
			Start   struct {
				Timeline timelineView
				ID       string
				Look     json.RawMessage
			}
		}
		asked := time.Now()
		for l.get("/api/v1/start?project="+filepath.Base(place), &got); got.Start.Timeline.Rows[0].Kind != "now" && time.Since(asked) < time.Minute; {
			got.Start.Timeline.Rows = nil // the look at the tree did not come in time
			l.get("/api/v1/start?project="+filepath.Base(place), &got)
		}
		want := l.rows(place)
		newest := want[1] // now is as it was saved
		if save == "" {
			newest = want[2] // the first of one saved what was there already: it shows nothing
		}
		want[0].Time = got.Start.Timeline.Rows[0].Time // each when it was asked
		if !reflect.DeepEqual(got.Start.Timeline.Rows, want) || got.Start.ID != newest.ID || save != "" && newest.Text != save || got.Project != filepath.Base(place) {
			t.Fatalf("after %q: %+v, not %+v", save, got, want)
		}
		var look json.RawMessage
		l.get("/api/v1"+place+"/look?id="+newest.ID, &look)
		if string(look) != string(got.Start.Look) {
			t.Errorf("a look of %s, not %s", got.Start.Look, look)
		}
	}
	var none struct{ Start any }
	if code := l.ask("GET", "/api/v1/start?project=ffffffffffffffffffffffffffffffff", nil, &none); code != 200 || none.Start != nil {
		t.Errorf("of a project that is not there: %d %v", code, none.Start)
	}
}

// A row names files as the project does.
func TestUIRowIsRelative(t *testing.T) {
	row := screen.Row{ID: "x", Text: "Write /a/b/c d.go"}
	for root, want := range map[string]string{"/a/b": "Write c d.go", "/a": "Write b/c d.go", "/b": row.Text, "/a/b/c": row.Text} {
		if got := viewRow(row, &timeline.Row{}, root).Text; got != want {
			t.Errorf("below %s: %q", root, got)
		}
	}
}

// A store that nothing touched is not looked at again, for a while.
func TestStoreStamp(t *testing.T) {
	t.Parallel()
	store := t.TempDir()
	pack := filepath.Join(store, account.ObjectsName, "log-00000001.pack")
	write := func(file, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(store, account.FormatName), "{}")
	write(pack, "1")
	now := time.Now()
	for _, c := range []struct {
		what  string
		touch func()
	}{
		{"", func() {}},
		{"a record", func() { write(pack, "2") }}, // into the newest pack
		{"another pack", func() { write(filepath.Join(filepath.Dir(pack), "log-00000002.pack"), "3") }},
		{"another format", func() { write(filepath.Join(store, account.FormatName), " ") }},
		{"a store that went", func() { _ = os.RemoveAll(store) }},
	} {
		what, touch := c.what, c.touch
		var s storeStamp
		if _, ok := s.still(now); ok {
			t.Error("of nothing")
		}
		s.see(store, now)
		s.note("7")
		touch()
		if log, ok := s.still(now.Add(stampFor)); ok != (what == "") || ok && log != "7" {
			t.Errorf("%s: %q %v", what, log, ok)
		}
		if _, ok := s.still(now.Add(stampFor + 1)); ok {
			t.Errorf("%s: trusted for too long", what)
		}
		if what != "" {
			continue
		}
		// What was not touched for a while has another time with the next change.
		later := now.Add(time.Minute)
		s.see(store, later)
		s.note("8")
		if log, ok := s.still(later.Add(stampLong)); !ok || log != "8" {
			t.Errorf("not trusted after a while: %q %v", log, ok)
		}
		if _, ok := s.still(later.Add(stampLong + 1)); ok {
			t.Error("trusted for good")
		}
	}
	var s storeStamp
	write(filepath.Join(store, account.FormatName), "{}")
	write(pack, "1")
	s.see(store, now)
	s.note("")
	if _, ok := s.still(now); ok {
		t.Error("what failed is kept")
	}
}

// Who asks for all rows while they are made keeps nobody from asking something else.
func TestUIAsksWhileAllIsMade(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	p, err := project.Open(t.Context(), project.OpenOptions{Env: l.env, Root: l.env.Dir})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	s := newSpace(&app.Call{Env: l.env, Out: app.NewOutput(app.Stdio{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}, l.env, false)}, p)
	made := make(chan struct{})
	s.ahead.making = made
	args := func(name string) string { return map[string]string{"form": "columns"}[name] }
	got := make(chan error, 1)
	go func() {
		_, err := s.Ask(t.Context(), "timeline", args)
		got <- err
	}()
	if _, err := s.Ask(t.Context(), "timeline", func(name string) string { return map[string]string{"limit": "1"}[name] }); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-got:
		t.Fatalf("all rows before they were made: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	s.ahead.mu.Lock()
	s.ahead.making, s.ahead.all, s.ahead.allAt = nil, nil, time.Time{}
	s.ahead.mu.Unlock()
	close(made)
	if err := <-got; err != nil {
		t.Fatal(err)
	}
}
