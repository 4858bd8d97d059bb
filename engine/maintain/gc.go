package maintain

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/reach"
	"github.com/rewind-cli/rewind/engine/scan"
	"github.com/rewind-cli/rewind/manifest"
)

// GCOptions override the retention settings; zero values mean "as configured".
type GCOptions struct {
	Keep    int
	MaxAge  time.Duration
	MaxSize int64 // bytes
	// Checkpoint, if not zero, is the only one that goes.
	Checkpoint manifest.CheckpointID
	DryRun     bool
	Session    string        // of pi's, whose hook asks; "" for none
	Auto       bool          // a sweep that no person asked for: never more than half at once
	only       bool          // give back space: retention removes nothing
	purge      bool          // leave no byte of what nothing needs
	wait       time.Duration // how long a purge waits for those who read the store
}

// Collected is what gc did, or would do.
type Collected struct {
	// Lost are checkpoints that stay and cannot be restored whole, since the store has lost something of them.
	Lost      []project.Listed
	Removed   []manifest.CheckpointID
	Gone      []project.Listed // the same ones, oldest first, numbered as before
	Kept      int
	Freed     int64 // bytes on disk; on a dry run those of the objects that nothing would need
	DryRun    bool
	Room      int64    // bytes of disk that must be free, where less is; else 0: only on a dry run, else it is a *GCSpaceError
	Deferred  bool     // somebody reads the store: the old packs go at the next sweep
	Unswept   error    // checkpoints were removed, but not what they alone hold: the next sweep continues
	Copies    []string // of packs, which a purge found beside them and removed
	Shared    int      // files of GCOptions.Checkpoint that something else has, too
	SharedGit int      // objects that are held of git, and that its state of git reaches, and another one
}

// GC forgets the checkpoints that retention does not keep and gives back the
// space that nothing needs any more. It runs beside saves, restores and
// exports. If the log cannot be read whole, or holds no checkpoint, nothing is removed; nor by an automatic
// sweep, if the store has lost something of what stays.
func GC(ctx context.Context, p *project.Project, o GCOptions) (*Collected, error) {
	if !o.DryRun {
		if err := p.BeginWriting(ctx); err != nil {
			var full *project.DiskFullError
			if !errors.As(err, &full) { // a full disk is what gc is for
				return nil, err
			}
		}
		lock, err := p.Lock(ctx, project.SweepLock)
		if err != nil {
			return nil, err
		}
		defer lock.Release()
		p.RefreshMirror()
	}
	return collect(ctx, p, o)
}

// collect is GC under the gc lock.
func collect(ctx context.Context, p *project.Project, o GCOptions) (*Collected, error) {
	leave, err := p.Store.Stay() // what goes is decided by what is read before
	if err != nil {
		return nil, err
	}
	defer leave()
	c := &collection{p: p, o: o, gone: map[manifest.CheckpointID]bool{}, result: &Collected{DryRun: o.DryRun}}
	sweeps, err := c.planAndDelete(ctx)
	if err != nil {
		return nil, err
	}
	if !sweeps {
		return c.result, nil
	}
	// What is removed may be put back as it was, from the same backup: joinOlder looks again, then.
	if err := account.RemoveIfThere(filepath.Join(p.StoreDir(), olderName)); err != nil {
		return nil, err
	}
	// The sweep needs the users lock, which planAndDelete held, for itself.
	if c.purge {
		c.repack.Wait = o.wait
		err = runPurge(ctx, p, c)
	} else {
		err = sweep(ctx, p, c.plan, c.marks, c.result)
	}
	if err = p.Classify(err); err != nil && len(c.gone) > 0 && ctx.Err() == nil && !project.IsDamage(err) {
		c.result.Unswept = err
		return c.result, nil
	} else if err != nil {
		return nil, err
	}
	_ = p.SignUp(account.MirrorLooked) // the next command does it, too
	removeLeft(p, c.state)
	c.letGoOfObjects(ctx)
	c.marks, c.plan = nil, nil // the fold needs memory, too

	if err := Fold(ctx, p); err != nil && !problem.NoSpace(err) { // whoever has the space folds the log
		return nil, err
	}
	after, err := p.StoreSize()
	if err != nil {
		return nil, err
	}
	c.result.Freed = max(0, c.size-after) + c.objects
	return c.result, nil
}

// collection is one run of collect.
type collection struct {
	p      *project.Project
	o      GCOptions
	state  *LogState
	size   int64                 // of the store before, in bytes
	drop   []manifest.Checkpoint // that retention does not keep
	gone   map[manifest.CheckpointID]bool
	dead   map[uint64]bool // touches that go with them, by sequence number
	marks  *reach.Reach
	repack cas.RepackOptions
	plan   *cas.RepackPlan
	purge  bool // no byte may be left of what nothing needs: asked for, or an earlier forget is not finished
	result *Collected

	named   map[string]bool // objects that the state of git of GCOptions.Checkpoint names
	objects int64           // bytes of git's objects that were let go of
}

