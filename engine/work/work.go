package work

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/patch"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/manifest"
)

// Named is how a person names the work that a revert takes back: a call, a checkpoint's turn, one of a
// session's turns, or the session.
type Named struct {
	Call       string          // the agent's id of a call, or a beginning of at least four characters that is unambiguous
	Checkpoint *project.Listed // its turn: the prompt and all calls until the session's next
	Session    *session.Chosen // with Prompt, its turn; with Call, whose it is, or nil; else all of it
	Prompt     int             // the Prompt-th last of the session; 0: none
	Since      bool            // the turn of Prompt and all that came after it
	Subagent   string          // of a session or turn, only this one's calls; or a beginning of its id
}

// UnknownWorkError: there is no such call, or none that can be meant.
type UnknownWorkError struct {
	What    string   // call, subagent, checkpoint
	Name    string   // as it was given
	Reason  string   // "" for: there is none
	Matches []string // several
	// Sessions are several that have a call of that very id.
	Sessions []string
}

func (e *UnknownWorkError) Error() string {
	switch {
	case len(e.Sessions) > 0:
		return fmt.Sprintf("%d sessions have a %s with the id %q", len(e.Sessions), e.What, e.Name)
	case len(e.Matches) > 0:
		return fmt.Sprintf("several %ss have ids that begin with %q", e.What, e.Name)
	case e.Reason != "":
		return fmt.Sprintf("%s %q %s", e.What, e.Name, e.Reason)
	}
	return fmt.Sprintf("there is no %s %q in what is kept", e.What, e.Name)
}

// StatesGoneError: the states from before the work were removed, so what it changed is unknown.
type StatesGoneError struct {
	Prompt string    // of the turn
	Time   time.Time // when it began
	Oldest time.Time // of the oldest checkpoint that is left
	Since  int       // the session's prompts from the Since-th last on can be taken back; 0: none
	Paths  []string  // what it is known to have written there, in order; nil: not known
}

func (e *StatesGoneError) Error() string {
	what := "that work"
	if e.Prompt != "" {
		what = "the turn " + strconv.Quote(e.Prompt)
	}
	text := "the states from before " + what + " were removed"
	if len(e.Paths) == 0 {
		return text
	}
	const most = 3
	var names []string
	for _, path := range e.Paths[:min(most, len(e.Paths))] {
		names = append(names, patch.Quote(path))
	}
	if more := len(e.Paths) - most; more > 0 {
		names = append(names, strconv.Itoa(more)+" more")
	}
	return text + ": it is not known what it changed in " + strings.Join(names, ", ")
}

// Turn is one prompt of a session with its time.
type Turn struct {
	agent, session, PromptID, Prompt string
	From, Until                      time.Time // until is zero for the newest
	Seq                              uint64    // of its checkpoint
	during                           bool      // no checkpoint was taken at the prompt: that is the first in the turn
}

// has reports whether a call belongs to the turn.
func (t *Turn) has(w *attribution.Work) bool {
	if t.PromptID != "" && w.PromptID != "" {
		return t.PromptID == w.PromptID
	}
	return !w.Start.Before(t.From) && (t.Until.IsZero() || w.Start.Before(t.Until))
}

// over reports whether the turn had come to its end when a checkpoint was taken that is behind its beginning.
func (t *Turn) over(ctx context.Context, p *project.Project, at *project.Listed) (over bool, err error) {
	decided := false
	err = p.Query(ctx, func(db *manifest.DB) error {
		for c, err := range db.Checkpoints(manifest.Query{Before: at.Seq + 1, All: true}) {
			if err != nil || c.Seq <= t.Seq {
				return err
			}
			windows, _ := manifest.ParseWindows(c.Windows) // verify tells of what is damaged
			for _, w := range slices.Backward(windows) {
				if w.Session != t.session || w.Agent != t.agent || w.Time.After(at.Time) || w.Time.Before(t.From) {
					continue
				}
				switch w.Edge {
				case manifest.WindowOpen, manifest.WindowClose: // it went on, or had not ended
					decided = w.Class != manifest.WindowNone
				case manifest.WindowStop, manifest.WindowEnd:
					over = w.Subagent == ""
				}
				if decided || over {
					return nil
				}
			}
			if c.Session == t.session && c.Agent == t.agent && c.Subagent == "" && (c.Kind == manifest.Stop || c.Kind == manifest.SessionEnd) {
				over = true // of a program that left no lines
				return nil
			}
		}
		return nil
	})
	return over, err
}

