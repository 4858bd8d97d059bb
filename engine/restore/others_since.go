package restore

import (
	"maps"
	"slices"
	"time"

	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/engine/window"
	"github.com/rewind-cli/rewind/engine/work"
	"github.com/rewind-cli/rewind/manifest"
)

// sessionsSince are the sessions that were at work since a checkpoint, each with those of the paths that it changed.
type sessionsSince struct {
	r       *Run
	target  manifest.Checkpoint
	paths   map[string]bool // that a restore to the checkpoint changes
	mine    map[string]bool // the sessions that it is about, see aboutSession
	lineage []string
	until   map[string]time.Time // see forkedAt
	work    map[string]*otherWork
	order   []string // the keys of work, as they were found
}

// of is what is known of a session.
func (s *sessionsSince) of(agent, session string) *otherWork {
	w := s.work[session]
	if w == nil {
		w = &otherWork{OtherWork: OtherWork{Agent: agent, Session: session}, paths: map[string]bool{}, sure: map[string]bool{}, turns: map[string]*otherTurn{}}
		s.work[session] = w
		s.order = append(s.order, session)
	}
	return w
}

// list finds the sessions that have checkpoints since.
func (s *sessionsSince) list() error {
	return s.r.Query(s.r.Ctx, func(db *manifest.DB) error {
		since, err := checkpointsSince(db, s.target.Seq)
		if err != nil {
			return err
		}
		for i, c := range slices.Backward(since) {
			if c.Session == "" {
				continue
			}
			w := s.of(c.Agent, c.Session)
			if c.Transcript != nil {
				w.file = c.Transcript.Path
			}
			if c.Prompt != "" && i < len(since)-1 {
				w.Prompt = transcript.Label(c.Prompt)
			}
		}
		return nil
	})
}

// ownerOf is the session that a work counts for: what the first of the lineage came from did before it was forked is its own.
func (s *sessionsSince) ownerOf(w *attribution.Work) string {
	if at, origin := s.until[w.Session]; origin && w.Start.Before(at) {
		return s.lineage[0]
	}
	return w.Session
}

// others are the sessions that the restore is not about and that changed some of the paths. worked are those that it is about and
// that did; about is the last one that it is about.
func (s *sessionsSince) others() (list []OtherWork, worked []string, about string, err error) {
	for _, id := range s.order {
		_, origin := s.until[id]
		w := s.work[id]
		switch {
		case s.mine[id] && (!origin || len(w.paths) == 0):
			if about = id; len(w.paths) > 0 {
				worked = append(worked, id)
			}
		case len(w.paths) > 0:
			follows := false
			if !origin {
				if follows, err = s.r.follows(w, s.mine); err != nil {
					return nil, nil, "", err
				}
			}
			if follows {
				worked = append(worked, id)
				continue
			}
			w.complete()
			list = append(list, w.OtherWork)
		}
	}
	return list, worked, about, nil
}

// anyWork reports whether a session changed any of the paths.
func (s *sessionsSince) anyWork() bool {
	return slices.ContainsFunc(s.order, func(id string) bool { return len(s.work[id].paths) > 0 })
}

// findAlone finds for each of the sessions the revert of its work alone.
func (s *sessionsSince) findAlone(list []OtherWork) (err error) {
	for i := range list {
		if w := s.work[list[i].Session]; len(w.sure) < len(w.paths) {
			continue // a revert leaves those where they are
		}
		if list[i].Alone, err = s.alone(list[i].Session); err != nil {
			return err
		}
	}
	return nil
}

// turnsOf counts the turns that a session began since the target: where the
// conversation stays, or cannot be read, it does not say how many a restore goes behind.
func (s *sessionsSince) turnsOf(session string) (n int, known bool, err error) {
	turns, err := work.TurnsOf(s.r.Ctx, s.r.Project, "", session)
	for _, t := range turns {
		if t.Seq > s.target.Seq || t.Seq == s.target.Seq && s.target.Kind != manifest.Stop { // which a turn has come to its end with
			n++
		}
	}
	return n, len(turns) > 0, err
}

// alone is what takes back the work of one session since the target; nil if there is no such command.
func (s *sessionsSince) alone(session string) (*RevertInstead, error) {
	n, known, err := s.turnsOf(session)
	if err != nil || known && n == 0 {
		return nil, err
	}
	if !known { // then all that it ever did must be since
		older := false
		err := s.r.Query(s.r.Ctx, func(db *manifest.DB) error {
			for _, err := range db.Checkpoints(manifest.Query{Session: session, Before: s.target.Seq, Limit: 1}) {
				older = true
				return err
			}
			return nil
		})
		if err != nil || older {
			return nil, err
		}
	}
	return &RevertInstead{Session: session, Turns: n, Some: s.r.Sel != nil}, nil
}

