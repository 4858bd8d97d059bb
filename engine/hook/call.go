package hook

import (
	"context"
	"slices"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/notice"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/manifest"
)

// Call is one hook: an event in an agent's session. Its caller finds the project with Open, says
// whether a tool call may pass, and lets Run do the rest.
type Call struct {
	Event Event
	Env   account.Env
	// Detach starts a process that calls Work and outlives this one.
	Detach func(WorkOptions) error
	// Matches reports whether a file is one that a glob of the settings names.
	Matches func(glob, file string) bool

	Project *project.Project // after Open; the caller closes it

	session account.SessionState
	seen    int64 // how far the transcript was looked at for prompts that no hook told of; 0: it was not
	failure error // the first thing that went wrong
}

// Load reads what earlier hooks of the session left.
func (c *Call) Load() {
	c.session = account.LoadSession(c.Env, c.Event.By.Agent, c.Event.By.Session)
}

func (c *Call) updateSession(ctx context.Context, change func(*account.SessionState)) error {
	return account.UpdateSession(ctx, c.Env, c.Event.By.Agent, c.Event.By.Session, change)
}

// Run does what the event brings: a checkpoint if one is due, and at a session's start and end
// what belongs to them. Its error is the first thing that went wrong; status knows of it.
func (c *Call) Run(ctx context.Context) error {
	c.Leave()
	if c.Event.Kind == manifest.SessionStart {
		c.begin()
	} else if c.sessionRecord() != nil && !c.named() {
		c.note(c.nameSession()) // it began before hooks were registered, or the project was initialised
	}
	saved, err := c.save(ctx)
	if err != nil && len(c.Event.Edited) > 0 {
		c.leaveUnseen(nil)
	} else if err == nil && (saved == nil || saved.Skipped) {
		err = c.Touch(ctx, saved != nil)
	}
	c.note(err)
	if c.Event.Kind == manifest.SessionEnd {
		c.end(saved)
	}
	if c.failure != nil || saved != nil {
		return c.report()
	}
	return nil
}

// note keeps the first error; the hook continues.
func (c *Call) note(err error) {
	if c.failure == nil {
		c.failure = err
	}
}

// report leaves the outcome for status.
func (c *Call) report() error {
	c.Project.NoteHookError(c.failure)
	return c.failure
}

// save takes the checkpoint if one is due; nil if none was.
func (c *Call) save(ctx context.Context) (*outcome, error) {
	e := &c.Event
	due, err := c.due()
	if err != nil {
		return nil, err
	}
	// The end of a session keeps its last answer, in every tier: nothing after it will.
	onlySaid := e.Kind == manifest.SessionEnd && !due
	register := c.sessionRecord()
	if !due && !onlySaid || c.seenBefore() {
		if err := beforeEdit(c.Project, e.Files); err != nil {
			return nil, err
		}
		if register == nil || e.Kind != manifest.SessionStart {
			return nil, nil
		}
		return nil, registerSession(ctx, c.Project, *register)
	}
	if c.answers() && e.Kind == manifest.Stop {
		conversation.AwaitAnswer(ctx, e.By)
	}
	o := c.saving(checkpoint.Options{
		// A command that destroys has a checkpoint of its own also where nothing changed since the one
		// before: it is what a person looks for.
		OnlyIfChanged: (e.Kind != manifest.Prompt || c.retried()) && !onlySaid && !e.StartsATurn && !e.Destructive && !c.opens() && !c.green(), OnlyIfSaid: c.answers(),
		Green: c.green(),
		Own:   c.seen > 0, // the first call of a prompt that no hook reported: prompt~N looks for its checkpoint in this session
	})
	o.Edits = e.Files
	saved, err := save(ctx, c.Project, o)
	if saved != nil && saved.Skipped && c.seen > 0 {
		// Nothing had changed since the turn before: what the turn's next call finds is the agent's work.
		_ = c.updateSession(ctx, func(s *account.SessionState) {
			if s.Held != nil {
				s.Held.Seen = max(s.Held.Seen, c.seen)
			}
		})
	}
	if saved != nil && (saved.Due || maintain.IsUnfinished(c.Project)) {
		c.note(c.Detach(WorkOptions{Sweep: true, Fold: true}))
	}
	return saved, err
}

// saving is a save of the event's, within the time that the agent waits.
func (c *Call) saving(o checkpoint.Options) saveOptions {
	budget := CallTime
	if c.Event.Kind == manifest.SessionEnd {
		budget = endTime
	}
	o.Kind, o.By = c.Event.Kind, c.Event.By
	return saveOptions{
		Options:  o,
		Deadline: c.Event.Time.Add(budget),
		Session:  c.sessionRecord(),
		Detach:   func() error { return c.Detach(WorkOptions{}) },
		Note:     c.remember,
	}
}

