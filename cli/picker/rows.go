package picker

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/graph"
	"github.com/rewind-cli/rewind/engine/oplog"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/manifest"
)

const (
	// firstRows are shown before the tree was looked at and the rest was read.
	firstRows = 200
	// countingFor is how long the changes of rows are counted that the log has no counts of.
	countingFor = 400 * time.Millisecond
	// lookFor bounds the look at the tree for the row of now: what a person asks for waits for it.
	lookFor = 2 * time.Second
)

// LoadOptions say which rows are read.
type LoadOptions struct {
	Scope screen.Scope
	ID    string // a row of the session that the scope is about, or that session
	Limit int    // 0 for all
	Look  bool   // with the present tree
	Bare  bool   // without what a page does not show: ages, notes, and what only the picker's filter reads
}

// load reads the first rows, or all with the present tree, for the screen.
func (s *picking) load(ctx context.Context, a screen.Ask, limit int) (*screen.Rows, error) {
	at, err := s.LogAt()
	if err != nil {
		return nil, err
	}
	s.read = at
	out, _, err := s.Load(ctx, LoadOptions{Scope: a.Scope, ID: a.ID, Limit: limit, Look: limit == 0})
	return out, err
}

// Load reads rows. list are those that out.List shows, in its order.
func (s *Source) Load(ctx context.Context, l LoadOptions) (out *screen.Rows, list []*timeline.Row, err error) {
	all := l.Scope == screen.WithSafety
	o := timeline.Options{Safety: all, Folded: all, Git: &s.git}
	out = &screen.Rows{Where: app.Escape(filepath.Base(s.P.Root()))}
	unseen := "" // why the tree was not looked at
	if l.Scope == screen.InSession {
		session, err := s.sessionOf(ctx, l.ID)
		if err != nil {
			return nil, nil, err
		}
		if session == nil {
			out.Where += ": no agent's session here"
			return out, nil, nil
		}
		o.Sessions = map[string]bool{}
		for _, id := range session.Lineage() {
			o.Sessions[id] = true
		}
		out.Where += ": " + app.Escape(screen.Clip(session.Label(), 40))
	}
	if l.Look {
		o.Present, unseen = s.LookAtTree(ctx)
	}
	t := timeline.New(s.P, o)
	list, err = t.Next(ctx, l.Limit)
	if err != nil {
		return nil, nil, err
	}
	out.More, out.Folded = l.Limit > 0, t.FoldedAway()
	var sessions []graph.Session
	var ops []manifest.Operation
	err = s.P.Query(ctx, func(db *manifest.DB) error {
		n, safety, err := db.Count()
		if out.Total = n; all {
			out.Total += safety
		}
		for m, serr := range db.Sessions() {
			if serr != nil {
				return serr
			}
			sessions = append(sessions, graph.Session{ID: m.ID, Parent: m.Parent})
		}
		return err
	})
	if err == nil {
		ops, err = oplog.Operations(ctx, s.P, 0)
	}
	if err != nil {
		return nil, nil, err
	}
	byID := make(map[string]*timeline.Row, len(list)+1)
	out.List = make([]screen.Row, 0, len(list)+1)
	if unseen != "" {
		list = append([]*timeline.Row{{Kind: timeline.Now, Time: s.C.Out.Now()}}, list...)
	}
	if err := timeline.CountRows(ctx, s.P, list, o.Present, countingFor); err != nil { // of what is damaged, the look says so
		return nil, nil, err
	}
	if err := timeline.ReadGit(ctx, s.P, list, o.Present, &s.git, countingFor/2); err != nil {
		return nil, nil, err
	}
	now := s.C.Out.Now()
	for _, r := range list {
		counts, known := r.Known()
		var row screen.Row
		if l.Bare {
			row = bareRow(r, counts)
		} else {
			row = Row(r, counts, known, now)
			if git := rows.GitSummary(r.Git()); git != "" {
				row.Text = strings.TrimSpace(row.Text + " [git: " + git + "]")
			}
		}
		if r.Kind == timeline.Now && unseen != "" {
			row.Text = "not compared: " + app.Escape(unseen)
		}
		byID[row.ID] = r
		out.List = append(out.List, row)
	}
	out.Graph = Graph(list, sessions, ops)
	s.mu.Lock()
	if s.keep && len(s.rows) > 0 {
		maps.Copy(s.rows, byID)
	} else {
		s.rows = byID
	}
	if o.Present != nil {
		s.present = o.Present
	}
	s.mu.Unlock()
	return out, list, nil
}

