//go:build amd64 || arm64

package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/diff"
	"golang.org/x/sys/unix"

	"github.com/rewind-cli/rewind/internal/testkit/tracee"
)

var update = flag.Bool("update", false, "write the golden files")

// TestCallsGolden: what commands do to the disk, and in which order they make it
// durable, is reviewed as a diff of these files.
func TestCallsGolden(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	program := build(t)
	for _, s := range []scenario{
		{name: "save-first", args: []string{"save"}, prepare: func(w *world) { w.rewind("init", "--no-save") }},
		{name: "save-unchanged", args: []string{"save"}, prepare: func(w *world) {
			w.rewind("init", "--no-save")
			// What is as fresh as a save is looked at again by the next one, which
			// notes that: the clock has to move on.
			time.Sleep(100 * time.Millisecond)
			w.rewind("save")
		}},
		{name: "save-edit", args: []string{"save"}, prepare: saved},
		{name: "restore-file", args: []string{"restore", "last", "--", "a.txt"}, prepare: saved},
		{name: "gc", args: []string{"gc", "--keep", "1"}, prepare: edited},
	} {
		t.Run(s.name, func(t *testing.T) {
			w := setUp(t, program, s)
			r := w.trace(nil)
			if r.Code != 0 {
				t.Fatalf("exit code %d: %s", r.Code, r.Err)
			}
			got := []byte(w.calls(r))
			golden := filepath.Join("testdata", "calls", s.name+".txt")
			if *update {
				must(t, os.MkdirAll(filepath.Dir(golden), 0o755))
				must(t, os.WriteFile(golden, got, 0o644))
			}
			want, err := os.ReadFile(golden)
			must(t, err)
			if !bytes.Equal(got, want) {
				t.Errorf("go test ./cli/rewind -run CallsGolden -update makes it so\n%s", diff.Diff("golden", want, "now", got))
			}
		})
	}
}

// calls lists the calls of a run that succeeded and changed, locked or synced
// something, one per line. Writes one after the other are one.
func (w *world) calls(r *tracee.Result) string {
	var list []string
	for _, c := range r.Calls {
		if c.N == 0 || !c.Changes || c.Errno != 0 {
			continue
		}
		line := w.line(c)
		if len(list) > 0 && list[len(list)-1] == line && strings.HasPrefix(line, "write") {
			continue
		}
		list = append(list, line)
	}
	return strings.Join(list, "\n") + "\n"
}

// sizes are the classes that the size of a write is told in.
var sizes = []struct {
	below int64
	name  string
}{{4 << 10, "less than 4 KiB"}, {256 << 10, "less than 256 KiB"}, {1 << 62, "256 KiB or more"}}

func (w *world) line(c *tracee.Call) string {
	path := w.normal(c.Path)
	switch c.Name {
	case "openat", "openat2":
		how := "open"
		for _, f := range []struct {
			flag int
			name string
		}{{unix.O_RDWR, "rw"}, {unix.O_WRONLY, "w"}, {unix.O_APPEND, "append"}, {unix.O_CREAT, "create"}, {unix.O_EXCL, "exclusive"}, {unix.O_TRUNC, "truncate"}} {
			if c.Flags&f.flag != 0 {
				how += " " + f.name
			}
		}
		return how + " " + path
	case "write", "pwrite64":
		for _, s := range sizes {
			if c.Size < s.below {
				return fmt.Sprintf("write %s: %s", path, s.name)
			}
		}
	case "renameat", "renameat2":
		how := "rename"
		switch {
		case c.Flags&unix.RENAME_EXCHANGE != 0:
			how = "exchange"
		case c.Flags&unix.RENAME_NOREPLACE != 0:
			how = "rename, not over another,"
		}
		return fmt.Sprintf("%s %s %s", how, path, w.normal(c.To))
	case "linkat":
		return fmt.Sprintf("link %s %s", path, w.normal(c.To))
	case "symlinkat":
		return fmt.Sprintf("symlink %s %s", w.normal(c.To), path)
	case "unlinkat":
		if c.Flags&unix.AT_REMOVEDIR != 0 {
			return "rmdir " + path
		}
		return "unlink " + path
	case "flock":
		how := map[int]string{unix.LOCK_SH: "shared", unix.LOCK_EX: "exclusive", unix.LOCK_UN: "unlock"}[c.Flags&^unix.LOCK_NB]
		return fmt.Sprintf("flock %s: %s", path, how)
	case "ftruncate":
		return "truncate " + path
	}
	return strings.TrimSuffix(c.Name, "at") + " " + path
}

// random are the parts of names that differ from run to run.
var random = []struct {
	part *regexp.Regexp
	name string
}{
	{regexp.MustCompile(`\.tmp-[0-9]+`), ".tmp-N"},
	{regexp.MustCompile(`\.rewind-tmp-[0-9a-f]+`), ".rewind-tmp-N"},
	{regexp.MustCompile(`data-[0-9a-f]{16}`), "data-N"},
	{regexp.MustCompile(`vault/[0-9a-f]{32}`), "vault/ID"},
	{regexp.MustCompile(`homes/[0-9a-f]{32}`), "homes/ID"},
	{regexp.MustCompile(`\.[0-9a-f]{16}\.tmp`), ".N.tmp"},
}

// normal is a path relative to the project, the store or the home.
func (w *world) normal(path string) string {
	for prefix, short := range map[string]string{filepath.Join(w.project, ".agent/rewind"): "STORE", filepath.Join(w.home): "HOME", w.project: "PROJECT"} {
		if rest, below := strings.CutPrefix(path, prefix); below && !(short == "PROJECT" && strings.HasPrefix(rest, "/.agent/rewind")) {
			path = short + rest
			break
		}
	}
	for _, r := range random {
		path = r.part.ReplaceAllString(path, r.name)
	}
	return path
}
