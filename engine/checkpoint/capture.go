package checkpoint

import (
	"context"
	"errors"
	"time"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/gitrepo"
	"github.com/rewind-cli/rewind/engine/gitstate"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/rules"
	"github.com/rewind-cli/rewind/engine/scan"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/engine/watch"
	"github.com/rewind-cli/rewind/engine/window"
)

// CaptureOptions of one scan into a transaction.
type CaptureOptions struct {
	noIgnore bool
	Rehash   bool
	// Look stores nothing, not even on the way: what is captured can be read, and not committed.
	Look bool
	// hints has a process that watches the project asked what to look at.
	hints bool
	whole bool // it is asked, and everything is looked at
	late  time.Time
	start time.Time // zero: now
	// changed, if not nil, names the only paths that may differ from the tree
	// from, which was captured before. It saves looking at all others.
	Changed []string
	From    oid.ID
	// first is called before the tree is looked at, once the transaction is there.
	first func(*Captured) error
	// overtaken, if not nil, is the capture that this one takes the place of: its transaction and its conversation go on.
	overtaken *Captured
}

// Captured is a scanned tree whose new objects lie in a transaction that is not
// committed yet. The caller holds the users lock from before capture until
// commit or discard.
type Captured struct {
	p          *project.Project
	Tx         *commit.Tx
	Scan       *scan.Result
	start      time.Time
	generation uint64
	Problems   []problem.Problem
	rules      []byte // encoded rules of this capture
	git        gitPlace
	gitState   *gitstate.Captured
	edited     *oid.ID // the tree where it is not as it was scanned, see override
	overridden map[string]bool
	taken      *window.Taken
	after      uint64                 // the newest record of the log when the look at the tree began
	captured   *conversation.Captured // nil: not captured yet
	unread     []problem.Problem      // what of the conversation could not be captured
	instead    []problem.Problem      // see Saved.Instead
	asked      *watch.Asked           // who watches the project, nil where nobody answers
}

// gitPlace is where git's HEAD was.
type gitPlace struct{ head, branch string }

// GitHead is the commit that git's HEAD was at, and its branch: each is "" where there is none.
func (c *Captured) GitHead() (commit, branch string) { return c.git.head, c.git.branch }

// CaptureTree scans the working tree against the stat cache and stages what is new.
func CaptureTree(ctx context.Context, p *project.Project, o CaptureOptions) (*Captured, error) {
	c, git, err := begin(ctx, p, o)
	if err != nil {
		return nil, err
	}
	rs, err := await(ctx, func() (rules.Ruleset, error) { return rules.Gather(p, session.Kept(p), o.noIgnore) })
	if err != nil {
		git.Begun.Drop()
		return nil, errors.Join(err, c.Discard())
	}
	git.Begun.Hold()
	c.rules, c.Problems = rs.Rules.Encode(), append(rs.Problems, c.unread...)
	err = c.scan(ctx, rs, o)
	git.Begun.Wait()
	if err == nil {
		err = p.Classify(c.Tx.Flush())
	}
	if err != nil {
		return nil, errors.Join(err, c.Discard())
	}
	git.Below = c.Scan.Repos
	c.gitState, err = gitstate.Capture(ctx, p, git)
	if err != nil {
		return nil, errors.Join(p.Classify(err), c.Discard())
	}
	c.Problems = append(c.Problems, c.gitState.Problems...)
	c.Problems = append(c.Problems, rs.Late()...)
	c.Problems = append(c.Problems, c.Scan.Problems...)
	return c, nil
}

