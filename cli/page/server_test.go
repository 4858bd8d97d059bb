package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/cli/app"
)

// What is not there, or no more, is said as such, with what to do.
func TestUIWhatIsGone(t *testing.T) {
	l := newLab(t)
	l.write(filepath.Join(l.env.Dir, "b.txt"), "b\n")
	l.run(l.env, "save", "second")
	place := "/api/v1" + l.logIn(l.ui(l.env).URL)
	rows := l.rows(strings.TrimPrefix(place, "/api/v1"))
	id := func(text string) string {
		for _, r := range rows {
			if r.Text == text {
				return r.ID
			}
		}
		t.Fatalf("no row %q in %+v", text, rows)
		return ""
	}
	never := strings.Repeat("0", len(id("second")))
	for _, what := range []string{"look", "talk", "diff", "file", "raw"} {
		for _, none := range []string{"", "x", "#999", "../..", "%00", never} {
			var v says
			if code := l.ask("GET", place+"/"+what+"?path=a.txt&id="+strings.ReplaceAll(none, "#", "%23"), nil, &v); code != 404 || v.Error == "" || v.Hint == "" {
				t.Errorf("%s of %q: %d %+v", what, none, code, v)
			}
		}
	}
	second := id("second")
	l.fails("GET", place+"/diff?id="+second+"&path=nothing", nil, 404, "no such file", "")
	for _, of := range []string{"id=" + second + "&other=%40", "id=%40"} { // the tree has changed since the page saw that it differs
		var same fileDiffView
		if l.get(place+"/diff?"+of+"&path=b.txt", &same); same.Path != "b.txt" || same.Patch != "" || same.Status != "" {
			t.Errorf("%s, of a file that is as it was: %+v", of, same)
		}
	}
	l.fails("GET", place+"/file?id="+second+"&path=nothing", nil, 404, "no such file", "")
	l.fails("GET", place+"/raw?id="+second+"&path=nothing", nil, 404, "no such file", "")
	l.fails("GET", place+"/history?path=nothing", nil, 404, "no checkpoint ever had", "rewind show")
	l.fails("GET", place+"/look?id=%40&other="+never, nil, 404, "", "")
	l.fails("GET", place+"/search?q=[&regexp=1", nil, 400, "", "")
	l.fails("POST", place+"/plans", action{Verb: "dance", ID: second}, 400, "no such plan", "")
	l.fails("POST", place+"/plans", action{Verb: "restore", ID: "#999"}, 404, "no such row", "reload")
	l.fails("POST", place+"/plans", "x", 400, "cannot be read", "")
	l.fails("POST", place+"/plans/x/apply", nil, 404, "no such plan", "reload")
	l.fails("POST", place+"/plans/1/apply", nil, 404, "no such plan", "reload")
	l.fails("POST", place+"/plans/revert-1/apply", nil, 404, "no such plan", "reload")
	l.fails("POST", place+"/marks", map[string]string{"id": "#999"}, 404, "no such row", "reload")
	l.fails("POST", place+"/marks", map[string]string{"id": second, "name": "a/../b\n"}, 400, "", "")
	plan := func() (p planView) {
		if code := l.ask("POST", place+"/plans", action{Verb: "restore", ID: id("first of one"), Half: "code"}, &p); code != 200 {
			t.Fatal(code, p)
		}
		return p
	}
	one, two := plan(), plan()
	var said map[string]string
	if code := l.ask("POST", place+"/plans/"+one.ID+"/apply", nil, &said); code != 200 {
		t.Fatal(code, said)
	}
	l.fails("POST", place+"/plans/"+two.ID+"/apply", nil, 410, "that plan is gone", "ask for it again")
	// Removed since it was shown.
	l.run(l.env, "forget", "--yes", "--", "b.txt")
	for _, r := range rows {
		if r.ID == "@" || r.ID[0] == '#' {
			continue
		}
		var v says
		if code := l.ask("GET", place+"/look?id="+r.ID, nil, &v); code != 200 && code != 410 {
			t.Errorf("after forget, %s: %d %+v", r.Text, code, v)
		}
	}
	l.fails("GET", place+"/raw?id="+second+"&path=b.txt", nil, 404, "", "")
}

