//go:build unix

package scan

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rewind-cli/rewind/engine/ignore"
)

// edits is a tree under random edits of every kind. After each step the scan
// with the stat cache must give what a scan without one gives.
type edits struct {
	*project
	step int
	last map[string]string // what was at each path at the last check

	older bool // the stat cache is of an earlier check
}

var (
	editNames = []string{"a", "b", "c.o", "d", "keep", "z\xffz", "-x", "new\nline", ".gitignore"}
	editRules = []string{"", "*.o\n", "a\n", "d/\n!keep\n", "*\n!*/\n!b\n", "/d/*\n", "\xff*\n"}
)

func (e *edits) text(t *rapid.T) string {
	e.step++
	// Same sizes are frequent: only the stat tuple tells such versions apart.
	return fmt.Sprintf("%06d", e.step) + strings.Repeat("x", rapid.SampledFrom([]int{0, 0, 0, 5}).Draw(t, "more"))
}

// all lists the paths of the tree, directories and others apart.
func (e *edits) all() (dirs, files []string) {
	_ = filepath.WalkDir(e.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if d.IsDir() {
			dirs = append(dirs, path)
		} else {
			files = append(files, path)
		}
		return nil
	})
	return dirs, files
}

func (e *edits) someDir(t *rapid.T) string {
	dirs, _ := e.all()
	return rapid.SampledFrom(dirs).Draw(t, "dir")
}

// below is a directory that is not the root, "" if there is none.
func (e *edits) below(t *rapid.T) string {
	dirs, _ := e.all()
	if len(dirs) < 2 {
		return ""
	}
	return rapid.SampledFrom(dirs[1:]).Draw(t, "below")
}

func (e *edits) someFile(t *rapid.T) string {
	_, files := e.all()
	if len(files) == 0 {
		return ""
	}
	return rapid.SampledFrom(files).Draw(t, "file")
}

func (e *edits) place(t *rapid.T) string {
	return filepath.Join(e.someDir(t), rapid.SampledFrom(editNames).Draw(t, "name"))
}

func (e *edits) actions() map[string]func(*rapid.T) {
	// Edits that cannot be done are no edits: their errors do not matter.
	put := func(path, text string) { // does not wait for the reader of a fifo
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NONBLOCK, 0o644)
		if err == nil {
			_, _ = f.WriteString(text)
			_ = f.Close()
		}
	}
	return map[string]func(*rapid.T){
		"write": func(t *rapid.T) { put(e.place(t), e.text(t)) },
		"write2": func(t *rapid.T) {
			put(e.place(t), e.text(t))
			put(e.place(t), e.text(t))
		},
		"rewrite": func(t *rapid.T) {
			if f := e.someFile(t); f != "" && regular(f) {
				put(f, e.text(t))
			}
		},
		"rewrite and put the times back": func(t *rapid.T) {
			f := e.someFile(t)
			info, err := os.Lstat(f)
			if err == nil && info.Mode().IsRegular() {
				put(f, e.text(t))
				_ = os.Chtimes(f, time.Time{}, info.ModTime())
			}
		},
		"replace by rename": func(t *rapid.T) {
			if f := e.someFile(t); f != "" {
				put(f+".tmp", e.text(t))
				_ = os.Rename(f+".tmp", f)
			}
		},
		"remove":     func(t *rapid.T) { _ = os.Remove(e.someFile(t)) },
		"remove dir": func(t *rapid.T) { removeAll(e.below(t)) },
		"mkdir":      func(t *rapid.T) { _ = os.Mkdir(e.place(t), 0o755) },
		"move": func(t *rapid.T) {
			if f := e.someFile(t); f != "" {
				_ = os.Rename(f, e.place(t))
			}
		},
		"move dir": func(t *rapid.T) {
			if d := e.below(t); d != "" {
				_ = os.Rename(d, e.place(t))
			}
		},
		"swap dirs": func(t *rapid.T) {
			a, b := e.below(t), e.below(t)
			if a != "" && os.Rename(a, e.dir+".swap") == nil {
				_ = os.Rename(b, a)
				if os.Rename(e.dir+".swap", b) != nil {
					removeAll(e.dir + ".swap")
				}
			}
		},
		"dir to link": func(t *rapid.T) {
			if d := e.below(t); d != "" {
				to := e.place(t)
				if os.Rename(d, to) == nil {
					_ = os.Symlink(to, d)
				}
			}
		},
		"link":      func(t *rapid.T) { _ = os.Symlink(e.text(t), e.place(t)) },
		"hard link": func(t *rapid.T) { _ = os.Link(e.someFile(t), e.place(t)) },
		"fifo":      func(t *rapid.T) { _ = syscall.Mkfifo(e.place(t), 0o644) },
		"chmod": func(t *rapid.T) {
			if f := e.someFile(t); f != "" && regular(f) {
				_ = os.Chmod(f, os.FileMode(rapid.SampledFrom([]int{0o644, 0o755, 0o600}).Draw(t, "mode")))
			}
		},
		"chmod dir": func(t *rapid.T) {
			_ = os.Chmod(e.someDir(t), os.FileMode(rapid.SampledFrom([]int{0o755, 0o700}).Draw(t, "mode")))
		},
		"rules": func(t *rapid.T) {
			name := rapid.SampledFrom([]string{".gitignore", ".rewindignore"}).Draw(t, "file")
			put(filepath.Join(e.someDir(t), name), rapid.SampledFrom(editRules).Draw(t, "rules"))
		},
		"configuration": func(t *rapid.T) {
			c := ignore.Config{CaptureIgnored: rapid.SampledFrom([]string{"none", "small", "all"}).Draw(t, "captureIgnored")}
			if rapid.Bool().Draw(t, "force") {
				c.ForceInclude = []string{"keep"}
			}
			if rapid.Bool().Draw(t, "tracked") {
				c.Tracked = func(p string) bool { return p == "d/a" || p == "c.o" }
				c.TrackedBelow = func(p string) bool { return p == "d" || p == "" }
				c.TrackedHash = 1
			}
			r, err := ignore.Compile(c)
			if err != nil {
				t.Fatal(err)
			}
			e.opts.Rules = r
			e.opts.MaxFileSize = rapid.SampledFrom([]int64{0, 8}).Draw(t, "maxFileSize")
		},
		"wait": func(*rapid.T) { settle() },
		"lose the stat cache's end": func(t *rapid.T) {
			if info, err := os.Stat(e.cache); err == nil {
				_ = os.Truncate(e.cache, rapid.Int64Range(0, info.Size()).Draw(t, "size"))
				e.older = true
			}
		},
		"": func(t *rapid.T) {
			e.t = t
			if changed := e.changed(); rapid.Bool().Draw(t, "within") && !e.older {
				e.opts.Within = changed
				got := e.scan()
				e.opts.Within = nil
				if want := e.plain(); got.Root != want.Root {
					t.Fatalf("within %q:\n%swithout a stat cache:\n%s", changed, show(e.sink.tree(t, got.Root)), show(e.sink.tree(t, want.Root)))
				}
			}
			e.check()
			e.older = false
			if again := e.scan(); !again.Unchanged {
				t.Fatalf("nothing changed, and the root did")
			}
		},
	}
}

