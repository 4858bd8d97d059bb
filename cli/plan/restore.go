package plan

import (
	"context"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/report"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/oplog"
	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/manifest"
)

// Of what is undone and of what is skipped, a plan names the first; it counts the others.
const mostPrompts, mostSkipped = 5, 20

// Parts are what a restore takes of files in part.
type Parts struct {
	Hunks       []restore.HunkChoice
	Text, Brief string // "2 of 5 hunks of src/a.go", and for a line that has much to say
}

// restoring is a restore, an undo or a redo.
type restoring struct {
	words     report.RestoreWords
	do        func(context.Context, *project.Project, restore.Options) (*restore.Restored, error)
	options   restore.Options
	what, did string   // of a Plan
	parts     *Parts   // nil for whole files
	reverts   []string // that go, too: of what each was
}

// Restore plans a restore to a checkpoint: of these paths alone, or of all; of parts of files beside them. With git, what git
// has lost since returns, too, where all files go along.
func (s *Plans) Restore(ctx context.Context, to *project.Listed, half conversation.Half, paths []string, parts *Parts, git bool) (*Plan, error) {
	a := &restoring{words: report.RestoreCheckpoint, do: restore.Restore, parts: parts}
	a.options.Checkpoint, a.options.Half, a.options.Paths = to.Checkpoint, half, pathspec.Literal(paths)
	if len(paths) > 0 || parts != nil {
		a.words.Part = report.PartOf(paths, parts != nil)
	}
	if git && len(paths) == 0 && parts == nil && half != conversation.ConversationOnly {
		a.options.Git = restore.GitLost
	}
	if s.c.Session != "" && half != conversation.CodeOnly {
		var err error
		if a.options.Session, err = session.Choose(ctx, s.p, s.c.Session); err != nil {
			return nil, err
		}
	}
	name, err := s.placeName(ctx, to)
	if err != nil {
		return nil, err
	}
	if parts != nil {
		name += ", " + parts.Brief
		a.do = func(ctx context.Context, pr *project.Project, o restore.Options) (*restore.Restored, error) {
			return restore.RestoreHunks(ctx, pr, o, parts.Hunks)
		}
	}
	a.what, a.did = "restore to "+name, "Restored to "+name
	return s.make(ctx, a)
}

// Undo plans to take the last operation back.
func (s *Plans) Undo(ctx context.Context) (*Plan, error) {
	return s.make(ctx, &restoring{words: report.UndoWords, do: restore.Undo, what: "undo", did: "Undone"})
}

// Redo plans to do again what was taken back last.
func (s *Plans) Redo(ctx context.Context) (*Plan, error) {
	return s.make(ctx, &restoring{words: report.RedoWords, do: restore.Redo, what: "redo", did: "Redone"})
}

// placeName names a checkpoint in a question; of a safety checkpoint it says what was done then, to what, and when: there are many.
func (s *Plans) placeName(ctx context.Context, l *project.Listed) (string, error) {
	if l.Kind != manifest.Safety {
		return rows.Clipped(l), nil
	}
	ops, err := oplog.OperationLog(ctx, s.p, 0)
	if err != nil {
		return "", err
	}
	for _, op := range ops {
		if op.Safety != l.ID {
			continue
		}
		name := "the state before the " + rows.OperationVerb(&op.Operation)
		if op.Target != nil && op.Target.N > 0 {
			name += " to " + rows.Clipped(op.Target)
		}
		return name + ", " + app.Ago(s.c.Out, op.Time), nil
	}
	return rows.Clipped(l), nil
}

func (a *restoring) carryOut(ctx context.Context, p *project.Project) (*Done, error) {
	r, err := a.do(ctx, p, a.options)
	return &Done{Restored: r, words: a.words}, err
}

func (a *restoring) plan(ctx context.Context, s *Plans, p *Plan) error {
	o := a.options
	o.DryRun, o.Expect = true, nil
	r, err := a.do(ctx, s.p, o)
	if err != nil {
		return err
	}
	a.options.Expect, p.Restored = &r.Expected, r
	target := project.Listed{Checkpoint: r.Checkpoint}
	err = s.p.Query(ctx, func(db *manifest.DB) error {
		target.N = db.Position(r.Checkpoint.Seq)
		return nil
	})
	if err == nil {
		a.reverts, err = s.revertsSince(ctx, a, r)
	}
	if err == nil {
		a.describe(p, r, target)
		if r.NotCaptured > 0 {
			p.fact(report.NotCapturedText(s.c, r.NotCaptured, r.Checkpoint.ID.String()[:app.ShortID]))
		}
		if text := report.GoneText(r); text != "" {
			p.fact(text)
		}
	}
	return err
}

// revertsSince are the reverts that were not taken back and go with a restore of all files, the newest first.
func (s *Plans) revertsSince(ctx context.Context, a *restoring, r *restore.Restored) (list []string, err error) {
	if !a.words.TakesCheckpoint || len(a.options.Paths) > 0 || a.parts != nil || !report.Changed(r) || r.Checkpoint.Seq == 0 {
		return nil, nil
	}
	ops, err := oplog.OperationLog(ctx, s.p, 0)
	for _, op := range ops {
		if op.Kind == manifest.OpRevert && op.TakenBackBy == 0 && op.Seq > r.Checkpoint.Seq {
			list = append(list, strings.TrimSpace("the revert "+s.Reverted(ctx, op.Operation)))
		}
	}
	return list, err
}

