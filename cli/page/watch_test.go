package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/timeline"
)

// What is done to the files beside all agents is news, and the row of now has it.
func TestUIFollowsTheTree(t *testing.T) {
	l := newLab(t)
	place := l.logIn(l.ui(l.env).URL)
	now := func() *timeline.Counts { return l.rows(place)[0].Changes }
	if c := now(); c != nil && *c != (timeline.Counts{}) {
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
		var rows timelineView
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
}

// What an agent's own file has since the last checkpoint is told beside the newest row and now, as such.
func TestUITalkGoesOn(t *testing.T) {
	l := newLab(t)
	const session = "5ba1c0de-0000-4000-8000-000000000001"
	file := filepath.Join(l.env.Home, ".claude", "projects", "p", session+".jsonl")
	l.write(file, "")
	said, parent := "", "null"
	say := func(id, role, text string) {
		said += fmt.Sprintf(`{"parentUuid":%s,"isSidechain":false,"type":%q,"uuid":%q,"sessionId":%q,"version":"2.1.329","promptId":"p-%s","cwd":%q,"timestamp":"2026-01-01T00:00:00Z","message":{"role":%q,"content":%q}}`+"\n",
			parent, role, id, session, id, l.env.Dir, role, text)
		parent = fmt.Sprintf("%q", id)
		l.write(file, said)
	}
	say("e1", "user", "the first prompt")
	say("e2", "assistant", "the first answer")
	event := fmt.Sprintf(`{"hook_event_name":"UserPromptSubmit","session_id":%q,"transcript_path":%q,"cwd":%q,"prompt":"another"}`, session, file, l.env.Dir)
	var out, errOut bytes.Buffer
	if code := program([]string{"rewind", "hook", "claude"}, l.env, app.Stdio{In: strings.NewReader(event), Out: &out, Err: &errOut}); code != 0 {
		t.Fatal(code, &errOut)
	}
	place := l.logIn(l.ui(l.env).URL)
	talk := func(id string) (v talkView, text string) {
		l.get("/api/v1"+place+"/talk?id="+id, &v)
		for _, m := range v.Messages {
			if m.Since {
				text += "since: "
			}
			text += m.Parts[0].Text + "\n"
		}
		return v, text
	}
	row := ""
	for _, r := range l.rows(place) {
		if r.Session == session && r.ID[0] != '#' && r.ID != "@" {
			row = r.ID
			break
		}
	}
	const held = "the first prompt\nthe first answer\n"
	for _, id := range []string{row, "@"} {
		if _, got := talk(id); got != held {
			t.Errorf("%s: %q", id, got)
		}
	}
	say("e3", "user", "what does the test say?")
	say("e4", "assistant", "It fails.")
	for _, id := range []string{row, "@"} {
		if v, got := talk(id); got != held+"since: what does the test say?\nsince: It fails.\n" || v.Partial {
			t.Errorf("%s: %q %v", id, got, v.Partial)
		}
	}
	l.write(file, "{\"strange\": true}\n"+said) // it was written anew
	if v, got := talk("@"); got != held || !v.Partial {
		t.Errorf("rewritten: %q %v", got, v.Partial)
	}
	_ = os.Remove(file)
	if v, got := talk("@"); got != held || v.Partial {
		t.Errorf("gone: %q %v", got, v.Partial)
	}
}
