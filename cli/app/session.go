package app

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/session"
)

// ChooseSession finds the session that the command works on, and says which it took.
func (c *Call) ChooseSession(ctx context.Context, p *project.Project) (*session.Chosen, error) {
	return c.ChooseSessionWith(ctx, p, 0)
}

// ChooseSessionWith is ChooseSession for what goes to before the session's n-th last prompt.
func (c *Call) ChooseSessionWith(ctx context.Context, p *project.Project, n int) (*session.Chosen, error) {
	s, err := conversation.SessionWithPrompt(ctx, p, c.Session, n)
	var unclear *session.UnclearError
	if errors.As(err, &unclear) && len(unclear.Choices) > 1 && c.Out.Interactive() && !c.JSON && !c.Quiet {
		id, aerr := c.askSession(unclear)
		if aerr != nil || id == "" {
			return nil, errors.Join(aerr, err)
		}
		if s, err = session.Choose(ctx, p, id); err == nil {
			s.How = "chosen by you"
		}
	}
	if err != nil {
		return nil, err
	}
	if s.How != "named" && !c.Quiet && c.Out.client == "" { // in the agent it is the one that is open
		c.Out.Message(screen.Dim, "session:", SessionText(s.Info)+", "+s.How)
	}
	return s, nil
}

// askSession asks a person which session is meant; "" if they do not say.
func (c *Call) askSession(e *session.UnclearError) (id string, err error) {
	choices := FirstN(e.Choices, MaxNamed)
	lines := Map(choices, func(s session.Info) string { return choiceText(s, e.Now) })
	n, err := c.Out.choose("Which session?", lines)
	if err != nil || n < 0 {
		return "", err
	}
	return choices[n].ID, nil
}

// choiceView is a session that can be meant.
type choiceView struct {
	SessionID string `json:"session_id"`
	Agent     string `json:"agent"`
	Time      string `json:"time"` // its last sign of life
	First     string `json:"first_prompt"`
}

func viewChoice(s session.Info) choiceView {
	return choiceView{s.ID, s.Agent, ViewTime(quietSince(s)), s.First}
}

// quietSince is the time of a session's last message, or of its last hook where no message is known.
func quietSince(s session.Info) time.Time {
	if s.LastPrompt.IsZero() {
		return s.Seen
	}
	return s.LastPrompt
}

// choiceText distinguishes a session from others: the time since its last message, its name as the list of sessions has it,
// and its newest prompt.
func choiceText(s session.Info, now time.Time) string {
	text := strings.TrimSpace(s.Agent+" "+s.ID) + ", " + FormatAge(now.Sub(quietSince(s)))
	for _, part := range slices.Compact([]string{s.Label(), cmp.Or(s.Last, s.First)}) {
		if part != "" {
			text += ", " + screen.Clip(part, 60)
		}
	}
	return text
}

// SessionText names a session for the person.
func SessionText(s session.Info) string {
	text := strings.TrimSpace(s.Agent + " " + s.ID)
	if s.Title != "" {
		text += " (" + screen.Clip(s.Label(), 60) + ")"
	}
	return text
}
