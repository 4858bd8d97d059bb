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
	"github.com/rewind-cli/rewind/engine/commit"
	"github.com/rewind-cli/rewind/engine/gitstate"
	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/remote"
	"github.com/rewind-cli/rewind/engine/stores"
	"github.com/rewind-cli/rewind/engine/treeio"
	"github.com/rewind-cli/rewind/manifest"
)

// Forgotten is what forget did.
type Forgotten struct {
	Paths       []string // that were in some checkpoint or operation
	Checkpoints int      // that named or held something of it
	Freed       int64    // bytes on disk
	// Pending says why bytes are still there, "" if none are. The next command that
	// writes, or gc, finishes it, and Status says so until then.
	Pending string
	LivesOn []LivesOn // where the same content is kept under paths that were not forgotten
	Present []string  // forgotten paths that the working tree has and the rules capture: the next save takes them again
	Still   []string  // files outside the store that hold a text, or the content of the paths: the agents' own
	Forks   []string  // of these, conversations that a restore wrote
	Texts   int       // places of conversations where it was marked out
	// Mentions is how many entries of conversations name one of the paths or have a value from its file, Missed how many versions of files were not
	// looked for in conversations, being too large or too many.
	Mentions, Missed int
	// GitStates is how many checkpoints lost git's own state, and Git which repositories have a text themselves.
	GitStates int
	Git       []GitHas
	Named     []string // paths of checkpoints with a text in the name
	Settings  []string // files of settings with a text
	DryRun    bool     // nothing was changed
	// Unread are checkpoints that may still name it: the store has lost something of them, which nothing can be taken out of.
	Unread []manifest.Checkpoint
	// Checkpoint is the one that was forgotten, zero for none, and Shared the number of its files that others have, too.
	Checkpoint manifest.CheckpointID
	Shared     int
	SharedGit  int // objects that are held of git, and that its state of git reaches, and another one
	// Others are other stores of the account that may hold the same content still: those with the same origin, and those with a
	// conversation of the same session. If nothing was found here, the content is not known: those of the first are Suspect that
	// have the path, or the text, or in which a forget is not finished.
	Others []stores.Relative
	// Homes are other accounts with a mirror of the store that may hold it: it goes from there the next time that account uses the
	// store. A file that was removed earlier, for something else, may have held it, too: all that was ever removed counts.
	Homes []account.Home
	// Beside are other accounts that may hold it for the store of another work tree of the repository.
	Beside []gitstate.Beside
	// Links is how many names files that may hold it have had outside of the store and of all mirrors that are known: in that of
	// an account that has not been there since the store knows them, or in a copy made of hard links.
	Links     int
	LinksFile string // to delete where that was such a copy
	// Copies are copies of packs that lay beside them, and were removed; Strays what else is in the store's directory that is
	// not the store's: it was not searched.
	Copies []string
	Strays []string
	// Left are temporary files in the project of a restore that was killed, of which the store does not have the content:
	// they may hold a part of it.
	Left []string
	// Pulled are the names of the logs that were pulled: they are dropped, since they may hold it.
	Pulled []string
	// Remotes are the names of those to which something was pushed before: nothing is removed there.
	Remotes []string
	// Shares are those that this store knows of, and that may hold it.
	Shares []remote.KnownShare

	// HeldObjects and HeldPacks are how many objects of git with the content, and packs with one, were held and that no repository has any more: they
	// were let go of. HeldAll says that all was let go of, since the text can be in any.
	HeldObjects, HeldPacks int
	HeldAll                bool
	Unsearched             string // why commits of git that are held may have it at a path all the same, "" where all were searched

	gitIDs []string        // of the objects of git that were let go of, or would be
	kept   map[string]bool // ids of checkpoints of which nothing was taken: they only say at most that they know nothing of it
}

// Elsewhere is how many mirrors and unknown links may have it.
func (f *Forgotten) Elsewhere() int { return len(f.Homes) + len(f.Beside) + f.Links }

// LivesOn is a path with content that was also under a forgotten one.
type LivesOn struct {
	Path        string
	Checkpoints int
}

