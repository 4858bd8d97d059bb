package port_test

import (
	"archive/tar"
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/port"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/internal/testkit/testlab"
)

// An archive of nobody knows whom: what is hostile or damaged is left out and named, and nothing else.
func TestImportHostileArchives(t *testing.T) {
	file := testlab.FileHeader
	good := testlab.ArchiveOf(t, file("a"), file("d/b"))
	flipped := bytes.Clone(testlab.ArchiveOf(t, tar.Header{Typeflag: tar.TypeReg, Name: "a", Linkname: strings.Repeat("abc", 5000)}))
	flipped[len(flipped)/2] ^= 0xff
	old := port.MaxArchiveEntries
	port.MaxArchiveEntries = 5
	defer func() { port.MaxArchiveEntries = old }()
	bomb := port.MaxArchiveBytes
	port.MaxArchiveBytes = 100_000
	defer func() { port.MaxArchiveBytes = bomb }()
	archives := map[string][]byte{
		"good":      good,
		"dots":      testlab.ArchiveOf(t, file("a"), file("../../etc/x")),
		"inner":     testlab.ArchiveOf(t, file("a/../../x")),
		"absolute":  testlab.ArchiveOf(t, file("/etc/passwd")),
		"through":   testlab.ArchiveOf(t, tar.Header{Typeflag: tar.TypeSymlink, Name: "l", Linkname: "/etc"}, file("l/x")),
		"twice":     testlab.ArchiveOf(t, file("a"), tar.Header{Typeflag: tar.TypeDir, Name: "a"}),
		"hardlink":  testlab.ArchiveOf(t, tar.Header{Typeflag: tar.TypeLink, Name: "h", Linkname: "/etc/passwd"}),
		"many":      testlab.ArchiveOf(t, file("1"), file("2"), file("3"), file("4"), file("5"), file("6")),
		"bomb":      testlab.ArchiveOf(t, tar.Header{Typeflag: tar.TypeReg, Name: "a", Linkname: strings.Repeat("\x00", 200_000)}),
		"cut":       good[:len(good)/2],
		"flipped":   flipped,
		"nothing":   nil,
		"text":      []byte("this is no archive"),
		"json":      good,
		"deep":      testlab.ArchiveOf(t, file(strings.Repeat("d/", 600)+"x")),
		"git":       testlab.ArchiveOf(t, file(".git/hooks/post-checkout"), file("sub/.GIT/x"), tar.Header{Typeflag: tar.TypeFifo, Name: "fifo"}, file("ok")),
		"links":     testlab.ArchiveOf(t, tar.Header{Typeflag: tar.TypeSymlink, Name: "out", Linkname: "../../../etc/passwd"}, file("one"), tar.Header{Typeflag: tar.TypeLink, Name: "other", Linkname: "one"}),
		"storepath": testlab.ArchiveOf(t, file(".agent/rewind/objects/x"), file("a")),
	}
	l := newLab(t)
	l.Write("a", "native")
	l.Init()
	dir := filepath.Join(filepath.Dir(l.Root), "older")
	for name, data := range archives {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		meta := `{"timestamp":"2025-01-01T00:00:00"}`
		if name == "json" {
			meta = `{"timestamp":`
		}
		for file, text := range map[string][]byte{"snapshot.tar.gz": data, "metadata.json": []byte(meta)} {
			if err := os.WriteFile(filepath.Join(dir, name, file), text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	l.Do(func(ctx context.Context, p *project.Project) error {
		done, err := port.Import(ctx, p, port.ImportOptions{Older: dir})
		if err != nil {
			return err
		}
		var added, skipped []string
		for _, c := range done.Added {
			added = append(added, c.Name)
			if (c.Name == "git" || c.Name == "storepath") && c.Files != 1 || c.Name == "links" && c.Files != 3 {
				t.Errorf("%s: %d files", c.Name, c.Files)
			}
		}
		for _, s := range done.Skipped {
			skipped = append(skipped, s.Name)
			if strings.TrimSpace(s.Reason) == "" {
				t.Errorf("%s is left out without a reason", s.Name)
			}
		}
		slices.Sort(added)
		if got := strings.Join(added, " "); got != "git good links storepath" {
			t.Errorf("taken over: %s\nleft out: %q", got, done.Skipped)
		}
		if len(skipped) != len(archives)-4 || done.LeftOut != 3 {
			t.Errorf("%d left out, %d paths: %q", len(skipped), done.LeftOut, done.Skipped)
		}
		again, err := port.Import(ctx, p, port.ImportOptions{Older: dir})
		if err == nil && (len(again.Added) > 0 || again.Known != 4 || again.Newest != nil) {
			t.Errorf("again: %+v", again)
		}
		return err
	})
}
