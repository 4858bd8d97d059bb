package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/save"
	"github.com/rewind-cli/rewind/internal/testkit/testlab"
	"github.com/rewind-cli/rewind/manifest"
)

// logLab is a project with two checkpoints, and what its trees hold.
type logLab struct {
	*lab
	one, two manifest.Checkpoint
	trees    map[oid.ID]testlab.Tree // of the manifests whose content is known
}

func newLogLab(t testing.TB) *logLab {
	l := &logLab{lab: newLab(t), trees: map[oid.ID]testlab.Tree{}}
	l.durability("fast")
	l.Write("a", "one")
	l.Write("private", "secret")
	l.one = l.Init().Checkpoint
	l.trees[l.one.Root] = l.Read()
	l.two = l.edit("two", checkpoint.Options{})
	return l
}

// edit changes the tree and saves it.
func (l *logLab) edit(content string, o checkpoint.Options) (c manifest.Checkpoint) {
	l.T.Helper()
	l.Write("a", content)
	l.Do(func(ctx context.Context, p *project.Project) error {
		saved, err := save.Save(ctx, p, o)
		if err == nil {
			c = saved.Checkpoint
			l.trees[c.Root] = l.Read()
		}
		return err
	})
	return c
}

// touch records what a hook saw of a path.
func (l *logLab) touch(path, content string) {
	l.T.Helper()
	l.Do(func(ctx context.Context, p *project.Project) error {
		tx := commit.Begin(p)
		id, err := tx.Put([]byte(content))
		if err != nil {
			return err
		}
		e := manifest.Entry{Name: path, Kind: manifest.File, Mode: 0o644, Size: uint64(len(content)), ID: id}
		_, err = tx.Commit(ctx, func() ([]manifest.Record, error) {
			return []manifest.Record{{Touch: &manifest.Touch{Agent: "claude", Session: "s", Tool: "Edit", Path: path, After: true, Entry: &e}}}, nil
		}, nil)
		return err
	})
}

// touched is what the log has of touches, told in the simplest way.
func (l *logLab) touched() (now []manifest.Touch) {
	l.T.Helper()
	l.Do(func(ctx context.Context, p *project.Project) error {
		for r, err := range p.Log().Records(1) {
			switch {
			case err != nil:
				return err
			case r.Record.Touch != nil:
				now = append(now, *r.Record.Touch)
			case r.Record.Delete != nil:
				now = slices.DeleteFunc(now, func(t manifest.Touch) bool { return slices.Contains(r.Record.Delete.Touches, t.Seq) })
			case r.Record.Amend != nil:
				for _, a := range r.Record.Amend.Records {
					if a.Record.Touch != nil {
						now = slices.DeleteFunc(now, func(t manifest.Touch) bool { return t.Seq == a.Seq })
					}
				}
			}
		}
		return nil
	})
	return now
}

// durability sets it for the account of the lab.
func (l *lab) durability(value string) {
	l.T.Helper()
	account := filepath.Join(l.Home, ".rewind")
	if err := os.MkdirAll(account, 0o700); err != nil {
		l.T.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(account, "config.json"), fmt.Appendf(nil, `{"durability": %q}`, value), 0o600); err != nil {
		l.T.Fatal(err)
	}
}

func (l *logLab) commit(r manifest.Record) {
	l.T.Helper()
	l.Do(func(ctx context.Context, p *project.Project) error {
		_, err := commit.Commit(ctx, p, r)
		return err
	})
}

// logSays is what a log says, told in the simplest way: newest first.
type logSays []manifest.Checkpoint

func (s logSays) find(id manifest.CheckpointID) *manifest.Checkpoint {
	if i := slices.IndexFunc(s, func(c manifest.Checkpoint) bool { return c.ID == id }); i >= 0 {
		return &s[i]
	}
	return nil
}

func (s logSays) name(c *manifest.Checkpoint, name string) {
	for i := range s {
		if name != "" && s[i].Name == name {
			s[i].Name = ""
		}
	}
	c.Name = name
}