// planAndDelete does what comes before the sweep, as a user of the store, and reports
// whether there is one to do. The order is what makes a crash harmless: no checkpoint is
// deleted before all that stays is marked, and no object goes before its checkpoints are deleted.
func (c *collection) planAndDelete(ctx context.Context) (sweeps bool, err error) {
	release, err := c.p.Use(ctx)
	if err != nil {
		return false, err
	}
	defer release()
	if !c.o.DryRun {
		err = c.completeLog(ctx)
	} else {
		err = uncut(c.p)
	}
	if err != nil {
		return false, err
	}
	if c.state, err = ReadLog(ctx, c.p); err != nil || len(c.state.Checkpoints) == 0 {
		return false, err
	}
	if err := c.makePlan(ctx); err != nil {
		return false, err
	}
	if c.o.DryRun {
		c.result.Freed = c.plan.Freed()
		return false, nil
	}
	return true, c.deleteChosen(ctx)
}

// completeLog adds to the log what other copies of the store have, so that nothing that they need is removed.
func (c *collection) completeLog(ctx context.Context) error {
	err := errors.Join(complete(ctx, c.p), joinBranch(ctx, c.p))
	if err == nil {
		var kept string
		if kept, err = joinOlder(ctx, c.p); kept != "" {
			c.p.Notify(kept)
		}
	}
	return c.p.Classify(err)
}

// makePlan decides which checkpoints go, marks what the others need, and plans the sweep. It changes nothing.
func (c *collection) makePlan(ctx context.Context) (err error) {
	if c.size, err = c.p.StoreSize(); err != nil {
		return err
	}
	if err := c.choose(ctx); err != nil {
		return err
	}
	if err := c.mark(ctx); err != nil {
		return err
	}
	if err := c.planSweep(ctx); err != nil {
		return err
	}
	return c.room()
}

// deleteChosen deletes the chosen checkpoints from the log, and the backups of conversations that no operation needs.
func (c *collection) deleteChosen(ctx context.Context) error {
	if err := c.spare(); err != nil {
		return err
	}
	if c.purge && len(c.drop) > 0 { // a crash after the deletion must not leave it at that
		if err := c.p.NoteForgetting(project.ForgettingNote{Since: c.p.Env.Time().UTC(), Log: c.state.last, Sweeping: true}); err != nil {
			return err
		}
	}
	if err := c.dropCheckpoints(ctx); err != nil {
		return err
	}
	return conversation.PruneBackups(ctx, c.p, c.state.Operations)
}

// choose decides which checkpoints go.
func (c *collection) choose(ctx context.Context) (err error) {
	switch {
	case c.o.Checkpoint != (manifest.CheckpointID{}):
		if c.drop, err = c.state.only(c.o.Checkpoint, func(root oid.ID) (lost bool) { return reach.IsTorn(ctx, c.p, root) }); err != nil {
			return err
		}
	case !c.o.only:
		if c.drop, err = Plan(ctx, c.p, c.state, c.o, c.size); err != nil {
			return err
		}
	}
	for _, d := range c.drop {
		c.gone[d.ID] = true
	}
	c.dead = c.state.deadTouches(c.gone)
	c.result.removed(c.state, c.drop, c.gone)
	return nil
}

// only is the one checkpoint that was asked for. Errors: *RefusedError where something needs it.
// torn says whether something of a tree is lost: nothing can need that.
func (s *LogState) only(id manifest.CheckpointID, torn func(root oid.ID) bool) ([]manifest.Checkpoint, error) {
	i := slices.IndexFunc(s.Checkpoints, func(c manifest.Checkpoint) bool { return c.ID == id })
	if i < 0 {
		return nil, &project.RefusedError{What: "the checkpoint was removed meanwhile"}
	}
	c := s.Checkpoints[i]
	refused := &project.RefusedError{}
	switch {
	case len(s.Checkpoints) == 1:
		refused.What, refused.Next = "it is the only checkpoint", "rewind stores rm . removes the whole store"
	case c.Pinned:
		refused.What, refused.Next = "the checkpoint is pinned", "rewind pin "+id.String()+" --remove"
	case c.Name != "":
		refused.What, refused.Next = fmt.Sprintf("the checkpoint has a name, %s", c.Name), "rewind pin "+id.String()+" --name '' removes the name"
	case s.crashed != nil && s.crashed.Checkpoint == id:
		refused.What, refused.Next = "a restore to the checkpoint did not finish", fmt.Sprintf("rewind restore %s finishes it, rewind undo reverts it", id)
	case s.inUse()[id] && !torn(c.Root):
		refused.What, refused.Next = "the undo of an operation needs the checkpoint", fmt.Sprintf("gc removes it after %d more operations; rewind forget -- path… removes a file from it", project.KeptOperations)
	default:
		return []manifest.Checkpoint{c}, nil
	}
	return nil, refused
}