// Forget takes paths (and globs) out of all checkpoints and operations, for
// good: what they were is rewritten, and no byte of their content stays in the store or
// its mirror, unless it lives on under another path; conversations that hold it are marked
// (see contentMark). It cannot be undone. With dryRun nothing is changed. The working
// tree is left alone, also by later restores: of a forgotten path a checkpoint says nothing.
// Errors: *NotHeldError, *OutsideError, *RefusedError, *BusyError, *DamagedStoreError.
func Forget(ctx context.Context, p *project.Project, paths []string, dryRun bool) (*Forgotten, error) {
	chosen, err := pathspec.Select(paths)
	if err != nil {
		return nil, err
	}
	if chosen.All() {
		return nil, &project.RefusedError{What: "forgetting everything would leave empty checkpoints"}
	}
	return forget(ctx, p, dryRun, func(tx *commit.Tx, log *LogState) (amender, error) {
		f := &forgetter{chosen: chosen, patterns: paths, done: map[forgetKey]*forgotten{}, paths: map[string]bool{}, content: map[oid.ID]bool{}, bytes: map[oid.ID]bool{}, coverage: map[oid.ID]covered{}}
		f.conversations = newConversations(ctx, p, tx, log, &f.seen, dryRun)
		return f, f.look(ctx, log)
	})
}

// amender decides what checkpoints and operations say from now on.
type amender interface {
	// checkpoint and operation change what they are given, and report whether they did.
	checkpoint(context.Context, *manifest.Checkpoint) (bool, error)
	operation(context.Context, *manifest.Operation) (bool, error)
	// touch reports whether what a hook saw of a path goes.
	touch(*manifest.Touch) bool
	// marks are records about checkpoints that are committed too.
	marks() []manifest.Record
	// finish is called when all were asked, before anything is committed.
	finish(context.Context, *LogState, *Forgotten) error
	// leftovers clears what lies beside the log, once it is committed.
	leftovers(context.Context, *Forgotten) error
	// wanted is what another store is looked through for: objects, and what a record says.
	wanted(context.Context) (ids []oid.ID, says func(*cas.Store, manifest.Record) bool)
	// converses reports whether a record of another store has it in a conversation that this one has, too.
	converses(context.Context) func(*cas.Store, manifest.Record) bool
}

// forgetWait is how long forget waits for those who read the store.
const forgetWait = 5 * time.Second

// forget amends the log under the locks that keep saves, restores and sweeps
// out, and then sweeps.
func forget(ctx context.Context, p *project.Project, dryRun bool, begin func(*commit.Tx, *LogState) (amender, error)) (*Forgotten, error) {
	result := &Forgotten{DryRun: dryRun, kept: map[string]bool{}}
	unlock, err := forgetting(ctx, p, dryRun)
	if err != nil {
		return nil, err
	}
	defer unlock()
	var a amender
	err = amend(ctx, p, func(tx *commit.Tx, log *LogState) (_ amender, err error) {
		if a, err = begin(tx, log); err == nil {
			err = result.dropPulled(p) // before anything says that it is forgotten
		}
		return a, err
	}, result)
	if held := (*NotHeldError)(nil); errors.As(err, &held) {
		for _, pattern := range held.Patterns {
			if there, perr := pulledHave(ctx, p, pattern); perr != nil || !there {
				return nil, errors.Join(err, perr)
			}
		}
		if err := result.dropPulled(p); err != nil || dryRun {
			return result, err
		}
		return result, result.purge(ctx, p, GCOptions{only: true})
	}
	if err != nil {
		return nil, p.Classify(err)
	}
	if result.Others, err = othersWith(ctx, p, a, result); err != nil {
		return nil, fmt.Errorf("look for other stores that may hold it: %w", err)
	}
	if dryRun {
		return result, nil
	}
	return result, result.purge(ctx, p, GCOptions{only: true})
}

// ForgetCheckpoint removes one checkpoint; no byte of what it alone has stays. It cannot be undone. Errors: those of Forget;
// *RefusedError also for one that is pinned, named, needed or the last.
func ForgetCheckpoint(ctx context.Context, p *project.Project, id manifest.CheckpointID, dryRun bool) (*Forgotten, error) {
	if id == (manifest.CheckpointID{}) { // for a sweep that is no checkpoint in particular
		return nil, &project.NoCheckpointError{Reason: "there is none to forget"}
	}
	result := &Forgotten{DryRun: dryRun, Checkpoint: id, Checkpoints: 1}
	unlock, err := forgetting(ctx, p, dryRun)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := result.dropPulled(p); err != nil {
		return nil, err
	}
	if err := result.purge(ctx, p, GCOptions{Checkpoint: id, DryRun: dryRun}); err != nil {
		return nil, err
	}
	if dryRun {
		result.Freed = 0 // not known: a purge writes more anew than it removes
	}
	return result, nil
}

