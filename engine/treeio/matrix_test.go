//go:build linux || darwin

package treeio

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/rootfs"
)

// shapes are the kinds that a path can have. The first list is what a
// checkpoint can hold.
var shapes = []string{"absent", "empty", "file", "executable", "symlink", "dangling", "directory", "full directory"}
var uncapturable = []string{"fifo", "socketlike device"}

func (w *world) shape(kind string) {
	w.Helper()
	p := w.file("p")
	switch kind {
	case "absent":
	case "empty":
		must(w, os.WriteFile(p, nil, 0o644))
	case "file":
		must(w, os.WriteFile(p, []byte("content"), 0o640))
	case "executable":
		must(w, os.WriteFile(p, []byte("#!/bin/sh\n"), 0o755))
	case "symlink":
		must(w, os.Symlink("other", p))
	case "dangling":
		must(w, os.Symlink("/nowhere/at/all", p))
	case "directory":
		must(w, os.Mkdir(p, 0o750))
	case "full directory":
		must(w, os.Mkdir(p, 0o755))
		w.write("p/file", "in it")
		w.write("p/sub/deep", "deeper")
		must(w, os.Symlink("file", w.file("p/link")))
	case "fifo":
		must(w, syscall.Mkfifo(p, 0o644))
	case "socketlike device":
		// A socket file needs a listener; its node is the same to a restore.
		must(w, syscall.Mknod(p, syscall.S_IFSOCK|0o644, 0))
	default:
		w.Fatalf("no shape %q", kind)
	}
}

func (w *world) clear() { must(w, os.RemoveAll(w.file("p"))) }

// Every kind becomes every other, there and back.
func TestKindToKind(t *testing.T) {
	for _, portable := range []bool{false, true} {
		for _, from := range shapes {
			for _, to := range shapes {
				t.Run(fmt.Sprintf("portable=%v/%s to %s", portable, from, to), func(t *testing.T) {
					w := newWorld(t)
					if portable {
						w.wrap = func(rootfs.FS) rootfs.FS {
							f, err := rootfs.OpenPortable(w.root)
							must(t, err)
							return f
						}
					}
					w.write("other", "never touched")
					must(t, os.Chmod(w.file("other"), 0o600))
					w.shape(to)
					target := w.now()
					w.clear()
					w.shape(from)
					start := w.now()
					p := w.restoreExactly(target)
					if p.Before != start {
						t.Error("Before is not the tree that was")
					}
					w.restoreExactly(start)
				})
			}
		}
	}
}

// What no checkpoint can hold is in the way: it stays, and is named.
func TestUncapturableStays(t *testing.T) {
	for _, from := range uncapturable {
		for _, to := range shapes {
			t.Run(from+" to "+to, func(t *testing.T) {
				w := newWorld(t)
				w.shape(to)
				target := w.now()
				w.clear()
				w.shape(from)
				_, out := w.restore(target)
				if to == "absent" {
					if len(out.Skips) != 0 {
						t.Errorf("skips %v for what is no business of the restore", out.Skips)
					}
				} else if len(out.Skips) != 1 || out.Skips[0].Path != "p" || !out.Skips[0].Failed {
					t.Errorf("skips %v, want one failed for p", out.Skips)
				}
				fi, err := os.Lstat(w.file("p"))
				must(t, err)
				if fi.Mode().IsRegular() || fi.IsDir() {
					t.Errorf("%s became %v", from, fi.Mode())
				}
			})
		}
	}
}

// Ignored paths are in no scan. What is in the way of the target is captured
// first and then replaced; a directory that holds something stays whole.
func TestIgnoredInTheWay(t *testing.T) {
	for _, from := range shapes[1:] {
		for _, to := range shapes {
			t.Run(from+" to "+to, func(t *testing.T) {
				w := newWorld(t)
				w.shape(to)
				target := w.now()
				w.clear()
				w.shape(from)
				really := w.now()
				w.ignored = []string{"p"}
				p, out := w.restore(target)
				w.ignored = nil
				switch {
				case to == "absent":
					w.same(really, "nothing of the target was there")
				case from == "full directory" && !strings.Contains(to, "directory"):
					if len(out.Skips) != 1 || out.Skips[0].Reason != reasonHolds {
						t.Errorf("skips: %v", out.Skips)
					}
					w.same(really, "a full directory in the way")
				case from == "full directory":
					if !w.exists("p/file") || !w.exists("p/sub/deep") {
						t.Error("what was in the directory is gone")
					}
				default:
					w.same(target, "restored over an ignored path")
					if !strings.Contains(from, "directory") || !strings.Contains(to, "directory") {
						if from != to && p.Before != really {
							w.diff(p.Before, really, "the safety tree does not have what was in the way")
						}
					}
				}
			})
		}
	}
}

// Whatever was never captured stays, wherever it is.
func TestUncapturedStays(t *testing.T) {
	w := newWorld(t)
	w.write("keep", "1")
	target := w.now()
	w.write("new/a", "captured")
	w.write("new/secret.env", "not captured")
	w.write("new/sub/node_modules/x", "not captured")
	w.write("new/nested/.git/HEAD", "ref: refs/heads/main")
	w.write("new/nested/code.go", "captured")
	w.write("gone/b", "captured")
	w.ignored = []string{"new/secret.env", "new/sub/node_modules"}
	_, out := w.restore(target)
	for path, want := range map[string]bool{
		"new/a": false, "new/secret.env": true, "new/sub/node_modules/x": true,
		"new/nested/.git/HEAD": true, "new/nested/code.go": true, "gone": false,
	} {
		if w.exists(path) != want {
			t.Errorf("%s exists: %v", path, !want)
		}
	}
	if !slices.ContainsFunc(out.Skips, func(s problem.Problem) bool { return s.Path == "new/nested" && s.Reason == ReasonNested }) {
		t.Errorf("the nested repository is not named: %v", out.Skips)
	}
}

// A path is deleted only if both sets of rules would capture it.
func TestScope(t *testing.T) {
	for _, which := range []string{"target", "today"} {
		w := newWorld(t)
		w.write("a", "1")
		target := w.now()
		w.write("build/out", "made")
		w.write("b", "2")
		rule := func(path string, _ bool) bool { return path != "build" && path != "build/out" }
		if which == "target" {
			w.o.InTarget = rule
		} else {
			w.o.InScope = rule
		}
		_, out := w.restore(target)
		if !w.exists("build/out") || w.exists("b") {
			t.Errorf("%s: build/out %v, b %v", which, w.exists("build/out"), w.exists("b"))
		}
		if len(out.Skips) == 0 {
			t.Errorf("%s: nothing is said about what stays", which)
		}
	}
}
