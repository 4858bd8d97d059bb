package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
)

// uiLab is an account with projects, and a client of its page: no browser.
type uiLab struct {
	t     *testing.T
	env   account.Env // in the first project
	base  string      // of the page
	token string
}

func newUILab(t *testing.T) *uiLab {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("a project is for Unix")
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := &uiLab{t: t, env: account.Env{Home: filepath.Join(base, "home"), Getenv: func(key string) string {
		if key == "PATH" {
			return os.Getenv(key)
		}
		return ""
	}}}
	l.write(filepath.Join(base, "home", ".rewind", "config.json"), `{"durability": "fast"}`)
	if err := os.Chmod(filepath.Join(base, "home", ".rewind"), 0o700); err != nil {
		t.Fatal(err)
	}
	l.env = l.project("one")
	return l
}

// project makes one beside the others.
func (l *uiLab) project(name string) account.Env {
	l.t.Helper()
	env := l.env
	env.Dir = filepath.Join(filepath.Dir(env.Home), name)
	l.write(filepath.Join(env.Dir, "a.txt"), name+"\n")
	l.run(env, "init")
	l.run(env, "save", "first of "+name)
	return env
}

func (l *uiLab) write(file, text string) {
	l.t.Helper()
	err := os.MkdirAll(filepath.Dir(file), 0o755)
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o644)
	}
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *uiLab) run(env account.Env, args ...string) string {
	l.t.Helper()
	code, out, errOut := runIn(env, args...)
	if code != 0 {
		l.t.Fatalf("rewind %v: %d\n%s%s", args, code, out, errOut)
	}
	return out
}

// uiRun is one rewind ui.
type uiRun struct {
	uiView
	stop  func()
	ended chan int
	said  *bytes.Buffer // stderr, once it has ended
}

// ui runs rewind ui --no-open until the test ends.
func (l *uiLab) ui(env account.Env, flags ...string) *uiRun {
	l.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	r := &uiRun{ended: make(chan int, 1), said: new(bytes.Buffer)}
	read, write := io.Pipe()
	var over sync.WaitGroup
	over.Go(func() {
		code := run(ctx, append([]string{"ui", "--no-open", "--json"}, flags...), env, Stdio{In: strings.NewReader(""), Out: write, Err: r.said})
		write.Close()
		r.ended <- code
	})
	r.stop = sync.OnceFunc(func() { stop(); over.Wait() })
	l.t.Cleanup(r.stop)
	if err := json.NewDecoder(read).Decode(&r.uiView); err != nil {
		l.t.Fatal(err, <-r.ended, r.said)
	}
	go io.Copy(io.Discard, read)
	return r
}

// logIn takes the page of an address, and gives the place that it leads to.
func (l *uiLab) logIn(address string) (place string) {
	l.t.Helper()
	at, code, ok := strings.Cut(address, "#code=")
	host := strings.Index(at, "/p/")
	if !ok || host < 0 {
		l.t.Fatal("no address of a page: ", address)
	}
	l.base, l.token = at[:host], ""
	var v struct{ Token string }
	if code := l.ask("POST", "/api/v1/login", map[string]string{"code": code}, &v); code != 200 || v.Token == "" {
		l.t.Fatalf("%s does not log in: %d", address, code)
	}
	l.token = v.Token
	return at[host:]
}

// ask gives the status, and the answer into to.
func (l *uiLab) ask(method, path string, body, to any) int {
	l.t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		l.t.Fatal(err)
	}
	q, err := http.NewRequest(method, l.base+path, bytes.NewReader(data))
	if err != nil {
		l.t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+l.token)
	r, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(q)
	if err != nil {
		l.t.Fatal(err)
	}
	defer r.Body.Close()
	if err := json.NewDecoder(r.Body).Decode(to); err != nil {
		l.t.Fatal(method, path, err)
	}
	return r.StatusCode
}

type uiSays struct{ Error, Hint string }

