package scan

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/ignore"
)

// sampleCache is a stat cache's file with everything in it, deltas included.
func sampleCache(t testing.TB) (*project, []byte) {
	p := newProject(t)
	p.opts.Rules = compile(t, ignore.Config{Ignore: []string{"*.o"}})
	for _, name := range []string{"a", "b.o", "dir/c", "dir/d.o", "dir/sub/e", "gone/f", ".gitignore"} {
		p.write(name, name)
	}
	p.do(os.Symlink("a", p.path("link")))
	settle()
	p.scan()
	p.do(os.RemoveAll(p.path("gone")))
	p.write("new/g", "g")
	p.write("dir/c", "changed")
	settle()
	p.scan()
	p.scan()
	data, err := os.ReadFile(p.cache)
	if err != nil {
		t.Fatal(err)
	}
	h := parseCache(bytes.Clone(data))
	if h == nil || h.base == len(data) || h.used != len(data) || h.linear {
		t.Fatal("the sample has no deltas with new directories")
	}
	return p, data
}

func TestDamagedCache(t *testing.T) {
	p, data := sampleCache(t)
	want := p.plain().Root
	base := parseCache(bytes.Clone(data)).base
	try := func(what string, damaged []byte) {
		t.Helper()
		p.do(os.WriteFile(p.cache, damaged, 0o600))
		if r := p.scan(); r.Root != want {
			t.Fatalf("%s: another tree", what)
		}
		if h, err := LoadCache(p.cache); err != nil || h == nil || h.Root() != want {
			t.Fatalf("%s: not repaired", what)
		}
	}
	for size := 0; size < len(data); size += 7 {
		try(fmt.Sprintf("cut to %d bytes", size), data[:size])
	}
	for at := 0; at < len(data); at += 5 {
		damaged := bytes.Clone(data)
		damaged[at] ^= 0x10
		if h := parseCache(bytes.Clone(damaged)); h != nil && (at < base || h.used > at) {
			t.Fatalf("byte %d flipped: taken for good", at)
		}
		try(fmt.Sprintf("byte %d flipped", at), damaged)
	}
	try("garbage at the end", append(bytes.Clone(data), make([]byte, 100)...))
	try("another format", append([]byte("rwhead9\n"), data[8:]...))
}

// seal puts right checksums on a stat cache's file whose parts were tampered with.
func seal(data []byte) []byte {
	le := binary.LittleEndian
	if len(data) < headHeader+8 {
		return data
	}
	total := le.Uint64(data[8:])
	if total < headHeader+8 || total > uint64(len(data)) {
		return data
	}
	sum := xxhash.Sum64(data[:total-8])
	le.PutUint64(data[total-8:], sum)
	for at := total; uint64(len(data))-at >= 12; {
		size := uint64(le.Uint32(data[at:]))
		if size > uint64(len(data))-at-12 {
			break
		}
		sum = deltaSum(sum, data[at+4:at+4+size])
		le.PutUint64(data[at+4+size:], sum)
		at += 12 + size
	}
	return data
}

// use does with a stat cache of any kind what a scan and Publish do.
func (p *project) use(data []byte) {
	h := parseCache(bytes.Clone(data))
	if h == nil {
		return
	}
	h.conf = RulesHash(p.opts.Rules, 0)
	o := p.options(false)
	o.Cache = h
	r, err := Run(context.Background(), o)
	if err != nil {
		return
	}
	if r.cache == nil {
		if image, err := r.image(Stamp{1}); err != nil || parseCache(image) == nil {
			p.t.Fatal("an image that does not parse", err)
		}
		return
	}
	if payload := r.delta(Stamp{1}); payload != nil {
		if image, err := r.image(Stamp{1}); err == nil && parseCache(image) == nil {
			p.t.Fatal("an image that does not parse")
		}
		if again := parseCache(appendDelta(bytes.Clone(data[:h.used]), h.sum, payload)); again == nil {
			p.t.Fatal("a delta that does not parse")
		}
	}
}

