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
	Gone        []GonePath       // those of them that are not there any more; of a revert, of the state before its work
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
	return Do(ctx, p, o, manifest.OpRestore, func(r *Run) (way Way, err error) {
		c := r.Options.Checkpoint // as it is now
		var before *conversation.PromptPlace
		if o.Prompt > 0 {
			if before, err = conversation.FindPrompt(ctx, p, o.Session, o.Prompt); err != nil {
				return way, err
			}
			switch {
			case before.Checkpoint != nil:
				c = before.Checkpoint.Checkpoint
			case o.Half != conversation.ConversationOnly:
				return way, before.NoCheckpoint(o.Prompt)
			}
		}
		if o.Half == conversation.ConversationOnly {
			return Way{Target: c, before: before}, nil
		}
		if err := isTarget(c); err != nil {
			return way, err
		}
		if err := r.pathsExist(c.Root); err != nil {
			return way, err
		}
		way, err = r.planTo(c)
		way.before = before
		return way, err
	})
}

// isTarget refuses the zero value of a checkpoint, whose tree would be an empty one: it was not found.
func isTarget(c manifest.Checkpoint) error {
	if c.ID == (manifest.CheckpointID{}) {
		return &project.NoCheckpointError{Reason: "there is none to restore to"}
	}
	return nil
}

// Run is one call of the restore family, from the tree lock to the record of the operation.
type Run struct {
	*project.Project
	Ctx     context.Context
	Options Options
	FS      rootfs.FS
	Sel     treeio.Selection     // nil: everything; see selected
	Scan    *checkpoint.Captured // the tree as it is
	Now     oid.ID               // its manifest
	Tx      *commit.Tx           // the scan's, and after its commit the next
	Op      manifest.Operation
	kept    func(string) bool // see Sessions
}

// Do is the flow that the verbs share; choose finds the way. A Way that comes with an error is closed, too.
func Do(ctx context.Context, p *project.Project, o Options, kind manifest.OperationKind, choose func(*Run) (Way, error)) (*Restored, error) {
	r := &Run{Project: p, Ctx: ctx, Options: o}
	r.Op.Kind, r.Op.Session, r.Op.Args = kind, o.By, cutArgs(o.Args)
	way, done, err := r.run(choose)
	if err != nil {
		return done, err
	}
	if !o.DryRun {
		maintain.FinishForgetting(ctx, p)
	}
	if release, err := p.Use(ctx); err == nil { // else each asks for itself
		defer release()
	}
	r.leaveNotice(&way, done)
	if !o.DryRun {
		WriteHistory(ctx, p)
	}
	return done, nil
}

func (r *Run) run(choose func(*Run) (Way, error)) (way Way, _ *Restored, err error) {
	p, ctx, o := r.Project, r.Ctx, r.Options
	sel, err := pathspec.Select(o.Paths)
	if err != nil {
		return way, nil, err
	}
	if !sel.All() {
		r.Sel, r.Op.Some = wholeDatabases{sel, r, oid.ID{}}, true
	}
	if !o.DryRun {
		if err := p.BeginWriting(ctx); err != nil {
			return way, nil, err
		}
		lock, err := p.Lock(ctx, account.TreeLockName)
		if err != nil {
			return way, nil, err
		}
		defer lock.Release()
	}
	release, err := p.Use(ctx)
	if err != nil {
		return way, nil, err
	}
	defer release()
	if err := r.askedNow(); err != nil {
		return way, nil, err
	}
	if r.FS, err = rootfs.Open(p.Root()); err != nil {
		return way, nil, err
	}
	defer r.FS.Close()
	look := r.recoverCrashed
	if o.DryRun {
		look = r.foreseeRecovery
	}
	crashed, err := look()
	if err != nil {
		return way, nil, p.Classify(err)
	}
	if crashed.alone != nil {
		way, done := r.recoveryAlone(crashed)
		return way, done, nil
	}
	if o.Half == conversation.ConversationOnly && o.Git == GitStays && r.Op.Kind == manifest.OpRestore {
		r.Tx = commit.Begin(p).KeepDirs()
	} else {
		if r.Scan, err = checkpoint.CaptureTree(ctx, p, checkpoint.CaptureOptions{Look: o.DryRun}); err != nil {
			return way, nil, err
		}
		r.Now, r.Tx = r.Scan.Root(), r.Scan.Tx.KeepDirs()
	}
	defer func() {
		if r.Tx != nil { // not committed
			_ = r.Tx.Discard() // what it leaves is swept by gc
		}
	}()
	defer func() { way.close() }()
	if way, err = choose(r); err != nil {
		return way, nil, p.Classify(err)
	}
	r.Op.Of = way.Target.Of
	if r.Op.Checkpoint = way.Target.ID; way.named != nil {
		r.Op.Checkpoint = *way.named
	}
	crashed.addTo(&way.found)
	if o.Half == conversation.ConversationOnly || o.GitOnly {
		way.Plan = nil
	}
	if err := r.prepareMove(&way); err != nil {
		return way, nil, p.Classify(err)
	}
	if err := r.prepareGit(&way, way.Target.Git); err != nil {
		return way, nil, p.Classify(err)
	}
	way.found.GitLost = r.lookForLoss(&way)
	done, err := r.carryOut(&way)
	return way, done, p.Classify(err)
}