// opens reports whether a person opened the session: a checkpoint of it is the row that says so. A compaction is a turn's.
func (c *Call) opens() bool {
	return c.Event.Kind == manifest.SessionStart && c.Event.Source != "compact"
}

// answers reports whether an answer of the session ended with the event: a checkpoint keeps it, also where no file changed.
func (c *Call) answers() bool {
	return c.Event.Kind == manifest.SessionEnd || c.Event.Kind == manifest.Stop && c.Event.By.Subagent == ""
}

// begin is what a session's start brings beside a checkpoint.
func (c *Call) begin() {
	e, start := &c.Event, c.Event.Time.UTC()
	c.note(c.export())
	if r := c.sessionRecord(); r != nil && c.session.Registered == "" && (e.Source == "fork" || e.Source == "resume" && r.Parent != "") {
		// The agent has forked a session itself: this one has its conversation. After clear it has not. It may not name
		// the origin: most often that is the newest, and its notices about files are true for all.
		from := r.Parent
		if from == "" {
			from = c.newest(r.Agent)
		}
		c.note(c.inherit(context.Background(), r.Agent, from, r.ID))
	}
	c.note(c.nameSession())
	if e.By.Session != "" && e.Source != "compact" { // a compaction belongs to a turn, and was not chosen
		c.Project.NoteOpened(project.OpenedSession{Agent: e.By.Agent, Session: e.By.Session, Time: start})
	}
	c.sweep()
}

// end is what a session's end brings beside a checkpoint.
func (c *Call) end(saved *outcome) {
	if by := c.Event.By; by.Session != "" {
		c.Project.NoteEnded(project.EndedSession{Agent: by.Agent, Session: by.Session, Process: c.Event.Process, Time: c.Event.Time.UTC()})
		_ = c.updateSession(context.Background(), func(s *account.SessionState) { s.Ended = true })
	}
	if saved == nil || !saved.Due {
		c.sweep()
	}
}

// sweep leaves what retention wants to a detached process, now and then.
func (c *Call) sweep() {
	e := &c.Event
	if c.Project.Settings().Retention.Auto && (e.SweepsAlways || sweepDue(c.Project, sweepPause)) {
		o := WorkOptions{Sweep: true, Session: e.By.Session}
		if e.Kind == manifest.SessionStart {
			o.Budget = e.SweepBudget
		}
		c.note(c.Detach(o))
	}
}

// Notice is the text about operations that the session's conversation does not know of, "" for none. Its agent
// counts as informed from now on; late reports that the text would not be printed any more.
func (c *Call) Notice(ctx context.Context, late func() bool) (string, error) {
	by := &c.Event.By
	if by.Session == "" || !notice.Waiting(c.Env, by.Agent, by.Session) || late() {
		return "", nil
	}
	if err := maintain.ForgetNotices(ctx, c.Project); err != nil {
		return "", err
	}
	return notice.Take(ctx, c.Project, by.Agent, by.Session)
}

// TellOnce reports whether the session has not shown a message about a topic yet, and notes that it does now.
// Where that cannot be noted the answer is no: never is better than at every event.
func (c *Call) TellOnce(ctx context.Context, topic string) bool {
	if slices.Contains(c.session.Told, topic) {
		return false
	}
	first := false
	err := c.updateSession(ctx, func(s *account.SessionState) {
		if first = !slices.Contains(s.Told, topic); first {
			s.Told = append(s.Told, topic)
		}
	})
	return err == nil && first
}

// TellUninitialised reports whether the person gets a warning that nothing is captured here: once
// per directory, unless the account's settings say otherwise.
func (c *Call) TellUninitialised(ctx context.Context, missing *project.NotInitializedError) bool {
	const topic = "not-initialised"
	if slices.Contains(c.session.Told, topic) {
		return false
	}
	set, _ := project.LoadSettings(c.Env, "")
	switch set.WarnUninitialised {
	case "never":
		return false
	case "once":
		about := missing.Root
		if len(missing.History) > 0 { // that is news, also where the warning was given
			about += "\x00" + missing.History[0].ID
		}
		if !WarnOnce(ctx, c.Env, about) {
			c.TellOnce(ctx, topic) // the next event need not look
			return false
		}
	}
	return c.TellOnce(ctx, topic)
}
