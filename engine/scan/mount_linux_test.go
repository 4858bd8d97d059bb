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