// fails holds an answer to a status, and to a message and a hint that have these words.
func (l *uiLab) fails(method, path string, body any, want int, message, hint string) {
	l.t.Helper()
	var v uiSays
	if got := l.ask(method, path, body, &v); got != want || !strings.Contains(v.Error, message) || v.Error == "" || !strings.Contains(v.Hint, hint) {
		l.t.Errorf("%s %s: %d %+v, want %d %q %q", method, path, got, v, want, message, hint)
	}
}

func (l *uiLab) get(path string, to any) {
	l.t.Helper()
	var raw json.RawMessage
	if code := l.ask("GET", path, nil, &raw); code != 200 {
		l.t.Fatalf("%s: %d %s", path, code, raw)
	}
	if err := json.Unmarshal(raw, to); err != nil {
		l.t.Fatal(path, err)
	}
}

func (l *uiLab) rows(place string) []uiRow {
	l.t.Helper()
	var v uiTimeline
	l.get("/api/v1"+place+"/timeline", &v)
	return v.Rows
}

func (l *uiLab) projects() (names []string) {
	l.t.Helper()
	var v struct {
		Projects []struct{ ID, Name, Root string }
	}
	l.get("/api/v1/projects", &v)
	for _, p := range v.Projects {
		names = append(names, p.Name)
	}
	return names
}

func (l *uiLab) rename(from, to string) {
	l.t.Helper()
	if err := os.Rename(from, to); err != nil {
		l.t.Fatal(err)
	}
}

// The page shows the account's other projects: those that are there, by ids alone.
func TestUIProjects(t *testing.T) {
	l := newUILab(t)
	two, three := l.project("two"), l.project("three")
	first := l.ui(l.env)
	place := l.logIn(first.URL)
	if got := l.projects(); !slices.Equal(got, []string{"one", "three", "two"}) {
		t.Errorf("projects: %q", got)
	}
	var ids struct{ Projects []struct{ ID, Name string } }
	l.get("/api/v1/projects", &ids)
	at := func(name string) string {
		for _, p := range ids.Projects {
			if p.Name == name {
				return "/p/" + p.ID
			}
		}
		return "/p/none"
	}
	if at("one") != place {
		t.Errorf("the address leads to %s, the project is %s", place, at("one"))
	}
	if got := l.rows(at("two")); got[1].Text != "first of two" {
		t.Errorf("rows of two: %+v", got)
	}
	// What is done there is done there.
	l.write(filepath.Join(two.Dir, "a.txt"), "changed\n")
	rows := l.rows(at("two"))
	var plan uiPlan
	if code := l.ask("POST", "/api/v1"+at("two")+"/plans", uiAction{Verb: "restore", ID: rows[len(rows)-1].ID, Half: "code"}, &plan); code != 200 {
		t.Fatal(code, plan)
	}
	l.fails("POST", "/api/v1"+place+"/plans/"+plan.ID+"/apply", nil, 404, "no such plan", "reload") // another project's
	if code := l.ask("POST", "/api/v1"+at("two")+"/plans/"+plan.ID+"/apply", nil, &plan); code != 200 {
		t.Fatal(code, plan)
	}
	if got, _ := os.ReadFile(filepath.Join(two.Dir, "a.txt")); string(got) != "two\n" {
		t.Errorf("two: %s", got)
	}
	for _, id := range []string{"nothing", "..", "%2e%2e%2ftwo", strings.Repeat("0", 32), strings.ReplaceAll(two.Dir, "/", "%2f")} {
		var v uiSays
		if code := l.ask("GET", "/api/v1/p/"+id+"/timeline", nil, &v); code != 404 || v.Error == "" {
			t.Errorf("project %q: %d %+v", id, code, v)
		}
	}
	// One that goes is not offered any more, and comes back.
	away := three.Dir + "-away"
	l.rename(three.Dir, away)
	if got := l.projects(); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("without three: %q", got)
	}
	l.fails("GET", "/api/v1"+at("three")+"/timeline", nil, 410, "the store of "+three.Dir+" is gone", "rewind stores")
	l.rename(two.Dir, away+"2")
	l.fails("GET", "/api/v1"+at("two")+"/timeline", nil, 503, "the store of "+two.Dir+" is gone", "rewind status")
	if got := l.projects(); !slices.Equal(got, []string{"one"}) {
		t.Errorf("without three and two: %q", got)
	}
	l.rename(away, three.Dir)
	l.rename(away+"2", two.Dir)
	l.rows(at("two"))
	l.rows(at("three"))
	l.run(two, "deinit", "--yes")
	l.run(two, "init")
	l.fails("GET", "/api/v1"+at("two")+"/timeline", nil, 410, "another store is in "+two.Dir, "rewind ui")
	if got := l.projects(); !slices.Equal(got, []string{"one", "three", "two"}) {
		t.Errorf("a new store in two: %q", got)
	}
}