// dropPulled drops what was pulled, or says what would be.
func (f *Forgotten) dropPulled(p *project.Project) (err error) {
	if !f.DryRun {
		f.Pulled, err = dropPulled(p)
		return err
	}
	all, err := p.Pulled()
	for _, l := range all {
		f.Pulled = append(f.Pulled, l.Name)
	}
	return err
}

// forgetting takes the lock of gc for a forget; a dry run needs none.
func forgetting(ctx context.Context, p *project.Project, dryRun bool) (unlock func(), err error) {
	if dryRun {
		return func() {}, nil
	}
	if err := p.BeginWriting(ctx); err != nil {
		return nil, err
	}
	lock, err := p.Lock(ctx, project.SweepLock)
	if err != nil {
		return nil, err
	}
	return func() { lock.Release() }, nil
}

// purge leaves no byte in the store of what the log does not need any more.
func (f *Forgotten) purge(ctx context.Context, p *project.Project, o GCOptions) error {
	o.purge, o.wait = true, min(forgetWait, p.Patience())
	collected, err := collect(ctx, p, o)
	switch {
	case err != nil && (ctx.Err() != nil || o.Checkpoint != manifest.CheckpointID{} || project.IsDamage(p.Classify(err))):
		return err
	case err != nil: // the log says already that it is gone, and the next write finishes
		f.Pending = problem.Text(err)
		return nil
	case o.Checkpoint != (manifest.CheckpointID{}) && len(collected.Removed) == 0:
		return &project.RefusedError{What: "the checkpoint was pinned, named or used by an operation meanwhile"}
	case collected.Unswept != nil:
		f.Pending = problem.Text(collected.Unswept)
	case collected.Deferred:
		f.Pending = "another process is reading the store"
	}
	f.Freed, f.Shared, f.SharedGit, f.Copies = collected.Freed, collected.Shared, collected.SharedGit, collected.Copies
	left, _, err := Leftovers(ctx, p)
	if err != nil {
		return err
	}
	for _, l := range left {
		if !l.Held {
			f.Left = append(f.Left, l.Path)
		}
	}
	strays, err := Strays(p)
	if err != nil {
		return err
	}
	for _, s := range strays {
		if !s.Tame {
			f.Strays = append(f.Strays, s.Path)
		}
	}
	if f.Remotes, err = remote.Holding(p); err != nil {
		return err
	}
	if f.Shares, err = remote.KnownShares(p); err != nil {
		return err
	}
	f.Shares = slices.DeleteFunc(f.Shares, func(s remote.KnownShare) bool {
		return f.kept[s.Checkpoint] || f.Checkpoint != manifest.CheckpointID{} && f.Checkpoint.String() != s.Checkpoint
	})
	if err := p.SignUp(account.MirrorLooked); err != nil {
		return err
	}
	f.LinksFile = account.LinksFile(p.StoreDir())
	f.Homes, f.Links, err = p.HomesBehind(gitstate.Note(p))
	return p.Classify(err)
}

// othersWith lists the other stores that may hold what was taken out, or, where there was nothing to take out, all with the origin
// of this one.
func othersWith(ctx context.Context, p *project.Project, a amender, result *Forgotten) (out []stores.Relative, err error) {
	relatives, err := stores.Relatives(p)
	if err != nil {
		return nil, err
	}
	ids, says := a.wanted(ctx)
	converses, holds, around := a.converses(ctx), gitstate.StoresWith(p, result.gitIDs), gitstate.StoresAround(p)
	for _, r := range relatives {
		switch {
		case holds[r.ID] && around[r.ID]:
			r.Suspect, r.Holds = true, true
		case !r.SameOrigin:
			r.Suspect = converses != nil && r.MayHold(nil, converses)
		case result.Found():
			r.Suspect = holds[r.ID] || r.MayHold(ids, says)
		default:
			r.Suspect = holds[r.ID] || r.Forgetting() || r.MayHold(ids, says)
		}
		if f, byText := a.(*textForgetter); byText && !r.Suspect && (f.beside[r.ID] || f.around[r.ID]) {
			r.Suspect = r.MayHold(nil, f.inState)
			r.SameGit, r.Holds = r.Suspect && f.beside[r.ID], r.Suspect && !f.beside[r.ID]
		}
		if r.Suspect || r.SameOrigin && !result.Found() {
			out = append(out, r)
		}
	}
	return out, nil
}

