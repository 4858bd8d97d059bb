package scan

import (
	"os"
	"testing"

	"github.com/rewind-cli/rewind/engine/problem"

	"golang.org/x/sys/unix"
)

func TestMountPoint(t *testing.T) {
	p := newProject(t)
	p.write("dir/file", "below")
	p.write("other", "x")
	settle()
	whole := p.check()
	if err := unix.Mount("none", p.path("dir"), "tmpfs", 0, ""); err != nil {
		t.Skipf("mounting is not possible here: %v", err)
	}
	mounted := true
	defer func() {
		if mounted {
			_ = unix.Unmount(p.path("dir"), unix.MNT_DETACH)
		}
	}()
	p.do(os.WriteFile(p.path("dir/foreign"), []byte("x"), 0o644))
	for range 2 {
		r := p.check()
		p.want(r, map[string]string{"other": `file 644 "x"`})
		p.wantProblems(r, problem.Read("dir", "mount point", false))
	}
	p.do(unix.Unmount(p.path("dir"), 0))
	mounted = false
	if r := p.check(); r.Root != whole.Root || len(r.Problems) != 0 {
		t.Fatal("not as before")
	}
}

// A bind mount of the same file system has the device of the project, and one of a directory over itself
// its inode as well.
func TestBindMount(t *testing.T) {
	p := newProject(t)
	p.write("dir/sub/file", "below")
	p.write("dir/a b", "beside")
	p.write("other", "x")
	elsewhere := t.TempDir()
	t.Cleanup(func() {
		for _, dir := range []string{"dir", "dir/sub"} {
			for unix.Unmount(p.path(dir), unix.MNT_DETACH) == nil { // mounts lie on one another where the test failed
			}
		}
	})
	p.do(os.WriteFile(elsewhere+"/foreign", []byte("x"), 0o644))
	settle()
	whole := p.check()
	for _, from := range []string{elsewhere, p.path("dir/sub")} {
		if err := unix.Mount(from, p.path("dir/sub"), "", unix.MS_BIND, ""); err != nil {
			t.Skipf("mounting is not possible here: %v", err)
		}
		for range 2 {
			r := p.check()
			if r.Root == whole.Root {
				t.Error("what is mounted was captured")
			}
			p.want(r, map[string]string{"other": `file 644 "x"`, "dir": "dir 755", "dir/a b": `file 644 "beside"`})
			p.wantProblems(r, problem.Read("dir/sub", "mount point", false))
		}
		p.do(unix.Unmount(p.path("dir/sub"), 0))
		if r := p.check(); r.Root != whole.Root || len(r.Problems) != 0 {
			t.Fatal("not as before")
		}
	}
	// One that another mount hides is not there.
	p.do(unix.Mount(elsewhere, p.path("dir/sub"), "", unix.MS_BIND, ""))
	p.do(unix.Mount("none", p.path("dir"), "tmpfs", 0, ""))
	p.wantProblems(p.check(), problem.Read("dir", "mount point", false))
	p.do(unix.Unmount(p.path("dir"), 0))
	p.do(unix.Unmount(p.path("dir/sub"), 0))
}

// A file that another one is mounted over is left out as a directory is: no restore could put it back. The other one may
// be on any file system, and be the same file.
func TestBindMountedFile(t *testing.T) {
	p := newProject(t)
	p.write("dir/file", "below")
	p.write("dir/ignored.log", "x")
	p.write(".gitignore", "*.log\n")
	memory := t.TempDir()
	t.Cleanup(func() {
		for _, name := range []string{p.path("dir/file"), p.path("dir/ignored.log"), memory} {
			_ = unix.Unmount(name, unix.MNT_DETACH) // of a test that failed
		}
	})
	if err := unix.Mount("none", memory, "tmpfs", 0, ""); err != nil {
		t.Skipf("NOT TESTED HERE: mounting is not possible: %v", err)
	}
	for _, file := range []string{memory + "/foreign", p.dir + "-foreign"} {
		p.do(os.WriteFile(file, []byte("foreign"), 0o644))
	}
	settle()
	whole := p.check()
	for _, from := range []string{memory + "/foreign", p.dir + "-foreign", p.path("dir/file")} {
		p.do(unix.Mount(from, p.path("dir/file"), "", unix.MS_BIND, ""))
		p.do(unix.Mount(from, p.path("dir/ignored.log"), "", unix.MS_BIND, ""))
		for range 2 {
			r := p.check()
			p.want(r, map[string]string{".gitignore": `file 644 "*.log\n"`, "dir": "dir 755"})
			p.wantProblems(r, append([]problem.Problem{problem.Read("dir/file", "mount point", false)}, whole.Problems...)...)
		}
		p.do(unix.Unmount(p.path("dir/ignored.log"), 0))
		p.do(unix.Unmount(p.path("dir/file"), 0))
		if r := p.check(); r.Root != whole.Root || len(r.Problems) != len(whole.Problems) {
			t.Fatal("not as before")
		}
	}
}