// TurnsOf lists a session's turns, oldest first.
func TurnsOf(ctx context.Context, p *project.Project, agent, session string) (turns []Turn, err error) {
	err = p.Query(ctx, func(db *manifest.DB) error {
		at := map[string]bool{}    // prompts at which a checkpoint was taken
		asked := map[uint64]bool{} // of during: a hook reported the prompt
		var during []Turn
		var newer *manifest.Checkpoint // of the last of turns
		for c, err := range db.Checkpoints(manifest.Query{Session: session}) {
			if err != nil {
				return err
			}
			if agent != "" && c.Agent != agent || c.Subagent != "" || c.Kind == manifest.Safety {
				continue
			}
			t := Turn{c.Agent, c.Session, c.PromptID, c.Prompt, conversation.PromptTime(&c), time.Time{}, c.Seq, false}
			switch {
			case c.Kind == manifest.Prompt || c.Kind == manifest.SessionStart && c.Prompt != "":
				at[c.PromptID] = true
				if begins, err := conversation.BeginsTurn(db, &c); err != nil {
					return err
				} else if !begins {
					continue // the turn before continues
				}
				if k := len(turns) - 1; k >= 0 && c.Kind == manifest.SessionStart { // it reported the prompt, too
					if same, err := conversation.SamePrompt(db, &c, newer); err != nil {
						return err
					} else if same {
						turns = turns[:k]
					}
				}
				turns, newer = append(turns, t), &c
			case c.PromptID != "" && c.Prompt != "" && c.Kind != manifest.Manual:
				if t.From, asked[c.Seq], err = turnTime(db, &c); err != nil {
					return err
				}
				t.during = true
				during = append(during, t)
			}
		}
		slices.Reverse(during)
		slices.Reverse(turns)
		told := len(turns)
		for _, t := range during { // no hook ran at the prompt: the first checkpoint in the turn shows it
			if at[t.PromptID] {
				continue
			}
			at[t.PromptID] = true
			i, _ := slices.BinarySearchFunc(turns[:told], t.Seq, func(t Turn, seq uint64) int { return cmp.Compare(t.Seq, seq) })
			if i > 0 && asked[t.Seq] && turns[i-1].PromptID == "" {
				turns[i-1].PromptID = t.PromptID // one ran, and did not tell of the id that the transcript has
			} else {
				turns = append(turns, t)
			}
		}
		return nil
	})
	slices.SortFunc(turns, func(a, b Turn) int { return cmp.Compare(a.Seq, b.Seq) })
	turns = slices.CompactFunc(turns, func(a, b Turn) bool {
		return a.PromptID != "" && a.PromptID == b.PromptID
	})
	for i := range turns[:max(len(turns)-1, 0)] {
		turns[i].Until = turns[i+1].From
	}
	return turns, err
}

// turnTime is when the turn of a checkpoint was seen first: among the events that it brought, and those that checkpoints
// before it brought, which did not know of the turn's prompt yet. asked reports that a checkpoint was taken at that prompt.
func turnTime(db *manifest.DB, of *manifest.Checkpoint) (at time.Time, asked bool, err error) {
	at = of.Time
	for c, err := range db.Checkpoints(manifest.Query{Before: of.Seq + 1, All: true}) {
		if err != nil {
			return at, false, err
		}
		windows, err := manifest.ParseWindows(c.Windows)
		if err != nil {
			return at, false, nil // verify tells of that
		}
		for i, w := range slices.Backward(windows) {
			if w.Session != of.Session || w.Agent != of.Agent {
				continue
			}
			if own := c.Seq == of.Seq && i == len(windows)-1; w.Edge != manifest.WindowOpen && w.Edge != manifest.WindowClose && !own {
				return at, w.Edge == manifest.WindowPrompt && c.Kind == manifest.Prompt, nil
			}
			at = w.Time
		}
		if c.Seq != of.Seq && c.Session == of.Session && c.Agent == of.Agent && c.Subagent == "" && c.Kind != manifest.PreTool && c.Kind != manifest.PostTool {
			return at, c.Kind == manifest.Prompt, nil // of a program that left no lines
		}
	}
	return at, false, nil
}

