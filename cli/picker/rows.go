package picker

import (
	"context"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/graph"
	"github.com/rewind-cli/rewind/engine/oplog"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/engine/transcript"
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

// Load reads the rows of a scope, the first limit of them, or all with the tree as it is now.
func (s *Source) Load(ctx context.Context, a screen.Ask, limit int) (*screen.Rows, error) {
	return s.LoadRows(ctx, a, limit, limit == 0, false)
}

// LoadRows is load with or without a look at the tree. bare rows are without what a page does not show of them: ages,
// notes, and what only the picker's filter reads.
func (s *Source) LoadRows(ctx context.Context, a screen.Ask, limit int, look, bare bool) (*screen.Rows, error) {
	all := a.Scope == screen.WithSafety
	o := timeline.Options{Safety: all, Folded: all}
	out := &screen.Rows{Where: app.Escape(filepath.Base(s.P.Root()))}
	unseen := "" // why the tree was not looked at
	if a.Scope == screen.InSession {
		session, err := s.sessionOf(ctx, a.ID)
		if err != nil {
			return nil, err
		}
		if session == nil {
			out.Where += ": no agent's session here"
			return out, nil
		}
		o.Sessions = map[string]bool{}
		for _, id := range session.Lineage() {
			o.Sessions[id] = true
		}
		out.Where += ": " + app.Escape(screen.Clip(session.Label(), 40))
	}
	if look {
		o.Present, unseen = s.LookAtTree(ctx)
	}
	t := timeline.New(s.P, o)
	rows, err := t.Next(ctx, limit)
	if err != nil {
		return nil, err
	}
	out.More, out.Folded = limit > 0, t.FoldedAway()
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
		return nil, err
	}
	byID := make(map[string]*timeline.Row, len(rows)+1)
	out.List = make([]screen.Row, 0, len(rows)+1)
	if unseen != "" {
		rows = append([]*timeline.Row{{Kind: timeline.Now, Time: s.C.Out.Now()}}, rows...)
	}
	if err := timeline.CountRows(ctx, s.P, rows, o.Present, countingFor); err != nil { // of what is damaged, the look says so
		return nil, err
	}
	now := s.C.Out.Now()
	for _, r := range rows {
		counts, known := r.Known()
		var row screen.Row
		if bare {
			row = BareRow(r, counts)
		} else {
			row = Row(r, counts, known, now)
		}
		if r.Kind == timeline.Now && unseen != "" {
			row.Text = "not compared: " + app.Escape(unseen)
		}
		byID[row.ID] = r
		out.List = append(out.List, row)
	}
	out.Graph = Graph(rows, sessions, ops)
	s.Mu.Lock()
	if s.Keep && len(s.Rows) > 0 {
		maps.Copy(s.Rows, byID)
	} else {
		s.Rows = byID
	}
	if o.Present != nil {
		s.Present = o.Present
	}
	s.Mu.Unlock()
	return out, nil
}

// LookAtTree looks at the tree for the row of now; why says what kept it from looking.
func (s *Source) LookAtTree(ctx context.Context) (now *timeline.Present, why string) {
	ctx, cancel := context.WithTimeout(ctx, lookFor)
	defer cancel()
	if now = s.Watch.Take(s.LogAt); now != nil {
		return now, ""
	}
	from := time.Now()
	now, err := timeline.Look(ctx, s.P)
	if err != nil {
		now = nil
	}
	s.Watch.Saw(now, time.Since(from))
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
func (s *Source) sessionOf(ctx context.Context, id string) (*conversation.SessionInfo, error) {
	s.Mu.Lock()
	name := ""
	if r := s.Rows[id]; r != nil {
		name = r.Session
	} else if id != "" && len(s.Rows) == 0 {
		name = id
	}
	s.Mu.Unlock()
	if name != "" {
		info, err := conversation.SessionNamed(ctx, s.P, name)
		return &info, err
	}
	all, err := conversation.Sessions(ctx, s.P)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[0], nil
}

// BareRow is a row with what names it.
func BareRow(r *timeline.Row, n timeline.Counts) screen.Row {
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
	row := BareRow(r, n)
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
func (s *Source) notes(ctx context.Context, ids string) map[string]string {
	s.Mu.Lock()
	present := s.Present
	s.Mu.Unlock()
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

// Graph is the graph of the rows, as the screen draws it.
func Graph(rows []*timeline.Row, sessions []graph.Session, ops []manifest.Operation) *screen.Graph {
	places := make([]graph.Row, len(rows))
	of := map[manifest.CheckpointID]string{} // sessions of checkpoints
	shown := map[uint64]bool{}               // operations that have a row: those that were taken back at once have none
	for i, r := range rows {
		places[i] = graph.Row{Session: r.Session, Seq: r.Seq}
		if r.Kind == timeline.Now {
			places[i].Seq = math.MaxInt64
		}
		if r.Operation != nil && r.Kind == timeline.Operation {
			shown[r.Seq] = true
		}
		if c := r.Checkpoint; c != nil {
			places[i].Key = c.ID.String()
			of[c.ID] = c.Session
		}
	}
	var moves []graph.Operation
	kinds := map[manifest.OperationKind]graph.Kind{manifest.OpRestore: graph.Restore, manifest.OpUndo: graph.Undo, manifest.OpRevert: graph.Undo,
		manifest.OpUndoRestore: graph.TakeBack, manifest.OpRedoRestore: graph.Again}
	at := map[string]graph.Session{} // forks that restores made
	for _, op := range ops {
		kind, ok := kinds[op.Kind]
		if !ok {
			continue
		}
		if shown[op.Seq] {
			moves = append(moves, graph.Operation{Seq: op.Seq, Kind: kind, Target: op.Checkpoint.String(), Undoes: op.Undoes})
		}
		if op.Fork != "" && of[op.Checkpoint] != "" {
			id := transcript.SessionOf(transcript.AgentOf(op.Fork), op.Fork)
			at[id] = graph.Session{ID: id, Parent: of[op.Checkpoint], At: op.Checkpoint.String()}
		}
	}
	for i, s := range sessions {
		if fork, ok := at[s.ID]; ok {
			sessions[i] = fork
			delete(at, s.ID)
		}
	}
	for _, fork := range at {
		sessions = append(sessions, fork)
	}
	g := graph.Of(places, sessions, moves)
	out := &screen.Graph{Columns: g.Columns, Tracks: g.Tracks, Column: g.Column}
	for _, l := range g.Lanes {
		out.Lanes = append(out.Lanes, screen.GraphLane{Column: l.Column, Top: l.Top, Bottom: l.Bottom, Fork: l.Fork})
	}
	for _, a := range g.Arcs {
		out.Arcs = append(out.Arcs, screen.GraphArc{Track: a.Track, From: a.From, To: a.To, Undone: a.Undone})
	}
	return out
}
