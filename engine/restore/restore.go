package restore

import (
	"context"
	"errors"
	"strconv"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/checkpoint"
	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/gitrestore"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/notice"
	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/engine/rules"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/engine/treeio"
	"github.com/rewind-cli/rewind/engine/work"
	"github.com/rewind-cli/rewind/manifest"
)

// Options of restore, undo, undo-restore, redo-restore.
type Options struct {
	Checkpoint manifest.Checkpoint // restore only
	Paths      []string            // paths and globs relative to the root; empty: all
	DryRun     bool
	Force      bool              // go on where paths or the conversation changed since, or an agent runs
	Half       conversation.Half // what is moved; undo-restore and redo-restore take back what was moved
	Git        GitHalf           // whether git's own state goes along; what takes an operation back takes that back with it
	GitOnly    bool              // it goes alone
	GitOf      oid.ID            // the state of git that is meant; zero: the checkpoint's
	InPlace    bool              // rewrite the session's own transcript, after a backup, instead of forking it
	Session    *session.Chosen   // whose conversation, where the checkpoint holds none of it; nil: the checkpoint's
	By         string            // id of the session that asks, "" for none: see LastRestore
	Along      string            // id of a session whose conversation its agent itself brings to the same place; "" for none
	Steps      int               // undo, redo: how many; 0: one
	To         uint64            // undo: sequence number of the oldest operation that is taken back; 0: the last step
	Args       string            // what the person typed after the verb, for the log; it is cut to manifest.MaxArgs
	Prompt     int               // restore: to before the Prompt-th last prompt of Session, not to Checkpoint; 0: to Checkpoint
	About      []string          // ids of the sessions whose work is meant, where neither Session nor the checkpoint tells
	// Expect, if set, is Restored.Expected of a dry run: if that is no longer true, nothing is
	// changed, and the error is *PlanChangedError.
	Expect *Expected
	// Confirm, if set, is asked before anything is touched when something would be
	// deleted, or another session's work would go.
	Confirm func(*Restored) (bool, error)
}

// Restored is what a restore did, or would do.
type Restored struct {
	Checkpoint                    manifest.Checkpoint  // the target
	Safety                        *manifest.Checkpoint // nil on a dry run or when nothing differed
	Create, Replace, Delete, Mode []string
	Directories                   map[string]bool   // which paths of Create and Delete are directories
	Along                         []string          // changed paths that nobody named: each is of the same SQLite database as one that was
	Skip                          []problem.Problem // left alone; Failed marks what should have been restored
	DryRun                        bool
	Expected                      Expected                // what the plan was made from: see Options.Expect
	Of                            manifest.OperationKind  // the one operation that was taken back, or done again; "" where it was none, or several
	OfVerb                        string                  // the command that made it: restore, revert, back, undo or redo
	StepsBack                     int                     // redo: how many steps of undo lead back
	Since                         string                  // undo: the verb of the operation that left the state which it went back to; "" for a checkpoint
	Operation                     uint64                  // sequence number, 0 on a dry run or when nothing differed
	Recovered                     *RecoveredRestore       // a crashed restore that was dealt with first
	Crashed                       *project.CrashedRestore // on a dry run: one that would be dealt with first
	PutBack                       bool                    // dealing with that is all: undo-restore
	Unfinished                    string                  // undo: the command that came last, where that did not finish and left nothing changed

	Conversation *conversation.Moved               // nil: none was moved
	Without      *conversation.NoConversationError // why none was moved, although it was to be; nil else
	Stuck        bool                              // no file could be moved, so the conversation was not moved either
	Git          *GitMoved                         // git's HEAD is elsewhere than in the target; nil where it is not, or no file changes
	GitState     []gitrestore.Line                 // what becomes of git's own state, where that goes along
	GitLeft      bool                              // git's own state of a repository could not be brought back: a notice says why
	GitRemoved   *WorktreeRemovedError             // why GitLeft, of a rescued worktree that git has removed; else nil
	GitLost      *GitLoss                          // what git has lost since, where its own state stays as it is; nil for nothing
	Instead      *RevertInstead                    // what keeps the work of Others and Outside; nil where nothing is known to
	Unclear      bool                              // it is not known which session it is about: Others are all whose work goes
	// Own are the paths that go and that Others and Outside do not have: a restore of these alone keeps theirs. Only where a
	// revert does not lead to the target.
	Own         []string
	Prompts     []string         // those that it went behind, the newest first
	Older       bool             // Back: the files are of an earlier turn, since none was taken at the prompt
	Others      []OtherWork      // what goes too, of sessions that it is not about
	Outside     []string         // what goes too, of the person: paths, in order
	Nested      []NestedChange   // projects below this one whose files change, too, by their paths
	NotCaptured int              // paths that the target is without, of a restore of all paths: they stay unchanged
	Late        []string         // written while it ran: Safety has them as they were then
	Torn        []string         // restored since they were named, though the target was torn there
	Told        []notice.Session // whose agents get a notice with their next prompt, the newest first
	Notice      string           // its text; "" if there is none
	// Forgotten are the paths that the operations changed and that forget took out of them since: they do not come back.
	Forgotten ForgottenPaths
}