// A second rewind ui is served by the first, and says so; what does not fit has a page of its own.
func TestUIJoins(t *testing.T) {
	l := newUILab(t)
	two := l.project("two")
	socket, lock := filepath.Join(l.env.Home, ".rewind", uiSocketName), filepath.Join(l.env.Home, ".rewind", uiLockName)
	left, err := net.Listen("unix", socket) // of one that was killed
	if err != nil {
		t.Fatal(err)
	}
	left.(*net.UnixListener).SetUnlinkOnClose(false)
	left.Close()
	first := l.ui(l.env)
	if first.Joined {
		t.Fatal("joined to what is dead")
	}
	for _, file := range []string{socket, lock} {
		if info, err := os.Lstat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", file, info.Mode(), err)
		}
	}
	for _, flags := range [][]string{nil, {"--port", fmt.Sprint(first.Port)}} {
		second := l.ui(two, flags...)
		if code := <-second.ended; code != 0 || !second.Joined || second.Port != first.Port || !strings.Contains(second.said.String(), "runs already serves it") {
			t.Errorf("%q: %d %+v %s", flags, code, second.uiView, second.said)
		}
		if rows := l.rows(l.logIn(second.URL)); rows[1].Text != "first of two" {
			t.Errorf("the address leads to %+v", rows)
		}
	}
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := fmt.Sprint(taken.Addr().(*net.TCPAddr).Port)
	taken.Close()
	for _, c := range []struct {
		flags []string
		why   string
	}{{[]string{"--read-only"}, "which can change something"}, {[]string{"--port", port}, "on port " + fmt.Sprint(first.Port)}, {[]string{"--session", "x"}, ""}} {
		own := l.ui(two, c.flags...)
		l.logIn(own.URL)
		if own.stop(); own.Joined || own.Port == first.Port || c.why != "" && !strings.Contains(own.said.String(), "rewind: hint: another rewind ui runs already, "+c.why) {
			t.Errorf("%q: %+v %s", c.flags, own.uiView, own.said)
		}
	}
	m := meetingOf(l.env)
	for _, c := range []struct {
		ask  uiAsk
		want string
	}{
		{uiAsk{Version: "0.0.1"}, "of version " + versionText()},
		{uiAsk{Version: versionText(), Store: l.env.Dir}, "which cannot show this project: there is no such project"},
	} {
		if met, err := m.ask(c.ask); err != nil || met.Other != c.want || met.URL != "" {
			t.Errorf("%+v: %+v %v", c.ask, met, err)
		}
	}
	for _, junk := range []string{"", "junk", "{}", strings.Repeat("[", 1<<17)} { // and it goes on
		c, err := net.Dial("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, junk)
		c.Close()
	}
	if met, err := m.ask(uiAsk{Version: versionText(), Store: strings.TrimPrefix(l.logIn(first.URL), "/p/")}); err != nil || met.URL == "" {
		t.Errorf("after junk: %+v %v", met, err)
	}
	// Nothing is left, and the next is the first.
	if first.stop(); <-first.ended != 0 {
		t.Error(first.said)
	}
	if _, err := os.Lstat(socket); err == nil {
		t.Error("the socket is left")
	}
	if next := l.ui(two); next.Joined {
		t.Error("joined to what has ended")
	}
}

