package manifest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func windowsOf(calls ...int) string {
	var windows []Window
	for _, n := range calls {
		windows = append(windows, Window{Time: at(n), Session: "s", Call: fmt.Sprint(n), Edge: WindowOpen})
	}
	return string(AppendWindows(nil, windows))
}

func callsOf(t *testing.T, data string) string {
	t.Helper()
	windows, err := ParseWindows(data)
	if err != nil {
		t.Fatal(err)
	}
	var calls []string
	for _, w := range windows {
		calls = append(calls, w.Call)
	}
	return strings.Join(calls, " ")
}

func changedOf(paths string, n int) string {
	var list []Changed
	for _, path := range strings.Fields(paths) {
		list = append(list, Changed{path, at(n)})
	}
	return string(AppendChanged(nil, list))
}

func timesOf(t *testing.T, data string) string {
	t.Helper()
	list, err := ParseChanged(data)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, c := range list {
		for n := range 20 {
			if c.At.Equal(at(n)) {
				out = append(out, fmt.Sprint(c.Path, "=", n))
			}
		}
	}
	return strings.Join(out, " ")
}

func TestJoinWindows(t *testing.T) {
	for _, c := range []struct {
		parts []string
		want  string
	}{
		{[]string{windowsOf(1, 2), "", windowsOf(2, 3)}, "1 2 3"},
		{[]string{windowsOf(5), windowsOf(1)}, "1 5"},
		{[]string{"\xff damaged", windowsOf(1)}, "1"},
		{[]string{"", ""}, ""},
	} {
		if got := callsOf(t, joinWindows(c.parts...)); got != c.want {
			t.Errorf("%q: %q, want %q", c.parts, got, c.want)
		}
	}
	// Of too many the newest stay, and how many do not is said, also when that is joined again.
	var parts []string
	for i := range 40 {
		var calls []int
		for n := range 500 {
			calls = append(calls, i*500+n)
		}
		parts = append(parts, windowsOf(calls...))
	}
	once := joinWindows(parts[:20]...)
	twice := joinWindows(append([]string{once}, parts[20:]...)...)
	windows, err := ParseWindows(twice)
	if err != nil || len(twice) > MaxWindows || windows[0].Edge != WindowLost || windows[0].Summary != fmt.Sprint(20_000-len(windows)+1) || windows[len(windows)-1].Call != "19999" {
		t.Errorf("%d bytes, %v: %d windows, the first %+v", len(twice), err, len(windows), windows[0])
	}
	huge := string(AppendWindows(nil, []Window{{Time: at(1), Call: strings.Repeat("x ", MaxWindows)}}))
	if windows, err := ParseWindows(joinWindows(huge)); err != nil || len(windows) != 1 || windows[0].Edge != WindowLost {
		t.Errorf("one that is too large: %+v, %v", windows, err)
	}
}

func TestJoinChanged(t *testing.T) {
	for _, c := range []struct{ older, newer, want string }{
		{changedOf("a b/c d", 1), changedOf("b/c e", 2), "a=1 b/c=2 d=1 e=2"},
		{"", changedOf("a", 2), "a=2"},
		{changedOf("a", 1), "", "a=1"},
		{"\xff damaged", changedOf("a", 2), "a=2"},
		{changedOf("a", 1), changedOf("a", 2), "a=2"},
	} {
		if got := timesOf(t, joinChanged(c.older, c.newer)); got != c.want {
			t.Errorf("%q: want %q", got, c.want)
		}
	}
	if got := joinChanged(changedOf("a", 1), "\xff damaged"); got != "\xff damaged" {
		t.Errorf("what is damaged stays for verify: %q", got)
	}
}

