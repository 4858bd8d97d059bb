package gitrestore

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// heldPack packs everything into one pack, which is all that is held, and gives its path without a suffix.
func (b *box) heldPack() (Source, string) {
	b.t.Helper()
	b.git("repack", "-adq")
	s := b.save()
	packs, _ := filepath.Glob(filepath.Join(b.held, "pack", "*.pack"))
	if len(packs) != 1 {
		b.t.Fatalf("packs %v", packs)
	}
	base := strings.TrimSuffix(packs[0], ".pack")
	for _, suffix := range []string{".pack", ".idx"} { // and no second name of git's
		data, err := os.ReadFile(base + suffix)
		if err != nil {
			b.t.Fatal(err)
		}
		if err := os.Remove(base + suffix); err != nil {
			b.t.Fatal(err)
		}
		if err := os.WriteFile(base+suffix, data, 0o600); err != nil {
			b.t.Fatal(err)
		}
	}
	return s, base
}

// damageObject changes a byte of an object in a pack.
func (b *box) damageObject(base, id string) {
	b.t.Helper()
	for line := range strings.Lines(b.at(b.dir, "verify-pack", "-v", base+".idx")) { // id, kind, size, size in the pack, offset
		words := strings.Fields(line)
		if len(words) > 4 && words[0] == id {
			var size, at int64
			fmt.Sscan(words[3]+" "+words[4], &size, &at)
			b.damageByte(base+".pack", at+size/2)
			return
		}
	}
	b.t.Fatalf("%s is not in %s", id, base)
}

func (b *box) damageByte(file string, at int64) {
	b.t.Helper()
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	defer f.Close()
	one := make([]byte, 1)
	if at < 0 {
		info, _ := f.Stat()
		at += info.Size()
	}
	if _, err := f.ReadAt(one, at); err != nil {
		b.t.Fatal(err)
	}
	one[0] ^= 0xff
	if _, err := f.WriteAt(one, at); err != nil {
		b.t.Fatal(err)
	}
}

// TestDamagedPack: of a pack that is damaged, what is whole returns, and what is not is named: objects, and references whose own it is.
func TestDamagedPack(t *testing.T) {
	type made struct {
		*box
		s    Source
		base string
		ids  map[string]string
	}
	for name, test := range map[string]struct {
		damage func(made)
		lines  []string // besides that of the git directory and of the stash, with <id> for the ids of made
		broken bool     // to git fsck, of what returned
	}{
		"a file of an older commit": {
			func(m made) { m.damageObject(m.base, m.ids["old"]) },
			[]string{"objects unable PACK 1", "objects unable refs/heads/main^:a.txt 1"}, true,
		},
		"the commit of a branch": {
			func(m made) { m.damageObject(m.base, m.ids["topic"]) },
			[]string{"objects unable PACK 1", "ref unable refs/heads/topic 0", "reflog unable 2"}, false,
		},
		"a commit of the history": {
			func(m made) { m.damageObject(m.base, m.ids["first"]) },
			[]string{"objects unable PACK 1", "reflog unable 2", "objects unable refs/heads/main~2 1"}, true,
		},
		"what is staged": {
			func(m made) { m.damageObject(m.base, m.ids["staged"]) },
			[]string{"objects unable PACK 1", "objects unable :staged 1"}, true,
		},
		"nothing that is needed: the sum at the end of the pack": {func(m made) { m.damageByte(m.base+".pack", -3) }, nil, false},
		"the index alone":      {func(m made) { m.damageByte(m.base+".idx", 1100) }, nil, false},
		"the head of the pack": {func(m made) { m.damageByte(m.base+".pack", 1) }, nil, false},
		"an object that is held twice": {func(m made) {
			m.hold(m.ids["old"], strings.Repeat("of another one\n", 20))
			m.damageObject(m.base, m.ids["old"])
		}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			m := made{box: b, ids: map[string]string{}}
			m.ids["first"] = b.commit("a.txt", "1")
			b.commit("a.txt", strings.Repeat("of another one\n", 20))
			m.ids["old"] = b.git("rev-parse", "HEAD:a.txt")
			b.commit("a.txt", "3")
			b.git("checkout", "-qb", "topic")
			m.ids["topic"] = b.commit("b.txt", "topic")
			b.git("checkout", "-q", "main")
			b.stash("a.txt", "stashed")
			b.write("staged", "staged")
			b.git("add", "staged")
			m.ids["staged"] = b.git("rev-parse", ":staged")
			was := b.look(b.dir)
			m.s, m.base = b.heldPack()
			test.damage(m)
			if err := os.RemoveAll(filepath.Join(b.dir, ".git")); err != nil {
				t.Fatal(err)
			}
			p := b.plan(m.s, b.target(), Missing)
			if len(p.Refusals) > 0 {
				t.Fatalf("refused: %q", p.Refusals)
			}
			var got []string
			for i, text := range lines(p) {
				l := p.Lines[i]
				if l.Change == Unable {
					got = append(got, strings.Replace(text, filepath.Base(m.base), "PACK", 1)+fmt.Sprint(" ", l.Count))
				}
			}
			if !slices.Equal(got, test.lines) {
				t.Errorf("lines\n%s\nnot\n%s", strings.Join(got, "\n"), strings.Join(test.lines, "\n"))
			}
			if _, err := p.Apply(t.Context()); err != nil {
				t.Fatal(err)
			}
			if out, err := b.try(b.dir, "fsck", "--full"); (err != nil) != test.broken || strings.Contains(out, "corrupt") {
				t.Errorf("fsck: %v: %s", err, out)
			}
			if len(test.lines) == 0 {
				b.same(was, b.look(b.dir), "refs", "stash", "index", "head", "status")
			}
			b.git("log", "-1", "--format=%H", "stash")
		})
	}
}

// hold holds a file's content as an object of its own.
func (b *box) hold(id, text string) {
	b.t.Helper()
	bare, file := filepath.Join(b.home, "loose.git"), filepath.Join(b.home, "content")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
	b.git("init", "-q", "--bare", bare)
	if got := b.at(bare, "hash-object", "-w", file); got != id {
		b.t.Fatalf("%s, not %s", got, id)
	}
	links, err := everyObject(filepath.Join(bare, "objects"))
	if err == nil {
		_, err = addObjects(b.t.Context(), b.held, links)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// TestDamagedObjectIsNotBroughtIn: into a repository that is there, nothing damaged is brought.
func TestDamagedObjectIsNotBroughtIn(t *testing.T) {
	b := started(t)
	b.git("checkout", "-qb", "topic")
	b.commit("b", "of topic")
	blob := b.git("rev-parse", "HEAD:b")
	b.git("checkout", "-q", "main")
	s, base := b.heldPack()
	b.git("branch", "-qD", "topic")
	b.forget()
	b.damageObject(base, blob)
	p := b.plan(s, b.target(), Missing)
	b.wantLines(p, "ref returns refs/heads/topic", "reflog returns", "objects unable")
	if l := p.Lines[2]; l.To != blob || l.Note != "What is held of it is damaged." {
		t.Errorf("line %+v", l)
	}
	b.hold(blob, "of topic")
	b.restore(s, b.target(), Missing)
	if got := b.git("show", "topic:b"); got != "of topic" {
		t.Errorf("it has %q", got)
	}
}
