package lives

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// told is a hook event as the player knows it.
type told struct {
	event    *event
	from, to time.Time
}

// tickSlack is how much earlier than its write a change time may lie: file systems take the last tick's, which
// a busy machine keeps waiting.
const tickSlack = 50 * time.Millisecond

// recorded compares what checkpoints say of hook events, and of when paths were written, with what was
// played. The person must have saved since the last event.
func (l *life) recorded() error {
	p, err := project.Open(context.Background(), project.OpenOptions{Env: account.Env{Home: l.home, Dir: l.root}, Root: l.root})
	if err != nil {
		return err
	}
	defer p.Close()
	var windows []manifest.Window
	var bad []string
	err = p.Query(context.Background(), func(db *manifest.DB) error {
		for c, err := range db.Checkpoints(manifest.Query{All: true}) {
			if err != nil {
				return err
			}
			w, err := manifest.ParseWindows(c.Windows)
			if err != nil {
				return err
			}
			windows = append(windows, w...)
			changed, err := manifest.ParseChanged(c.Changed)
			if err != nil {
				return err
			}
			if n := c.Added + c.Modified + c.Deleted; c.Parent != (manifest.CheckpointID{}) && n != uint64(len(changed)) {
				bad = append(bad, fmt.Sprintf("checkpoint %d has %d changed paths, and the times of %v", c.Seq, n, changed))
			}
			for _, ch := range changed {
				if off := l.writtenAt(ch); off != 0 {
					bad = append(bad, fmt.Sprintf("checkpoint %d: %s was never written at %s, the nearest is %s off", c.Seq, ch.Path, ch.At.Format(clock), off))
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, e := range l.told {
		if e.event.Tool == "Task" {
			continue // it writes nothing itself
		}
		if n := count(windows, e, l.sessions[e.event.By.Session]); n != 1 {
			bad = append(bad, fmt.Sprintf("%s is there %d times", e.event, n))
		}
	}
	if len(bad) > 0 {
		return fmt.Errorf("windows:\n  %s", strings.Join(bad, "\n  "))
	}
	return nil
}

const clock = "15:04:05.000000"

// writtenAt compares when a checkpoint says that a path was written with when it was: 0 where that fits. Of
// a path that is gone, its directory counts, in which other files come and go.
func (l *life) writtenAt(ch manifest.Changed) (off time.Duration) {
	off = time.Hour
	for _, v := range l.files[ch.Path] {
		d := v.at.Sub(ch.At)
		if !v.exists || d > -tickSlack && d < tickSlack+v.took {
			return 0
		}
		if d.Abs() < off.Abs() {
			off = d
		}
	}
	return off
}

func count(windows []manifest.Window, e told, session string) (n int) {
	edges := map[kind]manifest.WindowEdge{
		onStart: manifest.WindowStart, onPrompt: manifest.WindowPrompt, onPre: manifest.WindowOpen, onPost: manifest.WindowClose,
		onStop: manifest.WindowStop, onSubStop: manifest.WindowSubagentStop, onEnd: manifest.WindowEnd,
	}
	for _, w := range windows {
		if w.Session != session || w.Edge != edges[e.event.Kind] || w.Time.Before(e.from) || w.Time.After(e.to) {
			continue
		}
		if w.Agent == "claude" && w.Subagent == e.event.By.Subagent && (w.Call == e.event.By.Call || e.event.Tool == "") && w.Tool == e.event.Tool && w.Background == e.event.Background {
			n++
		}
	}
	return n
}
