package port_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/port"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/internal/testkit/testlab"
)

// nastyNames are names that archives, terminals and line-based tools trip over.
var nastyNames = []string{
	"plain", "-dash", "--", "sp ace", "new\nline", "tab\there", "quote'\"", `back\slash`, "Ünïcödé", "bad\xff\xfeutf8", "nul", "con.txt",
	"*star?", "[x]", "~", "#hash", ".hidden", "..dots", "\x1b[31mred", strings.Repeat("n", 255),
}

// nasty fills the project with files, links and directories of such names, and
// with a path of 4,000 characters.
func (l *lab) nasty() {
	l.T.Helper()
	for i, name := range nastyNames {
		l.Write(name, strings.Repeat("x", i))
		l.Write("dir/"+name, name)
		if i%3 == 0 {
			if err := os.Symlink(name, filepath.Join(l.Root, "dir", "l"+name[:min(len(name), 250)])); err != nil {
				l.T.Fatal(err)
			}
		}
	}
	l.Write("exec", "#!/bin/sh\n")
	for name, mode := range map[string]os.FileMode{"exec": 0o755, "plain": 0o600} {
		if err := os.Chmod(filepath.Join(l.Root, name), mode); err != nil {
			l.T.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(l.Root, "empty", "nested"), 0o711); err != nil {
		l.T.Fatal(err)
	}
	// Longer than a path that one system call takes: made one directory at a time.
	here, err := os.Getwd()
	if err != nil {
		l.T.Fatal(err)
	}
	defer os.Chdir(here)
	if err := os.Chdir(l.Root); err != nil {
		l.T.Fatal(err)
	}
	for range 20 {
		name := strings.Repeat("deep", 50)
		if err := os.Mkdir(name, 0o755); err != nil {
			l.T.Fatal(err)
		}
		if err := os.Chdir(name); err != nil {
			l.T.Fatal(err)
		}
	}
	if err := os.WriteFile("bottom", []byte("here\n"), 0o644); err != nil {
		l.T.Fatal(err)
	}
}

// TestExportIsReadByGNUTar: tar unpacks every name, link and mode of each
// format, and the same checkpoint gives the same bytes.
func TestExportIsReadByGNUTar(t *testing.T) {
	tar, err := exec.LookPath("tar")
	if err != nil {
		t.Skip("GNU tar is the judge, and is not there")
	}
	l := newLab(t)
	l.nasty()
	l.Write("large", strings.Repeat("0123456789abcdef", 200_000))
	saved := l.Init()
	want := l.Read()
	for _, format := range []string{"tar", "tar.gz", "tar.zst"} {
		if _, err := exec.LookPath("zstd"); format == "tar.zst" && err != nil {
			t.Log("zstd is not there: tar.zst is not judged")
			continue
		}
		var first, second bytes.Buffer
		l.Do(func(ctx context.Context, p *project.Project) error {
			return port.Export(ctx, p, &first, port.ExportOptions{Checkpoint: saved.Checkpoint, Format: format})
		})
		l.Do(func(ctx context.Context, p *project.Project) error {
			return port.Export(ctx, p, &second, port.ExportOptions{Checkpoint: saved.Checkpoint, Format: format})
		})
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("%s: the same checkpoint gave other bytes", format)
		}
		out := &lab{&testlab.Lab{T: t, Root: t.TempDir()}}
		args := map[string][]string{"tar": {"-x"}, "tar.gz": {"-xz"}, "tar.zst": {"-x", "--zstd"}}[format]
		cmd := exec.Command(tar, append(args, "-p", "-C", out.Root)...)
		cmd.Stdin = &first
		if msg, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", format, err, msg)
		}
		if d := want.Diff(out.Read()); d != "" {
			t.Errorf("%s unpacks to:\n%s", format, d)
		}
	}
	l.Do(func(ctx context.Context, p *project.Project) error {
		var buf bytes.Buffer
		err := port.Export(ctx, p, &buf, port.ExportOptions{Checkpoint: saved.Checkpoint, Format: "tar", Paths: []string{"empty", "*exec"}})
		list := exec.Command(tar, "-t")
		list.Stdin = &buf
		names, terr := list.Output()
		if terr != nil {
			t.Error(terr)
		}
		if string(names) != "empty/\nempty/nested/\nexec\n" {
			t.Errorf("chosen paths are %q", names)
		}
		return err
	})
}

// TestExportEnds: whatever ends an export early, it returns, with the reason.
func TestExportEnds(t *testing.T) {
	l := newLab(t)
	for i := range 200 {
		l.Write(fmt.Sprintf("dir/%d", i), strings.Repeat("x", i*i))
	}
	l.Write("large", strings.Repeat("0123456789abcdef", 500_000))
	saved := l.Init()
	full := errors.New("the disk is full")
	for _, format := range []string{"tar", "tar.gz", "tar.zst"} {
		l.Do(func(ctx context.Context, p *project.Project) error {
			if err := port.Export(ctx, p, failing{full}, port.ExportOptions{Checkpoint: saved.Checkpoint, Format: format}); !errors.Is(err, full) {
				t.Errorf("%s to a full disk: %v", format, err)
			}
			ctx, cancel := context.WithCancel(ctx)
			stopped := func(project.ProgressInfo) { cancel() }
			p.Progress = stopped
			if err := port.Export(ctx, p, io.Discard, port.ExportOptions{Checkpoint: saved.Checkpoint, Format: format}); !errors.Is(err, context.Canceled) {
				t.Errorf("%s, cancelled: %v", format, err)
			}
			return nil
		})
	}
}

type failing struct{ err error }

func (w failing) Write([]byte) (int, error) { return 0, w.err }

// TestNastyNamesComeBack: what an archive can hold, a restore brings back.
func TestNastyNamesComeBack(t *testing.T) {
	l := newLab(t)
	l.nasty()
	first := l.Init()
	want := l.Read()
	entries, err := os.ReadDir(l.Root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != ".agent" {
			l.Remove(e.Name())
		}
	}
	l.Do(func(ctx context.Context, p *project.Project) error {
		done, err := restore.Restore(ctx, p, restore.Options{Checkpoint: first.Checkpoint})
		if err == nil && len(done.Skip) > 0 {
			t.Errorf("skipped: %v", done.Skip)
		}
		return err
	})
	l.Is(want, "after restore")
}
