package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/hook"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/save"
	"github.com/rewind-cli/rewind/internal/testkit/testlab"
	"github.com/rewind-cli/rewind/manifest"
)

// victim is a lab with a small store in which every kind of file is, and a copy
// of all that it was when it was whole.
type victim struct {
	*lab
	made  []made
	whole map[string][]byte // files of the store and of the account's directory, by path
	links map[string]string // packs in the mirror
	count struct{ rounds, refused, reported, repaired, harmless int }
}

// made is a checkpoint and what is in it, path to content.
type made struct {
	id    manifest.CheckpointID
	files map[string]string
}

func newVictim(t *testing.T) *victim {
	v := &victim{lab: newLab(t), whole: map[string][]byte{}, links: map[string]string{}}
	v.Write("a.txt", "one\n")
	v.Write("dir/b.txt", strings.Repeat("a line that is there often\n", 30))
	v.Write("dir/deep/c.txt", "three\n")
	note := func(s *checkpoint.Saved) {
		files := map[string]string{}
		for path, text := range v.Read() {
			if _, content, ok := strings.Cut(text, " "); ok {
				files[path] = content
			}
		}
		v.made = append(v.made, made{s.Checkpoint.ID, files})
	}
	note(v.Init())
	v.Write("a.txt", "two\n")
	v.Write("dir/b.txt", strings.Repeat("a line that is there often\n", 30)+"and one more\n")
	note(v.Save())
	v.Do(func(ctx context.Context, p *project.Project) error { // packs, their indexes, and a database
		_, err := maintain.GC(ctx, p, maintain.GCOptions{Keep: 10})
		return err
	})
	v.Write("dir/deep/c.txt", "four\n")
	v.Remove("a.txt")
	note(v.Save())
	v.Report(hook.Event{Kind: manifest.SessionStart, By: conversation.Trigger{Agent: "claude"}})
	v.Do(func(ctx context.Context, p *project.Project) error {
		p.NoteHookError(errors.New("a reason"))
		_, err := p.List(ctx, project.ListOptions{})
		return err
	})
	for _, top := range v.tops() {
		err := filepath.WalkDir(top, func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(file)
			v.whole[file] = data
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for file := range v.whole {
		if strings.Contains(file, "/vault/") && filepath.Ext(file) == ".pack" {
			v.links[file] = filepath.Join(v.store(), account.ObjectsName, filepath.Base(file))
		}
	}
	return v
}

func (v *victim) store() string { return filepath.Join(v.Root, ".agent", "rewind") }

func (v *victim) tops() []string { return []string{v.store(), filepath.Join(v.Home, ".rewind")} }

// files of the store itself, the locks and the mirror left out: an empty file
// cannot be damaged.
func (v *victim) files() []string {
	var list []string
	for file, data := range v.whole {
		if strings.HasPrefix(file, v.store()) && len(data) > 0 {
			list = append(list, file)
		}
	}
	slices.Sort(list)
	return list
}

// mend makes everything whole again.
func (v *victim) mend() {
	v.T.Helper()
	for _, top := range v.tops() {
		err := filepath.WalkDir(top, func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			if _, ok := v.whole[file]; ok && v.links[file] == "" {
				return nil
			}
			return os.Remove(file)
		})
		if err != nil {
			v.T.Fatal(err)
		}
	}
	for file, data := range v.whole {
		if v.links[file] != "" {
			continue
		}
		if now, err := os.ReadFile(file); err == nil && bytes.Equal(now, data) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			v.T.Fatal(err)
		}
		if err := os.WriteFile(file, data, 0o600); err != nil {
			v.T.Fatal(err)
		}
	}
	for second, first := range v.links {
		if err := os.Link(first, second); err != nil {
			v.T.Fatal(err)
		}
	}
}

// named reports whether an error says what is wrong in a way that a command can show.
func named(err error) bool {
	var damaged *account.DamagedStoreError
	var object *cas.DamagedError
	var future *account.FutureFormatError
	var version *cas.VersionError
	var none *project.NotInitializedError
	return errors.As(err, &damaged) || errors.As(err, &object) || errors.As(err, &future) || errors.As(err, &version) || errors.As(err, &none)
}

// good reads a whole checkpoint. Wrong bytes fail the test; what cannot be read is an error.
func (v *victim) good(ctx context.Context, p *project.Project, m made) error {
	c, err := inspect.Resolve(ctx, p, m.id.String())
	if err != nil {
		return err
	}
	got := map[string]string{}
	err = inspect.Tree(ctx, p, c.Checkpoint, "", func(e inspect.TreeEntry) error {
		if e.Kind == manifest.Subdir {
			return nil
		}
		r, err := inspect.Content(ctx, p, e.Entry)
		if err != nil {
			return err
		}
		defer r.Close()
		data, err := io.ReadAll(r)
		got[e.Path] = string(data)
		return err
	})
	if err == nil && !maps.Equal(got, m.files) {
		v.T.Fatalf("checkpoint %s is handed out as %q, want %q", m.id, got, m.files)
	}
	return err
}

