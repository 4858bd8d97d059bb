package page

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/account"
)

// The page shows the account's other projects: those that are there, by ids alone.
func TestUIProjects(t *testing.T) {
	l := newLab(t)
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
	var plan planView
	if code := l.ask("POST", "/api/v1"+at("two")+"/plans", action{Verb: "restore", ID: rows[len(rows)-1].ID, Half: "code"}, &plan); code != 200 {
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
		var v says
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
	l := newLab(t)
	two := l.project("two")
	socket, lock := filepath.Join(l.env.Home, ".rewind", socketName), filepath.Join(l.env.Home, ".rewind", lockName)
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
			t.Errorf("%q: %d %+v %s", flags, code, second.PageView, second.said)
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
			t.Errorf("%q: %+v %s", c.flags, own.PageView, own.said)
		}
	}
	m := meetingOf(l.env)
	for _, c := range []struct {
		ask  joinAsk
		want string
	}{
		{joinAsk{Version: "0.0.1"}, "of version " + app.VersionText()},
		{joinAsk{Version: app.VersionText(), Store: l.env.Dir}, "which cannot show this project: there is no such project"},
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
	if met, err := m.ask(joinAsk{Version: app.VersionText(), Store: strings.TrimPrefix(l.logIn(first.URL), "/p/")}); err != nil || met.URL == "" {
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
	l := newLab(t)
	all := make(chan *running, 4)
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
	l := newLab(t)
	dir := filepath.Join(l.env.Home, ".rewind")
	socket := filepath.Join(dir, socketName)
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
	if _, err := meetingOf(l.env).ask(joinAsk{}); err == nil {
		t.Error("another user's socket answers")
	}
	if err := os.Lchown(dir, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if meetingOf(l.env) != nil {
		t.Error("another user's home")
	}
}