// NestedChange is a project below this one, with a store and sessions of its own, and how many of its paths change.
type NestedChange struct {
	Path  string
	Paths int
}

// takesAway reports whether a person is asked first: files go, others' work does, or it would come to another branch.
func (r *Restored) takesAway() bool {
	return len(r.Delete)+len(r.Others) > 0 || r.Git != nil && r.Git.Switched()
}

// confirm asks, if anybody is to be asked.
func (o *Options) confirm(preview *Restored) error {
	if o.Confirm == nil {
		return nil
	}
	yes, err := o.Confirm(preview)
	if err == nil && !yes {
		err = &DeclinedError{}
	}
	return err
}

// DeclinedError: the person was asked and declined.
type DeclinedError struct{}

func (e *DeclinedError) Error() string { return "nothing was changed" }

// Restore brings the tree, or what o.Paths selects of it, to a checkpoint.
// Nothing is lost by it: Undo takes it back. If it returns an error, the
// tree and the conversation are as they were. Errors: *BusyError, *NoPathError,
// *OutsideError, *DeclinedError, *PlanChangedError, *treeio.AbortedError, *NoConversationError
// where only the conversation was to move, *AgentRunningError, *project.NoCheckpointError.
func Restore(ctx context.Context, p *project.Project, o Options) (*Restored, error) {
	if o.Prompt > 0 {
		l, err := conversation.ResolvePrompt(ctx, p, "prompt~"+strconv.Itoa(o.Prompt), o.Prompt, o.Session.ID)
		var none *project.NoCheckpointError
		if err != nil && !(errors.As(err, &none) && o.Half == conversation.ConversationOnly) {
			return nil, err
		}
		o.Checkpoint = l.Checkpoint
	}
	return Do(ctx, p, o, manifest.OpRestore, func(r *Run) (_ *treeio.Plan, err error) {
		c := r.Options.Checkpoint // as it is now
		if o.Prompt > 0 {
			if r.before, err = conversation.FindPrompt(ctx, p, o.Session, o.Prompt); err != nil {
				return nil, err
			}
			switch {
			case r.before.Checkpoint != nil:
				c = r.before.Checkpoint.Checkpoint
			case o.Half != conversation.ConversationOnly:
				return nil, r.before.NoCheckpoint(o.Prompt)
			}
		}
		if o.Half == conversation.ConversationOnly {
			r.Op.Checkpoint, r.Op.Of, r.target = c.ID, c.Of, c
			return nil, nil
		}
		if err := isTarget(c); err != nil {
			return nil, err
		}
		if err := r.pathsExist(c.Root); err != nil {
			return nil, err
		}
		return r.planTo(c)
	})
}