// turnKnown is the first checkpoint in a turn at whose prompt no checkpoint was taken, of the session or of one that it was
// forked from; nil for none.
func turnKnown(ctx context.Context, p *project.Project, s *session.Chosen, promptID string) (l *project.Listed, err error) {
	if promptID == "" {
		return nil, nil
	}
	for _, session := range s.Lineage() {
		turns, err := TurnsOf(ctx, p, s.Agent, session)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(turns, func(t Turn) bool { return t.PromptID == promptID })
		if i < 0 {
			continue
		}
		err = p.Query(ctx, func(db *manifest.DB) error {
			for c, err := range db.Checkpoints(manifest.Query{Session: session, Before: turns[i].Seq + 1, Limit: 1}) {
				if err != nil {
					return err
				}
				l = &project.Listed{Checkpoint: c, N: db.Position(c.Seq)}
			}
			return nil
		})
		return l, err
	}
	return nil, nil
}

// Chosen is the work that is to go.
type Chosen struct {
	Session, Agent string // of a call, Session may be "", and Agent is
	Turns          []Turn // of the session, those that are meant; nil: whatever it did
	All            bool   // the session, whether its prompts are known or not
	Subagent       string
	Call           string
	Newest         bool // no turn of the session came after it

	Matched int              // calls that seen found
	First   attribution.Work // the oldest of them
}

// same reports whether it is the same work, however much of it came since.
func (c *Chosen) same(o *Chosen) bool {
	if c.Call != "" && (c.Session == "" || o.Session == "") { // older reverts do not say whose call it was
		return c.Call == o.Call
	}
	return c.Agent == o.Agent && c.Session == o.Session && c.Subagent == o.Subagent && c.Call == o.Call && c.All == o.All &&
		(c.All || slices.EqualFunc(c.Turns, o.Turns, func(a, b Turn) bool { return a.PromptID == b.PromptID && a.From.Equal(b.From) }))
}

// Seen is has, which remembers what it found.
func (c *Chosen) Seen(w *attribution.Work) bool {
	if !c.Has(w) {
		return false
	}
	if c.Matched++; c.Matched == 1 || w.Start.Before(c.First.Start) {
		c.First = *w
	}
	return true
}

func (c *Chosen) Has(w *attribution.Work) bool {
	switch {
	case w.Operation != 0:
		return false
	case c.Call != "":
		return w.Call == c.Call && (c.Session == "" || w.Session == c.Session)
	case w.Session != c.Session || w.Session == "" || c.Agent != "" && w.Agent != "" && w.Agent != c.Agent:
		return false
	case c.Subagent != "" && w.Subagent != c.Subagent:
		return false
	}
	return c.All || slices.ContainsFunc(c.Turns, func(t Turn) bool { return t.has(w) })
}

// TurnOf is the prompt that a call was made for.
func (c *Chosen) TurnOf(w *attribution.Work) RevertedTurn {
	t := RevertedTurn{Agent: w.Agent, Session: w.Session, PromptID: w.PromptID, Prompt: w.Prompt}
	for _, known := range c.Turns {
		if !known.has(w) {
			continue
		}
		t.Seq = known.Seq
		switch {
		case known.during: // the call may have been reported before its prompt was known
			t.PromptID, t.Prompt = known.PromptID, known.Prompt
		default:
			t.PromptID = cmp.Or(t.PromptID, known.PromptID)
			t.Prompt = cmp.Or(t.Prompt, known.Prompt)
		}
	}
	return t
}

