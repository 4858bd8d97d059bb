//go:build unix

package remote_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/remote"
	"github.com/rewind-cli/rewind/internal/testkit/faultbucket"
)

// TestPushAfterForget: where a forget could not be finished at once, and a save came between, the log that is pushed after it is another one, without
// what was forgotten; once, and whether or not something was pushed meanwhile.
func TestPushAfterForget(t *testing.T) {
	for _, between := range []bool{false, true} {
		t.Run(fmt.Sprint(between), func(t *testing.T) {
			now := time.Unix(1_800_000_000, 0)
			b := faultbucket.New()
			b.Now = func() time.Time { return now }
			defer remote.OpenAs(b)()
			m := initialised(t, &now)
			key := m.add()
			m.write("secret", "token")
			m.save()
			if err := os.Remove(filepath.Join(m.dir, "secret")); err != nil {
				t.Fatal(err)
			}
			m.write("a", "1")
			m.save()
			if _, _, err := m.push(); err != nil {
				t.Fatal(err)
			}
			reader, p := m.open(), m.open()
			defer reader.Close()
			defer p.Close()
			release, err := reader.Hold(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			done, err := maintain.Forget(t.Context(), p, []string{"secret"}, false)
			if err != nil || done.Pending == "" {
				t.Fatalf("the forget did not wait for who reads the store: %+v, %v", done, err)
			}
			m.write("a", "2")
			m.save()
			anew := false
			if between {
				pushed, _, err := m.push()
				if err != nil {
					t.Fatal(err)
				}
				anew = pushed.Moved // the log was written anew already
			}
			release()
			if _, err := maintain.GC(t.Context(), p, maintain.GCOptions{Keep: 100}); err != nil {
				t.Fatal(err)
			}
			if p.Forgetting() != nil {
				t.Fatal("the forget is not finished")
			}
			m.write("a", "3")
			m.save()
			pushed, log, err := m.push()
			if err != nil || pushed.Moved == anew {
				t.Fatalf("%+v, %v", pushed, err)
			}
			m.holds(b, key, log)
			m.write("a", "4")
			m.save()
			if pushed, again, err := m.push(); err != nil || pushed.Moved || pushed.Checkpoints != 1 {
				t.Errorf("after log %s, log %s: %+v, %v", log, again, pushed, err)
			}
		})
	}
}
