package cli

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
)

// chooseSession finds the session that the command works on, and says which it took.
func (c *call) chooseSession(ctx context.Context, p *project.Project) (*conversation.ChosenSession, error) {
	return c.chooseSessionWith(ctx, p, 0)
}

// chooseSessionWith is chooseSession for what goes to before the session's n-th last prompt.
func (c *call) chooseSessionWith(ctx context.Context, p *project.Project, n int) (*conversation.ChosenSession, error) {
	s, err := conversation.ChooseSessionWith(ctx, p, c.session, n)
	var unclear *conversation.NoSessionError
	if errors.As(err, &unclear) && len(unclear.Choices) > 1 && c.out.interactive() && !c.json && !c.quiet {
		id, aerr := c.askSession(unclear)
		if aerr != nil || id == "" {
			return nil, errors.Join(aerr, err)
		}
		if s, err = conversation.ChooseSession(ctx, p, id); err == nil {
			s.How = "chosen by you"
		}
	}
	if err != nil {
		return nil, err
	}
	if s.How != "named" && !c.quiet && c.out.client == "" { // in the agent it is the one that is open
		c.out.message(screen.Dim, "session:", sessionText(s.SessionInfo)+", "+s.How)
	}
	return s, nil
}

// askSession asks a person which session is meant; "" if they do not say.
func (c *call) askSession(e *conversation.NoSessionError) (id string, err error) {
	choices := firstN(e.Choices, maxNamed)
	lines := make([]string, len(choices))
	for i, s := range choices {
		lines[i] = choiceText(s, e.Now)
	}
	n, err := c.out.choose("Which session?", lines)
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

func viewChoices(choices []conversation.SessionInfo) (out []choiceView) {
	for _, s := range choices {
		out = append(out, choiceView{s.ID, s.Agent, viewTime(quietSince(s)), s.First})
	}
	return out
}

// quietSince is when something was said in a session last.
func quietSince(s conversation.SessionInfo) time.Time {
	if s.Said.IsZero() {
		return s.Seen
	}
	return s.Said
}

// choiceText tells a session from others: how long it has been quiet, and what
// was said in it first.
func choiceText(s conversation.SessionInfo, now time.Time) string {
	text := strings.TrimSpace(s.Agent+" "+s.ID) + ", " + formatAge(now.Sub(quietSince(s)))
	if label := s.Label(); s.Title != "" && label != s.First && label != s.Last {
		text += ", " + screen.Clip(label, 60) // as the list of sessions has it
	}
	if first := s.First; first != "" {
		text += ", " + screen.Clip(first, 60)
	}
	return text
}

// sessionText names a session for the person.
func sessionText(s conversation.SessionInfo) string {
	text := strings.TrimSpace(s.Agent + " " + s.ID)
	if s.Title != "" {
		text += " (" + screen.Clip(s.Label(), 60) + ")"
	}
	return text
}

// sessionOf is the session whose conversation a restore moves, nil for that of
// the checkpoint: one that is named counts, and at a bare time the one in
// whose shell the command runs, since the newest checkpoint may be another's.
func (c *call) sessionOf(ctx context.Context, p *project.Project, spec string, l project.Listed, h half) (*conversation.ChosenSession, error) {
	switch {
	case c.session != "": // of the files alone, it is whose turns go
		return c.chooseSession(ctx, p)
	case h == code:
		return nil, nil
	case !strings.HasPrefix(spec, "@{"):
		return nil, nil
	case l.Transcript != nil && c.env.Getenv("REWIND_SESSION_ID") == "" && c.env.Getenv("REWIND_TRANSCRIPT_PATH") == "":
		return nil, nil
	}
	s, err := c.chooseSession(ctx, p)
	var none *conversation.NoSessionError
	if errors.As(err, &none) && len(none.Choices) == 0 && none.Named == "" && h == both {
		return nil, nil // there is no conversation: the files are all that there is
	}
	return s, err
}

func engineHalf(h half) conversation.Half {
	switch h {
	case code:
		return conversation.CodeOnly
	case conversationHalf:
		return conversation.ConversationOnly
	}
	return conversation.Both
}

// printMoved tells what became of the conversation.
func printMoved(o *output, r *restore.Restored) {
	m := r.Conversation
	if m == nil {
		return
	}
	n := ""
	if len(m.Prompts) > 0 {
		n = ", " + plural(len(m.Prompts), "prompt", "prompts") + " undone"
	}
	switch {
	case r.DryRun && m.Removed && m.InPlace:
		o.summary("Would remove the conversation's file: it was gone before that restore wrote it.")
	case r.DryRun && m.Removed:
		o.summary("Would remove the forked conversation.")
	case r.DryRun && m.InPlace:
		o.summary("Would rewrite the conversation in place%s.", n)
	case r.DryRun && m.From != "":
		o.summary("Would fork the conversation%s.", n)
	case r.DryRun:
	case m.Removed && m.InPlace:
		o.summary("Removed the conversation's file: it was gone before that restore wrote it.")
	case m.Removed:
		o.summary("Removed the forked conversation.")
	case m.InPlace:
		o.summary("Rewrote the conversation in place%s.", n)
		if m.Backup != "" {
			o.summary("Backup: %s", escape(m.Backup))
		}
		o.summary("Reload your agent session.")
	case m.From != "":
		o.summary("Forked the conversation%s.", n)
	}
	for _, note := range m.Notes {
		o.warn("%s", note)
	}
	if m.Resume != "" && (!m.InPlace || m.Removed) {
		o.summary("Open it with: %s", escape(o.opens(m)))
	}
}

// resume runs the command that opens a session: in a new window inside tmux,
// else here, in the place of this command.
func (c *call) resume(ctx context.Context, m *conversation.Moved) error {
	if m == nil || m.Resume == "" {
		return nil
	}
	c.close() // the agent's hooks want the store
	var cmd *exec.Cmd
	switch {
	case c.env.Getenv("TMUX") != "":
		cmd = exec.CommandContext(ctx, "tmux", c.tmuxWindow(m.Resume)...)
	case c.json:
		c.out.warn("--resume with --json opens the conversation only inside tmux")
		return nil
	default:
		words := shellCommand(m.Resume)
		cmd = exec.Command(words[0], words[1:]...) // Ctrl-C is the agent's
		cmd.Stdin, cmd.Stdout = c.out.stdin, os.Stdout
	}
	cmd.Stderr = c.out.stderr
	// A client that believes that it runs inside another hides its session.
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); name != "CLAUDECODE" && !strings.HasPrefix(name, "CLAUDE_CODE_") && !strings.HasPrefix(name, "REWIND_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	if err := cmd.Run(); err != nil {
		return &hintedError{err, "open it yourself: " + m.Resume}
	}
	return nil
}

// tmuxWindow are the arguments that open a window for a command. tmux gives it
// the environment of its server, which may be older than this shell: the agent
// must be found, and find its files. Secrets do not go onto a command line. If
// the command fails, the window stays until its message was read.
func (c *call) tmuxWindow(line string) []string {
	words := []string{"new-window"}
	for _, name := range []string{"PATH", "HOME", "CLAUDE_CONFIG_DIR"} {
		if v := c.env.Getenv(name); v != "" {
			words = append(words, "-e", name+"="+v)
		}
	}
	return append(words, line+" || { echo; echo 'press Enter to close this window'; read -r answer; }")
}