// says reads the log, record after record.
func (l *logLab) says() (now logSays) {
	l.T.Helper()
	known := map[manifest.CheckpointID]bool{}
	l.Do(func(ctx context.Context, p *project.Project) error {
		for r, err := range p.Log().Records(1) {
			if err != nil {
				return err
			}
			switch rec := r.Record; {
			case rec.Checkpoint != nil && !known[rec.Checkpoint.ID]:
				known[rec.Checkpoint.ID] = true
				now = slices.Insert(now, 0, *rec.Checkpoint)
				now[0].Seq, now[0].Name = r.Seq, ""
				now.name(&now[0], rec.Checkpoint.Name)
			case rec.Mark != nil:
				if c := now.find(rec.Mark.Checkpoint); c != nil {
					if rec.Mark.Pinned != nil {
						c.Pinned = *rec.Mark.Pinned
					}
					if rec.Mark.Name != nil {
						now.name(c, *rec.Mark.Name)
					}
				}
			case rec.Delete != nil:
				now = slices.DeleteFunc(now, func(c manifest.Checkpoint) bool { return slices.Contains(rec.Delete.Checkpoints, c.ID) })
			case rec.Rewrite != nil:
				for i, id := range rec.Rewrite.Checkpoints {
					if c := now.find(id); c != nil {
						c.Root = rec.Rewrite.Roots[i]
					}
				}
			case rec.Amend != nil:
				for _, a := range rec.Amend.Records {
					if a.Record.Checkpoint == nil {
						continue
					}
					if c := now.find(a.Record.Checkpoint.ID); c != nil {
						seq, name, pinned := c.Seq, c.Name, c.Pinned
						*c = *a.Record.Checkpoint
						c.Seq, c.Name, c.Pinned = seq, name, pinned
					}
				}
			}
		}
		return nil
	})
	return now
}

// bound is what an entry of pi's is bound to, zero for nothing.
func (l *logLab) bound() (id manifest.CheckpointID) {
	l.T.Helper()
	l.Do(func(ctx context.Context, p *project.Project) error {
		for r, err := range p.Log().Records(1) {
			if err != nil {
				return err
			}
			if r.Record.Binding != nil {
				id = r.Record.Binding.Checkpoint
			}
		}
		return nil
	})
	return id
}

// numbered are those that list shows and counts.
func (s logSays) numbered() logSays {
	return slices.DeleteFunc(slices.Clone(s), func(c manifest.Checkpoint) bool { return c.Kind == manifest.Safety })
}

func brief(c manifest.Checkpoint) string {
	return fmt.Sprintf("%s %s %q pinned %v root %s", c.ID, c.Kind, c.Name, c.Pinned, c.Root)
}