// Of those that start at once, one serves and the others join it.
func TestUIStartsAtOnce(t *testing.T) {
	l := newUILab(t)
	all := make(chan *uiRun, 4)
	for range cap(all) {
		go func() { all <- l.ui(l.env) }()
	}
	own, ports := 0, map[int]bool{}
	for range cap(all) {
		r := <-all
		ports[r.Port] = true
		if !r.Joined {
			own++
		}
		l.logIn(r.URL)
	}
	if own != 1 || len(ports) != 1 {
		t.Errorf("%d serve, on ports %v", own, ports)
	}
}

// What is not this user's, or no socket, is not spoken to, and not touched: the page is served alone.
func TestUIMeetsNobody(t *testing.T) {
	l := newUILab(t)
	dir := filepath.Join(l.env.Home, ".rewind")
	socket := filepath.Join(dir, uiSocketName)
	l.write(socket, "a file of a person\n")
	if r := l.ui(l.env); r.Joined {
		t.Error("joined to a file")
	} else {
		l.logIn(r.URL)
		r.stop()
	}
	if got, _ := os.ReadFile(socket); string(got) != "a file of a person\n" {
		t.Errorf("the file: %s", got)
	}
	if err := os.Remove(socket); err != nil {
		t.Fatal(err)
	}
	if meetingOf(account.Env{}) != nil || meetingOf(account.Env{Home: filepath.Join(dir, "none")}) != nil {
		t.Error("meets without a home")
	}
	if os.Geteuid() != 0 {
		t.Skip("NOT TESTED HERE: another user's socket takes root")
	}
	s, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	go func() {
		for {
			c, err := s.Accept()
			if err != nil {
				return
			}
			t.Error("another user's socket is spoken to")
			c.Close()
		}
	}()
	if err := os.Lchown(socket, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if _, err := meetingOf(l.env).ask(uiAsk{}); err == nil {
		t.Error("another user's socket answers")
	}
	if err := os.Lchown(dir, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if meetingOf(l.env) != nil {
		t.Error("another user's home")
	}
}

// What is not there, or no more, is said as such, with what to do.
func TestUIWhatIsGone(t *testing.T) {
	l := newUILab(t)
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
			var v uiSays
			if code := l.ask("GET", place+"/"+what+"?path=a.txt&id="+strings.ReplaceAll(none, "#", "%23"), nil, &v); code != 404 || v.Error == "" || v.Hint == "" {
				t.Errorf("%s of %q: %d %+v", what, none, code, v)
			}
		}
	}
	second := id("second")
	l.fails("GET", place+"/diff?id="+second+"&path=nothing", nil, 404, "no such file", "")
	l.fails("GET", place+"/file?id="+second+"&path=nothing", nil, 404, "no such file", "")
	l.fails("GET", place+"/raw?id="+second+"&path=nothing", nil, 404, "no such file", "")
	l.fails("GET", place+"/history?path=nothing", nil, 404, "no checkpoint ever had", "rewind ls")
	l.fails("GET", place+"/look?id=%40&other="+never, nil, 404, "", "")
	l.fails("GET", place+"/search?q=[&regexp=1", nil, 400, "", "")
	l.fails("POST", place+"/plans", uiAction{Verb: "dance", ID: second}, 400, "no such plan", "")
	l.fails("POST", place+"/plans", uiAction{Verb: "restore", ID: "#999"}, 404, "no such row", "reload")
	l.fails("POST", place+"/plans", "x", 400, "cannot be read", "")
	l.fails("POST", place+"/plans/x/apply", nil, 404, "no such plan", "reload")
	l.fails("POST", place+"/plans/1/apply", nil, 404, "no such plan", "reload")
	l.fails("POST", place+"/plans/revert-1/apply", nil, 404, "no such plan", "reload")
	l.fails("POST", place+"/marks", map[string]string{"id": "#999"}, 404, "no such row", "reload")
	l.fails("POST", place+"/marks", map[string]string{"id": second, "name": "a/../b\n"}, 400, "", "")
	plan := func() (p uiPlan) {
		if code := l.ask("POST", place+"/plans", uiAction{Verb: "restore", ID: id("first of one"), Half: "code"}, &p); code != 200 {
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
		var v uiSays
		if code := l.ask("GET", place+"/look?id="+r.ID, nil, &v); code != 200 && code != 410 {
			t.Errorf("after forget, %s: %d %+v", r.Text, code, v)
		}
	}
	l.fails("GET", place+"/raw?id="+second+"&path=b.txt", nil, 404, "", "")
}

// A version of a file comes byte for byte, and precious ones not at all.
func TestUIRaw(t *testing.T) {
	l := newUILab(t)
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
	at := slices.IndexFunc(rows, func(r uiRow) bool { return r.Text == "second" })
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
	l.fails("GET", "/api/v1"+place+"/raw?path=.env&id="+rows[at].ID, nil, 403, "is precious", "rewind cat")
}

// The store is damaged, goes, is rebuilt, and comes back while the page is open: the page says so with what to do, and
// goes on.
func TestUIStoreComesAndGoes(t *testing.T) {
	l := newUILab(t)
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
	l.fails("POST", "/api/v1"+place+"/plans", uiAction{Verb: "undo"}, 503, "is gone", "rewind status")
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
	if got := l.rows(place); !slices.ContainsFunc(got, func(r uiRow) bool { return r.Text == "later" }) {
		t.Errorf("after it was rebuilt: %+v", got)
	}
}

// Sixteen agents save at once while two pages look: no row is missing, and both show the same.
func TestUISixteenAgents(t *testing.T) {
	l := newUILab(t)
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
				if code := runHook([]string{"claude"}, []string{"rewind", "hook", "claude"}, l.env, Stdio{In: strings.NewReader(event), Out: &out, Err: &errOut}); code != 0 {
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
	for until := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) { // what was handed to processes is saved by and by
		var v listed
		if err := json.Unmarshal([]byte(l.run(l.env, "list", "--json", "--all")), &v); err != nil {
			t.Fatal(err)
		}
		want, got = nil, nil
		for _, c := range v.Checkpoints {
			want = append(want, c.ID)
		}
		for _, r := range l.rows(place) {
			if r.ID != "@" && r.ID[0] != '#' {
				got = append(got, r.ID)
			}
		}
		if slices.Equal(want, got) && len(got) > 16 {
			break
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
	l := newUILab(t)
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

// events watches a project: what it gives waits for the next line that has a word.
func (l *uiLab) events(place string) func(word string) string {
	l.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	l.t.Cleanup(stop)
	q, err := http.NewRequestWithContext(ctx, "GET", l.base+"/api/v1"+place+"/events", nil)
	if err != nil {
		l.t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+l.token)
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		l.t.Fatal(err)
	}
	lines := make(chan string, 1000)
	go func() {
		defer r.Body.Close()
		defer close(lines)
		for s := bufio.NewScanner(r.Body); s.Scan(); {
			lines <- s.Text()
		}
	}()
	return func(word string) string {
		l.t.Helper()
		for over := time.After(20 * time.Second); ; {
			select {
			case line, ok := <-lines:
				if strings.Contains(line, word) {
					return line
				}
				if !ok {
					l.t.Fatal("the news ended before ", word)
				}
			case <-over:
				l.t.Fatal("no news of ", word)
			}
		}
	}
}
