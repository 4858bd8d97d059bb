package treeio

import (
	"os"
	"os/exec"
	"testing"
)

// chattr sets an attribute for the time of a test.
func chattr(t *testing.T, attribute, file string) {
	t.Helper()
	if out, err := exec.Command("chattr", "+"+attribute, file).CombinedOutput(); err != nil {
		t.Skipf("NOT TESTED HERE: chattr +%s: %v %s", attribute, err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("chattr", "-"+attribute, file).CombinedOutput(); err != nil {
			t.Errorf("chattr -%s: %v %s", attribute, err, out)
		}
	})
}

// What may not be changed is left alone and called what it is: it can be read well enough.
func TestLockedByAttributes(t *testing.T) {
	for _, c := range []struct{ what, attribute, locked, path, want string }{
		{"replace", "i", "f", "f", "it is immutable"},
		{"replace", "a", "f", "f", "it is append-only"},
		{"delete", "i", "new", "new", "it is immutable"},
		{"create", "i", "dir", "dir/gone", "it is in an immutable directory"},
		{"delete", "a", "dir", "dir/new", "it is in an append-only directory"},
	} {
		t.Run(c.what+" "+c.attribute+" "+c.locked, func(t *testing.T) {
			w := newWorld(t)
			w.write("f", "then")
			w.write("dir/there", "x")
			if c.path == "dir/gone" {
				w.write("dir/gone", "x")
			}
			target := w.now()
			w.write("f", "now")
			if c.path == "dir/gone" {
				must(t, os.Remove(w.file("dir/gone")))
			}
			if c.what == "delete" {
				w.write(c.path, "x")
			}
			chattr(t, c.attribute, w.file(c.locked))
			if c.what != "create" { // a dry run knows of it, too
				if p := w.plan(target); len(p.Skips) != 1 || p.Skips[0].Path != c.path || p.Skips[0].Reason != c.want {
					t.Errorf("planned: %+v, left alone: %+v", p.Changes, p.Skips)
				}
			}
			_, r := w.restore(target)
			for _, s := range r.Skips {
				if s.Path == c.path {
					if s.Reason != c.want || !s.Failed {
						t.Errorf("%+v, want %q", s, c.want)
					}
					return
				}
			}
			t.Errorf("%s is not among %+v", c.path, r.Skips)
		})
	}
}

// A directory whose mode may not be set is left alone and named: nothing remains to be cleaned up.
func TestDirectoryModeRefused(t *testing.T) {
	w := newWorld(t)
	w.write("dir/there", "x")
	w.write("f", "then")
	target := w.now()
	must(t, os.Chmod(w.file("dir"), 0o744))
	w.write("f", "now")
	chattr(t, "i", w.file("dir"))
	_, out := w.restore(target)
	if out.Unfinished || len(out.Skips) != 1 || out.Skips[0].Path != "dir" || !out.Skips[0].Failed {
		t.Errorf("unfinished: %v, left alone: %+v", out.Unfinished, out.Skips)
	}
	if j, err := Open(w.options().Dir); j != nil || err != nil {
		t.Errorf("the journal remains: %+v, %v", j, err)
	}
}
