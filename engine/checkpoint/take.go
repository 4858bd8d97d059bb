package checkpoint

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/gitstate"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/manifest"
)

// Options of one save.
type Options struct {
	Kind        manifest.CheckpointKind // "": Manual
	Description string
	Name        string
	Pin         bool
	NoIgnore    bool // take everything but .git, the store and the agents' worktrees
	Rehash      bool // trust no stat, read every file
	Whole       bool // look at everything, also where a process that watches the project says what changed
	// What there must be for a record: another tree than that of the newest
	// checkpoint, new messages in the conversation; either, if both are asked for.
	OnlyIfChanged, OnlyIfSaid bool
	// Green marks the record: the tests of this tree have passed.
	Green bool
	// Own asks for a record also where the newest checkpoint, with the same tree, is of another session than By's.
	Own bool

	// ID is that of the checkpoint, where it was given out before it was taken; zero: a new one.
	ID manifest.CheckpointID

	// By is what the agent's hook knows. Its zero value means the session that a
	// person's command runs beside, if there is one: session.Beside.
	By conversation.Trigger
}

// Saved is what a save did.
type Saved struct {
	Checkpoint manifest.Checkpoint
	Unchanged  bool              // the tree of the checkpoint before
	Skipped    bool              // nothing had changed that was asked for: there is no new record
	Partial    []problem.Problem // paths that should have been captured and were not
	TooLarge   []problem.Problem // files over the setting maxFileSize, which are not captured
	Instead    []problem.Problem // what is where the checkpoint before has a file, and cannot be captured
	Elapsed    time.Duration
	// Of a checkpoint with hardly a file, a path that a rule left out, and the rule:
	// a project whose own rules exclude everything is worth a message.
	Ignored, IgnoredBy string

	Before uint64                    // sequence number of the checkpoint before
	Safety bool                      // that one is a safety checkpoint: an operation may have followed it
	Held   *account.HeldConversation // where the session's next capture continues

	Beside  *session.Chosen // whose conversation it holds, where that had to be found out
	Unclear error           // why it holds none, where more than one could be meant
}

// TakeOptions is one save: what was asked, and what a hook adds.
type TakeOptions struct {
	Options
	Start     time.Time            // on the file system's clock, taken before the tree is looked at; zero: now
	Since     time.Time            // paths that changed after it are late; zero: no such thing
	Session   *manifest.Session    // recorded with the checkpoint, or without one
	Bind      []manifest.Binding   // the same; those that name no checkpoint are about this one, or the newest where there is no new one
	Unlocked  bool                 // the scan may take long: hold no tree lock meanwhile
	Preimages func() []Preimage    // asked after the scan: what tools were about to change meanwhile; nil: nothing
	Valid     func() (bool, error) // asked before the commit: is what was scanned worth it; nil: it is
}