// begin makes the transaction, and begins to capture git's own state: the rules are gathered meanwhile, for which a commit has git's
// index read, too.
func begin(ctx context.Context, p *project.Project, o CaptureOptions) (c *Captured, git gitstate.Options, err error) {
	c = &Captured{p: p, start: o.start}
	if c.generation, err = p.Store.Generation(); err != nil {
		return nil, git, err
	}
	if c.start.IsZero() {
		if o.Look {
			c.start = p.Env.Time() // the file system's own clock is read by writing
		} else if c.start, err = p.StartTime(); err != nil {
			return nil, git, err
		}
	}
	switch old := o.overtaken; {
	case old != nil:
		c.Tx, c.captured, c.unread = old.Tx, old.captured, old.unread
	case o.Look:
		c.Tx = commit.Look(p)
	default:
		c.Tx = commit.Begin(p)
	}
	git = gitstate.Options{Tx: c.Tx, Start: c.start, Generation: c.generation, Look: o.Look}
	if repo, ok := gitrepo.Find(p.Root()); ok {
		git.Repo = repo
		git.Begun = gitstate.Begin(ctx, p, git)
	}
	return c, git, nil
}

// scan scans the tree.
func (c *Captured) scan(ctx context.Context, rs rules.Ruleset, o CaptureOptions) error {
	p := c.p
	cache, err := p.StatCache(c.generation)
	if err != nil {
		return err
	}
	last, err := p.Store.Last()
	if err != nil {
		return p.Classify(err)
	}
	c.after = last.Seq
	if rs.HasRepo {
		// HEAD is a label of the checkpoint, not part of it.
		c.git.head, c.git.branch, _ = rs.Repo.Head()
	}
	if o.first != nil {
		if err := o.first(c); err != nil {
			return err
		}
	}
	options := scan.Options{
		Root: p.Root(), Rules: rs.Rules, Cache: cache, Sink: c.Tx, Start: c.start,
		Workers: c.Tx.Workers(), MaxFileSize: p.Settings().MaxFileSize, Rehash: o.Rehash, Late: o.late,
		Unsynced: p.Unsynced(cache, c.start),
	}
	if cache.Root() == o.From { // else the stat cache is of another time
		options.Within = o.Changed
	}
	if p.Progress != nil {
		options.Progress = func(files, bytes int64) {
			p.Progress(project.ProgressInfo{Phase: "scan", Files: files, Bytes: bytes})
		}
	}
	if o.hints {
		// Before anything of the tree is looked at: what changes from then on, the next one is told.
		c.asked = watch.Ask(p.Root(), watch.Question{Rules: scan.RulesHash(rs.Rules, options.MaxFileSize), Cache: cache.ID()})
		if !o.whole {
			options.Hints = hintsOf(c.asked)
		}
	}
	c.Scan, err = scan.Run(ctx, options)
	return p.Classify(err)
}

// Git is the tree of git's own state, zero for none.
func (c *Captured) Git() oid.ID {
	if c.gitState == nil {
		return oid.ID{}
	}
	return c.gitState.ID
}

// await is for what reads files elsewhere, in a home across a network, say, and holds nothing:
// when ctx ends first, it is left to itself.
func await[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type outcome struct {
		v   T
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		v, err := do()
		done <- outcome{v, err}
	}()
	select {
	case o := <-done:
		return o.v, o.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// Root is the manifest of the tree as captured.
func (c *Captured) Root() oid.ID {
	if c.edited != nil {
		return *c.edited
	}
	return c.Scan.Root
}

// Discard ends the capture: what was not committed is let go.
func (c *Captured) Discard() error {
	c.report()
	return c.Tx.Discard()
}

// Committed takes away what the checkpoint has taken along. The caller holds the append lock, and at is durable.
func (c *Captured) Committed(cas.Position) error {
	c.taken.Done()
	return nil
}

// Publish is Committed, and writes the stat cache that follows from the capture. The checkpoint is durable by then: that the
// cache cannot be written is no failure of it.
func (c *Captured) Publish(at cas.Position) error {
	c.taken.Done()
	generation, err := c.p.Store.Generation()
	if err == nil && generation == c.generation { // else a gc came between: the cache would name what it may have dropped
		err = errors.Join(
			c.Scan.Publish(c.p.StatCacheFile(), project.Stamp{Generation: generation, At: at, Start: c.start}.Encode(), c.p.Owner),
			c.gitState.Publish(at),
		)
	}
	if err != nil {
		c.p.Notify("the next save reads all files again, because the cache of their states was not written: " + problem.Text(err))
	}
	return nil
}
