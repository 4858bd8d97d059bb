//go:build unix

package remote_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/remote"
	"github.com/rewind-cli/rewind/engine/remote/keyring"
	"github.com/rewind-cli/rewind/internal/testkit/faultbucket"
)

// TestLengths: objects of all sizes have few lengths, little is added to them, and a log of which some are of earlier versions, which added nothing, is read.
func TestLengths(t *testing.T) {
	worst, lengths := 0.0, map[int]bool{}
	for n := 300; n < 1<<30; n += 1 + n/5000 {
		is := (*remote.Lengthen)(n)
		if is < n || (*remote.Lengthen)(is) != is || is-n >= 1<<19 {
			t.Fatalf("%d becomes %d", n, is)
		}
		if worst = max(worst, float64(is-n)/float64(n)); is <= 1<<24 {
			lengths[is] = true
		}
	}
	if worst > 1./16 || len(lengths) > 450 {
		t.Errorf("%d lengths, %.1f %% is added at most", len(lengths), 100*worst)
	}

	now := time.Unix(1_800_000_000, 0)
	b := faultbucket.New()
	b.Now = func() time.Time { return now }
	defer remote.OpenAs(b)()
	m := initialised(t, &now)
	key := m.add()
	r := rand.New(rand.NewPCG(1, 5))
	pad := *remote.Lengthen
	defer func() { *remote.Lengthen = pad }()
	sealed := func(n int) int { // bytes of an age file
		k, err := keyring.New()
		if err != nil {
			t.Fatal(err)
		}
		data, err := keyring.Seal(k.Recipient(), make([]byte, n))
		if err != nil {
			t.Fatal(err)
		}
		return len(data)
	}
	overhead := sealed(100) - 100
	log := ""
	for n := range 30 {
		*remote.Lengthen = pad
		if n%3 == 0 {
			*remote.Lengthen = func(n int) int { return n }
		}
		before := len(b.Names())
		m.write("f", fmt.Sprint(n, noise(r, r.IntN(3000))))
		m.save()
		now = now.Add(time.Second)
		var err error
		if _, log, err = m.push(); err != nil {
			t.Fatal(err)
		}
		if len(b.Names()) != before+1 {
			t.Fatalf("a push made %d objects", len(b.Names())-before)
		}
	}
	few := 0
	for _, name := range b.Names() {
		if n := len(b.Peek(name)) - overhead; strings.HasPrefix(name, "w/") && pad(n) == n {
			few++
		}
	}
	if few < 20 {
		t.Errorf("%d of 20 objects have one of the few lengths", few)
	}
	*remote.Lengthen = pad
	m.holds(b, key, log)
}