// Take looks at the working tree, and at the conversation where a session is meant, and commits what is
// new as a checkpoint: none where o asks for a change and there is none. It holds the tree and users locks
// shared. What could not be captured is in Saved, and no error.
func Take(ctx context.Context, p *project.Project, o TakeOptions) (*Saved, error) {
	start := time.Now()
	if o.Name != "" {
		if err := p.FreeName(ctx, o.Name); err != nil {
			return nil, err
		}
	}
	if err := p.BeginWriting(ctx); err != nil {
		return nil, err
	}
	still, err := holdStill(ctx, p)
	if err != nil {
		return nil, err
	}
	if o.Unlocked {
		still.Release()
	} else {
		defer still.Release()
	}
	release, err := p.Use(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	options := CaptureOptions{noIgnore: o.NoIgnore, Rehash: o.Rehash, late: o.Since, start: o.Start}
	options.hints = !o.NoIgnore && !o.Rehash && o.Since.IsZero()
	options.whole = o.Whole
	if !o.Since.IsZero() {
		// The conversation grows while a long scan runs: it is captured first.
		options.first = func(c *Captured) error {
			_, err := c.conversation(ctx, o.By)
			return err
		}
	}
	for look := 1; ; look++ {
		c, err := CaptureTree(ctx, p, options)
		if err != nil {
			return nil, err
		}
		saved, err := c.save(ctx, o, look < maxLooks)
		var by *overtakenError
		if !errors.As(err, &by) {
			if saved != nil {
				saved.Elapsed = time.Since(start)
			}
			return saved, errors.Join(err, c.Discard()) // of what was not committed
		}
		c.asked.Close()
		options.start, options.overtaken, options.hints = time.Time{}, c, false
		if o.Since.IsZero() {
			options.From, options.Changed = by.newest, by.differ
		}
	}
}

// maxLooks is how often a save looks at the tree because others came between. The last look counts in any case:
// no work is lost by that, but its author may be wrong.
const maxLooks = 5

// save makes a captured tree a checkpoint. With again, its error is an *overtakenError where the tree has to be looked at again.
func (c *Captured) save(ctx context.Context, o TakeOptions, again bool) (*Saved, error) {
	if o.Preimages != nil {
		if err := c.override(o.Preimages()); err != nil {
			return nil, err
		}
	}
	if o.Unlocked { // the users lock is held, and comes behind the tree lock: this one is not waited for
		still, err := c.p.LockShared(account.Expired, account.TreeLockName)
		if errors.As(err, new(*account.BusyError)) {
			err = ErrOvertaken
		}
		if err != nil {
			return nil, err
		}
		defer still.Release()
	}
	return c.commit(ctx, o, again)
}

// holdStill waits for a restore that is running, and keeps the next one from
// beginning until it is released: a half-restored tree is never captured.
func holdStill(ctx context.Context, p *project.Project) (*account.FileLock, error) {
	ctx, cancel := p.Wait(ctx)
	defer cancel()
	return p.LockShared(ctx, account.TreeLockName)
}

// commit is save under the tree lock.
func (c *Captured) commit(ctx context.Context, o TakeOptions, again bool) (*Saved, error) {
	p := c.p
	if o.OnlyIfChanged || o.OnlyIfSaid {
		parent, err := p.NewestCheckpoint()
		if err != nil {
			return nil, err
		}
		due := parent == nil || o.OnlyIfChanged && (parent.Root != c.Root() || gitstate.Differ(c.Tx, parent.Git, c.Git())) || o.Own && (parent.Session != o.By.Session || parent.Agent != o.By.Agent)
		if !due && o.OnlyIfSaid {
			captured, err := c.conversation(ctx, o.By)
			if err != nil {
				return nil, err
			}
			due = captured.HasMessages
		}
		if !due {
			if with := o.with(parent.ID); len(with) > 0 {
				_, err = commit.Commit(ctx, p, with...)
			}
			return &Saved{Checkpoint: *parent, Unchanged: true, Skipped: true, Partial: problem.FailedOf(c.Problems)}, err
		}
	}
	captured, err := c.conversation(ctx, o.By)
	if err != nil {
		return nil, err
	}
	r, err := c.Record(o.Options)
	if err != nil {
		return nil, err
	}
	r.Transcript = captured.At
	r.PromptID, r.Prompt = conversation.PromptOf(captured.Held, o.By, r.Kind, account.LoadSession(p.Env, o.By.Agent, o.By.Session).PromptID)
	if !o.Since.IsZero() {
		r.Time = o.Since.UTC()
	}
	var parent *manifest.Checkpoint
	records := append([]manifest.Record{{Checkpoint: r}}, o.with(r.ID)...)
	at, err := c.Tx.Commit(ctx, func() ([]manifest.Record, error) {
		if again {
			if err := c.overtaken(); err != nil {
				return nil, err
			}
		}
		if o.Valid != nil {
			ok, err := o.Valid()
			if err == nil && !ok {
				err = ErrOvertaken
			}
			if err != nil {
				return nil, err
			}
		}
		if o.Name != "" {
			err := p.Look(ctx, func(db *manifest.DB) error { return project.NameFree(db, o.Name, r.ID) })
			if err != nil {
				return nil, err
			}
		}
		var err error
		parent, err = c.Relate(r)
		return records, err
	}, c.Publish)
	if err != nil {
		return nil, err
	}
	r.Seq = at.Seq - uint64(len(records)-1)
	saved := &Saved{
		Checkpoint: *r,
		Unchanged:  parent != nil && parent.Root == r.Root,
		Partial:    problem.FailedOf(c.Problems),
		TooLarge:   problem.TooLargeOf(c.Problems),
		Instead:    c.instead,
		Held:       captured.Held,
	}
	if parent != nil {
		saved.Before, saved.Safety = parent.Seq, parent.Kind == manifest.Safety
	}
	if r.Files < hardlyAny {
		saved.Ignored, saved.IgnoredBy = problem.RuledOut(c.Problems)
	}
	return saved, nil
}

// hardlyAny is how many files a checkpoint has at least in a project whose rules are surely not all that it has.
const hardlyAny = 32

// with are the records that go with a checkpoint.
func (o *TakeOptions) with(id manifest.CheckpointID) (records []manifest.Record) {
	if o.Session != nil {
		records = append(records, manifest.Record{Session: o.Session})
	}
	for _, b := range o.Bind {
		if b.Checkpoint == (manifest.CheckpointID{}) {
			b.Checkpoint = id
		}
		records = append(records, manifest.Record{Binding: &b})
	}
	return records
}

// conversation captures the trigger's conversation with the tree, once.
func (c *Captured) conversation(ctx context.Context, t conversation.Trigger) (*conversation.Captured, error) {
	if c.captured != nil {
		return c.captured, nil
	}
	captured, problems, err := conversation.Capture(ctx, c.p, c.Tx, c.generation, t)
	if err == nil {
		c.captured, c.unread = captured, problems
		c.Problems = append(c.Problems, problems...)
	}
	return captured, err
}

// Record makes the checkpoint record of a capture, but for its relation to the
// checkpoint before.
func (c *Captured) Record(o Options) (*manifest.Checkpoint, error) {
	id := o.ID
	var err error
	if id == (manifest.CheckpointID{}) {
		if id, err = manifest.NewCheckpointID(rand.Reader); err != nil {
			return nil, err
		}
	}
	r := &manifest.Checkpoint{
		ID: id, Time: c.start.UTC(), Kind: o.Kind, Description: o.Description, Name: o.Name, Pinned: o.Pin,
		Root: c.Root(), Files: c.Scan.Files, Bytes: c.Scan.Bytes,
		GitHead: c.git.head, GitBranch: c.git.branch, Git: c.Git(),
		Agent: o.By.Agent, Session: o.By.Session, Subagent: o.By.Subagent,
		Prompt: o.By.Prompt, PromptID: o.By.PromptID, Tool: o.By.Tool, ToolUseID: o.By.ToolUseID,
		ToolSummary: Summary(c.p.Root(), o.By), Green: o.Green,
	}
	if r.Kind == "" {
		r.Kind = manifest.Manual
	}
	for _, problem := range c.Problems {
		if problem.Failed {
			r.Partial++
		}
	}
	if r.Coverage, err = c.Tx.Put(problem.Encode(c.Problems)); err != nil {
		return nil, err
	}
	if r.Rules, err = c.Tx.Put(c.rules); err != nil {
		return nil, err
	}
	return r, nil
}

// ErrOvertaken: a restore ran while the tree was scanned, or is running.
var ErrOvertaken = errors.New("a restore ran in the meantime")