// What a deleted checkpoint held goes on in the next one that lives, folded or not, however the deletions come, and
// again where the log is replayed whose heir has it already.
func TestDeletedHandOn(t *testing.T) {
	for _, order := range [][][]byte{{{2, 3}}, {{3}, {2}}, {{2}, {3}}, {{3, 2}}, {{2, 3, 5}}} {
		for fold := range len(order) + 1 {
			w := newWorld()
			for i := range byte(5) {
				n := int(i) + 1
				w.add(Record{Checkpoint: &Checkpoint{ID: CheckpointID{i + 1}, Time: at(n), Windows: windowsOf(n), Changed: changedOf(fmt.Sprintf("all f%d", n), n)}})
			}
			o := Options{Dir: t.TempDir()}
			for i, ids := range order {
				if i == fold {
					must(t, Fold(context.Background(), o, w))
				}
				var gone []CheckpointID
				for _, id := range ids {
					gone = append(gone, CheckpointID{id})
				}
				w.add(Record{Delete: &Delete{Checkpoints: gone}})
			}
			if fold == len(order) {
				must(t, Fold(context.Background(), o, w))
			}
			db, err := Open(context.Background(), o, w)
			must(t, err)
			whole, err := Replay(context.Background(), w, 1, Strict)
			must(t, err)
			check := func(id byte, windows, changed string) {
				t.Helper()
				c, ok, err := db.ByID(CheckpointID{id})
				if got := callsOf(t, c.Windows); err != nil || !ok || got != windows {
					t.Errorf("%v, fold %d: %d has the windows %q, %v", order, fold, id, got, err)
				}
				if got := timesOf(t, c.Changed); got != changed {
					t.Errorf("%v, fold %d: %d has the times %q", order, fold, id, got)
				}
				if again, ok := whole.ByID(CheckpointID{id}); !ok || again.Windows != c.Windows || again.Changed != c.Changed {
					t.Errorf("%v, fold %d: a replay says otherwise", order, fold)
				}
			}
			check(1, "1", "all=1 f1=1")
			check(4, "2 3 4", "all=4 f2=2 f3=3 f4=4")
			must(t, db.Close())
			// The log as gc writes it: the heir has it all, and the deletion is still there.
			c, _ := whole.ByID(CheckpointID{4})
			w.log[3].Record.Checkpoint = &c
			again, err := Replay(context.Background(), w, 1, Strict)
			must(t, err)
			if now, _ := again.ByID(CheckpointID{4}); now.Windows != c.Windows || now.Changed != c.Changed {
				t.Errorf("%v: once more it is %q, %q", order, callsOf(t, now.Windows), timesOf(t, now.Changed))
			}
			w.log = slices.Delete(w.log, 1, 3)
			again, err = Replay(context.Background(), w, 1, Strict)
			must(t, err)
			if now, _ := again.ByID(CheckpointID{4}); now.Windows != c.Windows {
				t.Errorf("%v: without what went it is %q", order, callsOf(t, now.Windows))
			}
		}
	}
}

// A field that cannot be read costs nothing but itself.
func TestDamagedWindowsInALog(t *testing.T) {
	w := newWorld()
	w.add(Record{Checkpoint: &Checkpoint{ID: CheckpointID{1}, Time: at(1), Windows: "\x01\xff", Changed: "\x09junk"}})
	w.add(Record{Checkpoint: &Checkpoint{ID: CheckpointID{2}, Time: at(2), Windows: windowsOf(2), Changed: changedOf("a", 2)}})
	w.add(Record{Delete: &Delete{Checkpoints: []CheckpointID{{1}}}})
	r, err := Replay(context.Background(), w, 1, Strict)
	must(t, err)
	if list := r.Checkpoints(); len(list) != 1 || callsOf(t, list[0].Windows) != "2" || timesOf(t, list[0].Changed) != "a=2" {
		t.Errorf("%+v", list)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// What a checkpoint cannot tell the times of, or can no longer once it has those of others, is said in the one that goes on.
func TestHandedOnTimesAreBounded(t *testing.T) {
	many := func(name string, n int) string {
		list := make([]Changed, n)
		for i := range list {
			list[i] = Changed{fmt.Sprintf("%s/%06d", name, i), at(i)}
		}
		return string(AppendChanged(nil, list))
	}
	first := CheckpointID{9}
	for _, c := range []struct {
		name       string
		gone, heir Checkpoint
		lost       bool
	}{
		{"few", Checkpoint{Parent: first, Changed: many("a", 2), Counts: Counts{Added: 2}}, Checkpoint{Changed: many("b", 2)}, false},
		{"together too many", Checkpoint{Parent: first, Changed: many("a", MaxChanged)}, Checkpoint{Changed: many("b", 1)}, true},
		{"the one that goes had too many", Checkpoint{Parent: first, Counts: Counts{Modified: MaxChanged + 1}}, Checkpoint{Changed: many("b", 1)}, true},
		{"the one that stays has too many", Checkpoint{Parent: first, Changed: many("a", 1)}, Checkpoint{Parent: first, Counts: Counts{Deleted: MaxChanged + 1}}, true},
		{"the first of all", Checkpoint{Counts: Counts{Added: MaxChanged + 1}}, Checkpoint{Changed: many("b", 1)}, false},
	} {
		w := newWorld()
		for i, one := range []Checkpoint{{Time: at(1)}, c.gone, c.heir} {
			one.ID, one.Time = CheckpointID{byte(i + 1)}, at(i+1)
			w.add(Record{Checkpoint: &one})
		}
		w.add(Record{Delete: &Delete{Time: at(9), Checkpoints: []CheckpointID{{2}}}})
		replayed, err := Replay(t.Context(), w, 1, Strict)
		if err != nil {
			t.Fatal(err)
		}
		is, _ := replayed.ByID(CheckpointID{3})
		windows, err := ParseWindows(is.Windows)
		if lost := len(windows) == 1 && windows[0].Edge == WindowLost; err != nil || lost != c.lost {
			t.Errorf("%s: %+v, %v", c.name, windows, err)
		}
	}
}
