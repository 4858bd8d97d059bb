package engine

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/oplog"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/save"
	"github.com/rewind-cli/rewind/engine/stores"
	"github.com/rewind-cli/rewind/engine/treeio"
	"github.com/rewind-cli/rewind/manifest"
)

// Stores as they were written by each format version so far lie in
// testdata/stores: vN.tar.gz holds .agent/rewind, vN.txt what must be in it. When the
// format changes, make the next one before with
//
//	REWIND_WRITE_FIXTURE=1 go test -run TestWriteFormatFixture ./engine
//
// and keep the older ones.
const fixtures = "testdata/stores"

func TestWriteFormatFixture(t *testing.T) {
	if os.Getenv("REWIND_WRITE_FIXTURE") == "" {
		t.Skip("set REWIND_WRITE_FIXTURE to write the store of this format version anew")
	}
	l := newLab(t)
	l.Write("a.txt", "one\n")
	l.Write("dir/b.txt", strings.Repeat("a line that is there often\n", 300))
	l.Write("dir/name\nof any \xff bytes", "bytes\r\n\x00")
	l.Write("large", strings.Repeat("so large that it is cut into chunks\n", 300_000)) // a data pack, and a list of chunks
	if err := os.Symlink("dir/b.txt", filepath.Join(l.Root, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(l.Root, "empty"), 0o750); err != nil {
		t.Fatal(err)
	}
	first := l.Init().Checkpoint
	l.Write("dir/b.txt", strings.Repeat("a line that is there often\n", 300)+"and one more\n") // a delta
	l.Write(".gitignore", "*.o\n")
	second := l.Save().Checkpoint
	l.Do(func(ctx context.Context, p *project.Project) error {
		return maintain.Rename(ctx, p, second, "before-lunch")
	})
	l.Do(func(ctx context.Context, p *project.Project) error { return maintain.Pin(ctx, p, second, true) })
	l.Remove("dir")
	l.Save()
	l.Do(func(ctx context.Context, p *project.Project) error {
		_, err := restore.Restore(ctx, p, restore.Options{Checkpoint: first})
		return err
	})
	l.Do(func(ctx context.Context, p *project.Project) error {
		_, err := maintain.GC(ctx, p, maintain.GCOptions{Keep: 100})
		return err
	})
	list := ""
	l.Do(func(ctx context.Context, p *project.Project) (err error) {
		list, err = inventory(ctx, p)
		return err
	})
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	w := tar.NewWriter(z)
	if err := w.AddFS(os.DirFS(filepath.Join(l.Root, ".agent", "rewind"))); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(fixtures, 0o755); err != nil {
		t.Fatal(err)
	}
	base := filepath.Join(fixtures, fmt.Sprintf("v%d", account.FormatVersion))
	if err := errors.Join(os.WriteFile(base+".tar.gz", packed.Bytes(), 0o644), os.WriteFile(base+".txt", []byte(list), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// inventory lists all that a store holds: checkpoints, each with its tree, and operations.
func inventory(ctx context.Context, p *project.Project) (string, error) {
	var out strings.Builder
	list, err := p.List(ctx, project.ListOptions{All: true})
	if err != nil {
		return "", err
	}
	for _, c := range list {
		fmt.Fprintf(&out, "checkpoint %s %s %s %q pinned %v files %d\n", c.ID, c.Time.UTC().Format("2006-01-02T15:04:05"), c.Kind, c.Name, c.Pinned, c.Files)
		err := inspect.Tree(ctx, p, c.Checkpoint, "", func(e inspect.TreeEntry) error {
			fmt.Fprintf(&out, "  %q %o %d %d %x %q\n", e.Path, e.Mode, e.Kind, e.Size, e.ID[:6], e.Target)
			if e.Kind != manifest.File && e.Kind != manifest.Chunked {
				return nil
			}
			r, err := inspect.Content(ctx, p, e.Entry)
			if err != nil {
				return err
			}
			defer r.Close()
			if n, err := io.Copy(io.Discard, r); err != nil || n != int64(e.Size) {
				return fmt.Errorf("%s: %d bytes: %w", e.Path, n, err)
			}
			return nil
		})
		if err != nil {
			return "", err
		}
	}
	operations, err := oplog.Operations(ctx, p, 0)
	for _, o := range operations {
		fmt.Fprintf(&out, "operation %s of %s, safety %s\n", o.Kind, o.Checkpoint, o.Safety)
	}
	return out.String(), err
}

func TestStoreOfEachFormatOpens(t *testing.T) {
	kept, err := filepath.Glob(filepath.Join(fixtures, "v*.tar.gz"))
	if err != nil || len(kept) < account.FormatVersion {
		t.Fatalf("%d fixtures of %d formats: %v", len(kept), account.FormatVersion, err)
	}
	for _, store := range kept {
		want, err := os.ReadFile(strings.TrimSuffix(store, ".tar.gz") + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		l := newLab(t)
		unpack(t, store, filepath.Join(l.Root, ".agent", "rewind"))
		p, _, _, err := save.Init(t.Context(), stores.InitOptions{OpenOptions: l.Options(), Trust: true})
		if err != nil {
			t.Fatal(err)
		}
		got, err := inventory(t.Context(), p)
		if err != nil || got != string(want) {
			t.Errorf("%s: %v:\n%s\nwant\n%s", store, err, got, want)
		}
		list, err := p.List(t.Context(), project.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		p.Close()
		for _, c := range list {
			l.Do(func(ctx context.Context, p *project.Project) error {
				_, err := restore.Restore(ctx, p, restore.Options{Checkpoint: c.Checkpoint})
				return err
			})
			if s := l.Save(); s.Checkpoint.Root != c.Root {
				t.Errorf("%s: what was restored of %s is another tree", store, c.ID)
			}
		}
		l.Verify()
	}
}

// unpack unpacks a fixture, private as a store is.
func unpack(t *testing.T, file, dir string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, h.Name)
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(to, 0o700)
		} else if err = os.MkdirAll(filepath.Dir(to), 0o700); err == nil {
			var data []byte
			if data, err = io.ReadAll(r); err == nil {
				err = os.WriteFile(to, data, 0o600)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A save that reads no file, since all are as they were, meets the newer store last.
func TestSaveToNewerLog(t *testing.T) {
	l := newLab(t)
	l.Write("a.txt", "one\n")
	l.Init()
	time.Sleep(20 * time.Millisecond)
	l.Save() // what was racy
	log := filepath.Join(l.Root, ".agent/rewind/objects/log-00000001.pack")
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	b[8]++
	binary.LittleEndian.PutUint64(b[36:], xxhash.Sum64(b[:36]))
	whole, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(log, b, 0o600); err != nil {
		t.Fatal(err)
	}
	err = l.Try(func(ctx context.Context, p *project.Project) error {
		_, err := save.Save(ctx, p, checkpoint.Options{})
		return err
	})
	if future := (*account.FutureFormatError)(nil); !errors.As(err, &future) {
		t.Errorf("save gives %v", err)
	}
	if err := os.WriteFile(log, whole, 0o600); err != nil { // the test's end verifies it
		t.Fatal(err)
	}
}

// TestNewerVersions gives each kind of file that has a version the next one. What
// holds the truth is refused, with words that say why, and stays byte for byte; what is made
// from it is made anew.
func TestNewerVersions(t *testing.T) {
	v := newVictim(t)
	le := binary.LittleEndian
	for _, c := range []struct {
		file    string
		change  func(data []byte)
		refused bool
	}{
		{"format", func(b []byte) { b[bytes.Index(b, []byte(`"version": `))+len(`"version": `)]++ }, true},
		{"objects/log-00000001.pack", func(b []byte) {
			b[8]++
			le.PutUint64(b[36:], xxhash.Sum64(b[:36]))
		}, true},
		{"head", func(b []byte) { b[6]++ }, false},
		{"manifests/*/GENERATION", func(b []byte) {
			b[0]++
			le.PutUint64(b[len(b)-8:], xxhash.Sum64(b[:len(b)-8]))
		}, false},
	} {
		v.mend()
		found, err := filepath.Glob(filepath.Join(v.store(), filepath.FromSlash(c.file)))
		if err != nil || len(found) != 1 {
			t.Fatal(c.file, found, err)
		}
		newer := slices.Clone(v.whole[found[0]])
		c.change(newer)
		if err := os.WriteFile(found[0], newer, 0o600); err != nil {
			t.Fatal(err)
		}
		for what, call := range map[string]func(ctx context.Context, p *project.Project) error{
			"list": func(ctx context.Context, p *project.Project) error {
				_, err := inventory(ctx, p)
				return err
			},
			"save": func(ctx context.Context, p *project.Project) error {
				_, err := save.Save(ctx, p, checkpoint.Options{})
				return err
			},
			"verify": func(ctx context.Context, p *project.Project) error {
				_, err := maintain.Verify(ctx, p, true)
				return err
			},
			"gc": func(ctx context.Context, p *project.Project) error {
				_, err := maintain.GC(ctx, p, maintain.GCOptions{Keep: 1})
				return err
			},
			"repair": func(ctx context.Context, p *project.Project) error {
				_, err := maintain.Repair(ctx, p)
				return err
			},
		} {
			err := v.Try(call)
			var future *account.FutureFormatError
			if c.refused != errors.As(err, &future) || err != nil && !c.refused {
				t.Errorf("%s of a newer version: %s gives %v", c.file, what, err)
			}
			if now, err := os.ReadFile(found[0]); c.refused && !bytes.Equal(now, newer) {
				t.Errorf("%s of a newer version: %s changes it (%v)", c.file, what, err)
			}
		}
	}
	v.mend()
}

// A restore that a newer version began is left to that version; all else goes on.
func TestNewerJournal(t *testing.T) {
	l := newLab(t)
	l.Write("a", "1")
	first := l.Init().Checkpoint
	l.Write("a", "2")
	frame := []byte{1, 2} // a header frame of version 2
	journal := append(binary.AppendUvarint(nil, uint64(len(frame))), frame...)
	journal = binary.LittleEndian.AppendUint64(journal, xxhash.Sum64(journal))
	file := filepath.Join(l.Root, ".agent/rewind/restore/journal")
	if err := os.WriteFile(file, journal, 0o600); err != nil {
		t.Fatal(err)
	}
	err := l.Try(func(ctx context.Context, p *project.Project) error {
		_, err := restore.Restore(ctx, p, restore.Options{Checkpoint: first})
		return err
	})
	var bad *treeio.JournalError
	if !errors.As(err, &bad) || !strings.Contains(err.Error(), "version 2 is not known") {
		t.Errorf("a journal of a newer version: %v", err)
	}
	if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, journal) {
		t.Errorf("the journal was touched: %v", err)
	}
	if got := l.Read()["a"]; !strings.HasSuffix(got, "2") {
		t.Errorf("the file was restored: %q", got)
	}
	l.Save()
	os.Remove(file)
}