// LookAtTree looks at the tree for the row of now; why says what kept it from looking.
func (s *Source) LookAtTree(ctx context.Context) (now *timeline.Present, why string) {
	ctx, cancel := context.WithTimeout(ctx, lookFor)
	defer cancel()
	now, err := s.look(ctx)
	switch {
	case err == nil:
		return now, ""
	case ctx.Err() != nil:
		return nil, "looking at all files takes more than " + app.FormatTook(lookFor) + "; d does it"
	}
	return nil, app.Explain(err).Message
}

// sessionOf is the session of a row, or the one that is named; else that of the newest row that has
// one. nil for none.
func (s *Source) sessionOf(ctx context.Context, id string) (*session.Info, error) {
	s.mu.Lock()
	name := ""
	if r := s.rows[id]; r != nil {
		name = r.Session
	} else if id != "" && len(s.rows) == 0 {
		name = id
	}
	s.mu.Unlock()
	if name != "" {
		info, err := session.Named(ctx, s.P, name)
		return &info, err
	}
	all, err := conversation.Sessions(ctx, s.P)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[0], nil
}

// bareRow is a row with what names it.
func bareRow(r *timeline.Row, n timeline.Counts) screen.Row {
	row := screen.Row{Prompt: r.Kind == timeline.Prompt, Dim: r.Kind == timeline.Safety, Why: rows.RowWhy(r), Text: rows.RowText(r, n)}
	switch c := r.Checkpoint; {
	case r.Kind == timeline.Now:
		row.ID, row.Is, row.Why = "@", screen.IsNow, "now"
	case c == nil:
		row.ID, row.Is = fmt.Sprint("#", r.Seq), screen.IsOperation
	default:
		row.ID, row.Name, row.Pinned = c.ID.String(), c.Name, c.Pinned
		if c.N > 0 {
			row.N = app.Utoa(uint64(c.N))
		}
	}
	return row
}

// Row is a row as the picker shows and filters it.
func Row(r *timeline.Row, n timeline.Counts, known bool, now time.Time) screen.Row {
	row := bareRow(r, n)
	if r.Kind != timeline.Now {
		row.Age = app.FormatAge(now.Sub(r.Time))
	}
	if r.Kind != timeline.Now && r.Kind != timeline.Operation {
		row.Note, row.NoNote = rows.JoinNonEmpty(rows.RowChanges(r, n, known), rows.ThenChanges(r)), !known && r.To != nil
	}
	hidden := []string{r.Session, r.Agent}
	if c := r.Checkpoint; c != nil && r.Kind != timeline.Now {
		hidden = append(hidden, row.ID, c.Prompt, c.Description)
	}
	row.Hidden = strings.Join(hidden, " ")
	return row
}

// notes count what rows changed. Of one that cannot be counted there is none: its look says why.
func (s *picking) notes(ctx context.Context, ids string) map[string]string {
	present := s.Present()
	out := map[string]string{}
	for id := range strings.SplitSeq(ids, "\x00") {
		r, err := s.Row(id)
		if err != nil {
			continue
		}
		if n, known, err := r.Count(ctx, s.P, present); err == nil && known {
			out[id] = rows.JoinNonEmpty(rows.RowChanges(r, n, known), rows.ThenChanges(r))
		}
	}
	return out
}