// mark marks what those that stay need, and decides whether the sweep is a purge.
func (c *collection) mark(ctx context.Context) error {
	c.marks = reach.Of(c.p, c.o.Auto)
	if err := c.state.mark(ctx, c.marks, c.p.Counting("gc", "checkpoint"), c.gone, c.dead); err != nil {
		return c.p.Classify(err)
	}
	if err := markPulled(ctx, c.p, c.marks); err != nil {
		return err
	}
	for _, id := range c.marks.Lost {
		i := slices.IndexFunc(c.state.Checkpoints, func(c manifest.Checkpoint) bool { return c.ID == id })
		c.result.Lost = append(c.result.Lost, project.Listed{Checkpoint: c.state.Checkpoints[i], N: numbersOf(c.state.Checkpoints)[id]})
	}
	if err := c.shares(ctx); err != nil && !project.IsDamage(err) {
		return c.p.Classify(err)
	}
	// What was forgotten before goes for good, whoever sweeps next.
	pending := false
	if !c.o.DryRun {
		var err error
		if pending, err = stillPending(ctx, c.p); err != nil {
			return err
		}
	}
	c.purge = !c.o.DryRun && (c.o.purge || c.state.Amended || pending)
	if c.purge {
		return nil
	}
	return markStatCache(ctx, c.p, c.marks)
}

// planSweep plans which packs to copy.
func (c *collection) planSweep(ctx context.Context) (err error) {
	// An automatic sweep copies only what it must.
	c.repack = cas.RepackOptions{Recompress: !c.o.Auto && !c.purge, Amend: c.state.amend}
	if c.p.Progress != nil {
		c.repack.Progress = func(done, total int64) {
			c.p.Progress(project.ProgressInfo{Phase: "gc", Bytes: done, TotalBytes: total})
		}
	}
	plan := func() (err error) {
		c.plan, err = c.p.Store.PlanRepack(c.repack, c.marks.Has, c.state.keeps(c.gone, c.dead))
		return c.p.Classify(err)
	}
	if err := plan(); err != nil {
		return err
	}
	if c.repack.Recompress && c.lacks() > 0 { // better compression is for when there is space
		c.repack.Recompress = false
		if err := plan(); err != nil {
			return err
		}
	}
	// The plan knows the log up to now, the marks only up to when it was read: what
	// was committed between would be in neither, nor in what Apply marks again.
	return markSince(ctx, c.p, c.marks, c.state.last+1)
}

// sweep copies what lives out of the packs that are worth it and unlinks them.
func sweep(ctx context.Context, p *project.Project, plan *cas.RepackPlan, m *reach.Reach, result *Collected) error {
	applied, err := plan.Apply(ctx, func(c cas.Commit) error {
		r, err := manifest.ParseRecord(c.Payload)
		if err != nil {
			return fmt.Errorf("read the log at %d: %w", c.Seq, err)
		}
		return m.Record(ctx, r)
	})
	if err != nil {
		return err
	}
	result.Deferred = !applied
	return restampStatCache(p, m)
}

// Fold brings the database up to date, and the indexes of the packs: it is done in a process
// that runs in the background.
func Fold(ctx context.Context, p *project.Project) error {
	release, err := p.Use(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := manifest.Fold(ctx, p.DatabaseOptions(), p.Log()); err != nil {
		return p.Classify(err)
	}
	return p.Classify(p.Store.RefreshIndexes())
}

// markStatCache keeps the tree of the stat cache, so that the next save need not read the project anew.
func markStatCache(ctx context.Context, p *project.Project, m *reach.Reach) error {
	generation, err := p.Store.Generation()
	if err != nil {
		return err
	}
	cache, err := p.StatCache(generation)
	if err != nil || cache == nil {
		return err
	}
	if err := m.Tree(ctx, cache.Root()); err != nil {
		return p.Classify(err)
	}
	return nil
}

// restampStatCache gives the stat cache the store's new generation, if it is still the
// one whose tree was marked. Otherwise it is dropped: the next save reads everything.
func restampStatCache(p *project.Project, m *reach.Reach) error {
	file := p.StatCacheFile()
	ctx, cancel := p.Wait(context.Background())
	defer cancel()
	a, err := p.Store.Append(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	cache, err := scan.LoadCache(file)
	if err != nil || cache == nil {
		return err
	}
	generation, err := p.Store.Generation()
	if err != nil {
		return err
	}
	was := project.ReadStamp(cache.Stamp())
	if was.Generation == generation {
		return nil
	}
	if !m.Has(cache.Root()) {
		return account.RemoveIfThere(file)
	}
	return scan.Restamp(file, project.Stamp{Generation: generation, At: a.Last(), Start: was.Start}.Encode())
}
