//go:build unix

package engine

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/hook"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/save"
	"github.com/rewind-cli/rewind/engine/stores"
	"github.com/rewind-cli/rewind/internal/testkit/testlab"
)

func run(t *testing.T, words ...string) {
	t.Helper()
	if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v: %s", words, err, out)
	}
}

// apart checks that no pack of two directories is one file.
func apart(t *testing.T, dirs ...string) {
	t.Helper()
	seen := map[[2]uint64]string{}
	for _, dir := range dirs {
		err := filepath.WalkDir(filepath.Join(dir, ".agent"), func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(file) == ".sst" {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			st := info.Sys().(*syscall.Stat_t)
			if key := [2]uint64{uint64(st.Dev), uint64(st.Ino)}; st.Nlink > 1 {
				if other := seen[key]; other != "" && other != dir {
					t.Errorf("%s is a file of %s as well", file, other)
				}
				seen[key] = dir
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestCopies: a copy, however it was made, becomes a project of its own at its first write, and
// whichever writes first, nothing of one gets into the other.
func TestCopies(t *testing.T) {
	for _, how := range []string{"-r", "-a", "-al"} {
		for _, first := range []string{"the original", "the copy"} {
			t.Run(how+" "+first, func(t *testing.T) {
				l := newLab(t)
				l.Write("a", "1")
				l.Init()
				l.Write("a", "2")
				l.Save()
				common := l.IDs()
				c := l.In(l.Root + "-copy")
				run(t, "cp", how, l.Root, c.Root)
				was := l.KnownStores()
				if got := c.IDs(); !slices.Equal(got, common) {
					t.Errorf("the copy lists %v, not %v", got, common)
				}
				if !slices.Equal(l.KnownStores(), was) {
					t.Error("reading a copy has changed the registry")
				}
				both := []*testlab.Lab{l.Lab, c}
				if first == "the copy" {
					slices.Reverse(both)
				}
				for _, one := range both {
					one.Remove("a")
					one.Write("a", "of "+one.Root)
					one.Save()
				}
				if l.StoreID() == c.StoreID() {
					t.Fatal("a copy has the id of its original")
				}
				for _, one := range both {
					if got := one.IDs(); len(got) != len(common)+1 || !slices.Equal(got[:len(common)], common) {
						t.Errorf("%s lists %v", one.Root, got)
					}
					one.Verify()
				}
				apart(t, l.Root, c.Root)
				// Each comes back by itself.
				for _, one := range both {
					want := one.IDs()
					one.Remove(".agent")
					if got := one.IDs(); !slices.Equal(got, want) {
						t.Errorf("%s comes back with %v, not %v", one.Root, got, want)
					}
				}
				apart(t, l.Root, c.Root)
			})
		}
	}
}

// TestLostBesideALinkedCopy: a store comes back although a copy shares its packs. What they share then is changed by neither, and
// the next save of the copy gives it files of its own.
func TestLostBesideALinkedCopy(t *testing.T) {
	l := newLab(t)
	l.Write("a", "1")
	l.Init()
	c := l.In(l.Root + "-copy")
	run(t, "cp", "-al", l.Root, c.Root)
	l.Remove(".agent")
	before := packsOf(t, c.Root)
	l.Save()
	if now := packsOf(t, c.Root); !maps.Equal(now, before) {
		t.Errorf("the copy has %d packs, or others, and had %d", len(now), len(before))
	}
	l.Verify()
	c.Remove("a")
	c.Write("a", "other")
	c.Save()
	apart(t, l.Root, c.Root)
	c.Verify()
}

// packsOf reads the packs of a project's store.
func packsOf(t *testing.T, root string) map[string]string {
	t.Helper()
	packs := map[string]string{}
	files, err := filepath.Glob(filepath.Join(root, ".agent/rewind/objects/*.pack"))
	for _, file := range files {
		data, rerr := os.ReadFile(file)
		packs[filepath.Base(file)], err = string(data), errors.Join(err, rerr)
	}
	if err != nil || len(packs) == 0 {
		t.Fatal(len(packs), err)
	}
	return packs
}

// TestAnotherDirectoryAtAKnownPath: nothing comes back unasked, and init --adopt brings it: taken over where
// the old directory is gone, copied where it lives.
func TestAnotherDirectoryAtAKnownPath(t *testing.T) {
	for _, old := range []string{"removed", "moved", "moved and opened"} {
		t.Run(old, func(t *testing.T) {
			l := newLab(t)
			l.Write("a", "1")
			p, _, _, err := save.Init(t.Context(), stores.InitOptions{OpenOptions: l.Options()})
			if err != nil {
				t.Fatal(err)
			}
			p.Close()
			want, id := l.IDs(), l.StoreID()
			moved := l.In(l.Root + "-moved")
			if old == "removed" {
				err = os.RemoveAll(l.Root)
			} else {
				err = os.Rename(l.Root, moved.Root)
			}
			if err == nil {
				err = os.Mkdir(l.Root, 0o755)
			}
			if err != nil {
				t.Fatal(err)
			}
			if old == "moved and opened" {
				moved.Write("b", "2")
				moved.Save()
			}
			var missing *project.NotInitializedError
			_, err = project.Open(t.Context(), l.Options())
			if !errors.As(err, &missing) {
				t.Fatalf("another directory at a known path: %v", err)
			}
			if named := len(missing.History) == 1 && missing.History[0].ID == id.String(); named == (old == "moved and opened") {
				t.Errorf("the history that is named is %+v", missing.History)
			}
			if account.Exists(filepath.Join(l.Root, ".agent")) {
				t.Error("something came back unasked")
			}
			p, _, _, err = save.Init(t.Context(), stores.InitOptions{OpenOptions: l.Options(), Adopt: id.String()[:8]})
			if err != nil {
				t.Fatal(err)
			}
			taken := p.ID == id
			p.Close()
			if taken != (old == "removed") {
				t.Errorf("taken over: %v", taken)
			}
			l.Write("c", "3")
			l.Save()
			if got := l.IDs(); !slices.Equal(got[:len(want)], want) {
				t.Errorf("the history is %v, not %v", got, want)
			}
			l.Verify()
			if old != "removed" {
				before := moved.IDs()
				moved.Write("d", "4")
				moved.Save()
				if got := moved.IDs(); len(got) != len(before)+1 {
					t.Errorf("the moved project has %v", got)
				}
				moved.Verify()
				apart(t, l.Root, moved.Root)
			}
			var refused *project.RefusedError
			if _, _, _, err := save.Init(t.Context(), stores.InitOptions{OpenOptions: l.Options(), Adopt: id.String()}); old != "removed" && !errors.As(err, &refused) {
				t.Errorf("adopted over a store of its own: %v", err)
			}
		})
	}
}

// TestMovedByCopying: the mirror is whole after the next save, and after repair.
func TestMovedByCopying(t *testing.T) {
	for _, way := range []string{"save", "repair"} {
		t.Run(way, func(t *testing.T) {
			l := newLab(t)
			l.Write("a", "1")
			p, _, _, err := save.Init(t.Context(), stores.InitOptions{OpenOptions: l.Options()})
			if err != nil {
				t.Fatal(err)
			}
			p.Close()
			d := l.In(l.Root + "-d")
			run(t, "cp", "-r", l.Root, d.Root)
			if err := os.RemoveAll(l.Root); err != nil {
				t.Fatal(err)
			}
			p = d.Open()
			if hook.Mirrored(p) == nil {
				t.Error("a copy is said to have a mirror")
			}
			p.Close()
			d.Do(func(ctx context.Context, p *project.Project) error {
				if way == "repair" {
					_, err := maintain.Repair(ctx, p)
					return err
				}
				_, err := save.Save(ctx, p, checkpoint.Options{})
				return err
			})
			p = d.Open()
			if err := hook.Mirrored(p); err != nil {
				t.Errorf("after %s: %v", way, err)
			}
			p.Close()
			want := d.IDs()
			d.Remove(".agent")
			if got := d.IDs(); !slices.Equal(got, want) {
				t.Errorf("%v comes back, not %v", got, want)
			}
		})
	}
}

// TestMirrorOfOldPacks: a mirror that is stale, from a version that let copies keep it, or
// missing, is made whole.
func TestMirrorOfOldPacks(t *testing.T) {
	for _, way := range []string{"stale", "missing"} {
		t.Run(way, func(t *testing.T) {
			l := newLab(t)
			l.Write("a", "1")
			l.Init()
			mirror := account.MirrorDir(l.Env, l.StoreID())
			pack := filepath.Join(mirror, "log-00000001.pack")
			data, err := os.ReadFile(pack)
			if err == nil {
				err = os.RemoveAll(mirror)
			}
			if err == nil && way == "stale" {
				if err = os.Mkdir(mirror, 0o700); err == nil {
					err = os.WriteFile(pack, data, 0o600)
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			l.Write("a", "2")
			l.Save()
			p := l.Open()
			if err := hook.Mirrored(p); err != nil {
				t.Error(err)
			}
			p.Close()
		})
	}
}

// TestRebuiltStoreIsComplete: settings and .gitignore come back too.
func TestRebuiltStoreIsComplete(t *testing.T) {
	l := newLab(t)
	l.Write("a", "1")
	l.Init()
	config := filepath.Join(l.Root, ".agent/rewind/config.json")
	text := []byte(`{"ignore": ["secret"]}`)
	if err := os.WriteFile(config, text, 0o600); err != nil {
		t.Fatal(err)
	}
	l.Save()
	l.Remove(".agent")
	l.Write("secret", "s")
	if saved := l.Save(); saved.Checkpoint.Files != 1 {
		t.Errorf("%d files were saved: the settings are gone", saved.Checkpoint.Files)
	}
	if got, err := os.ReadFile(config); err != nil || string(got) != string(text) {
		t.Errorf("the settings are %q, %v", got, err)
	}
	if got, err := os.ReadFile(filepath.Join(l.Root, ".agent/rewind/.gitignore")); err != nil || string(got) != "*\n" {
		t.Errorf("its .gitignore is %q, %v", got, err)
	}
}

// TestHostileLinks: nothing is opened or removed through a link, by any command.
func TestHostileLinks(t *testing.T) {
	store := ".agent/rewind/"
	for _, link := range []string{".agent", ".agent/rewind", store + "objects", store + "manifests", store + "lock", store + "tmp",
		store + "restore", store + "format", store + "head", store + "config.json", store + "objects/log-00000001.pack", store + "lock/append", store + "lock/users"} {
		t.Run(link, func(t *testing.T) {
			l := newLab(t)
			l.Write("a", "1")
			p, _, _, err := save.Init(t.Context(), stores.InitOptions{OpenOptions: l.Options()})
			if err != nil {
				t.Fatal(err)
			}
			p.Close()
			l.Save()
			outside := filepath.Join(filepath.Dir(l.Root), "outside")
			victim := filepath.Join(l.Root, filepath.FromSlash(link))
			if err := os.Rename(victim, outside); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(outside, victim); err != nil {
				t.Fatal(err)
			}
			before := contents(t, outside)
			l.Write("a", "2")
			for what, call := range map[string]func(ctx context.Context, p *project.Project) error{
				"list": func(ctx context.Context, p *project.Project) error {
					_, err := p.List(ctx, project.ListOptions{})
					return err
				},
				"save": func(ctx context.Context, p *project.Project) error {
					_, err := save.Save(ctx, p, checkpoint.Options{})
					return err
				},
				"gc": func(ctx context.Context, p *project.Project) error {
					_, err := maintain.GC(ctx, p, maintain.GCOptions{Keep: 1})
					return err
				},
				"repair": func(ctx context.Context, p *project.Project) error { _, err := maintain.Repair(ctx, p); return err },
			} {
				err := l.Try(call)
				var refused *project.LinkError
				if below := filepath.Dir(link); (below == "." || below == ".agent" || below+"/" == store) && !errors.As(err, &refused) {
					t.Errorf("%s: %v", what, err)
				}
				if now := contents(t, outside); !slices.Equal(now, before) {
					t.Errorf("%s (%v) has changed what the link leads to: %q, not %q", what, err, now, before)
				}
			}
		})
	}
}

// contents lists what a file or directory holds.
func contents(t *testing.T, top string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(top, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(file)
		all = append(all, file[len(top):]+": "+string(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestSharedStoreThroughALink: two directories cannot share one store, also where both links were allowed.
func TestSharedStoreThroughALink(t *testing.T) {
	l := newLab(t)
	shared := filepath.Join(filepath.Dir(l.Root), "shared")
	two := l.In(l.Root + "-two")
	for _, dir := range []string{shared, two.Root} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, one := range []*testlab.Lab{l.Lab, two} {
		if err := os.Symlink(shared, filepath.Join(one.Root, ".agent")); err != nil {
			t.Fatal(err)
		}
	}
	var link *project.LinkError
	if _, _, _, err := save.Init(t.Context(), stores.InitOptions{OpenOptions: l.Options()}); !errors.As(err, &link) || !link.Forcible {
		t.Fatalf("init through a link: %v", err)
	}
	p, _, _, err := save.Init(t.Context(), stores.InitOptions{OpenOptions: l.Options(), Force: true})
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	l.Save()
	if _, _, _, err := save.Init(t.Context(), stores.InitOptions{OpenOptions: two.Options(), Force: true}); !errors.As(err, &link) || link.Other != l.Root {
		t.Errorf("the second one: %v", err)
	}
	if err := two.Try(func(ctx context.Context, p *project.Project) error {
		_, err := save.Save(ctx, p, checkpoint.Options{})
		return err
	}); !errors.As(err, &link) {
		t.Errorf("the second one saves: %v", err)
	}
	l.Verify()
}
