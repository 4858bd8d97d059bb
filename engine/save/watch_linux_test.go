package save_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/save"
	"github.com/rewind-cli/rewind/engine/stores"
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

// TestWatchEndsWithItsStore: a watcher that hooks started ends when the store was removed, though files still change.
func TestWatchEndsWithItsStore(t *testing.T) {
	l := testlab.New(t)
	l.Write("a", "0")
	p, _, _, err := save.Init(t.Context(), stores.InitOptions{OpenOptions: l.Options()}) // the lab's own would look at the store in the end
	l.Ok(err)
	l.Ok(p.Close())
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var removal sync.WaitGroup // outlives the watcher, which ends as soon as the store cannot be opened
	var once sync.Once
	err = save.Watch(ctx, save.WatchOptions{
		Open: func(ctx context.Context) (*project.Project, error) { return project.Open(ctx, l.Options()) },
		Pace: watch.Pace{Quiet: 10 * time.Millisecond},
		Idle: time.Hour,
		Started: func(string, int) {
			l.Write("a", "1")
		},
		Saved: func(*checkpoint.Saved) {
			once.Do(func() {
				removal.Go(func() { // it waits until the save is over
					r, err := stores.PlanDeinit(ctx, l.Options())
					if err == nil {
						err = r.Apply(ctx, 0)
					}
					if err != nil {
						t.Error(err)
					}
					l.Write("a", "2")
				})
			})
		},
		Failed: func(error) {},
	})
	removal.Wait()
	if err != nil || ctx.Err() != nil {
		t.Fatal(err, ctx.Err())
	}
	if _, err := project.Open(ctx, l.Options()); err == nil {
		t.Error("the store is there again")
	}
}
