package setup

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/save"
	"github.com/rewind-cli/rewind/engine/watch"
	"github.com/rewind-cli/rewind/manifest"
)

const (
	watchQuiet = 2 * time.Second
	watchLeast = 10 * time.Second
	watchMost  = 5 * time.Minute
)

func NewWatch() *app.Command {
	o := save.WatchOptions{Pace: watch.Pace{Most: watchMost}}
	return &app.Command{
		Name:  "watch",
		Usage: "[--quiet-for D] [--min-interval D] [--poll]",
		Short: "take a checkpoint whenever the project has settled",
		Long: "Takes a checkpoint when files have changed and then nothing has changed for a while. It\n" +
			"is for editors and scripts, which have no hooks. A tree that changes all the time is\n" +
			"saved every five minutes. If the system cannot report changes, or its limit is reached\n" +
			"(fs.inotify.max_user_watches), the tree is scanned from time to time. Ctrl-C saves what\n" +
			"is not saved yet and ends with 0. If the store is full, the oldest checkpoints of this\n" +
			"command are removed first. While it runs, on Linux and a local file system, the hooks\n" +
			"of agents ask it what changed and look only there, which is faster in large projects.\n" +
			"With rewind config watch true, hooks start one in the background. It saves what has been\n" +
			"at rest for a minute, and ends twelve hours after the last change.",
		Examples: []app.Example{
			{Line: "rewind watch", Does: "until Ctrl-C"},
			{Line: "rewind watch --quiet-for 10s --min-interval 1m", Does: "fewer checkpoints"},
			{Line: "rewind watch --poll", Does: "where changes come from another machine"},
		},
		Answers: app.Answers{"watch": watchView{}},
		Exits:   []int{app.ExitBusy, app.ExitDamaged},
		Flags: func(f *pflag.FlagSet) {
			f.DurationVar(&o.Pace.Quiet, "quiet-for", watchQuiet, "save when nothing changed for this `duration`")
			f.DurationVar(&o.Pace.Least, "min-interval", watchLeast, "the least `duration` between two checkpoints")
			f.BoolVar(&o.Look, "poll", false, "look from time to time instead of asking the system")
		},
		Run: func(ctx context.Context, c *app.Call) error {
			if o.Pace.Quiet < 10*time.Millisecond || o.Pace.Quiet > time.Hour {
				return app.Usagef("--quiet-for must be between 10ms and 1h, not %s", o.Pace.Quiet)
			}
			if o.Pace.Least < 0 || o.Pace.Least > 24*time.Hour {
				return app.Usagef("--min-interval must be between 0s and 24h, not %s", o.Pace.Least)
			}
			return runWatch(ctx, c, o)
		},
	}
}

// watchView is the document of watch.
type watchView struct {
	Root        string   `json:"root"`
	Method      string   `json:"method"`      // inotify, or poll
	Directories int      `json:"directories"` // watched at the beginning; 0 with poll
	Checkpoints []string `json:"checkpoints"` // the oldest first; of many only the newest
	Count       int      `json:"count"`
	Failed      int      `json:"failed"` // saves
	Ended       string   `json:"ended"`  // interrupted
	ElapsedMS   int64    `json:"elapsed_ms"`
}

// watchNamed is how many checkpoints the document names.
const watchNamed = 10000

func runWatch(ctx context.Context, c *app.Call, o save.WatchOptions) error {
	p, err := c.Open(ctx) // the project's notices are printed once
	if err != nil {
		return err
	}
	view := watchView{Root: p.Root(), Method: "inotify", Checkpoints: []string{}, Ended: "interrupted"}
	c.Close()
	began := c.Out.Now()
	o.Open = func(ctx context.Context) (*project.Project, error) {
		return project.Open(ctx, project.OpenOptions{Env: c.Env, Root: view.Root})
	}
	o.Started = func(root string, directories int) {
		view.Directories = directories
		how := app.Plural(directories, "directory", "directories")
		if directories == 0 {
			view.Method, how = "poll", "looking every "+app.FormatTook(o.Pace.Quiet)+" at most"
		}
		c.Out.Summary("Watching %s: %s. Ctrl-C ends it.", app.Escape(root), how)
		c.Out.Buf.Flush()
	}
	o.Looking = func(why error) {
		if why == nil || c.Quiet {
			return
		}
		c.Out.Warn("it only looks from time to time: %s", why)
		var limit *watch.LimitError
		if errors.As(why, &limit) {
			c.Out.Hint("sudo sysctl %s=524288 raises it", limit.Setting)
		}
	}
	o.Saved = func(s *checkpoint.Saved) {
		k := s.Checkpoint
		view.Count++
		if view.Checkpoints = append(view.Checkpoints, k.ID.String()); len(view.Checkpoints) > watchNamed {
			view.Checkpoints = view.Checkpoints[1:]
		}
		c.Out.Summary("%s  %s  %s", k.Time.Local().Format("15:04:05"), k.ID.String()[:app.ShortID], savedChanges(k))
		c.Out.Buf.Flush()
		if bad := problem.FailedOf(s.Partial); len(bad) > 0 {
			c.Out.Warn("%s could not be captured: rewind show %s --coverage", app.Plural(len(bad), "path", "paths"), k.ID.String()[:app.ShortID])
		}
	}
	o.Failed = func(err error) {
		view.Failed++
		f := app.Explain(err)
		c.Out.Warn("no checkpoint: %s", f.Message)
		if f.Hint != "" {
			c.Out.Hint("%s", f.Hint)
		}
	}
	if err := save.Watch(ctx, o); err != nil {
		return err
	}
	view.ElapsedMS = c.Out.Now().Sub(began).Milliseconds()
	c.Out.Summary("Took %s in %s.", app.Plural(view.Count, "checkpoint", "checkpoints"), app.FormatTook(c.Out.Now().Sub(began)))
	return c.Document(view)
}

// savedChanges is what a checkpoint changed, in few words.
func savedChanges(k manifest.Checkpoint) string {
	if what := rows.ChangeCounts(k.Added, k.Modified, k.Deleted); what != "" {
		return what
	}
	return "no files changed"
}
