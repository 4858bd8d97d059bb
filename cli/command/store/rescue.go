package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/report"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/rescue"
	"github.com/rewind-cli/rewind/engine/stores"
)

func NewRescue() *app.Command {
	return &app.Command{
		Name:  "rescue",
		Usage: "[N|ID [DIR]]",
		Short: "bring back a project whose directory is gone",
		Long: "Lists the projects of this account whose directory is gone, or was made anew without a\n" +
			"store, the one that was saved to last first, with what of each was only there: files that\n" +
			"HEAD's commit does not have so, commits that no remote-tracking branch has, and stash\n" +
			"entries. With a number, or the beginning of a store's id, it brings one back: the files\n" +
			"of its newest checkpoint, git's own state (branches, stash, index) and the store with\n" +
			"all checkpoints. They go where the project was, or into DIR, which must be empty or not\n" +
			"there. It needs no project and works from anywhere. At a terminal, the list asks for a\n" +
			"number.",
		Examples: []app.Example{
			{Line: "rewind rescue", Does: "what can be brought back"},
			{Line: "rewind rescue 1", Does: "the one that was saved to last, where it was"},
			{Line: "rewind rescue 3f9c ~/again", Does: "another one, in another directory"},
		},
		Answers: app.Answers{"rescue": rescueView{}, "rescue-project": rescuedView{}},
		Exits:   []int{app.ExitPartial, app.ExitNotFound, app.ExitBusy, app.ExitDamaged, app.ExitRefused},
		MaxArgs: 2,
		Run: func(ctx context.Context, c *app.Call) error {
			lost, err := rescue.List(ctx, c.Env)
			if err != nil {
				return err
			}
			if len(c.Args) == 0 {
				if err := listLost(ctx, c, lost); err != nil || c.JSON || len(lost) == 0 || !c.Out.Interactive() {
					return err
				}
				n, err := c.Out.AskNumber("Bring one back? Its number, or Enter for none: ", len(lost))
				if err != nil || n < 0 {
					return err
				}
				c.Args = []string{strconv.Itoa(n + 1)}
			}
			return runRescue(ctx, c, lost)
		},
	}
}

// rescueView lists the projects that can be brought back; their numbers begin with 1.
type rescueView struct {
	Projects []lostView `json:"projects"`
}

type lostView struct {
	storeView
	Unsaved *unsavedView `json:"unsaved"` // null where it is not known
}

// unsavedView is what the project's directory alone had, at its newest checkpoint.
type unsavedView struct {
	Git     bool `json:"git"`     // there was a git repository; without one, files are all files
	Files   int  `json:"files"`   // that the commit of HEAD does not have so
	Commits int  `json:"commits"` // that no remote-tracking branch reaches
	Stashes int  `json:"stashes"`
}

// rescuedView is what was brought back, and where.
type rescuedView struct {
	Root string `json:"root"`
	report.RestoredView
}

func listLost(ctx context.Context, c *app.Call, lost []stores.Info) error {
	if c.JSON {
		return c.Out.Document(rescueView{app.Map(lost, func(s stores.Info) lostView {
			v := lostView{storeView: viewStore(s)}
			if u, err := rescue.LookAt(ctx, c.Env, s); err == nil {
				v.Unsaved = &unsavedView{u.Git, u.Files, u.Commits, u.Stashes}
			}
			return v
		})})
	}
	if len(lost) == 0 {
		c.Out.Summary("No project of this account has lost its directory.")
		return nil
	}
	return c.Page(ctx, func() {
		t := screen.Table{Columns: []screen.Column{
			{Title: "#", Right: true}, {Title: "ID", Style: screen.Yellow}, {Title: "LAST SAVE", Right: true}, {Title: "SIZE", Right: true}, {Title: "UNSAVED IN GIT"}, {Title: "PROJECT", Flex: true},
		}}
		for i, s := range lost {
			age := ""
			if !s.LastSave.IsZero() {
				age = app.Ago(c.Out, s.LastSave)
			}
			t.Rows = append(t.Rows, []string{strconv.Itoa(i + 1), s.ID[:8], age, app.FormatSize(s.Bytes), unsavedText(ctx, c, s), app.EscapePath(s.Root)})
		}
		c.Out.Table(t)
		if i := slices.IndexFunc(lost, func(s stores.Info) bool { return rescue.IsKept(&s) }); i == 0 {
			c.Out.Hint("rewind rescue 1 brings the first one back where it was, rewind rescue 1 DIR into another directory")
		} else if i > 0 {
			c.Out.Hint("rewind rescue %d brings the first one back that this account keeps, rewind rescue %[1]d DIR into another directory", i+1)
		}
	})
}

