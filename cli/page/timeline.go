package page

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/picker"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/cli/web"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/graph"
	"github.com/rewind-cli/rewind/engine/oplog"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// timelineView are rows, newest first, and the graph beside them.
type timelineView struct {
	Rows     []rowView     `json:"rows"`              // null with Columns
	Columns  *columnsView  `json:"columns,omitempty"` // the rows as columns, where they are asked for so
	Graph    *graph.Graph  `json:"graph"`
	Sessions []sessionView `json:"sessions,omitempty"` // of a page that is a file; else they are asked for
	Total    int           `json:"total"`              // checkpoints in all
	More     bool          `json:"more"`               // these are the first
	Folded   int           `json:"folded,omitempty"`   // rows without news that are left out
	News     string        `json:"news,omitempty"`     // that it has taken in
	Version  string        `json:"version"`            // another one: rows may be gone, or elsewhere
	Log      uint64        `json:"log"`                // another one: something but checkpoints was recorded
	List     string        `json:"list,omitempty"`     // names these rows: who asks with it is sent what is otherwise
	Runs     [][2]int      `json:"runs,omitempty"`     // the rows, as pieces: from which known row on, or -1 for the sent ones, and how many
	Lanes    []int         `json:"lanes,omitempty"`    // the graph's columns, where the rows are columns: each, and how many rows have it
}

type rowView struct {
	screen.Row
	Time    string           `json:"time"`
	Kind    string           `json:"kind"`
	Changes *timeline.Counts `json:"changes"`         // null: not known
	Then    *timeline.Counts `json:"then,omitempty"`  // what came after the row, or its turn, and before the next
	After   bool             `json:"after,omitempty"` // the changes came after the row: those of a turn's end
	Talk    bool             `json:"talk,omitempty"`  // it holds a conversation
	Agent   string           `json:"agent,omitempty"`
	Call    bool             `json:"call,omitempty"` // one tool call, which the agent gave an id
	Session string           `json:"session,omitempty"`
	Stored  uint64           `json:"stored,omitempty"` // bytes that it, and what is left out for it, added to the store
	Git     string           `json:"git,omitempty"`    // what git did between the row and the next
	Of      string           `json:"of,omitempty"`     // what comes before its number and its id where it was pulled: laptop/
}

type sessionView struct {
	ID    string `json:"id"`
	Agent string `json:"agent"`
	Label string `json:"label"`

	Resume string `json:"resume,omitempty"` // the shell command that opens its conversation
}

// wantsAll reports whether a question is what is answered ahead.
func (s *space) wantsAll(what string, args web.Args) bool {
	limit, _ := strconv.Atoi(args("limit"))
	return what == "timeline" && limit <= 0 && args("form") == "columns" && args("safety") == "" && s.lists.named(args("list")) == nil
}

func (s *space) timeline(ctx context.Context, args web.Args) (any, error) {
	limit, _ := strconv.Atoi(args("limit"))
	known := s.lists.named(args("list"))
	scope, columns := screen.InProject, args("form") == "columns" || known != nil
	if args("safety") != "" {
		scope = screen.WithSafety
	} else if s.wantsAll("timeline", args) {
		if v := s.ahead.takeAll(s); v != nil {
			return v, nil
		}
	}
	v, err := s.timelineOf(ctx, scope, max(limit, 0), limit <= 0 || args("now") != "", columns, known)
	if err != nil || !columns {
		return v, err
	}
	return v.encoded()
}

