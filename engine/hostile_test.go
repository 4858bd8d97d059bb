//go:build unix

package engine

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/port"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/save"
	"github.com/rewind-cli/rewind/engine/scan"
	"github.com/rewind-cli/rewind/engine/stores"
	"github.com/rewind-cli/rewind/internal/testkit/testlab"
	"github.com/rewind-cli/rewind/manifest"
)

// plant puts a checkpoint into the store that no save would make: a tree whose
// manifests are the given objects, the root last.
func (l *lab) plant(objects ...[]byte) (c manifest.Checkpoint) {
	l.T.Helper()
	l.Do(func(ctx context.Context, p *project.Project) error {
		id, err := manifest.NewCheckpointID(rand.Reader)
		if err != nil {
			return err
		}
		b := p.Store.NewBatch()
		w := b.Writer()
		for _, data := range objects {
			if _, err := w.Put(oid.Sum(data), data, oid.ID{}); err != nil {
				return err
			}
		}
		if err := w.Flush(); err != nil {
			return err
		}
		c = manifest.Checkpoint{ID: id, Time: time.Now().UTC(), Kind: manifest.Manual, Root: oid.Sum(objects[len(objects)-1]), Files: 1, Bytes: 4}
		a, err := p.Store.Append(ctx)
		if err != nil {
			return err
		}
		_, err = a.Commit(b, manifest.Record{Checkpoint: &c}.Append(nil))
		return errors.Join(err, a.Close())
	})
	return c
}

// TestHostileStore trusts a store that somebody made to harm: its trees name
// what lies outside, go through links, reach into .git, and are deeper than any. No command
// writes outside the root or into .git, none crashes, and no archive does it for them.
func TestHostileStore(t *testing.T) {
	l := newLab(t)
	l.Write("a.txt", "mine")
	l.Write(".git/config", "mine")
	l.Write(".git/hooks/pre-commit", "mine")
	outside := filepath.Join(filepath.Dir(l.Root), "outside")
	if err := os.Mkdir(outside, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(l.Root, "way-out")); err != nil {
		t.Fatal(err)
	}
	p, saved, _, err := save.Init(t.Context(), stores.InitOptions{OpenOptions: l.Options()})
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	evil := []byte("evil")
	leaf := manifest.Entry{Kind: manifest.File, Mode: 0o4755, Size: 4, ID: oid.Sum(evil)}
	dir := func(entries ...manifest.Entry) []byte { return manifest.Dir{Entries: entries}.Append(nil) }
	named := func(e manifest.Entry, name string) manifest.Entry { e.Name = name; return e }
	sub := func(name string, data []byte) manifest.Entry {
		return manifest.Entry{Name: name, Kind: manifest.Subdir, Mode: 0o755, Files: 1, Size: 4, ID: oid.Sum(data)}
	}
	trees := map[string][][]byte{}
	for i, name := range []string{"..", ".", "", "a/b", "../outside/x", "/etc/x", "x\x00y", ".git", ".GIT", ".gIt", "way-out/x", strings.Repeat("n", 300), "\x1b[31m", "nul", "con", "aux.txt", `..\x`} {
		if i%testlab.Every(4) != 0 {
			continue
		}
		in := dir(named(leaf, "config"))
		trees["a file "+name] = [][]byte{evil, dir(named(leaf, name))}
		trees["a directory "+name] = [][]byte{evil, in, dir(sub(name, in))}
		trees["deep "+name] = [][]byte{evil, dir(named(leaf, name)), dir(sub("d", dir(named(leaf, name))))}
	}
	in := dir(named(leaf, "x"))
	trees["through a link that is there"] = [][]byte{evil, in, dir(sub("way-out", in))}
	trees["a link and a directory of one name"] = [][]byte{evil, in, dir(manifest.Entry{Name: "d", Kind: manifest.Symlink, Target: outside}, sub("d", in))}
	trees["names out of order"] = [][]byte{evil, dir(named(leaf, "b"), named(leaf, "a"))}
	trees["no manifest"] = [][]byte{[]byte("garbage")}
	trees["a manifest of another format"] = [][]byte{{0xD2}}
	trees["a file for a directory"] = [][]byte{evil, dir(sub("d", evil))}
	trees["content that is nowhere"] = [][]byte{dir(manifest.Entry{Name: "f", Kind: manifest.File, Mode: 0o644, Size: 1 << 60, ID: oid.ID{1}})}
	lie := cas.List{Size: 1 << 21, Chunks: []cas.Chunk{{ID: oid.Sum(evil), Size: 1 << 21}}}.Append(nil)
	trees["a list that lies"] = [][]byte{evil, lie,
		dir(manifest.Entry{Name: "f", Kind: manifest.Chunked, Mode: 0o644, Size: 1 << 60, ID: oid.Sum(lie)})}
	if !testing.Short() { // -race sees nothing in it that it does not see in the others
		deep := [][]byte{evil, dir(named(leaf, "f"))}
		for range 10_000 {
			deep = append(deep, dir(sub("d", deep[len(deep)-1])))
		}
		trees["10,000 deep"] = deep
	}
	state := func() string {
		var out strings.Builder
		for _, dir := range []string{outside, filepath.Join(l.Root, ".git"), filepath.Join(l.Home, ".rewind/known")} {
			filepath.Walk(dir, func(file string, info os.FileInfo, err error) error {
				if err != nil {
					t.Fatal(err)
				}
				out.WriteString(file + info.Mode().String())
				if info.Mode().IsRegular() {
					data, err := os.ReadFile(file)
					if err != nil {
						t.Fatal(err)
					}
					out.Write(data)
				}
				return nil
			})
		}
		names, err := os.ReadDir(filepath.Dir(l.Root))
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range names {
			out.WriteString(n.Name())
		}
		return out.String()
	}
	before := state()
	for what, objects := range trees {
		c := l.plant(objects...)
		calls := map[string]func(ctx context.Context, p *project.Project) error{
			"restore": func(ctx context.Context, p *project.Project) error {
				_, err := restore.Restore(ctx, p, restore.Options{Checkpoint: c})
				return err
			},
			"restore paths": func(ctx context.Context, p *project.Project) error {
				_, err := restore.Restore(ctx, p, restore.Options{Checkpoint: c, Paths: []string{"d", "way-out/x"}})
				return err
			},
			"export": func(ctx context.Context, p *project.Project) error {
				var archive bytes.Buffer
				err := port.Export(ctx, p, &archive, port.ExportOptions{Checkpoint: c, Format: "tar"})
				harmless(t, what, &archive)
				return err
			},
			"changes": func(ctx context.Context, p *project.Project) error {
				_, err := inspect.Changes(ctx, p, c)
				return err
			},
			"verify": func(ctx context.Context, p *project.Project) error {
				_, err := maintain.Verify(ctx, p, false)
				return err
			},
			"gc": func(ctx context.Context, p *project.Project) error {
				_, err := maintain.GC(ctx, p, maintain.GCOptions{Keep: 1000})
				return err
			},
			"save": func(ctx context.Context, p *project.Project) error {
				_, err := save.Save(ctx, p, checkpoint.Options{})
				return err
			},
		}
		for name, call := range calls {
			if err := l.Try(call); name == "save" && err != nil {
				t.Errorf("%s: the next save: %v", what, err)
			}
			if after := state(); after != before {
				t.Fatalf("%s: %s changes\n%q\nto\n%q", what, name, before, after)
			}
		}
		l.Do(func(ctx context.Context, p *project.Project) error {
			_, err := restore.Restore(ctx, p, restore.Options{Checkpoint: saved.Checkpoint})
			return err
		})
		l.Do(func(ctx context.Context, p *project.Project) error { // and away with it
			_, err := commit.Commit(ctx, p, manifest.Record{Delete: &manifest.Delete{Time: time.Now().UTC(), Checkpoints: []manifest.CheckpointID{c.ID}}})
			return err
		})
	}
	t.Logf("%d hostile trees", len(trees))
}