// Choose finds what was named. The caller holds the users lock.
func Choose(ctx context.Context, p *project.Project, n Named, a *attribution.Attribution) (*Chosen, error) {
	if n.Call != "" {
		return chooseCall(ctx, p, n, a)
	}
	c := &Chosen{}
	of := n.Checkpoint
	if n.Prompt > 0 {
		place, err := conversation.FindPrompt(ctx, p, n.Session, n.Prompt)
		if err != nil {
			return nil, err
		}
		if of = place.Checkpoint; of == nil || !place.Exact {
			if of, err = turnKnown(ctx, p, n.Session, place.PromptID); err != nil {
				return nil, err
			} else if of == nil {
				return nil, place.NoCheckpoint(n.Prompt)
			}
		}
	}
	if of == nil {
		c.Agent, c.Session, c.All, c.Newest = n.Session.Agent, n.Session.ID, true, true
		turns, err := TurnsOf(ctx, p, c.Agent, c.Session)
		if err != nil {
			return nil, err
		}
		c.Turns = turns
		return c, c.chooseSubagent(n.Subagent, a)
	}
	if of.Session == "" && of.Agent != "" {
		return nil, &UnknownWorkError{What: "checkpoint", Name: checkpointName(of), Reason: "came without a session id: it is not known what was done for it"}
	}
	if of.Session == "" || of.Kind == manifest.Safety {
		return nil, &UnknownWorkError{What: "checkpoint", Name: checkpointName(of), Reason: "does not belong to an agent's turn"}
	}
	c.Agent, c.Session = of.Agent, of.Session
	turns, err := TurnsOf(ctx, p, c.Agent, c.Session)
	if err != nil {
		return nil, err
	}
	at := -1
	for i, t := range turns {
		if t.Seq <= of.Seq || t.PromptID != "" && t.PromptID == of.PromptID {
			at = i
		}
	}
	if next := at + 1; of.Kind == manifest.SessionStart && next < len(turns) && turns[next].during {
		at = next // it has the state before that turn, as the list shows
	}
	if at < 0 {
		return nil, &UnknownWorkError{What: "checkpoint", Name: checkpointName(of), Reason: "is older than the first prompt of its session that is still kept"}
	}
	if of.Kind == manifest.Manual { // a person's own: the turn before it is its own only while that turn runs
		if over, err := turns[at].over(ctx, p, of); err != nil {
			return nil, err
		} else if over {
			return nil, &UnknownWorkError{What: "checkpoint", Name: checkpointName(of), Reason: "does not belong to an agent's turn: the turn before it had ended"}
		}
	}
	to := at + 1
	if n.Since {
		to = len(turns)
	}
	c.Turns, c.Newest = turns[at:to], to == len(turns)
	if n.Since && n.Session != nil && n.Session.ID != c.Session {
		// The prompt is that of the session which this one was forked from: what this one did came after it.
		own, err := TurnsOf(ctx, p, n.Session.Agent, n.Session.ID)
		if err != nil {
			return nil, err
		}
		c.Agent, c.Session, c.Turns, c.All, c.Newest = n.Session.Agent, n.Session.ID, own, true, true
	}
	return c, c.chooseSubagent(n.Subagent, a)
}

func checkpointName(l *project.Listed) string {
	if l.N > 0 {
		return strconv.Itoa(l.N)
	}
	return l.ID.String()
}

// leastOfID is how much of an id has to be given.
const leastOfID = 4

// Subagents are the ids of a session's subagents that did anything, in order; of all sessions for "".
func Subagents(ctx context.Context, p *project.Project, session string) ([]string, error) {
	a, err := attribution.New(ctx, p, attribution.Options{})
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	_, err = a.Paths(func(w *attribution.Work) bool {
		if w.Subagent != "" && (session == "" || w.Session == session) {
			found[w.Subagent] = true
		}
		return false
	})
	return slices.Sorted(maps.Keys(found)), err
}

