package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/internal/testkit/scratchfs"
	"github.com/rewind-cli/rewind/internal/testkit/testlab"
	"github.com/rewind-cli/rewind/manifest"
)

// TestPowerCutOnADisk saves to a real ext4 while the power goes, and looks at what is left.
func TestPowerCutOnADisk(t *testing.T) { powerCuts(t, 40/testlab.Every(2), 20/testlab.Every(2)) }

func TestSoakPowerCutOnADisk(t *testing.T) {
	if os.Getenv("REWIND_SOAK") == "" {
		t.Skip("set REWIND_SOAK, as make soak does")
	}
	powerCuts(t, 200, 200)
}

// told is a checkpoint that a save has reported, with the tree that it is of.
type told struct {
	checkpoint manifest.Checkpoint
	tree       testlab.Tree
}

// powerCuts makes so many saves, with some restores and sweeps between, and
// copies the disk at random moments meanwhile. Each copy must mount and verify, hold
// each checkpoint that was reported before the cut, restore the newest of them, and take
// the next save. Files of the tree are not synced: they may come back with their status and zeros.
func powerCuts(t *testing.T, saves, cuts int) {
	disk := scratchfs.NewDisk(t, 64<<20)
	l := newLabAt(t, disk.Dir)
	l.noFloor()
	l.Write("a.txt", "first\n")
	var mu sync.Mutex
	var list []told
	list = append(list, told{l.Init().Checkpoint, l.Read()})
	done := make(chan bool)
	go func() {
		defer close(done)
		random := rand.New(rand.NewPCG(1, uint64(saves)))
		for i := range saves {
			if t.Failed() {
				return
			}
			l.edit(random, i)
			now := l.Read()
			s := l.Save()
			mu.Lock()
			list = append(list, told{s.Checkpoint, now})
			mu.Unlock()
			switch {
			case i%20 == 19:
				l.Do(func(ctx context.Context, p *project.Project) error {
					_, err := maintain.GC(ctx, p, maintain.GCOptions{Keep: 1000})
					return err
				})
			case i%7 == 6:
				old := list[random.IntN(len(list))].checkpoint
				l.Do(func(ctx context.Context, p *project.Project) error {
					_, err := restore.Restore(ctx, p, restore.Options{Checkpoint: old})
					return err
				})
			}
		}
	}()
	type clone struct {
		file  string
		known int // reported before the cut
	}
	var clones []clone
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(2, uint64(saves)))
	for i := 0; i < cuts; i++ {
		select {
		case <-done:
			i = cuts
		case <-time.After(time.Duration(random.IntN(60)) * time.Millisecond): // a random moment
		}
		mu.Lock()
		c := clone{filepath.Join(dir, fmt.Sprint(i)), len(list)}
		mu.Unlock()
		disk.Cut(c.file)
		clones = append(clones, c)
	}
	<-done
	if t.Failed() {
		return
	}
	newest := 0
	for _, c := range clones {
		disk.Swap(c.file)
		on := time.Now()
		l.Env.Booted = func() time.Time { return on }
		l.afterPowerCut(list[:c.known])
		if c.known > newest {
			newest = c.known
		}
		os.Remove(c.file)
		if t.Failed() {
			t.Fatalf("in the copy that was taken after %d saves", c.known)
		}
	}
	t.Logf("%d saves, %d cuts, the last one after %d saves", saves, len(clones), newest)
}

// edit changes the tree as a person does, without fsync.
func (l *lab) edit(random *rand.Rand, i int) {
	l.Write("a.txt", fmt.Sprintf("version %d\n", i))
	for range random.IntN(5) {
		path := fmt.Sprintf("d%d/f%d", random.IntN(5), random.IntN(20))
		if random.IntN(4) == 0 {
			l.Remove(path)
		} else {
			l.Write(path, strings.Repeat(fmt.Sprintf("%d %d\n", i, random.IntN(1000)), random.IntN(2000)))
		}
	}
}

// afterPowerCut checks a store that the power went away from.
func (l *lab) afterPowerCut(list []told) {
	l.T.Helper()
	l.Verify()
	l.Do(func(ctx context.Context, p *project.Project) error {
		have := map[manifest.CheckpointID]bool{}
		all, err := p.List(ctx, project.ListOptions{})
		for _, c := range all {
			have[c.ID] = true
		}
		for i, want := range list {
			if !have[want.checkpoint.ID] {
				l.T.Errorf("checkpoint %d of %d was reported, and is gone", i+1, len(list))
			}
		}
		return err
	})
	last := list[len(list)-1]
	l.Do(func(ctx context.Context, p *project.Project) error {
		_, err := restore.Restore(ctx, p, restore.Options{Checkpoint: last.checkpoint})
		return err
	})
	l.Is(last.tree, "restored after the power went")
	l.Save()
	l.Verify()
}