// Reverted says what a revert was of: a turn, by its row, or what was typed.
func (s *Plans) Reverted(ctx context.Context, op manifest.Operation) string {
	if len(op.Args) >= app.ShortID {
		if l, err := app.Resolve(ctx, s.p, op.Args); err == nil && strings.HasPrefix(l.ID.String(), op.Args) {
			return "of " + rows.Clipped(&l)
		}
	}
	return app.Escape(op.Args)
}

// describe says what is moved, what goes, whose work goes too, and how to take it back.
func (a *restoring) describe(p *Plan, r *restore.Restored, target project.Listed) {
	p.what, p.did = a.what, a.did
	if a.words.TakesTo { // undo: what it takes back may be something else than when it was planned last
		p.Back = "U"
		if r.Of != "" {
			p.what += " the " + r.OfVerb
		}
	}
	p.Git, p.OffersGit = a.options.Git == restore.GitLost, a.options.Git == restore.GitLost || a.words.TakesCheckpoint && r.GitLost != nil
	p.Title = upper(p.what)
	if a.options.Checkpoint.ID == (manifest.CheckpointID{}) && r.Checkpoint.ID != (manifest.CheckpointID{}) {
		if r.Since != "" { // the state that an operation left is no checkpoint's
			p.Title += " what was changed since the last " + rows.OperationNoun(r.Since)
		} else {
			p.Title += ": to " + rows.Briefly(target)
		}
	}
	if p.Instead = r.Instead; p.Instead != nil && p.Instead.Some { // here it has no paths
		p.Instead = nil
	}
	p.Alone = slices.DeleteFunc(slices.Clone(r.Others), func(o restore.OtherWork) bool { return o.Alone == nil || o.Alone.Some })
	conv, half := r.Conversation, a.options.Half
	files := "Files: " + withDirectories(r)
	switch half {
	case conversation.ConversationOnly:
		p.fact("The conversation alone; files stay as they are.")
	case conversation.CodeOnly:
		which := "The files alone"
		if a.parts != nil {
			which = "Of the files, " + a.parts.Text
		} else if n := len(a.options.Paths); n > 0 {
			which = "Of the files, the " + app.Plural(n, "path that was chosen", "paths that were chosen")
		}
		p.fact(which + "; the conversation stays.")
		p.fact(files)
	default:
		p.fact(files)
	}
	switch {
	case conv != nil:
		p.fact(movedText(conv))
	case r.Stuck:
		p.fact("Conversation: stays, because no file can be restored.")
	case r.Without != nil && half != conversation.CodeOnly:
		p.faint("Conversation: stays; " + app.Escape(r.Without.Error()) + ".")
	}
	if text := report.GitFact(r, true); text != "" {
		p.fact(text)
	}
	for _, text := range report.GitStateText(r) {
		p.fact("Git: " + text + ".")
	}
	for _, text := range app.FirstN(r.Prompts, mostPrompts) {
		p.faint("  undoes: " + screen.Clip(app.FirstLine(text), 100))
	}
	if n := len(r.Prompts) - mostPrompts; n > 0 {
		p.faint("  and " + app.Plural(n, "more prompt", "more prompts"))
	}
	for _, text := range app.FirstN(a.reverts, mostPrompts) {
		p.faint("  undoes: " + text)
	}
	if n := len(a.reverts) - mostPrompts; n > 0 {
		p.faint("  and " + app.Plural(n, "more revert", "more reverts"))
	}
	p.Others = report.OthersText("Also undoes", "Undoes", r)
	p.Notes = append(p.Notes, p.howBack())
	for _, k := range app.FirstN(r.Skip, mostSkipped) {
		p.Notes = append(p.Notes, "Skipped: "+app.EscapePath(k.Path)+": "+app.Escape(k.Reason))
	}
	if n := len(r.Skip) - mostSkipped; n > 0 {
		p.Notes = append(p.Notes, "Skipped: "+app.Plural(n, "more path", "more paths"))
	}
}

// withDirectories are the counts of a plan, whose list has the directories, too, that come and go with what is in them.
func withDirectories(r *restore.Restored) string {
	created, emptyCreated := r.Count(r.Create)
	deleted, emptyDeleted := r.Count(r.Delete)
	line := report.RestoredLine(r)
	if n := len(r.Create) + len(r.Delete) - created - emptyCreated - deleted - emptyDeleted; n > 0 {
		line = strings.TrimSuffix(line, ".") + ", with " + app.Plural(n, "directory", "directories") + "."
	}
	return line
}

// movedText is what happens to the conversation.
func movedText(m *conversation.Moved) string {
	text := "Conversation: a fork"
	switch {
	case m.Removed:
		text = "Conversation: the fork is removed"
	case m.InPlace:
		text = "Conversation: rewritten in place"
	}
	if n := len(m.Prompts); n > 0 {
		text += ", without the last prompt"
		if n > 1 {
			text = strings.TrimSuffix(text, "prompt") + app.Plural(n, "prompt", "prompts")
		}
	}
	return text + "."
}

func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
