//go:build unix

package scan

import (
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/rewind-cli/rewind/engine/ignore"
	"github.com/rewind-cli/rewind/engine/problem"
)

func (p *project) wantProblems(r *Result, want ...problem.Problem) {
	p.t.Helper()
	if !slices.Equal(r.Problems, want) {
		p.t.Fatalf("problems:\n%v\nwant:\n%v", r.Problems, want)
	}
}

func TestSpecialFiles(t *testing.T) {
	both(t, func(t *testing.T, p *project) {
		p.write("dir/file", "x")
		p.do(syscall.Mkfifo(p.path("dir/fifo"), 0o644))
		// A socket's path may have 104 bytes at most.
		short, err := os.MkdirTemp(os.Getenv("GOTMPDIR"), "s") // beside the tree: T.TempDir is there
		p.do(err)
		defer os.RemoveAll(short)
		l, err := net.Listen("unix", filepath.Join(short, "s"))
		p.do(err)
		defer l.Close()
		p.do(os.Rename(filepath.Join(short, "s"), p.path("dir/socket")))
		want := []problem.Problem{{Path: "dir/fifo", Reason: "fifo"}, {Path: "dir/socket", Reason: "socket"}}
		for range 2 { // from the tree, then from the stat cache
			settle()
			r := p.check()
			p.wantProblems(r, want...)
			p.want(r, map[string]string{"dir": "dir 755", "dir/file": `file 644 "x"`})
		}
		settle()
		p.check()
		if r := p.check(); r.top != nil {
			t.Fatal("special files are looked at again")
		}
		p.do(os.Remove(p.path("dir/fifo")))
		p.wantProblems(p.check(), want[1])
	})
}

func TestLimits(t *testing.T) {
	both(t, func(t *testing.T, p *project) {
		p.opts.MaxFileSize = 2 << 20
		p.opts.Rules = compile(t, ignore.Config{CaptureIgnored: "small"})
		rules := "file 644 \"*.log\\n\""
		p.write(".gitignore", "*.log\n")
		p.write("big", strings.Repeat("x", 3<<20))
		p.write("small.log", "x")
		p.write("large.log", strings.Repeat("x", smallFile+1))
		settle()
		for range 2 {
			r := p.check()
			if len(r.Problems) != 2 || r.Problems[0] != (problem.Read("big", "larger than maxFileSize", false)) ||
				r.Problems[1].Path != "large.log" || !strings.HasPrefix(r.Problems[1].Reason, "ignored: ") {
				t.Fatalf("%v", r.Problems)
			}
			p.want(r, map[string]string{".gitignore": rules, "small.log": `file 644 "x"`})
		}
		// Both become small enough, the other too large; their directory stays as it is.
		p.do(os.WriteFile(p.path("big"), []byte("b"), 0o644))
		p.do(os.WriteFile(p.path("large.log"), []byte("l"), 0o644))
		p.do(os.WriteFile(p.path("small.log"), make([]byte, smallFile+1), 0o644))
		r := p.check()
		p.want(r, map[string]string{".gitignore": rules, "big": `file 644 "b"`, "large.log": `file 644 "l"`})
		if len(r.Problems) != 1 || r.Problems[0].Path != "small.log" || len(r.Problems[0].Reason) <= len("ignored: ") {
			t.Fatalf("%v", r.Problems)
		}
	})
}

// TestUnreadable runs as somebody who may not read everything.
func TestUnreadable(t *testing.T) {
	if os.Getuid() == 0 {
		cmd := exec.Command("/proc/self/exe", "-test.run=^TestUnreadable$", "-test.v")
		cmd.Dir = "/"
		cmd.Env = append(os.Environ(), "TMPDIR=/tmp")
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if !strings.Contains(string(out), "--- PASS: TestUnreadable/best") {
			t.Fatalf("did not run:\n%s", out)
		}
		return
	}
	both(t, func(t *testing.T, p *project) {
		p.write("file", "secret")
		p.write("dir/a", "a")
		p.write("dir/b", "b")
		p.write("names/a", "a")
		settle()
		p.check()
		all := p.scan()
		p.do(os.Chmod(p.path("file"), 0))
		p.do(os.Chmod(p.path("dir"), 0))
		p.do(os.Chmod(p.path("names"), 0o600)) // can be listed, but nothing in it looked at
		t.Cleanup(func() { _ = os.Chmod(p.path("dir"), 0o755); _ = os.Chmod(p.path("names"), 0o755) })
		denied := "unreadable: permission denied"
		for range 3 {
			settle()
			r := p.check()
			p.wantProblems(r, problem.Read("dir", denied, true), problem.Read("file", denied, true), problem.Read("names/a", denied, true))
			p.want(r, map[string]string{"names": "dir 600"})
		}
		p.do(os.Chmod(p.path("file"), 0o644))
		p.do(os.Chmod(p.path("dir"), 0o755))
		p.do(os.Chmod(p.path("names"), 0o755))
		if r := p.check(); r.Root != all.Root || len(r.Problems) != 0 {
			t.Fatalf("%v", r.Problems)
		}
	})
}