// unsavedText says what would be lost with a project. "?" where that is not known.
func unsavedText(ctx context.Context, c *app.Call, s stores.Info) string {
	u, err := rescue.LookAt(ctx, c.Env, s)
	switch {
	case !rescue.IsKept(&s):
		return "not kept here"
	case err != nil:
		return "?"
	case !u.Git:
		return "no git, " + app.Plural(u.Files, "file", "files")
	}
	var parts []string
	for _, part := range []struct {
		n         int
		one, many string
	}{{u.Files, "file", "files"}, {u.Commits, "commit", "commits"}, {u.Stashes, "stash entry", "stash entries"}} {
		if part.n > 0 {
			parts = append(parts, app.Plural(part.n, part.one, part.many))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "nothing")
}

func runRescue(ctx context.Context, c *app.Call, lost []stores.Info) error {
	which, err := lostOne(c, lost, c.Args[0])
	if err != nil {
		return err
	}
	if !rescue.IsKept(which) {
		return &project.RefusedError{
			What: "what the store held is gone with its directory: there are no hard links to it under ~/.rewind, since that is on another file system",
			Next: "rewind clone brings it from a remote, if it was pushed to one",
		}
	}
	o := rescue.Options{OpenOptions: c.OpenOptions(), Store: which.ID, Dir: which.Root}
	if len(c.Args) > 1 {
		if o.Dir = c.Args[1]; !filepath.IsAbs(o.Dir) {
			o.Dir = filepath.Join(c.Env.Dir, o.Dir)
		}
	}
	p, done, err := rescue.Rescue(ctx, o)
	if p != nil {
		err = errors.Join(err, c.Opened(ctx, p))
	}
	if err != nil {
		return err
	}
	verb := report.RestoreCheckpoint
	verb.Done = "Brought " + app.EscapePath(p.Root()) + " back to %s."
	err = report.ReportRestoredIn(c, done, verb, func(v report.RestoredView) any {
		return rescuedView{app.ViewPath(p.Root()).Path, v}
	})
	hasRepository := func(s stores.Info) bool {
		return vfs.IsBelow(s.Root, p.Root()) || done.GitRemoved != nil && s.Root != p.Root() && vfs.IsBelow(s.Root, done.GitRemoved.CommonDir)
	}
	if i := slices.IndexFunc(lost, hasRepository); i >= 0 && done.GitLeft && (done.GitRemoved == nil || done.GitRemoved.Gone) && err != nil {
		which := "the project around it"
		if !vfs.IsBelow(lost[i].Root, p.Root()) {
			which = "the project " + app.EscapePath(lost[i].Root)
		}
		return app.Hinted(err, "rewind rescue "+lost[i].ID[:8]+" brings back "+which+", whose git repository it may be a worktree of; then rewind restore last --git-only there")
	}
	return err
}

// storePrefix is how many digits make a number the beginning of a store's id.
const storePrefix = 4

// lostOne is the project that a number of the list, or the beginning of an id, means.
func lostOne(c *app.Call, lost []stores.Info, name string) (*stores.Info, error) {
	if n, err := strconv.Atoi(name); err == nil && len(name) < storePrefix {
		if n > 0 && n <= len(lost) {
			return &lost[n-1], nil
		}
		return nil, app.Hinted(&project.NoStoreError{ID: name}, "rewind rescue lists the projects that can be brought back, with their numbers")
	}
	id, err := stores.FindStore(c.Env, name)
	if err != nil {
		return nil, app.Hinted(err, "rewind rescue lists the projects that can be brought back")
	}
	for i := range lost {
		if lost[i].ID == id {
			return &lost[i], nil
		}
	}
	return nil, app.Hinted(&project.RefusedError{What: fmt.Sprintf("the project of the store %s has its directory", id[:8])}, "rewind restore brings an earlier state of it back")
}
