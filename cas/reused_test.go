package cas

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/internal/testkit/crashfs"
)

// reused is a store of two accounts that is replaced by its own earlier snapshot, as a sandbox comes back. A payload names its objects.
type reused struct {
	*shared
	t         *testing.T
	objects   map[string][]byte
	last      map[string]string // the newest version of the file, by account
	saves     map[string]int
	rewritten bool
}

func newReused(t *testing.T) *reused {
	w := &reused{
		shared:  &shared{t: t, fs: crashfs.New(), locks: t.TempDir(), live: text(1, 3000), dead: noise(2, 3000)},
		t:       t,
		objects: map[string][]byte{},
		last:    map[string]string{},
		saves:   map[string]int{},
	}
	w.objects["live"], w.objects["secret"], w.objects["old"] = w.live, w.dead, noise(5, 3000)
	return w
}

// save is a checkpoint of an account: a new version of a file as a delta of the version before, a file of its own, and what more it is given.
func (w *reused) save(account string, more ...string) {
	w.t.Helper()
	w.saves[account]++
	name := fmt.Sprint(account, w.saves[account])
	base := w.last[account]
	version, own := "v-"+name, "own-"+name
	if base == "" {
		w.objects[version] = noise(77, 8000)
	} else {
		w.objects[version] = slices.Concat(w.objects[base], []byte(name))
	}
	w.objects[own] = noise(uint64(len(w.objects))+100, 500)
	w.last[account] = version
	s := w.open(account)
	defer s.Close()
	b := s.NewBatch()
	out := b.Writer()
	labels := append([]string{version, own}, more...)
	for _, label := range labels {
		var of oid.ID
		if label == version && base != "" {
			of = oid.Sum(w.objects[base])
		}
		if _, err := out.Put(oid.Sum(w.objects[label]), w.objects[label], of); err != nil {
			w.t.Fatal(err)
		}
	}
	commitBatch(w.t, s, b, out, name+"|"+strings.Join(labels, ","))
}

func (w *reused) labels(payload []byte) []string {
	_, list, _ := strings.Cut(string(payload), "|")
	return strings.Split(list, ",")
}

// sweep is a gc that keeps an account's own checkpoints, or a purge of the secret, which keeps all.
func (w *reused) sweep(account string, purge bool) {
	w.t.Helper()
	s := w.open(account)
	defer s.Close()
	if err := s.Complete(context.Background()); err != nil {
		w.t.Fatal(err)
	}
	keep := func(c Commit) bool { return purge || strings.HasPrefix(string(c.Payload), account) }
	live := map[oid.ID]bool{}
	last := w.lastSeq(s)
	for c, err := range s.Commits(1) {
		if err != nil {
			w.t.Fatal(err)
		}
		for _, label := range w.labels(c.Payload) {
			if (keep(c) || c.Seq == last) && !(purge && label == "secret") {
				live[oid.Sum(w.objects[label])] = true
			}
		}
	}
	for pass := range 6 {
		plan, err := s.PlanRepack(RepackOptions{Purge: purge, Log: purge && pass == 0, Recompress: !purge}, func(id oid.ID) bool { return live[id] }, keep)
		if err != nil {
			w.t.Fatal(err)
		}
		due := plan.Due()
		if _, err := plan.Apply(context.Background(), func(Commit) error { return nil }); err != nil {
			w.t.Fatal(err)
		}
		if !due || !purge {
			break
		}
	}
}

func (w *reused) lastSeq(s *Store) uint64 {
	at, err := s.Last()
	if err != nil {
		w.t.Fatal(err)
	}
	return at.Seq
}

// do runs steps of an account: s for a save, g for a gc, p for a purge.
func (w *reused) do(account, steps string, more ...string) {
	for _, step := range steps {
		switch step {
		case 's':
			w.save(account, more...)
		default:
			w.sweep(account, step == 'p')
		}
	}
}