// TestRefusedNames: what no restore can write is left out by every scan, whether its directory is read again or not.
func TestRefusedNames(t *testing.T) {
	both(t, func(t *testing.T, p *project) {
		p.write("dir/a", "a")
		p.write("dir/git~1/b", "b")
		p.write("dir/.git.", "c")
		p.write("ignored/git~1", "d")
		p.write(".gitignore", "ignored/\n")
		reason := "git takes its name for .git on another system, so it could not be restored"
		for i := range 4 {
			settle()
			if i == 3 {
				p.write("dir/e", "e")
			}
			r := p.check()
			p.wantProblems(r, problem.Read("dir/.git.", reason, true), problem.Read("dir/git~1", reason, true), problem.Read("ignored", "ignored: .gitignore:1: ignored/", false))
			for path := range p.sink.tree(t, r.Root) {
				if strings.Contains(path, "git~1") || strings.HasSuffix(path, ".git.") {
					t.Fatalf("scan %d captured %s", i, path)
				}
			}
		}
	})
}

// TestRefusedAfterUpgrade: such a name that a version before this one captured goes, although nothing changed on disk.
func TestRefusedAfterUpgrade(t *testing.T) {
	p := newProject(t)
	p.write("a", "a")
	settle()
	p.scan()
	h, err := LoadCache(p.cache)
	p.do(err)
	o := p.options(true)
	var b [16]byte // as versions before wrote it
	binary.LittleEndian.PutUint64(b[:], o.Rules.Hash())
	binary.LittleEndian.PutUint64(b[8:], uint64(o.MaxFileSize))
	if h.conf != RulesHash(o.Rules, o.MaxFileSize) || h.conf == xxhash.Sum64(b[:]) {
		t.Fatalf("the stat cache says %x, this version %x, the one before %x", h.conf, RulesHash(o.Rules, o.MaxFileSize), xxhash.Sum64(b[:]))
	}
}

// TestReadableAgain: what becomes readable without a change of the file itself is noticed.
func TestReadableAgain(t *testing.T) {
	p := newProject(t)
	p.write("dir/a", "a")
	settle()
	r := p.scan()
	// As a scan by another user would have recorded it.
	h, err := LoadCache(p.cache)
	p.do(err)
	n := &node{ord: 1, parent: &node{}, name: "dir", mode: h.dirs[1].mode, fp: h.dirs[1].fp}
	n.ents = []entry{{name: "a", kind: kindFailed | flagReason, reason: "unreadable: permission denied"}}
	n.id = emptyDir(t, p.sink)
	n.encode()
	top := &node{ord: 0, mode: h.dirs[0].mode, fp: h.dirs[0].fp, id: h.root}
	top.ents = []entry{{name: "dir", kind: kindDir, child: n}}
	top.encode()
	d, err := p.sink.Load(top.id)
	p.do(err)
	d.Entries[0].ID, d.Entries[0].Files, d.Entries[0].Size = n.id, 0, 0
	top.id, err = p.sink.Dir(0, d.Append(nil), top.id)
	p.do(err)
	p.do((&Result{Root: top.id, cache: h, loaded: h, conf: h.conf, key: h.seed, top: top}).Publish(p.cache, Stamp{}, nil))
	if h, err = LoadCache(p.cache); err != nil || h.Root() != top.id {
		t.Fatal("the stat cache was not changed")
	}
	if again := p.scan(); again.Root != r.Root {
		t.Fatalf("%s", show(p.sink.tree(t, again.Root)))
	}
}

