package save_test

import (
	"context"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/save"
	"github.com/rewind-cli/rewind/engine/watch"
	"github.com/rewind-cli/rewind/internal/testkit/testlab"
)

// TestWatchEndsIdle: a watcher that hooks started saves a change, and ends by itself some time after it.
func TestWatchEndsIdle(t *testing.T) {
	l := testlab.New(t)
	l.Write("a", "0")
	l.Init()
	saved := 0
	began := time.Now()
	err := save.Watch(t.Context(), save.WatchOptions{
		Open:    func(ctx context.Context) (*project.Project, error) { return project.Open(ctx, l.Options()) },
		Pace:    watch.Pace{Quiet: 10 * time.Millisecond},
		Idle:    300 * time.Millisecond,
		Started: func(string, int) { l.Write("a", "1") },
		Saved:   func(*checkpoint.Saved) { saved++ },
		Failed:  func(err error) { t.Error(err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if saved != 1 || time.Since(began) < 300*time.Millisecond {
		t.Errorf("%d saves, and it ended after %s", saved, time.Since(began))
	}
}