// chooseSubagent finds a subagent of the session by its id or the beginning of it.
func (c *Chosen) chooseSubagent(named string, a *attribution.Attribution) error {
	if named == "" {
		return nil
	}
	found := map[string]bool{}
	_, err := a.Paths(func(w *attribution.Work) bool {
		if w.Session == c.Session && w.Subagent != "" && strings.HasPrefix(w.Subagent, named) {
			found[w.Subagent] = true
		}
		return false
	})
	if err != nil {
		return err
	}
	c.Subagent, err = oneOf("subagent", named, found)
	return err
}

// chooseCall finds a call by its id or the beginning of it, among those of the session if one is named.
func chooseCall(ctx context.Context, p *project.Project, n Named, a *attribution.Attribution) (*Chosen, error) {
	found, in := map[string]bool{}, map[string][]string{}
	see := func(id, session string) {
		if id != "" && strings.HasPrefix(id, n.Call) && (n.Session == nil || session == n.Session.ID) {
			found[id] = true
			if !slices.Contains(in[id], session) {
				in[id] = append(in[id], session)
			}
		}
	}
	if _, err := a.Paths(func(w *attribution.Work) bool { see(w.Call, w.Session); return false }); err != nil {
		return nil, err
	}
	err := p.Query(ctx, func(db *manifest.DB) error { // one that changed nothing is known, too
		for c, err := range db.Checkpoints(manifest.Query{All: true}) {
			if err != nil {
				return err
			}
			see(c.ToolUseID, c.Session)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	id, err := oneOf("call", n.Call, found)
	if err != nil {
		return nil, err
	}
	if len(in[id]) > 1 { // agents make ids of their own: one session's work must not go for another's
		slices.Sort(in[id])
		return nil, &UnknownWorkError{What: "call", Name: id, Sessions: in[id]}
	}
	return &Chosen{Call: id, Session: in[id][0]}, nil
}

// oneOf gives the id that is meant.
func oneOf(what, named string, found map[string]bool) (string, error) {
	if found[named] {
		return named, nil
	}
	var ids []string
	for id := range found {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	switch {
	case len(named) < leastOfID && len(ids) > 0:
		return "", &UnknownWorkError{What: what, Name: named, Reason: "is too short: give at least " + strconv.Itoa(leastOfID) + " characters of the id"}
	case len(ids) == 1:
		return ids[0], nil
	}
	return "", &UnknownWorkError{What: what, Name: named, Matches: ids}
}

// ConflictChoice is what becomes of a place where others built on what a revert takes back.
type ConflictChoice string

const (
	RefuseConflicts ConflictChoice = "refuse"    // nothing is changed at all
	KeepBlock       ConflictChoice = "keep"      // the block stays unchanged
	KeepFile        ConflictChoice = "keep-file" // the whole file does
	UndoBlock       ConflictChoice = "undo"      // as it was before the work; what others made of it goes, too
	MarkConflict    ConflictChoice = "markers"   // both, between markers
)

// ConflictChoices are all of them.
func ConflictChoices() []ConflictChoice {
	return []ConflictChoice{RefuseConflicts, KeepBlock, KeepFile, UndoBlock, MarkConflict}
}

// RevertedTurn is a prompt, and what was done for it.
type RevertedTurn struct {
	Agent, Session, PromptID, Prompt string
	Seq                              uint64 // of its first checkpoint, which tells turns with the same words apart; 0: not known
	Paths                            int
}

// OfTurn is has of all that the session did in the same turns.
func (c *Chosen) OfTurn() func(*attribution.Work) bool {
	wide := *c
	if wide.Subagent = ""; c.Call == "" {
		return wide.Has
	}
	of := &c.First
	return func(w *attribution.Work) bool {
		return w.Operation == 0 && w.Agent == of.Agent && w.Session == of.Session && w.PromptID == of.PromptID && w.Prompt == of.Prompt
	}
}
