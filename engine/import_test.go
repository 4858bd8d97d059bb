package engine

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/port"
	"github.com/rewind-cli/rewind/engine/project"
)

// archiveOf makes a tar.gz of headers; a regular file's content is its Linkname.
func archiveOf(t *testing.T, headers ...tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	for _, h := range headers {
		text := ""
		if h.Typeflag == tar.TypeReg {
			text, h.Linkname = h.Linkname, ""
			h.Size = int64(len(text))
		}
		if h.Mode == 0 {
			h.Mode = 0o644
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func fileHeader(name string) tar.Header {
	return tar.Header{Typeflag: tar.TypeReg, Name: name, Linkname: "x"}
}

// An archive of nobody knows whom: what is hostile or damaged is left out and named, and nothing else.
func TestImportHostileArchives(t *testing.T) {
	file := fileHeader
	good := archiveOf(t, file("a"), file("d/b"))
	flipped := bytes.Clone(archiveOf(t, tar.Header{Typeflag: tar.TypeReg, Name: "a", Linkname: strings.Repeat("abc", 5000)}))
	flipped[len(flipped)/2] ^= 0xff
	old := port.MaxArchiveEntries
	port.MaxArchiveEntries = 5
	defer func() { port.MaxArchiveEntries = old }()
	bomb := port.MaxArchiveBytes
	port.MaxArchiveBytes = 100_000
	defer func() { port.MaxArchiveBytes = bomb }()
	archives := map[string][]byte{
		"good":      good,
		"dots":      archiveOf(t, file("a"), file("../../etc/x")),
		"inner":     archiveOf(t, file("a/../../x")),
		"absolute":  archiveOf(t, file("/etc/passwd")),
		"through":   archiveOf(t, tar.Header{Typeflag: tar.TypeSymlink, Name: "l", Linkname: "/etc"}, file("l/x")),
		"twice":     archiveOf(t, file("a"), tar.Header{Typeflag: tar.TypeDir, Name: "a"}),
		"hardlink":  archiveOf(t, tar.Header{Typeflag: tar.TypeLink, Name: "h", Linkname: "/etc/passwd"}),
		"many":      archiveOf(t, file("1"), file("2"), file("3"), file("4"), file("5"), file("6")),
		"bomb":      archiveOf(t, tar.Header{Typeflag: tar.TypeReg, Name: "a", Linkname: strings.Repeat("\x00", 200_000)}),
		"cut":       good[:len(good)/2],
		"flipped":   flipped,
		"nothing":   nil,
		"text":      []byte("this is no archive"),
		"json":      good,
		"deep":      archiveOf(t, file(strings.Repeat("d/", 600)+"x")),
		"git":       archiveOf(t, file(".git/hooks/post-checkout"), file("sub/.GIT/x"), tar.Header{Typeflag: tar.TypeFifo, Name: "fifo"}, file("ok")),
		"links":     archiveOf(t, tar.Header{Typeflag: tar.TypeSymlink, Name: "out", Linkname: "../../../etc/passwd"}, file("one"), tar.Header{Typeflag: tar.TypeLink, Name: "other", Linkname: "one"}),
		"storepath": archiveOf(t, file(".agent/rewind/objects/x"), file("a")),
	}
	l := newLab(t)
	l.write("a", "native")
	l.init()
	dir := filepath.Join(filepath.Dir(l.root), "older")
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
	l.do(func(ctx context.Context, p *project.Project) error {
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