// lookAndJoin is what any command does first, as far as the process lives.
func (w *reused) lookAndJoin(account string) error {
	o := w.options(account)
	o.Returning = func(r Return) error {
		w.rewritten = w.rewritten || r.Rewritten
		return nil
	}
	s, err := Open(o)
	if err != nil {
		return err
	}
	defer s.Close()
	if _, err := s.CatchUp(context.Background()); err != nil {
		return err
	}
	if !s.Diverged() {
		return nil
	}
	branch, err := s.Branch()
	if err != nil {
		return err
	}
	defer branch.Close()
	known := map[string]bool{}
	for c, err := range s.Commits(1) {
		if err != nil {
			return err
		}
		known[string(c.Payload)] = true
	}
	b := s.NewBatch()
	out := b.Writer()
	var more [][]byte
	for c, err := range branch.Commits(1) {
		if err != nil {
			return err
		}
		if known[string(c.Payload)] || branch.Dropped(c.Seq) {
			continue
		}
		more = append(more, c.Payload)
		for _, label := range w.labels(c.Payload) {
			id := oid.Sum(w.objects[label])
			if has, err := s.Has(id); has || err != nil {
				if err != nil {
					return err
				}
				continue
			}
			if gone, err := branch.Forgotten(id); gone || err != nil {
				if err != nil {
					return err
				}
				continue
			}
			data, err := branch.Get(nil, id)
			if err != nil {
				return fmt.Errorf("%s of %s: %w", label, c.Payload, err)
			}
			if _, err := out.Put(id, data, oid.ID{}); err != nil {
				return err
			}
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	a, err := s.Append(context.Background())
	if err != nil {
		return err
	}
	defer a.Close()
	if len(more) > 0 {
		if _, err := a.Commit(b, more...); err != nil {
			return err
		}
	}
	return s.Joined()
}

// holds fails unless every checkpoint of an account is there, with all that it has.
func (w *reused) holds(account, by string, without ...string) {
	w.t.Helper()
	s := w.open(account)
	defer s.Close()
	got := payloadsOf(w.t, s)
	for i := range w.saves[by] {
		name := fmt.Sprint(by, i+1) + "|"
		at := slices.IndexFunc(got, func(p string) bool { return strings.HasPrefix(p, name) })
		if at < 0 {
			w.t.Errorf("%s is lost: %q", name, got)
			continue
		}
		for _, label := range w.labels([]byte(got[at])) {
			if slices.Contains(without, label) {
				continue
			}
			if _, err := s.Get(nil, oid.Sum(w.objects[label])); err != nil {
				w.t.Errorf("%s of %s: %v", label, name, err)
			}
		}
	}
}

// Pack numbers are used again: the store is replaced by its own earlier snapshot, and one account goes on with that, and sweeps,
// before the other one looks, whose mirror has packs of the same names. What each of them saved stays; what a purge removed does not come back.
func TestPackNumberUsedAgain(t *testing.T) {
	for i, as := range []string{"s", "sgs", "sgsgs", "gs"} {
		for k, bs := range []string{"g", "sg", "sgsgsgs", "p", "sps", "sgsp", "spspspsps"} {
			if testing.Short() && ((2*i+k)%7 != 1 || i%2 == 1) { // they differ in what is where, not in their goroutines
				continue
			}
			t.Run(as+"-"+bs, func(t *testing.T) {
				for cut, hook := 0, false; ; cut, hook = cut+1+cut/2, !hook {
					if numberUsedAgain(t, as, bs, cut, hook) || t.Failed() {
						return
					}
				}
			})
		}
	}
}

// numberUsedAgain reports whether the look ended before it was cut.
func numberUsedAgain(t *testing.T, as, bs string, cut int, hook bool) (whole bool) {
	w := newReused(t)
	w.save("c", "live", "old", "secret")
	w.last["a"], w.last["b"] = w.last["c"], w.last["c"]
	w.save("b", "live")
	snapshot := w.files("/objects", "/vault-b")
	w.do("a", as, "live", "old", "secret")
	w.replace(snapshot, "/objects", "/vault-b")
	w.do("b", bs, "live")
	if hook {
		w.save("a", "live")
	}
	if err := w.fs.SyncDir("/vault-a"); err != nil { // it is long ago
		t.Fatal(err)
	}
	left := cut
	w.fs.Hook = func(op, name string) error {
		if left--; left < 0 {
			return crashfs.ErrGone
		}
		return nil
	}
	err := w.lookAndJoin("a")
	w.fs.Hook = nil
	if err != nil && !errors.Is(err, crashfs.ErrGone) {
		t.Fatal(cut, err)
	}
	if cut%2 == 1 {
		w.fs = w.fs.Crash(rand.New(rand.NewPCG(uint64(cut), 1)))
	}
	for _, account := range []string{"a", "b", "a"} {
		if err := w.lookAndJoin(account); err != nil {
			t.Fatal(cut, account, err)
		}
	}
	purged := strings.Contains(bs, "p")
	var without []string
	if purged {
		without = append(without, "secret")
	}
	if purged && strings.Contains(bs, "g") {
		without = append(without, "old") // of what a purge removes, nobody knows what a gc had removed before
	}
	w.holds("a", "a", without...)
	if !w.rewritten { // else whoever calls commits them again
		w.holds("b", "b", without...)
	}
	if files := w.holding(); purged && len(files) > 0 && !strings.Contains(as, "g") {
		t.Errorf("the secret is in %v", files)
	}
	s := w.open("a")
	check(t, s)
	if s.Diverged() {
		t.Error("still parted")
	}
	s.Close()
	if t.Failed() {
		t.Log("cut", cut, "after a hook", hook)
	}
	return left >= 0
}