// judge looks at a damaged store as commands do, one after the other, and lets
// them mend it.
func (v *victim) judge(what string) {
	v.T.Helper()
	v.count.rounds++
	ctx := context.Background()
	p, err := project.Open(ctx, v.Options())
	if err != nil {
		if !named(err) {
			v.T.Fatalf("%s: not opened: %T %v", what, err, err)
		}
		v.count.refused++
		return
	}
	defer p.Close()
	lost := map[manifest.CheckpointID]error{}
	for _, m := range v.made {
		if err := v.good(ctx, p, m); err != nil {
			lost[m.id] = err
		}
	}
	found, err := maintain.Verify(ctx, p, true)
	if err != nil {
		if !named(err) {
			v.T.Fatalf("%s: verify: %T %v", what, err, err)
		}
		v.count.refused++
		return
	}
	whole, logged, gone := found.OK(), true, false
	reported := map[manifest.CheckpointID]bool{}
	for _, d := range found.Damaged {
		if !strings.HasPrefix(d.Reason, "its coverage") && !strings.HasPrefix(d.Reason, "its conversation") {
			reported[d.Checkpoint] = true
		}
		logged = logged && !strings.HasPrefix(d.Reason, "the log: ")
		gone = gone || strings.Contains(d.Reason, "the pack is gone") // and gc brings it back
	}
	for id, err := range lost {
		// Of an entry of the log that cannot be read, and that the database has not got yet, nobody knows the id.
		var unknown *project.NoCheckpointError
		if !reported[id] && logged && !gone && (found.OK() || !errors.As(err, &unknown)) {
			v.T.Fatalf("%s: checkpoint %s cannot be read (%v), and verify says %+v", what, id, err, found.Damaged)
		}
	}
	for _, d := range found.Damaged {
		if d.Path != "" && lost[d.Checkpoint] == nil {
			v.T.Fatalf("%s: verify says that %s of %s is damaged, which was read whole", what, d.Path, d.Checkpoint)
		}
	}
	collected, err := maintain.GC(ctx, p, maintain.GCOptions{Keep: 1})
	if err == nil && len(collected.Removed) != len(v.made)-1 && len(collected.Removed) > 0 || err != nil && !named(err) {
		v.T.Fatalf("%s: gc removes %v (%v)", what, collected, err)
	}
	if !logged && !gone && err == nil && len(collected.Removed) > 0 {
		v.T.Fatalf("%s: gc removes %v although the log cannot be read whole", what, collected.Removed)
	}
	last := v.made[len(v.made)-1]
	left := v.made
	if err == nil && len(collected.Removed) > 0 {
		left = left[len(left)-1:]
	}
	after, err := maintain.Repair(ctx, p)
	if err != nil {
		v.T.Fatalf("%s: repair: %v", what, err)
	}
	for _, m := range left {
		if err := v.good(ctx, p, m); err != nil && lost[m.id] == nil && !reported[m.id] {
			v.T.Fatalf("%s: after gc and repair, %s, which was whole, gives: %v (found %+v, gc %+v, after %+v)", what, m.id, err, found, collected, after)
		}
	}
	saved, err := save.Save(ctx, p, checkpoint.Options{})
	if err != nil {
		v.T.Fatalf("%s: the next save: %v", what, err)
	}
	if err := v.good(ctx, p, made{saved.Checkpoint.ID, last.files}); err != nil {
		v.T.Fatalf("%s: what was saved then: %v", what, err)
	}
	switch {
	case whole:
		v.count.harmless++
	case after.OK():
		v.count.repaired++
	default:
		v.count.reported++
	}
}

func (v *victim) name(file string) string {
	rel, _ := filepath.Rel(v.store(), file)
	return rel
}

// TestEveryFileOfAStoreDamaged removes, empties, cuts and lengthens each file of a
// store, one at a time, both with its mirror and without.
func TestEveryFileOfAStoreDamaged(t *testing.T) {
	v := newVictim(t)
	for n, file := range v.files() {
		good := v.whole[file]
		for i, bad := range [][]byte{nil, {}, good[:1], good[:len(good)/3], good[:len(good)-1], append(slices.Clone(good), 0), bytes.Repeat([]byte{0}, len(good))} {
			if (n+i)%testlab.Every(3) != 0 {
				continue
			}
			v.mend()
			what := fmt.Sprintf("%s with %d of %d bytes", v.name(file), len(bad), len(good))
			if i == 0 {
				what = v.name(file) + " removed"
				if err := os.Remove(file); err != nil {
					t.Fatal(err)
				}
			} else if err := os.WriteFile(file, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			v.judge(what)
		}
	}
	v.mend()
	t.Logf("%d files: %+v", len(v.files()), v.count)
}

// TestEveryByteOfAStoreFlipped flips bytes of each file of a store, one at a time: every
// one in the long form, which make soak runs.
func TestEveryByteOfAStoreFlipped(t *testing.T) { flipBytes(t, 41*testlab.Every(5)) }

func TestSoakEveryByteOfAStoreFlipped(t *testing.T) {
	if os.Getenv("REWIND_SOAK") == "" {
		t.Skip("set REWIND_SOAK, as make soak does")
	}
	flipBytes(t, 1)
}

func flipBytes(t *testing.T, step int) {
	v := newVictim(t)
	for _, file := range v.files() {
		good := v.whole[file]
		for i := 0; i < len(good); i += step {
			v.mend()
			bad := slices.Clone(good)
			bad[i] ^= 0x41
			if err := os.WriteFile(file, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			v.judge(fmt.Sprintf("byte %d of %s", i, v.name(file)))
		}
	}
	v.mend()
	t.Logf("%d files: %+v", len(v.files()), v.count)
}