// TestHostileCache changes stat caches at random behind right checksums. Nothing may
// crash or hang; what the tree then is taken for is the owner's own doing.
func TestHostileCache(t *testing.T) {
	p, data := sampleCache(t)
	rng := rand.New(rand.NewPCG(1, 2))
	rounds := 20000
	if testing.Short() {
		rounds = 1000
	}
	for range rounds {
		damaged := bytes.Clone(data)
		for range 1 + rng.IntN(3) {
			at := rng.IntN(len(damaged))
			switch rng.IntN(3) {
			case 0:
				damaged[at] = byte(rng.Uint32())
			case 1:
				binary.LittleEndian.PutUint32(damaged[min(at, len(damaged)-4):], rng.Uint32N(200))
			case 2:
				binary.LittleEndian.PutUint32(damaged[min(at, len(damaged)-4):], ^uint32(0)-rng.Uint32N(3))
			}
		}
		p.use(seal(damaged))
	}
}

// FuzzCache runs whole scans on stat caches that were changed behind right checksums. Workers make its
// coverage vary between runs, so run it with -fuzzminimizetime=1x.
func FuzzCache(f *testing.F) {
	p, data := sampleCache(f)
	f.Add(data)
	f.Add(data[:parseCache(bytes.Clone(data)).base])
	f.Add([]byte(cacheMagic))
	f.Fuzz(func(t *testing.T, data []byte) {
		p.t = t
		p.use(seal(data))
	})
}

// TestImageIsCanonical: a new base says the same as the base and deltas that it replaces.
func TestImageIsCanonical(t *testing.T) {
	p, data := sampleCache(t)
	h := parseCache(bytes.Clone(data))
	write := func(h *Cache) []byte {
		top := &node{ord: 0, mode: h.dirs[0].mode, fp: h.dirs[0].fp, rules: h.dirs[0].rules}
		list, _ := h.records(0)
		for _, r := range list {
			e := entry{name: r.name, kind: r.kind, slot: r.slot, reason: r.reason}
			if r.kind&kindMask == kindDir {
				e.ord, e.slot = int32(r.slot), 0
			}
			top.ents = append(top.ents, e)
		}
		top.encode()
		image, err := (&Result{Root: h.root, cache: h, top: top, Files: h.files, Bytes: h.bytes, conf: h.conf, key: h.seed}).image(h.stamp)
		p.do(err)
		return image
	}
	image := write(h)
	whole := parseCache(bytes.Clone(image))
	if whole == nil || !whole.linear || whole.Root() != h.Root() || whole.Stamp() != h.Stamp() {
		t.Fatal("another stat cache")
	}
	if !bytes.Equal(write(whole), image) {
		t.Fatal("the same stat cache, written again, has other bytes")
	}
	p.do(os.WriteFile(p.cache, image, 0o600))
	if r := p.check(); r.top != nil {
		t.Fatal("a scan with the new base finds changes")
	}
}

