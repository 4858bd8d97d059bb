package restore

import (
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/notice"
	"github.com/rewind-cli/rewind/engine/rules"
	"github.com/rewind-cli/rewind/engine/treeio"
	"github.com/rewind-cli/rewind/manifest"
)

// Way is what a verb chooses: the state that a run goes to, and what the verb knows of that. The frame adds the conversation,
// git's own state, and what else would go.
type Way struct {
	Plan    *treeio.Plan         // of the files; nil: none is to change
	Target  manifest.Checkpoint  // for the answer, and for the operation
	GitThen *manifest.Checkpoint // where git's HEAD was when the work that is reverted began; nil: as in Target
	Notice  notice.Notice        // what only the verb knows of the notice

	named     *manifest.CheckpointID    // what the operation names in place of Target; nil: Target
	saw       *Sight                    // what Target saw; nil where an operation is taken back
	before    *conversation.PromptPlace // where back goes to
	takesBack []uint64                  // the operations that are taken back, by their sequence numbers
	hunks     []HunkChoice              // what is chosen of paths; the others go as a whole
	with      []string                  // what is restored with them, since it is of the same databases
	found     Restored                  // what is known for the answer so far; report adds what the plan does

	move   *conversation.Move         // the conversation on its way, nil for none
	git    *gitMove                   // git's own state on its way, nil for none
	within map[string][]treeio.Change // what goes with a directory that is replaced, see lookInto
	others others                     // whose work goes beside that of the session that it is about
}

func (way *Way) close() {
	way.git.close()
	way.move.Close()
}

// all are changes with what goes along with replaced directories.
func (way *Way) all(changes []treeio.Change) (all []treeio.Change) {
	for _, c := range changes {
		all = append(append(all, c), way.within[c.Path]...)
	}
	return all
}

// gitThen is the state whose HEAD is compared with the present one.
func (way *Way) gitThen() manifest.Checkpoint {
	if way.GitThen != nil {
		return *way.GitThen
	}
	return way.Target
}

// selected is what is selected on the way to a checkpoint: with the paths that are asked for, the databases that they are of.
func (r *Run) selected(c manifest.Checkpoint) treeio.Selection {
	if s, ok := r.Sel.(wholeDatabases); ok {
		s.target = c.Root
		return s
	}
	return r.Sel
}

// planTo plans the way of what is asked for to a checkpoint.
func (r *Run) planTo(c manifest.Checkpoint) (Way, error) { return r.planTree(c, c.Root, r.selected(c)) }

// planTree plans the way of what is selected to the tree of a checkpoint, in which files may have been edited since, under its
// rules and today's.
func (r *Run) planTree(c manifest.Checkpoint, root oid.ID, selected treeio.Selection) (way Way, err error) {
	target, today := rules.Of(r.Project, r.Tx, c), r.Today()
	way.Target, way.saw = c, r.sightOf(c, target)
	o := r.PlanOptions(root, selected)
	o.InTarget, o.InScope, o.Unseen, o.Whole = target.MayGo, today.MayGo, way.saw.Unseen, r.whole(way.saw)
	if way.Plan, err = treeio.NewPlan(r.Ctx, o); err != nil {
		return way, err
	}
	return way, r.addUnread(&way, target, today)
}

// PlanOptions are those of every plan from the present tree to another, on the paths that are selected.
func (r *Run) PlanOptions(target oid.ID, selected treeio.Selection) treeio.Options {
	return treeio.Options{Progress: r.PlanProgress(), FS: r.FS, Source: r.Tx, Current: r.Now, Target: target, Select: selected,
		Own: rules.Own(r.Project), Sessions: r.Sessions(), Workers: r.Tx.Workers()}
}
