package remote

import (
	"context"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/remote"
)

type collectedView struct {
	Remote    string    `json:"remote"`
	DryRun    bool      `json:"dry_run"`
	Merged    freedView `json:"merged"`    // objects that a merge holds
	Dead      freedView `json:"dead"`      // packs that nothing needs, and objects that are not whole
	Log       freedView `json:"log"`       // those of the log that was named
	Waiting   freedView `json:"waiting"`   // what goes later
	Condemned int       `json:"condemned"` // of these, how many were found now: they go in a week
	Refused   []string  `json:"refused"`   // names of objects that the place does not let go
	Requests  int       `json:"requests"`
}

type freedView struct {
	Objects int   `json:"objects"`
	Bytes   int64 `json:"bytes"`
}

func viewFreed(f remote.Freed) freedView { return freedView{f.Objects, f.Bytes} }

func gc(ctx context.Context, c *app.Call, p *project.Project, name string, o remote.GCOptions) error {
	r, err := remote.Find(p, name)
	if err != nil {
		return err
	}
	done, err := r.GC(ctx, o)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Out.Document(collectedView{r.Name, o.DryRun, viewFreed(done.Merged), viewFreed(done.Dead), viewFreed(done.Log), viewFreed(done.Waiting),
			done.Condemned, append([]string{}, done.Refused...), done.Requests})
	}
	for _, name := range done.Refused {
		c.Out.Warn("the place does not let this object go, so it stays: %s", app.Escape(name))
	}
	verb := "Removed"
	if o.DryRun {
		verb = "Would remove"
	}
	freed := remote.Freed{Objects: done.Merged.Objects + done.Dead.Objects + done.Log.Objects, Bytes: done.Merged.Bytes + done.Dead.Bytes + done.Log.Bytes}
	c.Out.Summary("%s %s from %s: %s.", verb, app.Plural(freed.Objects, "object", "objects"), r.Name, app.FormatSize(freed.Bytes))
	if done.Waiting.Objects > 0 {
		c.Out.Summary("%s, %s, can go later: what was merged after a day, what nothing needs after a week.", app.Plural(done.Waiting.Objects, "object", "objects"), app.FormatSize(done.Waiting.Bytes))
	}
	return nil
}