// Found reports whether there was anything to forget.
func (f *Forgotten) Found() bool {
	return len(f.Paths) > 0 || f.Texts > 0 || f.Checkpoint != (manifest.CheckpointID{})
}

// amend commits what the amender makes of the log.
func amend(ctx context.Context, p *project.Project, begin func(*commit.Tx, *LogState) (amender, error), result *Forgotten) error {
	if !result.DryRun {
		tree, err := p.Lock(ctx, account.TreeLockName)
		if err != nil {
			return err
		}
		defer tree.Release()
	}
	release, err := p.Use(ctx)
	if err != nil {
		return err
	}
	defer release()
	if j, err := treeio.Open(p.RestoreDir()); err != nil {
		return project.JournalError(err)
	} else if j != nil && j.Touched {
		return &project.RefusedError{What: "a restore was interrupted, and its leftovers may contain what is to be forgotten", Next: "run rewind undo, then forget again"}
	}
	start := commit.Look
	if !result.DryRun {
		start = commit.Begin
		if err := complete(ctx, p); err != nil {
			return err
		}
	}
	log, err := ReadLog(ctx, p)
	if err != nil {
		return err
	}
	tx := start(p)
	defer func() { _ = tx.Discard() }() // what it leaves is swept
	a, err := begin(tx, log)
	if err != nil {
		return err
	}
	record := manifest.Amend{Time: p.Env.Time().UTC()}
	if record.Records, err = amended(ctx, p, log, a, result); err != nil {
		return err
	}
	if err := a.finish(ctx, log, result); err != nil || result.DryRun {
		return err
	}
	// One that finds nothing leaves a record, too: what another account's mirror has beyond this log is older than it then.
	records := append(a.marks(), manifest.Record{Operation: &manifest.Operation{Kind: manifest.OpForget, Time: record.Time}})
	if len(record.Records) > 0 {
		if err := p.NoteForgetting(project.ForgettingNote{Since: record.Time, Log: log.last}); err != nil {
			return err
		}
		// The last record is none that is replaced: sequence numbers never go back.
		records = slices.Insert(records, 0, manifest.Record{Amend: &record})
	}
	_, err = tx.Commit(ctx, func() ([]manifest.Record, error) { return records, nil },
		func(cas.Position) error { // the first names the old trees, the second says what was typed
			return errors.Join(account.RemoveIfThere(p.StatCacheFile()), account.RemoveIfThere(filepath.Join(p.StoreDir(), account.RestoreHistoryName)))
		})
	if err != nil {
		return err
	}
	return a.leftovers(ctx, result)
}

// amended are the records that the amender changes, as they read from now on.
func amended(ctx context.Context, p *project.Project, log *LogState, a amender, result *Forgotten) (records []manifest.Sequenced, err error) {
	count := p.Counting("forget", "checkpoint")
	for i, c := range log.Checkpoints {
		count(i, len(log.Checkpoints))
		was := c
		changed, err := a.checkpoint(ctx, &c)
		if err != nil {
			return nil, fmt.Errorf("checkpoint %s: %w", c.ID, err)
		}
		if changed {
			records = append(records, manifest.Sequenced{Seq: c.Seq, Record: manifest.Record{Checkpoint: &c}})
			result.Checkpoints++
		}
		if was.Coverage = c.Coverage; c == was {
			result.kept[c.ID.String()] = true
		}
	}
	count(len(log.Checkpoints), len(log.Checkpoints))
	newest, older := log.undoable(nil)
	for i, o := range slices.Concat(newest, older) {
		changed, err := a.operation(ctx, &o)
		if i >= len(newest) && project.IsDamage(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("operation %d: %w", o.Seq, err)
		}
		if changed {
			records = append(records, manifest.Sequenced{Seq: o.Seq, Record: manifest.Record{Operation: &o}})
		}
	}
	for _, t := range log.Touches {
		if a.touch(&t) {
			records = append(records, manifest.Sequenced{Seq: t.Seq, Record: manifest.Record{Touch: &manifest.Touch{}}})
		}
	}
	return records, nil
}