// askedNow replaces the checkpoint of the options by what the log says of it now.
func (r *Run) askedNow() error {
	asked := r.Options.Checkpoint
	if asked.ID == (manifest.CheckpointID{}) {
		return nil
	}
	now, err := r.Current(r.Ctx, asked)
	if err != nil {
		return err
	}
	if asked.Transcript != nil && now.Transcript != nil {
		place := *asked.Transcript // as the caller has it, but for what is held of it
		place.Content = now.Transcript.Content
		now.Transcript = &place
	}
	if now.Of != "" { // for what happened here since, it is as if it had been taken now
		last, err := r.Store.Last()
		if err != nil {
			return r.Classify(err)
		}
		now.Seq = last.Seq
	}
	r.Options.Checkpoint = now
	return nil
}

// carryOut reads again what the plan would touch, asks, saves the safety
// checkpoint, applies the plan and records the operation.
func (r *Run) carryOut(way *Way) (*Restored, error) {
	if way.Plan == nil {
		way.Plan = &treeio.Plan{}
	}
	plan := way.Plan
	if !plan.Empty() {
		// A dry run reads too: what cannot be read is left alone, and what is as it should be already is no change.
		if err := plan.Read(r.Ctx, r.Tx); err != nil {
			return nil, err
		}
	}
	if plan.Empty() && len(plan.Skips) == 0 && way.move == nil && r.Op.Kind == manifest.OpRestore {
		if err := way.git.nothingReturns(); err != nil {
			return nil, err
		}
	}
	preview, err := r.preview(way)
	if err != nil {
		return nil, err
	}
	if e := r.Options.Expect; e != nil && *e != preview.Expected {
		return nil, &PlanChangedError{Expected: *e, Now: preview.Expected}
	}
	if r.Options.DryRun {
		return preview, nil
	}
	if err := way.git.clearUp(); err != nil {
		return nil, err
	}
	if plan.Empty() && !way.git.changes() {
		return r.recordWithoutFiles(way, preview)
	}
	if way.git.changes() || r.Op.Kind == manifest.OpRevert || preview.takesAway() {
		if err := r.Options.confirm(preview); err != nil {
			return nil, err
		}
	}
	if plan.Empty() {
		return r.recordGit(way, preview)
	}
	r.dropReread(plan.Changes)
	paths, err := r.putPaths(&r.Op, way.all(plan.Changes), way.move.Line())
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
	begun := r.Op
	if way.git.changes() {
		begun.GitAfter = way.git.state // so that who deals with a crash knows that files are not all
	}
	outcome, err := plan.Apply(r.Ctx, treeio.ApplyOptions{
		Dir: r.RestoreDir(), Sink: r.Tx, Owner: r.Owner, NoSync: r.Settings().Durability == "fast",
		Note: manifest.Record{Operation: &begun}.Append(nil),
		Record: func(out *treeio.Outcome) error {
			late, err := r.record(way, out)
			if late != nil {
				safety = late
			}
			return err
		},
		Now: r.Env.Time, KeepLate: r.Op.Kind == manifest.OpRevert,
	})
	if err != nil {
		return nil, err
	}
	r.Tx = nil
	r.refreshStatCache(plan)
	done := r.report(way, outcome.Changes, outcome.Skips)
	done.Safety, done.Operation = safety, r.Op.Seq
	for _, e := range outcome.Late {
		done.Late = append(done.Late, e.Path)
	}
	return done, nil
}

// preview completes a way whose plan was read with all that goes along, and says what would be done.
func (r *Run) preview(way *Way) (_ *Restored, err error) {
	changes := way.Plan.Changes
	if way.within, err = r.lookInto(changes); err != nil {
		return nil, err
	}
	r.warnOfLogs(way.saw, changes)
	if way.others, err = r.lookForOthers(way, changes); err != nil {
		return nil, err
	}
	if len(changes) == 0 && len(problem.FailedOf(way.Plan.Skips)) > 0 {
		r.dropMove(way)
	}
	if some, ok := r.selected(way.Target).(wholeDatabases); ok {
		for _, c := range changes {
			if some.along(c.Path) {
				way.with = append(way.with, c.Path)
			}
		}
	}
	preview := r.report(way, changes, way.Plan.Skips)
	preview.Expected = r.expected(way.Target, changes)
	return preview, nil
}

// record makes the operation durable once everything is in place. late is the safety checkpoint of what was written while the
// plan was applied; nil for nothing.
func (r *Run) record(way *Way, out *treeio.Outcome) (late *manifest.Checkpoint, err error) {
	if len(out.Changes) == 0 && len(problem.FailedOf(out.Skips)) > 0 {
		r.dropMove(way)
	}
	if len(out.Changes)+len(out.Late) == 0 && way.move.Line() == nil {
		return nil, nil // no path could be changed: there is nothing to take back
	}
	if len(out.Late) > 0 { // it gets a safety checkpoint, too, before it goes
		root, err := treeio.EditTree(r.Tx, r.Tx, way.Plan.Before, out.Late, nil)
		if err != nil {
			return nil, err
		}
		if late, err = r.commitSafety(r.Tx, root, "changed while a restore ran", false); err != nil {
			return nil, err
		}
		r.Tx = r.Tx.Next()
		r.Op.Before, r.Op.Safety = root, late.ID
	}
	if !out.Exact || len(out.Late) > 0 {
		after, err := treeio.EditTree(r.Tx, r.Tx, r.Op.Before, treeio.EditsOf(out.Changes), nil)
		if err != nil {
			return late, err
		}
		r.Op.After = after
		if r.Op.Paths, err = r.putPaths(&r.Op, way.all(out.Changes), way.move.Line()); err != nil {
			return late, err
		}
	}
	if len(out.Skips) > 0 {
		r.Op.Choices = work.NotWhole(r.Op.Choices)
	}
	return late, r.recordMoves(way, out.Note)
}