func emptyDir(t *testing.T, m *memory) (id [32]byte) {
	t.Helper()
	got, err := m.Dir(0, []byte{0xD1}, [32]byte{})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestTornFile(t *testing.T) {
	both(t, func(t *testing.T, p *project) {
		p.write("log", "0")
		p.write("other", "x")
		times := 0
		grow := func(limit int) func(*os.File, string) {
			return func(_ *os.File, name string) {
				if name == "log" && times < limit {
					times++
					f, err := os.OpenFile(p.path("log"), os.O_APPEND|os.O_WRONLY, 0)
					p.do(err)
					_, err = f.WriteString("1")
					p.do(err)
					p.do(f.Close())
				}
			}
		}
		p.sink.during = grow(2)
		r := p.scan()
		p.wantProblems(r)
		p.want(r, map[string]string{"log": `file 644 "011"`, "other": `file 644 "x"`})
		p.write("log", "0")
		times, p.sink.during = 0, grow(100)
		r = p.scan()
		p.wantProblems(r, problem.Read("log", "torn", true))
		p.want(r, map[string]string{"log": `file 644 "011"`, "other": `file 644 "x"`})
		p.sink.during = nil
		settle()
		r = p.check()
		p.wantProblems(r)
		p.want(r, map[string]string{"log": `file 644 "0111"`, "other": `file 644 "x"`})
	})
}

// TestVanishing removes and replaces things between listing and reading.
func TestVanishing(t *testing.T) {
	p := newProject(t)
	p.opts.Workers = 1
	for _, name := range []string{"a", "b", "c", "d", "e", "sub/x", "zz/y"} {
		p.write(name, name)
	}
	settle() // else "a" is read twice
	p.sink.during = func(_ *os.File, name string) {
		if name != "a" {
			return
		}
		p.do(os.Remove(p.path("b")))
		p.do(os.Remove(p.path("c")))
		p.do(os.Symlink("a", p.path("c")))
		p.do(os.Remove(p.path("d")))
		p.do(os.Mkdir(p.path("d"), 0o755))
		p.do(os.Remove(p.path("e")))
		p.do(syscall.Mkfifo(p.path("e"), 0o644))
		p.do(os.RemoveAll(p.path("sub")))
		p.do(os.RemoveAll(p.path("zz")))
		p.write("zz", "a file now")
	}
	r := p.scan()
	p.want(r, map[string]string{"a": `file 644 "a"`, "c": "link a"})
	p.wantProblems(r, problem.New("b", problem.Vanished, false), problem.New("d", problem.Vanished, false), problem.Read("e", "fifo", false),
		problem.New("sub", problem.Vanished, false), problem.New("zz", problem.Vanished, false))
	p.sink.during = nil
	r = p.check()
	p.want(r, map[string]string{"a": `file 644 "a"`, "c": "link a", "d": "dir 755", "zz": `file 644 "a file now"`})
}

func TestLate(t *testing.T) {
	both(t, func(t *testing.T, p *project) {
		p.write("dir/before", "x")
		p.write("dir/edited", "x")
		settle()
		p.check()
		p.opts.Late = time.Now()
		settle()
		p.do(os.Chmod(p.path("dir/edited"), 0o600))
		p.wantProblems(p.check(), problem.Read("dir/edited", "late", true))
		p.write("dir/new", "x")
		for range 2 {
			settle()
			p.wantProblems(p.check(), problem.Read("dir", "late", true), problem.Read("dir/edited", "late", true), problem.Read("dir/new", "late", true))
		}
	})
}

func TestIgnoredPathsAreBounded(t *testing.T) {
	p := newProject(t)
	p.opts.Rules = compile(t, ignore.Config{Ignore: []string{"*.o", "out"}})
	for i := range 1200 {
		p.write(fmt.Sprintf("d%d/%04d.o", i%3, i), "")
	}
	p.write("d0/kept", "x")
	p.write("out/a/b", "x")
	settle()
	first := p.check()
	if n := len(first.Problems); n != maxIgnored+1 {
		t.Fatalf("%d problems", n)
	}
	if last := first.Problems[maxIgnored]; last != (problem.Read("", "ignored: 201 more paths", false)) {
		t.Fatalf("%+v", last)
	}
	again := p.check()
	if !slices.Equal(first.Problems, again.Problems) || again.top != nil {
		t.Fatal("an unchanged scan tells something else")
	}
	p.write("d1/new", "x")
	if r := p.check(); !slices.Equal(first.Problems, r.Problems) {
		t.Fatal("an edit changes what is listed")
	}
}
