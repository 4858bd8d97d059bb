package bucket_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/remote/bucket"
)

func needGit(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
}

// Two processes push objects of one directory at once, and none is lost.
func TestTwoPushAtOnceByGit(t *testing.T) {
	needGit(t)
	t.Parallel()
	host := newRepository(t)
	var all sync.WaitGroup
	for i := range 2 {
		b := openGit(t, "git:"+host, bucket.Options{})
		all.Go(func() {
			for n := range 3 {
				if err := b.Put(t.Context(), fmt.Sprintf("w/a/%d-%d", i, n), []byte{'x'}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	b := openGit(t, "git:"+host, bucket.Options{})
	if got := names(t, b, "w/"); got != "w/a/0-0=1 w/a/0-1=1 w/a/0-2=1 w/a/1-0=1 w/a/1-1=1 w/a/1-2=1" {
		t.Error(got)
	}
	// What was put by a request whose answer was lost is not put twice.
	before := git(t, host, "rev-parse", "refs/rewind/log/w/a/LOG")
	last := git(t, host, "ls-tree", "--name-only", before)
	put(t, b, "w/a/"+last, "x")
	if now := git(t, host, "rev-parse", "refs/rewind/log/w/a/LOG"); now != before {
		t.Error("it was put twice")
	}
	if heads := git(t, host, "for-each-ref", "refs/heads", "refs/tags"); heads != "" {
		t.Error(heads)
	}
}

// A large object is in no listing's way, is given back, and goes.
func TestLargeObjectByGit(t *testing.T) {
	needGit(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	s := serveGit(t, newRepository(t))
	b := openGit(t, "git:"+s.URL, bucket.Options{})
	body := make([]byte, 2<<20)
	rand.Read(body)
	if err := b.Put(t.Context(), "d/large", body); err != nil {
		t.Fatal(err)
	}
	put(t, b, "d/small", "x")
	s.down.Store(0)
	if got := names(t, b, "d/"); got != "d/large=2097152 d/small=1" {
		t.Error(got)
	}
	if n := s.down.Load(); n > 4000 {
		t.Errorf("a listing took %d bytes", n)
	}
	if got, err := b.Get(t.Context(), "d/large", 2<<20); err != nil || !bytes.Equal(got, body) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if err := b.Delete(t.Context(), "d/large"); err != nil {
		t.Fatal(err)
	}
	if got := names(t, b, "d/"); got != "d/small=1" {
		t.Error(got)
	}
	if left, _ := os.ReadDir(temp); runtime.GOOS != "windows" && len(left) > 0 {
		t.Errorf("temporary files are left: %v", left)
	}
}

// What is deleted is gone at once, and of the refs when as much is gone as is left.
func TestManyDeletionsByGit(t *testing.T) {
	needGit(t)
	t.Parallel()
	host := newRepository(t)
	b := openGit(t, "git:"+host, bucket.Options{})
	want := []string{}
	for n := range 6 {
		put(t, b, fmt.Sprintf("w/a/%d", n), fmt.Sprint(n))
		want = append(want, fmt.Sprintf("w/a/%d=1", n))
	}
	length := func() string { return git(t, host, "rev-list", "--count", "refs/rewind/log/w/a/LOG") }
	for n, commits := range []string{"7", "8", "3", "4", "1"} {
		if n == 4 {
			b = openGit(t, "git:"+host, bucket.Options{}) // another process
		}
		if err := b.Delete(t.Context(), fmt.Sprintf("w/a/%d", n)); err != nil {
			t.Fatal(err)
		}
		if got := names(t, openGit(t, "git:"+host, bucket.Options{}), "w/"); got != strings.Join(want[n+1:], " ") {
			t.Errorf("%d: %s", n, got)
		}
		if got := length(); got != commits {
			t.Errorf("%d: %s commits, not %s", n, got, commits)
		}
	}
	put(t, b, "w/a/0", "back")
	holds(t, b, "w/a/0", "back")
	if got := names(t, b, "w/"); got != "w/a/0=4 w/a/5=1" {
		t.Error(got)
	}
	for _, name := range []string{"w/a/0", "w/a/5"} {
		if err := b.Delete(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	if refs := git(t, host, "for-each-ref"); refs != "" {
		t.Error(refs)
	}
}

// What the host, the network and the machine can refuse, in the errors of the package.
func TestRefusedByGit(t *testing.T) {
	needGit(t)
	if runtime.GOOS == "windows" {
		t.Skip("hooks are shell scripts")
	}
	o := bucket.Options{Timeout: time.Second}
	denied := func(err error) bool {
		var e *bucket.DeniedError
		return errors.As(err, &e) && e.Next != ""
	}
	unreachable := func(err error) bool {
		var e *bucket.UnreachableError
		return errors.As(err, &e)
	}
	wrong := func(err error) bool {
		var e *bucket.URLError
		return errors.As(err, &e) && e.Next != ""
	}
	hook := newRepository(t)
	if err := os.WriteFile(filepath.Join(hook, "hooks", "pre-receive"), []byte("#!/bin/sh\necho not on Sundays; exit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	hidden := newRepository(t)
	git(t, hidden, "config", "transfer.hideRefs", "refs/rewind")
	answers := func(h http.HandlerFunc) string {
		s := httptest.NewServer(h)
		t.Cleanup(s.Close)
		return s.URL + "/r.git"
	}
	over := make(chan struct{})
	silent := answers(func(http.ResponseWriter, *http.Request) { <-over })
	t.Cleanup(func() { close(over) })
	closed := httptest.NewServer(nil)
	closed.Close()
	for what, c := range map[string]struct {
		url  string
		kind func(error) bool
		text string
	}{
		"a hook":          {hook, denied, "not on Sundays"},
		"hidden refs":     {hidden, denied, "hidden ref"},
		"no repository":   {filepath.Join(t.TempDir(), "none"), wrong, "no git repository"},
		"a silent server": {silent, unreachable, "no progress for 1s"},
		"a closed port":   {closed.URL, unreachable, ""},
		"no such host":    {"https://host.invalid/r.git", unreachable, ""},
		"a password": {answers(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("WWW-Authenticate", "Basic")
			w.WriteHeader(401)
		}), denied, ""},
		"forbidden":           {answers(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(403) }), denied, ""},
		"no such page":        {answers(http.NotFound), wrong, ""},
		"out of order":        {answers(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(500) }), unreachable, ""},
		"a page of something": {answers(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "<html>Sign in") }), func(err error) bool { return wrong(err) || unreachable(err) }, ""},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			err := openGit(t, "git:"+c.url, o).Put(t.Context(), "w/a/1", []byte("x"))
			if !c.kind(err) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%T: %v", err, err)
			}
		})
	}
	there := bucket.Options{Existing: true}
	if _, err := openGit(t, "git:"+filepath.Join(t.TempDir(), "none"), there).List(t.Context(), ""); !unreachable(err) {
		t.Errorf("one that was there: %v", err)
	}
}

func TestWithoutGit(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	var denied *bucket.DeniedError
	if err := open(t, "git:https://host/r.git", bucket.Options{}).Put(t.Context(), "a", nil); !errors.As(err, &denied) || !strings.Contains(err.Error(), "git") {
		t.Error(err)
	}
}

// What others have put into the refs, or claim, is not taken for an object, and fills neither memory nor disk.
func TestHostileRepository(t *testing.T) {
	needGit(t)
	host := newRepository(t)
	b := openGit(t, "git:"+host, bucket.Options{})
	put(t, b, "w/a/1", "x")
	body := bytes.Repeat([]byte("0123456789abcdef"), 1<<17)
	if err := b.Put(t.Context(), "w/a/large", body[:100<<10]); err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(t.TempDir(), "work")
	git(t, "", "init", "-q", work)
	commit := func(entry string) string {
		cmd := exec.Command("git", "mktree", "--missing")
		cmd.Dir, cmd.Stdin = work, strings.NewReader(entry)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return git(t, work, "-c", "user.name=x", "-c", "user.email=x", "commit-tree", "-m", "", strings.TrimSpace(string(out)))
	}
	random := make([]byte, 4<<20)
	rand.Read(random)
	if err := errors.Join(os.WriteFile(filepath.Join(work, "zeros"), body, 0o600), os.WriteFile(filepath.Join(work, "random"), random, 0o600)); err != nil {
		t.Fatal(err)
	}
	zeros, noise := git(t, work, "hash-object", "-w", "zeros"), git(t, work, "hash-object", "-w", "random")
	for ref, entry := range map[string]string{
		"log/w/Upper/LOG": "100644 blob " + zeros + "\tx",
		"log/w/b/other":   "100644 blob " + zeros + "\tx",
		"log/w/c/LOG":     "040000 tree " + git(t, work, "hash-object", "-t", "tree", "-w", os.DevNull) + "\tx",
		"log/w/d/LOG":     "100644 blob " + zeros + "\tCAPITALS",
		"log/w/e/LOG":     "160000 commit " + strings.Repeat("1", 40) + "\tx@-5",
	} {
		if ref == "log/w/d/LOG" {
			entry = "100755 blob " + zeros + "\tCAPITALS"
		}
		git(t, work, "push", "-q", host, commit(entry)+":refs/rewind/"+ref)
	}
	if got := names(t, b, ""); got != "w/a/1=1 w/a/large=102400" {
		t.Error(got)
	}
	var large *bucket.TooLargeError
	git(t, work, "push", "-q", "--force", host, commit("100644 blob "+noise+"\tobject")+":refs/rewind/large/w/a/large/LOG")
	if _, err := b.Get(t.Context(), "w/a/large", 1<<20); !errors.As(err, &large) {
		t.Errorf("an object that is larger than it says: %v", err)
	}
	if got, err := b.Get(t.Context(), "w/a/1", 0); !errors.As(err, &large) {
		t.Errorf("%q, %v", got, err)
	}
	git(t, work, "push", "-q", host, commit("100644 blob "+zeros+"\tx")+":refs/rewind/log/w/f/LOG")
	if got, err := b.List(t.Context(), "w/"); err == nil {
		t.Errorf("a small object of 2 MB: %v", got)
	}
	git(t, host, "update-ref", "-d", "refs/rewind/log/w/f/LOG")
	git(t, work, "push", "-q", host, commit("100755 blob "+noise+"\tx")+":refs/rewind/log/w/f/LOG")
	defer bucket.LimitChains(1 << 20)()
	if got, err := b.List(t.Context(), "w/"); err == nil {
		t.Errorf("a listing of 4 MB: %v", got)
	}
}

func TestURLsOfGit(t *testing.T) {
	needGit(t)
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	git(t, dir, "config", "user.name", "x")
	o := bucket.Options{Project: dir, Dir: dir, Home: dir}
	check := func(url, want string) {
		t.Helper()
		got, err := bucket.Resolve(url, o)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, not %s", url, got, want)
		}
	}
	check("git:origin", "has no remote")
	git(t, dir, "remote", "add", "up/stream", "https://user:secret@host/r.git")
	check("git:.", "git:https://user:secret@host/r.git")
	git(t, dir, "remote", "add", "origin", "../host.git")
	check("git:origin#a/b", "git:"+filepath.Join(filepath.Dir(dir), "host.git")+"#a/b")
	check("git:.", "git:"+filepath.Join(filepath.Dir(dir), "host.git"))
	git(t, dir, "config", "remote.pushDefault", "up/stream")
	check("git:.", "git:https://")
	git(t, dir, "config", "remote.up/stream.pushurl", "me@host:r.git")
	check("git:up/stream", "git:me@host:r.git")
	git(t, dir, "config", "remote.bad.url", "ext::sh -c id")
	check("git:bad", "of the remote bad: git is not used by other programs")
	check("git:ssh://host/r.git", "git:ssh://host/r.git")
	check("git:-x", "no URL of a git repository")
	check("git:ftp://host/x", "git is not used by ftp")
	check("git:origin#../x", "no prefix")
	check("s3://b/x", "s3://b/x")
	o.Project = ""
	check("git:origin", "in no git repository")
	if _, err := bucket.Open("git:https://me:secret@host/x#X", o); err == nil || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}