// A version of a file comes byte for byte, and precious ones not at all.
func TestUIRaw(t *testing.T) {
	l := newLab(t)
	text := "\x00<script>\xff" + strings.Repeat("long\n", 500_000)
	l.write(filepath.Join(l.env.Dir, "x.html"), text)
	l.write(filepath.Join(l.env.Dir, ".gitignore"), ".env\n")
	l.write(filepath.Join(l.env.Dir, ".env"), "SECRET=1\n")
	if err := os.Symlink("x.html", filepath.Join(l.env.Dir, "link")); err != nil {
		t.Fatal(err)
	}
	l.run(l.env, "save", "second")
	place := l.logIn(l.ui(l.env).URL)
	rows := l.rows(place)
	at := slices.IndexFunc(rows, func(r rowView) bool { return r.Text == "second" })
	for path, want := range map[string]string{"x.html": text, "link": "x.html"} {
		q, _ := http.NewRequest("GET", l.base+"/api/v1"+place+"/raw?path="+path+"&id="+rows[at].ID, nil)
		q.Header.Set("Authorization", "Bearer "+l.token)
		r, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r.Body)
		if r.Body.Close(); err != nil || string(got) != want || r.Header.Get("Content-Type") != "application/octet-stream" || r.Header.Get("Content-Disposition") != "attachment; filename="+path {
			t.Errorf("%s: %d bytes, %v %v", path, len(got), r.Header, err)
		}
	}
	l.fails("GET", "/api/v1"+place+"/raw?path=.env&id="+rows[at].ID, nil, 403, "is precious", "rewind show")
}