// changed lists the paths, relative to the root, that differ from the last call's.
func (e *edits) changed() []string {
	now := map[string]string{}
	dirs, files := e.all()
	for _, path := range append(dirs, files...) {
		info, err := os.Lstat(path)
		if err != nil {
			e.t.Fatal(err)
		}
		st := info.Sys().(*syscall.Stat_t)
		is := fmt.Sprint(info.Mode(), info.Size(), info.ModTime().UnixNano(), st.Ino)
		switch {
		case info.Mode().IsRegular():
			text, err := os.ReadFile(path)
			is += fmt.Sprint(string(text), err)
		case info.Mode()&os.ModeSymlink != 0:
			to, err := os.Readlink(path)
			is += fmt.Sprint(to, err)
		}
		now[strings.TrimPrefix(strings.TrimPrefix(path, e.dir), "/")] = is
	}
	list := []string{} // not nil: nothing is not everything
	for path, is := range now {
		if e.last[path] != is {
			list = append(list, path)
		}
	}
	for path := range e.last {
		if _, ok := now[path]; !ok {
			list = append(list, path)
		}
	}
	e.last = now
	return list
}

func regular(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

func removeAll(path string) {
	if path != "" {
		_ = os.RemoveAll(path)
	}
}

func TestRandomEdits(t *testing.T) {
	rounds := 40
	if testing.Short() {
		rounds = 8
	}
	for _, portable := range []bool{false, true} {
		t.Run(fmt.Sprintf("portable=%v", portable), func(t *testing.T) {
			base := t.TempDir()
			run := 0
			rapid.Check(t, func(rt *rapid.T) {
				if run++; run > rounds {
					return
				}
				p := newProject(t)
				p.dir, p.cache = filepath.Join(base, fmt.Sprint(run)), filepath.Join(base, fmt.Sprint(run, ".head"))
				p.opts.portable = portable
				p.sink.root = p.dir + "/"
				p.do(os.Mkdir(p.dir, 0o755))
				defer os.RemoveAll(p.dir)
				defer os.Remove(p.cache)
				rt.Repeat((&edits{project: p}).actions())
			})
		})
	}
}

// TestRacyLoop rewrites a file at the same size inside the clock's grain, over and over.
func TestRacyLoop(t *testing.T) {
	both(t, func(t *testing.T, p *project) {
		for i := range 100 {
			text := fmt.Sprintf("%03d", i)
			p.write("dir/file", text)
			r := p.scan()
			if got := p.sink.tree(t, r.Root)["dir/file"]; got != fmt.Sprintf("file 644 %q", text) {
				t.Fatalf("round %d: %s", i, got)
			}
		}
	})
}

// TestFutureStamp plays a clock that was set back: what carries a later ctime is never trusted.
func TestFutureStamp(t *testing.T) {
	p := newProject(t)
	p.write("file", "text")
	settle()
	early := func() *Result {
		o := p.options(true)
		o.Start = time.Now().Add(-time.Hour)
		p.sink.reads = nil
		r, err := Run(t.Context(), o)
		p.do(err)
		p.do(r.Publish(p.cache, Stamp{}, nil))
		return r
	}
	early()
	for range 3 {
		if early(); !slices.Equal(p.sink.reads, []string{"file"}) {
			t.Fatalf("read %q", p.sink.reads)
		}
	}
	p.check()
	if p.scan(); len(p.sink.reads) != 0 {
		t.Fatalf("read %q although the clock has caught up", p.sink.reads)
	}
}
