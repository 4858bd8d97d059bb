package pack

import (
	"bytes"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// edit changes some places of b.
func edit(t *rapid.T, b []byte) []byte {
	out := bytes.Clone(b)
	for range rapid.IntRange(0, 5).Draw(t, "edits") {
		at := rapid.IntRange(0, len(out)).Draw(t, "at")
		n := rapid.IntRange(0, min(200, len(out)-at)).Draw(t, "cut")
		insert := rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "insert")
		out = append(append(append([]byte{}, out[:at]...), insert...), out[at+n:]...)
	}
	return out
}

func TestDeltaMakesTheObjectAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := text(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(0, 20_000).Draw(t, "size"))
		data := edit(t, base)
		delta, ok := AppendDelta([]byte("before"), base, data, len(data)*2+1000)
		if !ok {
			t.Fatal("a limit that is never reached was reached")
		}
		got, err := ApplyDelta([]byte("x"), base, delta[6:], len(data))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got[1:], data) {
			t.Fatal("another object")
		}
	})
}

func TestDeltaOfAnEditIsSmall(t *testing.T) {
	base := text(1, 131_000)
	line := bytes.Replace(base, []byte("line 65"), []byte("LINE 65"), 1)
	two := append([]byte("head"), append(bytes.Clone(base), "tail"...)...)
	for _, c := range []struct {
		name string
		data []byte
		most int
	}{{"one line", line, 40}, {"both ends", two, 150}, {"nothing", base, 8}} {
		delta, ok := AppendDelta(nil, base, c.data, len(c.data))
		if !ok || len(delta) > c.most {
			t.Errorf("%s: %d bytes, want at most %d", c.name, len(delta), c.most)
		}
		if got, err := ApplyDelta(nil, base, delta, len(c.data)); err != nil || !bytes.Equal(got, c.data) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, ok := AppendDelta(nil, base, noise(1, 131_000), 10_000); ok {
		t.Error("noise has a small delta")
	}
}

// A delta does not depend on those that were made before it by the same encoder.
func TestDeltaIsTheSameEachTime(t *testing.T) {
	type made struct{ base, data, delta []byte }
	var first []made
	for i := range uint64(40) {
		base := text(i, int(i*i*20))
		data := append(append([]byte("a line that the base does not have, and some more of it"), base...), text(i+1, 100)...)
		delta, ok := AppendDelta(nil, base, data, 2*len(data))
		if !ok {
			t.Fatal(i)
		}
		first = append(first, made{base, data, delta})
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range first {
				m := first[len(first)-1-i]
				if delta, ok := AppendDelta(nil, m.base, m.data, 2*len(m.data)); !ok || !bytes.Equal(delta, m.delta) {
					t.Errorf("%d bytes: another delta", len(m.data))
				}
			}
		})
	}
	wg.Wait()
}

// Objects at the limits of what the frame can say.
func TestDeltaSizes(t *testing.T) {
	for _, n := range []int{0, 1, 7, 8, 63, 64, 255, 256, 1000, 1023, 1024, 1025, 65_791, 65_792, 1 << 20, 3 << 20} {
		if n >= 1<<20 && testing.Short() {
			break
		}
		for _, m := range []int{0, 1, 7, 8, 100, 1 << 10, 1 << 20} {
			base, data := text(1, m), text(2, n)
			data = append(data, base[m/2:]...)
			delta, ok := AppendDelta(nil, base, data, len(data)*2+1000)
			if !ok {
				t.Fatalf("%d over %d", n, m)
			}
			if got, err := ApplyDelta(nil, base, delta, len(data)); err != nil || !bytes.Equal(got, data) {
				t.Fatalf("%d over %d: %v", n, m, err)
			}
		}
	}
}