// The store is damaged, goes, is rebuilt, and comes back while the page is open: the page says so with what to do, and
// goes on.
func TestUIStoreComesAndGoes(t *testing.T) {
	l := newLab(t)
	place := l.logIn(l.ui(l.env).URL)
	rows := l.rows(place)
	look := "/api/v1" + place + "/look?id=" + rows[len(rows)-1].ID
	store := filepath.Join(l.env.Dir, ".agent")
	good := func(when string) {
		t.Helper()
		var v json.RawMessage
		if code := l.ask("GET", look, nil, &v); code != 200 || !strings.Contains(string(v), "one") {
			t.Errorf("%s: %d %s", when, code, v)
		}
		if got := l.rows(place); got[len(got)-1].Text != rows[len(rows)-1].Text {
			t.Errorf("%s: %+v", when, got)
		}
	}
	good("at first")
	packs, err := filepath.Glob(filepath.Join(store, "rewind", "objects", "*.pack"))
	if err != nil || len(packs) == 0 {
		t.Fatal(packs, err)
	}
	kept := map[string][]byte{}
	for _, pack := range packs { // its other name is the same file
		data, err := os.ReadFile(pack)
		if err != nil {
			t.Fatal(err)
		}
		kept[pack] = data
		bad := bytes.Clone(data)
		for i := len(bad) / 4; i < len(bad); i++ {
			bad[i] ^= 0x5a
		}
		f, err := os.OpenFile(pack, os.O_WRONLY, 0)
		if err == nil {
			_, err = f.Write(bad)
			f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	l.fails("GET", look, nil, 500, "damaged", "rewind ")
	for pack, data := range kept {
		f, err := os.OpenFile(pack, os.O_WRONLY, 0)
		if err == nil {
			_, err = f.Write(data)
			f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	good("put right")
	events := l.events(place)
	events(`"news"`)
	l.rename(store, store+"-away")
	l.fails("GET", look, nil, 503, "the store of "+l.env.Dir+" is gone", "rewind status")
	l.fails("POST", "/api/v1"+place+"/plans", action{Verb: "undo"}, 503, "is gone", "rewind status")
	if said := events(`"error"`); !strings.Contains(said, `"hint":"rewind status`) {
		t.Errorf("news of a store that is gone: %s", said)
	}
	if _, err := os.Lstat(store); err == nil {
		t.Error("looking has made it")
	}
	l.rename(store+"-away", store)
	events(`"news"`)
	good("moved back")
	if err := os.RemoveAll(store); err != nil {
		t.Fatal(err)
	}
	events(`"error"`)
	l.run(l.env, "list") // rebuilds it
	events(`"news"`)
	good("rebuilt")
	l.run(l.env, "save", "later")
	events(`"news"`)
	if got := l.rows(place); !slices.ContainsFunc(got, func(r rowView) bool { return r.Text == "later" }) {
		t.Errorf("after it was rebuilt: %+v", got)
	}
}

// Sixteen agents save at once while two pages look: no row is missing, and both show the same.
func TestUISixteenAgents(t *testing.T) {
	l := newLab(t)
	run := l.ui(l.env)
	place := l.logIn(run.URL)
	news := [2]func(string) string{l.events(place), l.events(place)}
	var agents sync.WaitGroup
	for a := range 16 {
		agents.Go(func() {
			for turn := range 3 {
				l.write(filepath.Join(l.env.Dir, fmt.Sprintf("%d-%d.txt", a, turn)), "x\n")
				event := fmt.Sprintf(`{"hook_event_name":"UserPromptSubmit","session_id":"5ba1c0de-0000-4000-8000-%012d","cwd":%q,"prompt":"agent %d turn %d"}`, a, l.env.Dir, a, turn)
				var out, errOut bytes.Buffer
				if code := program([]string{"rewind", "hook", "claude"}, l.env, app.Stdio{In: strings.NewReader(event), Out: &out, Err: &errOut}); code != 0 {
					t.Errorf("agent %d: %d %s", a, code, &errOut)
				}
			}
		})
	}
	done := make(chan bool)
	go func() { agents.Wait(); close(done) }()
	for over := false; !over; {
		select {
		case <-done:
			over = true
		case <-time.After(20 * time.Millisecond):
		}
		l.rows(place)
	}
	l.run(l.env, "save", "the last")
	type listed struct {
		Checkpoints []struct{ ID, Description string }
	}
	var want, got []string
	had := 0
	for until := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) { // what was handed to processes is saved by and by
		var v listed
		if err := json.Unmarshal([]byte(l.run(l.env, "list", "--json", "--all")), &v); err != nil {
			t.Fatal(err)
		}
		want, got = nil, nil
		last := false
		for _, c := range v.Checkpoints {
			want = append(want, c.ID)
			last = last || c.Description == "the last"
		}
		for _, r := range l.rows(place) {
			if r.ID != "@" && r.ID[0] != '#' {
				got = append(got, r.ID)
			}
		}
		// How many there are depends on the machine: one capture takes along what several agents wrote meanwhile.
		if slices.Equal(want, got) && last {
			break
		}
		if len(want) > had { // a disk that others use takes seconds for each
			had, until = len(want), time.Now().Add(20*time.Second)
		}
		if time.Now().After(until) {
			t.Fatalf("rewind list has %d, the page %d:\n%q\n%q", len(want), len(got), want, got)
		}
	}
	// The news had all of it, on both.
	last := ""
	for i, next := range news {
		for until := time.Now().Add(time.Second); time.Now().Before(until); {
			var v struct{ News string }
			line := next("{")
			if err := json.Unmarshal([]byte(line), &v); err != nil {
				t.Fatal(line, err)
			}
			if v.News != "" {
				if i == 0 {
					last = v.News
				} else if v.News == last {
					return
				}
			}
		}
	}
	t.Error("the pages had other news")
}

// Rows are in the order in which they were saved, also where the clock was set back.
func TestUIClockSetBack(t *testing.T) {
	l := newLab(t)
	now := time.Now()
	place := l.logIn(l.ui(l.env).URL)
	for i, back := range []time.Duration{0, 48 * time.Hour, time.Hour, 9000 * time.Hour} {
		env := l.env
		env.Now = func() time.Time { return now.Add(-back) }
		l.write(filepath.Join(l.env.Dir, "a.txt"), fmt.Sprint(i))
		l.run(env, "save", fmt.Sprint("save ", i))
	}
	var got []string
	for _, r := range l.rows(place) {
		if strings.HasPrefix(r.Text, "save ") {
			got = append(got, r.Text)
		}
	}
	if want := []string{"save 3", "save 2", "save 1", "save 0"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// Whose a line is that a search finds is said as rewind grep says it: by all who could have brought it, where no row tells,
// and by the operation that brought it back.
func TestUISearchSaysWho(t *testing.T) {
	l := newLab(t)
	hook := func(session, event string, more map[string]any) {
		t.Helper()
		e := map[string]any{"hook_event_name": event, "session_id": "5ba1c0de-0000-4000-8000-00000000000" + session, "cwd": l.env.Dir, "prompt_id": "p" + session}
		maps.Copy(e, more)
		data, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var out, errOut bytes.Buffer
		if code := program([]string{"rewind", "hook", "claude"}, l.env, app.Stdio{In: bytes.NewReader(data), Out: &out, Err: &errOut}); code != 0 {
			t.Fatalf("hook: %d %s", code, &errOut)
		}
	}
	file := filepath.Join(l.env.Dir, "a.txt")
	edit := func(session string) map[string]any {
		return map[string]any{"tool_name": "Edit", "tool_use_id": "toolu_" + session, "tool_input": map[string]any{"file_path": file, "old_string": "one", "new_string": strings.Repeat("other words ", 9)}}
	}
	for _, s := range []string{"1", "2"} {
		hook(s, "UserPromptSubmit", map[string]any{"prompt": "session " + s})
	}
	for _, event := range []string{"PreToolUse", "PostToolUse"} {
		for _, s := range []string{"1", "2"} {
			hook(s, event, edit(s))
		}
		time.Sleep(20 * time.Millisecond) // a tick of the file system's clock
		if event == "PreToolUse" {
			l.write(file, "one\nby one of them\n")
			time.Sleep(20 * time.Millisecond)
		}
	}
	hook("2", "PreToolUse", map[string]any{"tool_name": "Bash", "tool_use_id": "toolu_3", "tool_input": map[string]any{"command": "rm -rf build"}})
	place := "/api/v1" + l.logIn(l.ui(l.env).URL)
	found := func() (all []matchView) {
		t.Helper()
		q, err := http.NewRequest("GET", l.base+place+"/search?q=by+one+of", nil)
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Authorization", "Bearer "+l.token)
		r, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(q)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		for d := json.NewDecoder(r.Body); d.More(); {
			var m matchView
			if err := d.Decode(&m); err != nil {
				t.Fatal(err)
			}
			all = append(all, m)
		}
		return all
	}
	const who = "5ba1c0de-0000-4000-8000-000000000001 Edit \"session 1\", or 5ba1c0de-0000-4000-8000-000000000002 Edit \"session 2\""
	if said := l.run(l.env, "grep", "by one of"); !strings.Contains(said, ", by "+who) {
		t.Fatalf("grep: %s", said)
	}
	if m := found(); len(m) != 1 || m[0].By == nil || m[0].By.ID != m[0].Appeared || m[0].By.N != "1" || m[0].By.Why != "shared" || !strings.HasPrefix(m[0].By.Text, who) {
		t.Errorf("no word of who it may be: %+v, by %+v", m, m[0].By)
	}
	l.write(file, "one\n")
	l.run(l.env, "save")
	l.run(l.env, "undo", "--yes", "--code-only")
	if said := l.run(l.env, "grep", "by one of"); !strings.Contains(said, "appeared with the undo") {
		t.Fatalf("grep after an undo: %s", said)
	}
	back := 0
	for _, m := range found() {
		if m.Appeared == "" && m.Now && m.By != nil && m.By.Why == "undo" {
			back++
		}
	}
	if back != 1 {
		t.Errorf("no word of the undo: %+v", found())
	}
}

// A conversation is asked for by a row that was read while its turn was at work: it is that of the turn's end, which came since.
func TestUITalkOfATurnThatEnded(t *testing.T) {
	const session = "5ba1c0de-0000-4000-8000-000000000009"
	l := newLab(t)
	transcript := filepath.Join(l.env.Home, ".claude", "projects", "-one", session+".jsonl")
	line := func(role, id, text string) string {
		return fmt.Sprintf(`{"isSidechain":false,"type":%q,"uuid":%q,"sessionId":%q,"promptId":"p1","cwd":%q,"timestamp":"2026-11-20T20:00:00.000Z","message":{"role":%q,"content":%q}}`+"\n", role, id, session, l.env.Dir, role, text)
	}
	hook := func(event string) {
		payload, err := json.Marshal(map[string]any{"hook_event_name": event, "session_id": session, "cwd": l.env.Dir, "transcript_path": transcript, "prompt": "add it", "prompt_id": "p1"})
		if err != nil {
			t.Fatal(err)
		}
		var errOut bytes.Buffer
		if code := program([]string{"rewind", "hook", "claude"}, l.env, app.Stdio{In: bytes.NewReader(payload), Out: io.Discard, Err: &errOut}); code != 0 {
			t.Fatal(code, errOut.String())
		}
	}
	l.write(transcript, line("user", "e1", "add it"))
	hook("UserPromptSubmit")
	l.write(filepath.Join(l.env.Dir, "b.txt"), "b\n")
	place := l.logIn(l.ui(l.env).URL)
	rows := l.rows(place)
	i := slices.IndexFunc(rows, func(r rowView) bool { return r.Text == "add it" })
	if i < 0 {
		t.Fatalf("%+v", rows)
	}
	l.write(transcript, line("user", "e1", "add it")+strings.Replace(line("assistant", "e2", "It is added."), "{", `{"parentUuid":"e1",`, 1))
	hook("Stop")
	var talk talkView
	l.get("/api/v1"+place+"/talk?id="+rows[i].ID, &talk)
	if text := fmt.Sprint(talk); !strings.Contains(text, "It is added.") {
		t.Errorf("%+v", talk)
	}
}
