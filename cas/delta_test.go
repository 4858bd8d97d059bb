package cas

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// Whatever two versions look like, a delta that is made can be read back.
func TestDeltaReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		random := func(n int) []byte {
			b := make([]byte, n)
			for i := range b {
				seed = seed*6364136223846793005 + 1442695040888963407
				b[i] = "abcdefghijklmnop\n"[seed>>56%17]
			}
			return b
		}
		base := random(rapid.SampledFrom([]int{0, 1, 7, 8, 100, 1000, 3000, 9000, 100_000, 700_000}).Draw(t, "base"))
		data := bytes.Clone(base)
		for range rapid.IntRange(0, 4).Draw(t, "edits") {
			at := rapid.IntRange(0, len(data)).Draw(t, "at")
			cut := rapid.IntRange(0, min(len(data)-at, 5000)).Draw(t, "cut")
			add := random(rapid.SampledFrom([]int{0, 1, 63, 64, 65, 500, 5000}).Draw(t, "add"))
			data = append(append(bytes.Clone(data[:at]), add...), data[at+cut:]...)
		}
		delta, ok := appendDelta(nil, base, data, 1<<30)
		if !ok {
			t.Fatal("no delta within a limit that nothing reaches")
		}
		got, err := applyDelta([]byte("before"), base, delta, len(data))
		if err != nil {
			t.Fatalf("base of %d, object of %d bytes: %v", len(base), len(data), err)
		}
		if !bytes.Equal(got, append([]byte("before"), data...)) {
			t.Fatal("the delta makes other bytes")
		}
	})
}