// agree asks list, the names, verify and gc.
func (l *logLab) agree(when string) {
	l.T.Helper()
	want := l.says()
	numbered, bound := want.numbered(), l.bound()
	l.Do(func(ctx context.Context, p *project.Project) error {
		for _, all := range []bool{true, false} {
			list, err := p.List(ctx, project.ListOptions{All: all})
			if err != nil {
				return err
			}
			expected := want
			if !all {
				expected = numbered
			}
			var got, should []string
			for _, c := range list {
				got = append(got, brief(c.Checkpoint))
			}
			for _, c := range expected {
				should = append(should, brief(c))
			}
			if !slices.Equal(got, should) {
				l.T.Errorf("%s: list (all %v)\n%q\nwant\n%q", when, all, got, should)
			}
		}
		if last, err := inspect.Resolve(ctx, p, "last"); len(numbered) > 0 && (err != nil || last.ID != numbered[0].ID) {
			l.T.Errorf("%s: last is %s, %v, want %s", when, last.ID, err, numbered[0].ID)
		}
		for _, name := range []string{"name", "other", "saved"} {
			i := slices.IndexFunc(want, func(c manifest.Checkpoint) bool { return c.Name == name })
			c, err := inspect.Resolve(ctx, p, name)
			if (err == nil) != (i >= 0) || i >= 0 && c.ID != want[i].ID {
				l.T.Errorf("%s: %q is %s, %v; the log says checkpoint %d", when, name, c.ID, err, i)
			}
		}
		at, err := inspect.Resolve(ctx, p, "pi:entry")
		if (err == nil) != (want.find(bound) != nil) || err == nil && at.ID != bound {
			l.T.Errorf("%s: the entry is bound to %s, %v; the log says %s", when, at.ID, err, bound)
		}
		v, err := maintain.Verify(ctx, p, false)
		if err != nil {
			return err
		}
		if !v.OK() || v.Checkpoints != len(want) {
			l.T.Errorf("%s: verify finds %d checkpoints, want %d; %+v", when, v.Checkpoints, len(want), v.Damaged)
		}
		var touched []manifest.Touch
		err = p.Query(ctx, func(db *manifest.DB) error {
			for t, err := range db.Touches(manifest.TouchQuery{}) {
				if err != nil {
					return err
				}
				if t.Entry != nil && t.Entry.ID != (oid.ID{}) {
					if _, err := p.ReadObject(t.Entry.ID); err != nil {
						l.T.Errorf("%s: the content of %s is gone: %v", when, t.Path, err)
					}
				}
				touched = append(touched, t)
			}
			return nil
		})
		if want := l.touched(); err != nil || len(touched)+len(want) > 0 && !reflect.DeepEqual(touched, want) {
			l.T.Errorf("%s: the database has the touches %+v, %v; the log says %+v", when, touched, err, want)
		}
		gc, err := maintain.GC(ctx, p, maintain.GCOptions{Keep: 1, DryRun: true})
		if err != nil {
			return err
		}
		if gc.Kept+len(gc.Removed) != len(want) {
			l.T.Errorf("%s: gc counts %d and %d checkpoints, want %d", when, gc.Kept, len(gc.Removed), len(want))
		}
		for i, c := range numbered {
			removes := slices.Contains(gc.Removed, c.ID)
			if removes != (i > 0 && c.Name == "" && !c.Pinned && c.ID != bound) {
				l.T.Errorf("%s: gc removes %v, the checkpoint %d: %s", when, removes, i+1, brief(c))
			}
		}
		return nil
	})
}

