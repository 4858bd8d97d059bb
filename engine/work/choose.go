package work

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

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