func TestPublish(t *testing.T) {
	p := newProject(t)
	p.write("a", "1")
	settle()
	owned := []string{}
	r := must(t)(Run(context.Background(), p.options(true)))
	p.do(r.Publish(p.cache, Stamp{1}, func(f string) error { owned = append(owned, f); return nil }))
	info, err := os.Stat(p.cache)
	p.do(err)
	if info.Mode().Perm() != 0o600 || len(owned) != 1 || filepath.Dir(owned[0]) != filepath.Dir(p.cache) {
		t.Fatalf("%v, owner was given %q", info.Mode(), owned)
	}

	// Two scans from one stat cache: the second one to publish does nothing.
	p.write("a", "2")
	settle()
	first := must(t)(Run(context.Background(), p.options(true)))
	p.write("a", "3")
	settle()
	second := must(t)(Run(context.Background(), p.options(true)))
	p.do(second.Publish(p.cache, Stamp{2}, nil))
	before, _ := os.ReadFile(p.cache)
	p.do(first.Publish(p.cache, Stamp{3}, nil))
	if after, _ := os.ReadFile(p.cache); !bytes.Equal(before, after) {
		t.Fatal("a stat cache was published over a newer one")
	}
	h, err := LoadCache(p.cache)
	p.do(err)
	if h.Stamp() != (Stamp{2}) || h.Root() != second.Root {
		t.Fatal("not the stat cache that was published")
	}

	// Nothing changed: nothing is written, the stamp is the old one.
	r = must(t)(Run(context.Background(), p.options(true)))
	p.do(r.Publish(p.cache, Stamp{9}, nil))
	if after, _ := os.ReadFile(p.cache); !bytes.Equal(before, after) || !r.Unchanged {
		t.Fatal("an unchanged stat cache was written")
	}
	p.do(Restamp(p.cache, Stamp{63: 7}))
	if h, err = LoadCache(p.cache); err != nil || h.Stamp() != (Stamp{63: 7}) || h.Root() != second.Root {
		t.Fatal("not restamped")
	}
	p.do(Restamp(p.cache+"x", Stamp{}))
	if _, err := os.Stat(p.cache + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Fatal("Restamp made a file")
	}
	// A failing owner leaves no file behind.
	r = must(t)(Run(context.Background(), p.options(false)))
	refused := errors.New("refused")
	if err := r.Publish(p.cache+"y", Stamp{}, func(string) error { return refused }); !errors.Is(err, refused) {
		t.Fatal(err)
	}
	if list, _ := filepath.Glob(p.cache + "y*"); len(list) != 0 {
		t.Fatalf("left %q", list)
	}
	var none *Cache
	if none.Stamp() != (Stamp{}) || none.Root() != (oid.ID{}) {
		t.Fatal("an empty stat cache is not empty")
	}
}

// TestDeltasAreBounded: the file is rewritten before the deltas outgrow it.
func TestDeltasAreBounded(t *testing.T) {
	p := newProject(t)
	for i := range 200 {
		p.write(fmt.Sprintf("d%02d/file%03d", i/10, i), "x")
	}
	settle()
	p.scan()
	appended, rewritten := 0, 0
	for i := range 300 {
		before, err := os.Stat(p.cache)
		p.do(err)
		p.write(fmt.Sprintf("d%02d/file%03d", i%20, i%20*10), fmt.Sprint(i))
		p.scan()
		after, err := os.Stat(p.cache)
		p.do(err)
		if os.SameFile(before, after) {
			appended++
		} else {
			rewritten++
		}
		h, err := LoadCache(p.cache)
		p.do(err)
		if h.used != len(h.image) || len(h.image)-h.base > max(h.base/4, slack) {
			t.Fatalf("base %d, deltas %d", h.base, len(h.image)-h.base)
		}
	}
	if appended < 10*rewritten || rewritten == 0 {
		t.Fatalf("%d deltas, %d new files", appended, rewritten)
	}
	p.check()
}

func must(t *testing.T) func(*Result, error) *Result {
	return func(r *Result, err error) *Result {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
}

// TestDeltaIsAsLongAtAnyDepth: the directories above an edited file add nothing to what the stat cache takes for it.
func TestDeltaIsAsLongAtAnyDepth(t *testing.T) {
	p := newProject(t)
	deep := "1/2/3/4/5/6/7/8/f"
	p.write("1/f", "x")
	p.write(deep, "x")
	settle()
	p.scan()
	grown := func(file string) int64 {
		p.write(file, "another")
		settle()
		before, err := os.Stat(p.cache)
		p.do(err)
		p.scan()
		after, err := os.Stat(p.cache)
		p.do(err)
		if !os.SameFile(before, after) {
			t.Fatal("no delta was appended")
		}
		return after.Size() - before.Size()
	}
	if shallow, below := grown("1/f"), grown(deep); below > shallow+4 || shallow > 110 {
		t.Fatalf("%d bytes in the first directory, %d eight levels down", shallow, below)
	}
	p.check()
}
