//go:build linux || darwin

package treeio

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/manifest"
)

const nobody = 65534

// unprivileged runs the calling test without root's powers: root reads and
// writes whatever the modes say, so the test runs again in a process that has
// given them up. It reports whether the caller is to go on.
func unprivileged(t *testing.T) bool {
	t.Helper()
	if os.Geteuid() != 0 {
		return true
	}
	dir, err := os.MkdirTemp("", "unprivileged")
	must(t, err)
	defer os.RemoveAll(dir)
	must(t, os.Chmod(dir, 0o777))
	// The test binary lies where only root can get at it.
	from, err := os.Open(os.Args[0])
	must(t, err)
	defer from.Close()
	binary := filepath.Join(dir, "test")
	to, err := os.OpenFile(binary, os.O_CREATE|os.O_WRONLY, 0o755)
	must(t, err)
	_, err = io.Copy(to, from)
	must(t, err)
	must(t, to.Close())
	cmd := exec.Command(binary, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("without root's powers: %v\n%s", err, out)
	}
	return false
}

// A read-only directory is made writable for the time by its owner, and is
// read-only again afterwards, also when the restore is put back.
func TestReadOnlyParent(t *testing.T) {
	if !unprivileged(t) {
		return
	}
	w := newWorld(t)
	defer os.Chmod(w.file("locked"), 0o755)
	defer os.Chmod(w.file("locked/sub"), 0o755)
	w.write("locked/file", "old")
	w.write("locked/gone", "old")
	w.write("locked/sub/file", "old")
	must(t, os.Chmod(w.file("locked/sub"), 0o555))
	must(t, os.Chmod(w.file("locked"), 0o555))
	target := w.now()
	must(t, os.Chmod(w.file("locked"), 0o755))
	must(t, os.Chmod(w.file("locked/sub"), 0o755))
	w.write("locked/file", "new")
	w.write("locked/more", "new")
	w.write("locked/sub/file", "new")
	must(t, os.Remove(w.file("locked/gone")))
	must(t, os.Chmod(w.file("locked/sub"), 0o511))
	must(t, os.Chmod(w.file("locked"), 0o555))
	start := w.now()
	w.restoreExactly(target)
	w.restoreExactly(start)

	// Put back, at a fault in the middle, and after a crash.
	for k := 1; ; k++ {
		f := &faults{at: k}
		if k%2 == 0 {
			f.err = syscall.ENOSPC
		}
		w.o.Workers = 1
		w.wrap = f.wrap
		p := w.plan(target)
		opts := w.options()
		opts.Files = faultyFiles{vfs.OS, f}
		var err error
		f.run(func() { _, err = p.Apply(t.Context(), opts) })
		w.wrap = nil
		if f.n < k {
			must(t, err)
			break
		}
		j, err := Open(w.store)
		must(t, err)
		if j != nil {
			_, err := j.Recover(t.Context(), w.fs(), w.memStore, j.Committed, w.options())
			must(t, err)
		}
		w.noTemps()
		if now := w.now(); now != start && now != target {
			w.diff(now, start, "neither old nor new")
		}
		w.restoreExactly(start)
	}
}

// What cannot be read cannot be in a checkpoint: it stays, and is named.
func TestUnreadable(t *testing.T) {
	if !unprivileged(t) {
		return
	}
	for _, to := range shapes {
		w := newWorld(t)
		w.shape(to)
		w.write("other", "1")
		target := w.now()
		w.clear()
		w.write("other", "2")
		must(t, os.WriteFile(w.file("p"), []byte("cannot be read"), 0))
		p := w.plan(target)
		out, err := p.Apply(t.Context(), w.options())
		must(t, err)
		w.noTemps()
		fi, err := os.Lstat(w.file("p"))
		must(t, err)
		if fi.Mode() != 0 || fi.Size() != 14 {
			t.Errorf("an unreadable file became %v in favour of %s", fi.Mode(), to)
		}
		skipped := slices.ContainsFunc(out.Skips, func(s problem.Problem) bool { return s.Path == "p" && s.Failed })
		if skipped != (to != "absent") {
			t.Errorf("%s: skips %v", to, out.Skips)
		}
		data, err := os.ReadFile(w.file("other"))
		must(t, err)
		if string(data) != "1" {
			t.Errorf("%s: the rest was not restored", to)
		}
	}
}

// A directory that cannot be listed stays, with whatever is in it.
func TestUnreadableDirectory(t *testing.T) {
	if !unprivileged(t) {
		return
	}
	for _, to := range shapes {
		w := newWorld(t)
		w.shape(to)
		target := w.now()
		w.clear()
		w.write("p/inside", "cannot be seen")
		full := w.now()
		must(t, os.Chmod(w.file("p"), 0))
		t.Cleanup(func() { os.Chmod(w.file("p"), 0o700) })
		for _, current := range []string{"known", "not known"} {
			fsys := w.fs()
			o := Options{FS: fsys, Source: w.memStore, Current: full, Target: target}
			if current == "not known" {
				o.Current = w.put(manifest.Dir{}.Append(nil))
			}
			p, err := NewPlan(t.Context(), o)
			must(t, err)
			must(t, p.Read(t.Context(), memSink{w.memStore}))
			_, err = p.Apply(t.Context(), w.options())
			must(t, err)
			must(t, os.Chmod(w.file("p"), 0o700))
			data, err := os.ReadFile(w.file("p/inside"))
			if err != nil || string(data) != "cannot be seen" {
				t.Errorf("%s, %s: what was in the directory: %q %v", to, current, data, err)
			}
			must(t, os.Chmod(w.file("p"), 0))
		}
		must(t, os.Chmod(w.file("p"), 0o700))
	}
}