// isTarget refuses the zero value of a checkpoint, whose tree would be an empty one: it was not found.
func isTarget(c manifest.Checkpoint) error {
	if c.ID == (manifest.CheckpointID{}) {
		return &project.NoCheckpointError{Reason: "there is none to restore to"}
	}
	return nil
}

// Run is one call of the restore family, from the tree lock to the
// record of the operation.
type Run struct {
	*project.Project
	Ctx     context.Context
	Options Options
	FS      rootfs.FS
	Sel     treeio.Selection     // nil: everything
	held    map[string]held      // undo: by path, what an undo of some paths brought back already; see selectFor
	Scan    *checkpoint.Captured // the tree as it is
	Now     oid.ID               // its manifest
	kept    func(string) bool    // see Sessions
	Tx      *commit.Tx           // the scan's, and after its commit the next
	Op      manifest.Operation
	target  manifest.Checkpoint        // for the answer
	GitThen *manifest.Checkpoint       // where git's HEAD was when the work that is reverted began; nil: as in target
	saw     *Sight                     // what the target saw; nil where an operation is taken back
	within  map[string][]treeio.Change // what goes with a directory that is replaced, see lookInto

	move      *conversation.Move        // the conversation on its way, nil for none
	git       *gitMove                  // git's own state on its way, nil for none
	gitLost   *GitLoss                  // what git has lost since the target, nil for nothing
	nested    string                    // undo: a repository that it left alone; "" for none
	Notice    notice.Notice             // what only the verb knows of the notice
	before    *conversation.PromptPlace // where back goes to
	undone    bool                      // an operation took something away that the target has
	unsure    bool                      // of the session that it is about, another could have made something
	about     string                    // the session that it is about, of those at work since the target
	turns     int                       // that it began since
	takesBack []uint64                  // the operations that are taken back, by their sequence numbers
	choices   []HunkChoice              // what is chosen of paths; the others go as a whole
	with      []string                  // what is restored with them, since it is of the same databases

	late     *manifest.Checkpoint // the second safety checkpoint: what was written while it ran
	finished bool                 // dealing with a crashed restore is all there is to do
	putBack  []treeio.Change      // what that changes
	left     []problem.Problem    // and what it leaves alone

	answer Restored // what the steps find out for it; report adds what the plan does
}

// Do is the flow that the verbs share; choose makes the plan. A nil
// plan means that nothing differs.
func Do(ctx context.Context, p *project.Project, o Options, kind manifest.OperationKind, choose func(*Run) (*treeio.Plan, error)) (*Restored, error) {
	r := &Run{Project: p, Ctx: ctx, Options: o}
	r.Op.Kind, r.Op.Session, r.Op.Args = kind, o.By, cutArgs(o.Args)
	done, err := r.run(choose)
	if err != nil {
		return done, err
	}
	if !o.DryRun {
		maintain.FinishForgetting(ctx, p)
	}
	if release, err := p.Use(ctx); err == nil { // else each asks for itself
		defer release()
	}
	r.leaveNotice(done)
	if !o.DryRun {
		WriteHistory(ctx, p)
	}
	return done, nil
}

