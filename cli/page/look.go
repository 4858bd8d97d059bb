package page

import (
	"context"
	"slices"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/picker"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/cli/web"
	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/manifest"
)

// filesView are files that differ, with the patches of the first of them.
type filesView struct {
	Title string         `json:"title"`
	Files []fileDiffView `json:"files"`
	More  bool           `json:"more"`
	Then  *filesView     `json:"then,omitempty"` // changes between the row, or its turn, and the next one
	Git   []string       `json:"git,omitempty"`  // where git's HEAD was, and what git did until the next row

	Head *rows.HeadMovedView `json:"head_moved,omitempty"` // as in show, and in diff of a comparison
}

type fileDiffView struct {
	app.PathView
	Status  string   `json:"status"` // one letter
	Added   int      `json:"added"`
	Deleted int      `json:"deleted"`
	Binary  bool     `json:"binary,omitempty"`
	Large   bool     `json:"large,omitempty"`  // it is a text: too large to be shown line by line
	Hidden  bool     `json:"hidden,omitempty"` // precious: its lines are not shown
	Patch   string   `json:"patch,omitempty"`
	Left    bool     `json:"left,omitempty"`   // the patch is to be asked for
	Unread  bool     `json:"unread,omitempty"` // its lines are not known: no checkpoint has it
	Cut     bool     `json:"cut,omitempty"`    // the patch is cut here; only in a page that is a file
	By      string   `json:"by,omitempty"`     // who changed it; "" where only a person did, or where it is not known
	Calls   []string `json:"calls,omitempty"`  // the agents' ids of the calls that did
	// Subagents are those that made some of the calls, by the calls' ids.
	Subagents map[string]string `json:"subagents,omitempty"`
	Mixed     bool              `json:"mixed,omitempty"` // several changed it, or could have: whose each line is can be asked
	// Whose says of lines that came whose they are, where that is not the row's alone; only of a page that is a file.
	Whose []lineRunView `json:"whose,omitempty"`
}

// Bounds of one answer: a page shows the first, and asks for the rest as it is looked at.
const (
	maxPatches   = 400 << 10 // bytes of all patches
	longestPatch = 100 << 10
	wholePatch   = 4 << 20 // of one file that was asked for
	mostCalls    = 20
)

func (s *space) look(ctx context.Context, args web.Args) (any, error) {
	r, err := s.Row(args("id"))
	if err != nil {
		return nil, err
	}
	room := maxPatches
	out, err := s.lookAt(ctx, r, args("other"), &room)
	if err != nil {
		return nil, err
	}
	moved, err := s.HeadMoved(ctx, r, args("other"))
	if out.Head = rows.ViewHeadMoved(moved); err != nil || args("other") != "" {
		return out, err
	}
	if out.Git, err = s.GitOf(r); err != nil || r.Then == nil {
		return out, err
	}
	if out.Then, err = s.lookAt(ctx, r.Then, "", &room); err != nil {
		return nil, err
	}
	if r.Kind == timeline.Prompt {
		out.Then.Title = "what came after this turn, before the next"
	}
	return out, nil
}

// lookAt is what a row changed, or what differs between it and another; room is how many bytes of patches are left.
func (s *space) lookAt(ctx context.Context, r *timeline.Row, other string, room *int) (*filesView, error) {
	files, title, err := s.Differing(ctx, r, other)
	if err == nil {
		title, err = s.OwnFirst(ctx, r, other, files, title)
	}
	if err != nil {
		return nil, err
	}
	out := &filesView{Title: title, Files: []fileDiffView{}}
	whose, err := s.OwnersOf(ctx, r, other)
	if err != nil {
		return nil, err
	}
	by := whose.Text("", false)
	// After an operation, the lines of what changed since are in no store.
	unsaved := other == "" && r.Kind == timeline.Now && r.From != nil && r.From.ID == (manifest.CheckpointID{})
	for i, f := range files {
		if i == picker.MostFiles {
			out.More = true
			break
		}
		v := viewFileDiff(f)
		v.By = by(f.Path)
		v.Unread = unsaved && v.Patch == "" && !v.Binary && !v.Large && !v.Hidden
		owner := whose[f.Path]
		v.Mixed = mixed(owner) && v.Patch != ""
		for _, w := range owner.Works() {
			if w.Call != "" && len(v.Calls) < mostCalls && !slices.Contains(v.Calls, w.Call) {
				v.Calls = append(v.Calls, w.Call)
				if w.Subagent != "" {
					if v.Subagents == nil {
						v.Subagents = map[string]string{}
					}
					v.Subagents[w.Call] = w.Subagent
				}
			}
		}
		if len(v.Patch) > min(*room, longestPatch) {
			v.Patch, v.Left = "", true
		}
		*room -= len(v.Patch)
		out.Files = append(out.Files, v)
	}
	return out, nil
}

// mixed reports whether a file is of several, or could be.
func mixed(o attribution.Owner) bool { return len(o.Also) > 0 || o.AlsoOutside }

func viewFileDiff(f inspect.FileDiff) fileDiffView {
	return fileDiffView{PathView: app.ViewPath(f.Path), Status: string(rows.Letter(f.Change)), Added: f.Added, Deleted: f.Deleted,
		Binary: f.Binary && !f.Large, Large: f.Large, Hidden: f.Hidden, Patch: f.Patch}
}

// part is the row that a question is about, or what came after its turn.
func (s *space) part(args web.Args) (*timeline.Row, error) {
	r, err := s.Row(args("id"))
	if err == nil && args("part") == "then" {
		if r = r.Then; r == nil {
			err = &app.StaleError{What: "change after that turn", Name: args("id")}
		}
	}
	return r, err
}

// changeOf finds a file in the changes of a row, or in a comparison with another; nil where it is in neither.
func (s *space) changeOf(ctx context.Context, args web.Args, path string) (*timeline.Row, *inspect.FileDiff, error) {
	r, err := s.part(args)
	if err != nil {
		return nil, nil, err
	}
	files, _, err := s.Differing(ctx, r, args("other"))
	for i := range files {
		if files[i].Path == path {
			return r, &files[i], err
		}
	}
	return r, nil, err
}

// diff is the patch of one file, that look left out.
func (s *space) diff(ctx context.Context, args web.Args) (any, error) {
	_, found, err := s.changeOf(ctx, args, pagePath(args("path")))
	if err != nil {
		return nil, err
	}
	if found != nil {
		f := *found
		if f.Patch == "" && !f.Binary && !f.Hidden {
			release, err := s.P.Use(ctx)
			if err != nil {
				return nil, err
			}
			defer release()
			if f, err = inspect.StepDiff(s.P, &inspect.Step{Change: f.Change}, false); err != nil {
				return nil, err
			}
		}
		v := viewFileDiff(f)
		if len(v.Patch) > wholePatch {
			v.Patch, v.Left = v.Patch[:wholePatch], true
		}
		return v, nil
	}
	if args("id") == "@" || args("other") == "@" { // the working tree may have changed since the page knew of it
		return fileDiffView{PathView: app.ViewPath(pagePath(args("path")))}, nil
	}
	return nil, &app.StaleError{What: "file that differs", Name: args("path")}
}