// Whatever a log holds after whatever: all who read it agree on which checkpoints live, which is the
// newest, their names and pins; folded or not.
func TestEveryOrderOfTwo(t *testing.T) {
	name, other, none, yes, no := "name", "other", "", true, false
	mark := func(m manifest.Mark, two bool) func(*logLab) {
		return func(l *logLab) {
			m := m
			m.Checkpoint = l.one.ID
			if two {
				m.Checkpoint = l.two.ID
			}
			l.commit(manifest.Record{Mark: &m})
		}
	}
	kinds := map[string]func(*logLab){
		"save": func(l *logLab) {
			o := checkpoint.Options{Name: "saved"}
			if slices.ContainsFunc(l.says(), func(c manifest.Checkpoint) bool { return c.Name == o.Name }) {
				o.Name = ""
			}
			l.edit("three", o)
		},
		"prompt": func(l *logLab) {
			l.edit("four", checkpoint.Options{Kind: manifest.Prompt, By: conversation.Trigger{Agent: "claude", Session: "s", Prompt: "do", PromptID: "p"}})
		},
		"the same save": func(l *logLab) {
			again := l.one
			again.Name, again.Root = other, l.says()[0].Root
			l.commit(manifest.Record{Checkpoint: &again})
		},
		"restore": func(l *logLab) {
			l.Write("a", "not saved")
			l.Do(func(ctx context.Context, p *project.Project) error {
				_, err := restore.Restore(ctx, p, restore.Options{Checkpoint: l.one, Half: conversation.CodeOnly})
				var gone *project.NoCheckpointError
				if errors.As(err, &gone) && l.says().find(l.one.ID) == nil {
					return nil
				}
				return err
			})
		},
		"name":         mark(manifest.Mark{Name: &name}, false),
		"another name": mark(manifest.Mark{Name: &other}, true),
		"its name":     mark(manifest.Mark{Name: &name}, true),
		"no name":      mark(manifest.Mark{Name: &none}, false),
		"pin":          mark(manifest.Mark{Pinned: &yes}, false),
		"unpin":        mark(manifest.Mark{Pinned: &no}, false),
		"delete": func(l *logLab) {
			l.commit(manifest.Record{Delete: &manifest.Delete{Checkpoints: []manifest.CheckpointID{l.one.ID}}})
		},
		"delete newest": func(l *logLab) {
			l.commit(manifest.Record{Delete: &manifest.Delete{Checkpoints: []manifest.CheckpointID{l.two.ID, {9}}}})
		},
		"rewrite": func(l *logLab) {
			root := l.says()[0].Root // one that the store still has
			l.commit(manifest.Record{Rewrite: &manifest.Rewrite{Checkpoints: []manifest.CheckpointID{l.one.ID, l.two.ID}, Roots: []oid.ID{root, root}}})
		},
		"amend": func(l *logLab) {
			a := l.one
			a.Root, a.Name, a.Pinned, a.Description = l.says()[0].Root, "not a mark", true, "amended"
			l.commit(manifest.Record{Amend: &manifest.Amend{Records: []manifest.Sequenced{{Seq: a.Seq, Record: manifest.Record{Checkpoint: &a}}}}})
		},
		"session": func(l *logLab) { l.commit(manifest.Record{Session: &manifest.Session{ID: "s", Agent: "claude"}}) },
		"binding": func(l *logLab) {
			l.commit(manifest.Record{Binding: &manifest.Binding{Agent: "pi", Session: "pi", Entries: []string{"entry"}, Checkpoint: l.one.ID}})
		},
		"another binding": func(l *logLab) {
			l.commit(manifest.Record{Binding: &manifest.Binding{Agent: "pi", Session: "pi", Entries: []string{"entry"}, Checkpoint: l.two.ID}})
		},
		"touch": func(l *logLab) { l.touch("a", "touched") },
		"touch of nobody's": func(l *logLab) {
			l.commit(manifest.Record{Touch: &manifest.Touch{Session: "gone", Path: "private", After: true}})
		},
		"delete touch": func(l *logLab) {
			l.commit(manifest.Record{Delete: &manifest.Delete{Touches: []uint64{3, 77}}})
		},
		"gc": func(l *logLab) {
			l.Do(func(ctx context.Context, p *project.Project) error {
				_, err := maintain.GC(ctx, p, maintain.GCOptions{Keep: 1})
				return err
			})
		},
		"forget": func(l *logLab) {
			l.Do(func(ctx context.Context, p *project.Project) error {
				_, err := maintain.Forget(ctx, p, []string{"private"}, false)
				return err
			})
		},
	}
	names := slices.Sorted(maps.Keys(kinds))
	for i, first := range names {
		for k, second := range names {
			if (i+k)%testlab.Every(len(names)) != 0 { // each is once the first one and once the second one
				continue
			}
			t.Run(first+", "+second, func(t *testing.T) {
				t.Parallel()
				l := newLogLab(t)
				kinds[first](l)
				l.Fold() // the second record comes to what is folded, too
				kinds[second](l)
				l.agree("before the fold")
				l.Fold()
				l.goesOn()
			})
		}
	}
}

// goesOn saves and restores after it.
func (l *logLab) goesOn() {
	l.T.Helper()
	before := l.says()
	numbered := before.numbered()
	c := l.edit("five", checkpoint.Options{})
	want := manifest.CheckpointID{}
	if len(before) > 0 {
		want = before[0].ID
	}
	if c.Parent != want {
		l.T.Errorf("the save is related to %s, want %s", c.Parent, want)
	}
	l.Do(func(ctx context.Context, p *project.Project) error {
		if saved, err := save.Save(ctx, p, checkpoint.Options{OnlyIfChanged: true}); err != nil || !saved.Skipped {
			l.T.Errorf("saved again: %+v, %v", saved, err)
		}
		for _, gone := range []manifest.Checkpoint{l.one, l.two} {
			if before.find(gone.ID) == nil {
				if _, err := restore.Restore(ctx, p, restore.Options{Checkpoint: gone}); !errors.As(err, new(*project.NoCheckpointError)) {
					l.T.Errorf("a checkpoint that is gone is restored: %v", err)
				}
			}
		}
		if len(numbered) == 0 {
			return nil
		}
		oldest := numbered[len(numbered)-1]
		if _, err := restore.Restore(ctx, p, restore.Options{Checkpoint: oldest}); err != nil {
			return err
		}
		if tree, ok := l.trees[oldest.Root]; ok {
			l.Is(tree, "restored")
		}
		return nil
	})
	l.agree("in the end")
}