// attribute gives each session the paths that it changed since the target. outside are those that the person changed; undone says
// that an operation took something away that the target has.
func (s *sessionsSince) attribute(hunks []HunkChoice) (outside []string, undone bool, err error) {
	r := s.r
	newest, err := r.NewestCheckpoint()
	if err != nil || newest == nil {
		return nil, false, err
	}
	at, err := r.Scan.Written(newest.Root)
	if err != nil {
		return nil, false, r.Classify(err)
	}
	now := &attribution.Present{Time: r.Env.Time(), Root: r.Now, Load: r.Tx.Load, At: at, Windows: window.Pending(r.Project)}
	a, err := attribution.New(r.Ctx, r.Project, attribution.Options{From: s.target.Seq, Now: now})
	if err != nil {
		return nil, false, err
	}
	steps, err := a.Between(s.target.Seq, attribution.ThenNow)
	if project.IsDamage(r.Classify(err)) {
		return nil, false, nil // verify tells of that
	} else if err != nil {
		return nil, false, err
	}
	for _, path := range slices.Sorted(maps.Keys(steps)) {
		if !s.paths[path] {
			continue
		}
		person := false
		undone = undone || steps[path][0].Class == attribution.Operation
		back, err := r.undoneSteps(hunks, path, steps[path])
		if err != nil {
			return nil, false, err
		}
		for i := range back {
			step := &back[i]
			person = person || step.By == nil && step.Class != attribution.Operation
			for _, w := range whose(step, s.work) {
				o := s.of(w.Agent, s.ownerOf(w))
				sure, _ := step.Of(func(w *attribution.Work) bool { return s.ownerOf(w) == o.Session })
				o.add(path, sure)
				o.turnOf(w).paths[path] = true
				if o.Prompt == "" {
					o.Prompt = transcript.Label(w.Prompt)
				}
			}
		}
		if person {
			outside = append(outside, path)
		}
	}
	return outside, undone, nil
}

// whose says which sessions' a step is to be taken for: where several could have made it, those whose
// conversations name the path, else the likeliest.
func whose(s *attribution.Step, work map[string]*otherWork) []*attribution.Work {
	if s.Class == attribution.Operation {
		return nil
	}
	var named, all []*attribution.Work
	for _, w := range s.Works() {
		if w.Session == "" {
			continue
		}
		all = append(all, w)
		if o := work[w.Session]; o != nil && o.names(s.Path) {
			named = append(named, w)
		}
	}
	switch {
	case s.Class != attribution.Shared:
		return all
	case len(named) > 0:
		return named
	case s.By != nil:
		return all[:1]
	}
	return all
}

// ofTurn reports whether a checkpoint is a state of a session's turn. What a person saved, or an operation did, only
// has the place in a conversation with it.
func ofTurn(c *manifest.Checkpoint) bool {
	return c.Session != "" && c.Kind != manifest.Manual && c.Kind != manifest.Safety
}

// checkpointsSince are those of the log back to one, the newest first.
func checkpointsSince(db *manifest.DB, seq uint64) (since []manifest.Checkpoint, err error) {
	for c, err := range db.Checkpoints(manifest.Query{All: true}) {
		if err != nil {
			return nil, err
		}
		since = append(since, c)
		if c.Seq <= seq {
			break
		}
	}
	return since, nil
}

// aboutSession is the session that a restore is about, and what it came from: lineage is that in order, where it is known;
// "" is in mine where the session is not known.
func (r *Run) aboutSession(way *Way) (mine map[string]bool, lineage []string) {
	mine = map[string]bool{}
	switch s := r.Options.Session; {
	case s != nil:
		lineage = s.Lineage()
	case way.before != nil:
		lineage = way.before.Session.Lineage()
	case len(r.Options.About) > 0:
		for _, id := range r.Options.About {
			mine[id] = true
		}
	case ofTurn(&way.Target):
		mine[way.Target.Session] = true
	case r.Env.Variable("REWIND_SESSION_ID") != "":
		mine[r.Env.Variable("REWIND_SESSION_ID")] = true
	default:
		mine[""] = true
	}
	for _, id := range lineage {
		mine[id] = true
	}
	return mine, lineage
}

// forkedAt says of each session that the first of a lineage came from until when it is the same conversation: a fork's own
// work begins with its first checkpoint. Clients that fork a session do not always say of which: its messages begin with the same one.
func (s *sessionsSince) forkedAt() (until map[string]time.Time, err error) {
	lineage := s.lineage
	if len(lineage) == 0 {
		return nil, nil
	}
	until = map[string]time.Time{}
	own, err := s.r.firstOf(lineage[0])
	if err != nil || own.Seq == 0 {
		return nil, err
	}
	at := own.Time
	root := s.work[lineage[0]].root()
	for id, w := range s.work {
		if id == lineage[0] || slices.Contains(lineage, id) || root == "" || w.root() != root {
			continue
		}
		if first, err := s.r.firstOf(id); err != nil {
			return nil, err
		} else if first.Time.Before(at) {
			until[id] = at
		}
	}
	for _, id := range lineage[1:] {
		until[id] = at
		if first, err := s.r.firstOf(id); err != nil {
			return nil, err
		} else if first.Seq != 0 && first.Time.Before(at) {
			at = first.Time
		}
	}
	return until, nil
}

// firstOf is a session's first checkpoint; zero where it has none.
func (r *Run) firstOf(session string) (first manifest.Checkpoint, err error) {
	err = r.Query(r.Ctx, func(db *manifest.DB) error {
		for c, err := range db.Checkpoints(manifest.Query{Session: session}) {
			if err != nil {
				return err
			}
			first = c
		}
		return nil
	})
	return first, err
}
