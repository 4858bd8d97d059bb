package restore

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/engine/treeio"
	"github.com/rewind-cli/rewind/engine/window"
	"github.com/rewind-cli/rewind/engine/work"
	"github.com/rewind-cli/rewind/manifest"
)

// OtherWork is what a restore takes back of a session that it is not about.
type OtherWork struct {
	Agent, Session string
	Prompt         string      // label of its newest prompt since, "" if none is known
	Paths          int         // that the restore changes, and this session did since
	Files          []string    // those paths, in order
	Shared         bool        // of each of them, somebody else could have made it
	Turns          []OtherTurn // that they were changed in, oldest first
	// Alone is the revert of the work of this session only. Set only if Restored.Unclear is, and the turns of the session
	// are known.
	Alone *RevertInstead
}

// OtherTurn is what a restore takes back of one turn of another session. A path may be of several turns.
type OtherTurn struct {
	PromptID, Prompt string // Prompt is its label; both are "" where it is not known
	Files            []string
}

// RevertInstead takes the same turns back, and keeps what others did.
type RevertInstead struct {
	Session string
	Turns   int      // its last ones; 0: all that it did
	Some    bool     // of the paths of the restore alone
	Paths   []string // those, as the caller names them; the engine leaves them out
}

// instead is the revert of the turns that a restore goes behind; nil where they are not known, or do not lead there.
func (r *Run) instead(out *Restored) *RevertInstead {
	if r.answer.Unclear || r.undone || r.unsure {
		return nil
	}
	i := &RevertInstead{Session: r.meant(), Turns: r.turns, Some: r.Sel != nil}
	if len(out.Prompts) > 0 && r.Sel == nil {
		i.Turns = len(out.Prompts)
	}
	if len(out.Others)+len(out.Outside) == 0 || i.Session == "" || i.Turns == 0 {
		return nil
	}
	return i
}

// meant is the session whose turns a restore goes behind, "" where that is not known.
func (r *Run) meant() string {
	switch {
	case r.before != nil:
		return r.before.Session.ID
	case r.Options.Session != nil:
		return r.Options.Session.ID
	}
	return r.about
}

// turnsSince counts the turns that a session began since the target: where the
// conversation stays, or cannot be read, it does not say how many a restore goes behind.
func (r *Run) turnsSince(session string) (n int, known bool, err error) {
	turns, err := work.TurnsOf(r.Ctx, r.Project, "", session)
	for _, t := range turns {
		if t.Seq > r.target.Seq || t.Seq == r.target.Seq && r.target.Kind != manifest.Stop { // which a turn has come to its end with
			n++
		}
	}
	return n, len(turns) > 0, err
}

// alone is what takes back the work of one session since the target; nil if there is no such command.
func (r *Run) alone(session string) (*RevertInstead, error) {
	n, known, err := r.turnsSince(session)
	if err != nil || known && n == 0 {
		return nil, err
	}
	if !known { // then all that it ever did must be since
		older := false
		err := r.Query(r.Ctx, func(db *manifest.DB) error {
			for _, err := range db.Checkpoints(manifest.Query{Session: session, Before: r.target.Seq, Limit: 1}) {
				older = true
				return err
			}
			return nil
		})
		if err != nil || older {
			return nil, err
		}
	}
	return &RevertInstead{Session: session, Turns: n, Some: r.Sel != nil}, nil
}

// lookForOthers finds whose work since the target the changes undo, beside that
// of the session that the restore is about: other sessions', and the person's.
func (r *Run) lookForOthers(changes []treeio.Change) error {
	if r.Op.Kind != manifest.OpRestore && r.Op.Kind != manifest.OpUndo || len(changes) == 0 || r.target.Seq == 0 {
		return nil
	}
	mine, lineage := r.aboutSession()
	paths := map[string]bool{}
	for _, c := range changes {
		paths[c.Path] = true
	}
	work := map[string]*otherWork{}
	var order []string
	of := func(agent, session string) *otherWork {
		w := work[session]
		if w == nil {
			w = &otherWork{OtherWork: OtherWork{Agent: agent, Session: session}, paths: map[string]bool{}, sure: map[string]bool{}, turns: map[string]*otherTurn{}}
			work[session] = w
			order = append(order, session)
		}
		return w
	}
	var outside []string
	err := r.Query(r.Ctx, func(db *manifest.DB) error {
		since, err := checkpointsSince(db, r.target.Seq)
		if err != nil {
			return err
		}
		for i, c := range slices.Backward(since) {
			if c.Session == "" {
				continue
			}
			w := of(c.Agent, c.Session)
			if c.Transcript != nil {
				w.file = c.Transcript.Path
			}
			if c.Prompt != "" && i < len(since)-1 {
				w.Prompt = transcript.Label(c.Prompt)
			}
		}
		return nil
	})
	until, err2 := r.forkedAt(lineage, work)
	if err = errors.Join(err, err2); err == nil {
		outside, err = r.attribute(paths, work, of, func(w *attribution.Work) string {
			if at, origin := until[w.Session]; origin && w.Start.Before(at) {
				return lineage[0]
			}
			return w.Session
		})
	}
	if err != nil {
		return err
	}
	if mine[""] { // a state without a session: the restore is about the one session whose work goes, if it is one
		var working []string
		for _, id := range order {
			if len(work[id].paths) > 0 {
				working = append(working, id)
			}
		}
		if len(working) == 1 {
			mine[working[0]] = true
		}
		r.answer.Unclear = len(working) > 1
	}
	for _, id := range order {
		_, origin := until[id]
		if w := work[id]; mine[id] && (!origin || len(w.paths) == 0) {
			r.about = id
		} else if len(w.paths) > 0 {
			follows := false
			if !origin {
				if follows, err = r.follows(w, mine); err != nil {
					return err
				}
			}
			if !follows {
				w.complete()
				r.answer.Others = append(r.answer.Others, w.OtherWork)
			}
		}
	}
	// Who asks for nothing but what is their own knows it. Of an agent's state, its work is what is to go. A tree without a file,
	// as after a clone or in a directory made anew, has no work that could go.
	if len(order) > 0 && r.Scan.Scan.Files > 0 && ((r.before != nil || ofTurn(&r.target)) && r.Sel == nil || len(outside) < len(paths)) {
		r.answer.Outside = outside
	}
	if r.answer.Unclear {
		for i := range r.answer.Others {
			if w := work[r.answer.Others[i].Session]; len(w.sure) < len(w.paths) {
				continue // a revert leaves those where they are
			}
			if r.answer.Others[i].Alone, err = r.alone(r.answer.Others[i].Session); err != nil {
				return err
			}
		}
		return nil
	}
	if len(r.answer.Others)+len(r.answer.Outside) == 0 || r.meant() == "" {
		return nil
	}
	own := work[r.meant()]
	if r.Sel != nil && (own == nil || len(own.paths) == 0) {
		return nil // of these paths, nothing is its
	}
	r.unsure = own != nil && len(own.sure) < len(own.paths)
	if r.undone || r.unsure {
		r.ownPaths(paths)
		return nil
	}
	r.turns, _, err = r.turnsSince(r.meant())
	return err
}

