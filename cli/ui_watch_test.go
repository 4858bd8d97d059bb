package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/timeline"
)

// What is done to the files beside all agents is news, and the row of now has it.
func TestUIFollowsTheTree(t *testing.T) {
	l := newUILab(t)
	place := l.logIn(l.ui(l.env).URL)
	now := func() *uiCounts { return l.rows(place)[0].Changes }
	if c := now(); c != nil && *c != (uiCounts{}) {
		t.Fatalf("at first: %+v", c)
	}
	next := l.events(place)
	word := func() string {
		var v struct{ News, Looked string }
		if err := json.Unmarshal([]byte(next(`"news"`)), &v); err != nil {
			t.Fatal(err)
		}
		if v.Looked == "" {
			t.Error("news that do not say when the files were looked at")
		}
		return v.News
	}
	first := word()
	for _, do := range []func(){
		func() { l.write(filepath.Join(l.env.Dir, "new.txt"), "x\n") },
		func() { _ = os.Remove(filepath.Join(l.env.Dir, "new.txt")) },
	} {
		do()
		time.Sleep(treeSoon)
		var v struct{ Looked string }
		l.get("/api/v1"+place+"/now", &v)
		second := word()
		if second == first {
			t.Errorf("the same news: %s", second)
		}
		first = second
		var rows uiTimeline
		l.get("/api/v1"+place+"/timeline", &rows)
		if rows.News != second {
			t.Errorf("the rows have %s, the news are %s", rows.News, second)
		}
	}
	l.write(filepath.Join(l.env.Dir, "a.txt"), "changed\n")
	if word() == first { // nobody asked for it
		t.Error("no news of a.txt")
	}
	if c := now(); c == nil || c.Modified != 1 || c.Added != 0 {
		t.Errorf("now: %+v", c)
	}
}

// A tree that takes long to look at is looked at seldom; one look serves the news and who asks because of them, once,
// unless something was saved meanwhile.
func TestTreeWatch(t *testing.T) {
	var w treeWatch
	from := time.Now()
	if !w.due(from) {
		t.Error("the first look")
	}
	w.saw(&timeline.Present{Root: oid.ID{1}}, time.Second)
	for after, want := range map[time.Duration]bool{0: false, 40 * time.Second: false, 60 * time.Second: true} {
		if w.due(from.Add(after)) != want {
			t.Errorf("after %v: %v", after, !want)
		}
	}
	w.hasten()
	if w.due(from.Add(4*time.Second)) || !w.due(from.Add(7*time.Second)) {
		t.Error("hastened")
	}
	word := w.word()
	w.saw(nil, time.Millisecond)
	if w.due(time.Now().Add(2*time.Second)) || !w.due(time.Now().Add(4*time.Second)) || w.word() != word {
		t.Error("a look that failed")
	}
	at := "1"
	last := func() (string, error) { return at, nil }
	n := &timeline.Present{}
	w.keep(n, at)
	if w.take(last) != n || w.take(last) != nil {
		t.Error("not once")
	}
	w.keep(n, "0")
	if w.take(last) != nil {
		t.Error("of another log")
	}
	if (*treeWatch)(nil).take(last) != nil {
		t.Error("of none")
	}
}