func (r *Run) run(choose func(*Run) (*treeio.Plan, error)) (_ *Restored, err error) {
	p, ctx, o := r.Project, r.Ctx, r.Options
	sel, err := pathspec.Select(o.Paths)
	if err != nil {
		return nil, err
	}
	if !sel.All() {
		r.Sel, r.Op.Some = wholeDatabases{sel, r}, true
	}
	if !o.DryRun {
		if err := p.BeginWriting(ctx); err != nil {
			return nil, err
		}
		lock, err := p.Lock(ctx, account.TreeLockName)
		if err != nil {
			return nil, err
		}
		defer lock.Release()
	}
	release, err := p.Use(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if o.Checkpoint.ID != (manifest.CheckpointID{}) {
		now, err := p.Current(ctx, o.Checkpoint)
		if err != nil {
			return nil, err
		}
		if asked := o.Checkpoint.Transcript; asked != nil && now.Transcript != nil {
			place := *asked // as the caller has it, but for what is held of it
			place.Content = now.Transcript.Content
			now.Transcript = &place
		}
		if now.Of != "" { // for what happened here since, it is as if it had been taken now
			last, err := p.Store.Last()
			if err != nil {
				return nil, p.Classify(err)
			}
			now.Seq = last.Seq
		}
		o.Checkpoint, r.Options.Checkpoint = now, now
	}
	if r.FS, err = rootfs.Open(p.Root()); err != nil {
		return nil, err
	}
	defer r.FS.Close()
	if o.DryRun {
		err = r.foreseeRecovery()
	} else {
		err = r.recoverCrashed()
	}
	if err != nil {
		return nil, p.Classify(err)
	}
	if r.finished {
		return r.recoveryAlone(), nil
	}
	if o.Half == conversation.ConversationOnly && o.Git == GitStays && r.Op.Kind == manifest.OpRestore {
		r.Tx = commit.Begin(p).KeepDirs()
	} else {
		if r.Scan, err = checkpoint.CaptureTree(ctx, p, checkpoint.CaptureOptions{Look: o.DryRun}); err != nil {
			return nil, err
		}
		r.Now, r.Tx = r.Scan.Root(), r.Scan.Tx.KeepDirs()
	}
	defer func() {
		if r.Tx != nil { // not committed
			_ = r.Tx.Discard() // what it leaves is swept by gc
		}
	}()
	defer func() { r.move.Close() }()
	defer func() { r.git.close() }()
	plan, err := choose(r)
	if err != nil {
		return nil, p.Classify(err)
	}
	if o.Half == conversation.ConversationOnly || o.GitOnly {
		plan = nil
	}
	if err := r.prepareMove(); err != nil {
		return nil, p.Classify(err)
	}
	if err := r.prepareGit(r.target.Git); err != nil {
		return nil, p.Classify(err)
	}
	r.lookForLoss()
	done, err := r.carryOut(plan)
	return done, p.Classify(err)
}

// planTo plans the way to a checkpoint under its rules and today's.
func (r *Run) planTo(c manifest.Checkpoint) (*treeio.Plan, error) {
	return r.planTree(c, c.Root)
}

// planTree plans the way to a tree that is a checkpoint's, but for files that were edited in it.
func (r *Run) planTree(c manifest.Checkpoint, root oid.ID) (*treeio.Plan, error) {
	r.Op.Checkpoint, r.Op.Of, r.target = c.ID, c.Of, c
	target, today := rules.Of(r.Project, r.Tx, c), r.Today()
	saw := r.sightOf(c, target)
	r.saw = saw
	plan, err := treeio.NewPlan(r.Ctx, treeio.Options{
		Progress: r.PlanProgress(),
		FS:       r.FS, Source: r.Tx, Current: r.Now, Target: root, Select: r.selectFor(c),
		InTarget: target.MayGo, InScope: today.MayGo, Unseen: saw.Unseen, Whole: r.whole(saw),
		Own: rules.Own(r.Project), Sessions: r.Sessions(), Workers: r.Tx.Workers(),
	})
	if err != nil {
		return nil, err
	}
	return plan, r.addUnread(plan, saw, target, today)
}

// carryOut reads again what the plan would touch, asks, saves the safety
// checkpoint, applies the plan and records the operation.
func (r *Run) carryOut(plan *treeio.Plan) (*Restored, error) {
	if plan == nil {
		plan = &treeio.Plan{}
	}
	if !plan.Empty() {
		// A dry run reads too: what cannot be read is left alone, and what is as it should be already is no change.
		if err := plan.Read(r.Ctx, r.Tx); err != nil {
			return nil, err
		}
	}
	if err := r.lookInto(plan.Changes); err != nil {
		return nil, err
	}
	r.warnOfLogs(plan.Changes)
	if err := r.lookForOthers(plan.Changes); err != nil {
		return nil, err
	}
	if len(plan.Changes) == 0 && len(problem.FailedOf(plan.Skips)) > 0 {
		r.dropMove()
	}
	if some, ok := r.Sel.(wholeDatabases); ok {
		for _, c := range plan.Changes {
			if some.along(c.Path) {
				r.with = append(r.with, c.Path)
			}
		}
	}
	preview := r.report(plan.Changes, plan.Skips)
	preview.Expected = r.expected(plan.Changes)
	if e := r.Options.Expect; e != nil && *e != preview.Expected {
		return nil, &PlanChangedError{Expected: *e, Now: preview.Expected}
	}
	if r.Options.DryRun {
		return preview, nil
	}
	if err := r.git.clearUp(); err != nil {
		return nil, err
	}
	if plan.Empty() && !r.git.changes() {
		return r.recordWithoutFiles(preview)
	}
	if r.git.changes() || r.Op.Kind == manifest.OpRevert || preview.takesAway() {
		if err := r.Options.confirm(preview); err != nil {
			return nil, err
		}
	}
	if plan.Empty() {
		return r.recordGit(preview)
	}
	r.dropReread(plan.Changes)
	paths, err := r.putPaths(&r.Op, plan.Changes, r.move.Line())
	if err != nil {
		return nil, err
	}
	safety, err := r.saveSafety(plan.Before)
	if err != nil {
		return nil, err
	}
	r.Op.Time = safety.Time
	r.Op.Safety, r.Op.Before, r.Op.After, r.Op.Paths = safety.ID, plan.Before, plan.After, paths
	// The scan's transaction is committed; what still comes goes into the next.
	r.Tx = r.Tx.Next()
	outcome, err := plan.Apply(r.Ctx, treeio.ApplyOptions{
		Dir: r.RestoreDir(), Sink: r.Tx, Owner: r.Owner, NoSync: r.Settings().Durability == "fast",
		Note:   manifest.Record{Operation: &r.Op}.Append(nil),
		Record: func(out *treeio.Outcome) error { return r.record(plan, out) },
		Now:    r.Env.Time, KeepLate: r.Op.Kind == manifest.OpRevert,
	})
	if err != nil {
		return nil, err
	}
	r.Tx = nil
	r.refreshStatCache(plan)
	done := r.report(outcome.Changes, outcome.Skips)
	done.Safety, done.Operation = safety, r.Op.Seq
	if r.late != nil {
		done.Safety = r.late
	}
	for _, e := range outcome.Late {
		done.Late = append(done.Late, e.Path)
	}
	return done, nil
}

// record makes the operation durable once everything is in place.
func (r *Run) record(plan *treeio.Plan, out *treeio.Outcome) error {
	if len(out.Changes) == 0 && len(problem.FailedOf(out.Skips)) > 0 {
		r.dropMove()
	}
	if len(out.Changes)+len(out.Late) == 0 && r.move.Line() == nil {
		return nil // no path could be changed: there is nothing to take back
	}
	if len(out.Late) > 0 {
		// What changed between the safety checkpoint and its displacement gets a
		// safety checkpoint too, before it goes.
		root, err := treeio.EditTree(r.Tx, r.Tx, plan.Before, out.Late, nil)
		if err != nil {
			return err
		}
		late, err := r.commitSafety(r.Tx, root, "changed while a restore ran", false)
		if err != nil {
			return err
		}
		r.Tx = r.Tx.Next()
		r.Op.Before, r.Op.Safety, r.late = root, late.ID, late
	}
	if !out.Exact || len(out.Late) > 0 {
		after, err := treeio.EditTree(r.Tx, r.Tx, r.Op.Before, treeio.EditsOf(out.Changes), nil)
		if err != nil {
			return err
		}
		r.Op.After = after
		if r.Op.Paths, err = r.putPaths(&r.Op, out.Changes, r.move.Line()); err != nil {
			return err
		}
	}
	if len(out.Skips) > 0 {
		r.Op.Choices = work.NotWhole(r.Op.Choices)
	}
	if err := r.applyGit(); err != nil {
		return err
	}
	return r.commitMove()
}