// ownPaths are those that go and that no other session changed.
func (r *Run) ownPaths(paths map[string]bool) {
	theirs := map[string]bool{}
	for _, o := range r.answer.Others {
		for _, path := range o.Files {
			theirs[path] = true
		}
	}
	for _, path := range r.answer.Outside {
		theirs[path] = true
	}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if !theirs[path] {
			r.answer.Own = append(r.answer.Own, path)
		}
	}
}

// ofTurn reports whether a checkpoint is a state of a session's turn. What a person saved, or an operation did, only
// has the place in a conversation with it.
func ofTurn(c *manifest.Checkpoint) bool {
	return c.Session != "" && c.Kind != manifest.Manual && c.Kind != manifest.Safety
}

// attribute gives each session the paths that it changed since the target; outside are those that the person did.
func (r *Run) attribute(paths map[string]bool, work map[string]*otherWork, of func(agent, session string) *otherWork, ownerOf func(*attribution.Work) string) (outside []string, err error) {
	newest, err := r.NewestCheckpoint()
	if err != nil || newest == nil {
		return nil, err
	}
	at, err := r.Scan.Written(newest.Root)
	if err != nil {
		return nil, r.Classify(err)
	}
	now := &attribution.Present{Time: r.Env.Time(), Root: r.Now, Load: r.Tx.Load, At: at, Windows: window.Pending(r.Project)}
	a, err := attribution.New(r.Ctx, r.Project, attribution.Options{From: r.target.Seq, Now: now})
	if err != nil {
		return nil, err
	}
	steps, err := a.Between(r.target.Seq, attribution.ThenNow)
	if project.IsDamage(r.Classify(err)) {
		return nil, nil // verify tells of that
	} else if err != nil {
		return nil, err
	}
	for _, path := range slices.Sorted(maps.Keys(steps)) {
		if !paths[path] {
			continue
		}
		person := false
		r.undone = r.undone || steps[path][0].Class == attribution.Operation
		undone, err := r.undoneSteps(path, steps[path])
		if err != nil {
			return nil, err
		}
		for i := range undone {
			s := &undone[i]
			person = person || s.By == nil && s.Class != attribution.Operation
			for _, w := range whose(s, work) {
				o := of(w.Agent, ownerOf(w))
				sure, _ := s.Of(func(w *attribution.Work) bool { return ownerOf(w) == o.Session })
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
	return outside, nil
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
func (r *Run) aboutSession() (mine map[string]bool, lineage []string) {
	mine = map[string]bool{}
	switch s := r.Options.Session; {
	case s != nil:
		lineage = s.Lineage()
	case r.before != nil:
		lineage = r.before.Session.Lineage()
	case len(r.Options.About) > 0:
		for _, id := range r.Options.About {
			mine[id] = true
		}
	case ofTurn(&r.target):
		mine[r.target.Session] = true
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
func (r *Run) forkedAt(lineage []string, work map[string]*otherWork) (until map[string]time.Time, err error) {
	if len(lineage) == 0 {
		return nil, nil
	}
	until = map[string]time.Time{}
	own, err := r.firstOf(lineage[0])
	if err != nil || own.Seq == 0 {
		return nil, err
	}
	at := own.Time
	root := work[lineage[0]].root()
	for id, w := range work {
		if id == lineage[0] || slices.Contains(lineage, id) || root == "" || w.root() != root {
			continue
		}
		if first, err := r.firstOf(id); err != nil {
			return nil, err
		} else if first.Time.Before(at) {
			until[id] = at
		}
	}
	for _, id := range lineage[1:] {
		until[id] = at
		if first, err := r.firstOf(id); err != nil {
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