// timelineOf reads the first limit rows, 0 for all, with a look at the tree or without one. If the page knows a list of rows,
// known, the answer has, as columns, only those that differ from it.
func (s *space) timelineOf(ctx context.Context, scope screen.Scope, limit int, look, columns bool, known *sentList) (*timelineView, error) {
	before, err := s.LogAt()
	if err != nil {
		return nil, err
	}
	last, err := s.P.LogEnd()
	if err != nil {
		return nil, err
	}
	got, of, err := s.Load(ctx, picker.LoadOptions{Scope: scope, Limit: limit, Look: look, Bare: columns})
	if err != nil {
		return nil, err
	}
	out := &timelineView{Graph: got.Graph, Total: got.Total, More: got.More, Folded: got.Folded}
	if look {
		out.News = s.newsAt(before)
	}
	if present := s.Present(); present != nil && len(of) > 0 && of[0].Kind == timeline.Now {
		_, _, _ = of[0].Count(ctx, s.P, present) // it is known from now on; of what cannot be counted, the look says so
	}
	if columns {
		out.Columns = newColumns(len(got.List))
	} else {
		out.Rows = make([]rowView, 0, len(got.List))
	}
	list := &sentList{total: got.Total, rows: make([]sentRow, 0, len(got.List))}
	var update *updateView
	if known != nil {
		update = &updateView{old: known, by: got.Total - known.total}
		if limit > 0 {
			out.Graph = nil // the page keeps its own
		}
	}
	for i, row := range got.List {
		r := of[i]
		v := viewRow(row, r, s.P.Root())
		v.Text = cmp.Or(s.revertedTurn(ctx, r), v.Text)
		if n, known := r.Known(); r.Claimed {
			v.Changes = &timeline.Counts{}
		} else if known {
			v.Changes = &n
		}
		if r.Then != nil {
			if n, known := r.Then.Known(); known && !n.None() {
				v.Then = &n
			}
		}
		v.Git = rows.GitSummary(r.Git())
		is := listed(&v, r)
		list.rows = append(list.rows, is)
		if update != nil && !update.sends(is) {
			continue
		}
		if columns {
			out.Columns.add(&v, r)
		} else {
			out.Rows = append(out.Rows, v)
		}
	}
	if update != nil {
		out.Runs = update.runs
		if limit > 0 && update.at > 0 {
			list.rows = append(list.rows, update.rest()...)
		}
	}
	out.List = s.lists.keep(list)
	ops, err := oplog.Operations(ctx, s.P, 0)
	if err != nil {
		return nil, err
	}
	gone, err := s.P.Store.Generation()
	if err != nil {
		return nil, err
	}
	out.Version = fmt.Sprint(gone, len(ops))
	err = s.P.Query(ctx, func(db *manifest.DB) error {
		checkpoints, safety, err := db.Count()
		out.Log = last.Seq - uint64(checkpoints+safety)
		return err
	})
	return out, err
}

// revertedTurn names what a revert was about, by its row; "" for another row. Its argument is the beginning of an id.
func (s *space) revertedTurn(ctx context.Context, r *timeline.Row) string {
	if r.Kind != timeline.Operation || r.Operation.Kind != manifest.OpRevert || r.Target != nil {
		return ""
	}
	typed := r.Operation.Args
	l, err := app.Resolve(ctx, s.P, typed)
	if err != nil || len(typed) < app.ShortID || !strings.HasPrefix(l.ID.String(), typed) {
		return ""
	}
	return rows.Briefly(l)
}

// sessions names the sessions. It looks into their transcripts: for those who want to know.
func (s *space) sessions(ctx context.Context, _ web.Args) (any, error) {
	all, err := conversation.Sessions(ctx, s.P)
	if err != nil {
		return nil, err
	}
	out := make([]sessionView, len(all))
	for i, info := range all {
		out[i] = sessionView{ID: info.ID, Agent: info.Agent, Label: info.Label()}
		if info.OnDisk {
			out[i].Resume = transcript.Command(transcript.Agent(info.Agent), info.Dir, info.ID)
		}
	}
	return map[string]any{"sessions": out}, nil
}

// viewRow is a row without its counts. The file of a call is named relative to root, if it is in the project.
func viewRow(row screen.Row, r *timeline.Row, root string) rowView {
	v := rowView{Row: row, Time: app.ViewTime(r.Time), Kind: string(r.Kind), After: r.Side == timeline.After, Agent: r.Agent, Session: r.Session}
	if strings.Contains(v.Text, "/") {
		v.Text = picker.BelowRoot(v.Text, app.Escape(root))
	}
	v.Stored = r.Stored
	if c := r.Checkpoint; c != nil {
		v.Talk, v.Call, v.Of = c.Transcript != nil, c.ToolUseID != "", rows.OfLog(c.Of)
	}
	return v
}
