package work

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/manifest"
)

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

// RevertedTurn is a prompt, and what was done for it.
type RevertedTurn struct {
	Agent    string `json:"agent"`
	Session  string `json:"session_id"`
	PromptID string `json:"prompt_id"`
	Prompt   string `json:"prompt"`
	Paths    int    `json:"paths"`
	Seq      uint64 `json:"-"` // of its first checkpoint, which tells turns with the same words apart; 0: not known
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