// harmless fails the test if an archive holds a name that leads out, or through a link in it.
func harmless(t *testing.T, what string, archive io.Reader) {
	t.Helper()
	links := map[string]bool{}
	for r := tar.NewReader(archive); ; {
		h, err := r.Next()
		if err != nil {
			return // it ends early where the export failed
		}
		name := strings.TrimSuffix(h.Name, "/")
		if filepath.IsAbs(name) || !filepath.IsLocal(name) || strings.ContainsRune(name, 0) {
			t.Errorf("%s: the archive holds %q", what, h.Name)
		}
		below := links[filepath.Dir(name)]
		if below {
			t.Errorf("%s: the archive holds %q below a link", what, h.Name)
		}
		links[name] = below || h.Typeflag == tar.TypeSymlink
	}
}

// A store of another user is refused, and a stat cache of another user is not believed. It
// takes root to make them, and somebody else to look at them.
func TestOtherUsersStoreAndCache(t *testing.T) {
	const nobody = 65534
	if dir := os.Getenv("REWIND_TEST_OWNED"); dir != "" {
		l := &lab{&testlab.Lab{T: t, Root: filepath.Join(dir, "project"), Home: filepath.Join(dir, "home")}}
		l.Env = account.Env{Home: l.Home, Dir: l.Root, Getenv: func(string) string { return "" }}
		if cache, err := scan.LoadCache(filepath.Join(l.Root, ".agent/rewind/head")); cache != nil || err != nil {
			t.Errorf("the stat cache of another user: %v %v", cache, err)
		}
		err := l.Try(func(ctx context.Context, p *project.Project) error {
			_, err := save.Save(ctx, p, checkpoint.Options{})
			return err
		})
		var foreign *account.ForeignStoreError
		if wanted := os.Getenv("REWIND_TEST_OWNED_STORE") != ""; errors.As(err, &foreign) != wanted || err != nil && !wanted || wanted && !foreign.OtherUser {
			t.Errorf("the store of another user: %v", err)
		}
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("NOT TESTED HERE: only root can make files of another user")
	}
	base, err := os.MkdirTemp("", "owned")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) }) // after the store was verified
	if base, err = filepath.EvalSymlinks(base); err != nil {
		t.Fatal(err)
	}
	l := newLabAt(t, base)
	l.Write("a", "1")
	l.Init()
	binary, err := os.ReadFile(os.Args[0])
	if err == nil {
		err = os.WriteFile(filepath.Join(base, "test"), binary, 0o755)
	}
	if err == nil {
		err = filepath.WalkDir(base, func(file string, _ os.DirEntry, err error) error {
			return errors.Join(err, os.Lchown(file, nobody, nobody))
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	store := filepath.Join(l.Root, ".agent/rewind")
	for _, foreign := range []string{filepath.Join(store, "head"), store} {
		mode := os.FileMode(0o644)
		env := append(os.Environ(), "REWIND_TEST_OWNED="+base, "TMPDIR="+base)
		if foreign == store {
			mode = 0o755
			env = append(env, "REWIND_TEST_OWNED_STORE=1")
		}
		if err := errors.Join(os.Chown(foreign, 0, 0), os.Chmod(foreign, mode)); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(filepath.Join(base, "test"), "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Dir, cmd.Env = base, env
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
			t.Errorf("%s is root's: %v\n%s", foreign, err, out)
		}
		if err := os.RemoveAll(filepath.Join(store, "head")); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(store, nobody, nobody); err != nil {
		t.Fatal(err)
	}
}
