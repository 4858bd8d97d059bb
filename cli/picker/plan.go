package picker

import (
	"context"
	"errors"
	"slices"
	"strconv"
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
	"github.com/rewind-cli/rewind/engine/revert"
	"github.com/rewind-cli/rewind/manifest"
)

// shownPlan is a plan that was shown: what y does.
type shownPlan struct {
	verb    report.RestoreVerb
	options restore.Options
	what    string                 // "restore to 3", in a question
	did     string                 // "Restored to 3"
	Back    string                 // the key that takes it back
	parts   string                 // "2 of 5 hunks of a.go", "" for whole files
	Instead *restore.RevertInstead // what keeps the work of others, nil where none goes
	Alone   []restore.OtherWork    // of those whose work goes where it is unclear who is meant: each can go alone
	revert  *revert.Options        // instead of options, where it is a revert
	Target  manifest.CheckpointID  // whose files it brings; zero before there was a plan
}

// KeptPlans is how many plans that were shown can be done: whoever chooses paths one by one sees many.
const KeptPlans = 32

// doneRestore is what y did.
type doneRestore struct {
	verb     report.RestoreVerb
	Done     *restore.Restored
	reverted *revert.Reverted // instead of both, where it was a revert
}

// PickedName is briefly for a question, which has one line for all that it names.
func PickedName(l *project.Listed) string {
	short := *l
	short.Prompt, short.Description, short.ToolSummary = screen.Clip(l.Prompt, 28), screen.Clip(l.Description, 28), screen.Clip(l.ToolSummary, 20)
	return rows.Briefly(short)
}

// placeName is PickedName, and of a safety checkpoint what was done then, to what, and when: there are many.
func (s *Source) placeName(ctx context.Context, l *project.Listed) (string, error) {
	if l.Kind != manifest.Safety {
		return PickedName(l), nil
	}
	ops, err := oplog.OperationLog(ctx, s.P, 0)
	if err != nil {
		return "", err
	}
	for _, op := range ops {
		if op.Safety != l.ID {
			continue
		}
		name := "the state before the " + rows.OperationVerb(&op.Operation)
		if op.Target != nil && op.Target.N > 0 {
			name += " to " + PickedName(op.Target)
		}
		return name + ", " + app.Ago(s.C.Out, op.Time), nil
	}
	return PickedName(l), nil
}

// MakePlan makes the plan that a key asks for, by a dry run.
func (s *Source) MakePlan(ctx context.Context, a screen.Ask) (*screen.Plan, error) {
	p := &shownPlan{verb: report.RestoreCheckpoint, what: "redo", did: "Redone", Back: "u"}
	switch a.Verb {
	case screen.Revert:
		return s.planTurn(ctx, a.ID)
	case screen.Restore:
		l, err := s.Checkpoint(a.ID)
		if err != nil {
			return nil, err
		}
		p.options.Checkpoint = l.Checkpoint
		p.options.Half = map[screen.Half]conversation.Half{screen.Code: conversation.CodeOnly, screen.Conversation: conversation.ConversationOnly}[a.Half]
		p.options.Paths = LiteralPaths(a.Paths)
		if a.Paths != "" || a.Parts != "" {
			p.verb.Part = report.PartOf(strings.Split(strings.TrimSuffix(a.Paths, "\x00"), "\x00"), a.Parts != "")
		}
		if s.C.Session != "" && a.Half != screen.Code {
			if p.options.Session, err = conversation.ChooseSession(ctx, s.P, s.C.Session); err != nil {
				return nil, err
			}
		}
		name, err := s.placeName(ctx, l)
		if err != nil {
			return nil, err
		}
		p.what, p.did = "restore to "+name, "Restored to "+name
		if a.Parts != "" {
			var choices []restore.HunkChoice
			var brief string
			if choices, p.parts, brief, err = s.choices(a); err != nil {
				return nil, err
			}
			p.what, p.did = p.what+", "+brief, p.did+", "+brief
			p.verb.Do = func(ctx context.Context, pr *project.Project, o restore.Options) (*restore.Restored, error) {
				return restore.RestoreHunks(ctx, pr, o, choices)
			}
		}
	case screen.Undo:
		p.verb, p.what, p.did, p.Back = report.UndoVerb, "undo", "Undone", "U"
	case screen.Redo:
		p.verb = report.RedoVerb
	}
	return s.planOf(ctx, p)
}

// planOf runs a plan dry and keeps what it was made from.
func (s *Source) planOf(ctx context.Context, p *shownPlan) (*screen.Plan, error) {
	o := p.options
	o.DryRun, o.Expect = true, nil
	r, err := p.verb.Do(ctx, s.P, o)
	if err != nil {
		return nil, err
	}
	p.options.Expect, p.Instead = &r.Expected, r.Instead
	if p.Instead != nil && p.Instead.Some { // here it has no paths
		p.Instead = nil
	}
	p.Alone = slices.DeleteFunc(slices.Clone(r.Others), func(o restore.OtherWork) bool { return o.Alone == nil || o.Alone.Some })
	if p.verb.TakesTo { // undo: what it takes back may be something else than when it was planned last
		if p.what = "undo"; r.Of != "" {
			p.what += " the " + r.OfVerb
		}
	}
	p.Target = r.Checkpoint.ID
	target := project.Listed{Checkpoint: r.Checkpoint}
	err = s.P.Query(ctx, func(db *manifest.DB) error {
		target.N = db.Position(r.Checkpoint.Seq)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return planOnScreen(p, r, target, s.keepPlan(p)), nil
}

// keepPlan keeps a plan that is shown, and gives its token.
func (s *Source) keepPlan(p *shownPlan) int {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.planned++ // an id is never used again: another page may still show the plan that had it
	s.Plans[s.planned] = p
	delete(s.Plans, s.planned-KeptPlans)
	return s.planned
}

// LiteralPaths are the paths of an ask, as patterns that mean just them.
func LiteralPaths(paths string) (out []string) {
	for path := range strings.SplitSeq(paths, "\x00") {
		if path != "" {
			out = append(out, pathspec.EscapeGlob(path))
		}
	}
	return out
}

// planOnScreen shows a plan: what is moved, what goes, whose work goes too, and how to take it back.
func planOnScreen(p *shownPlan, r *restore.Restored, target project.Listed, token int) *screen.Plan {
	out := &screen.Plan{Token: token}
	fact := func(st screen.Style, text string) { out.Facts = append(out.Facts, screen.Text(st, text)) }
	title := strings.ToUpper(p.what[:1]) + p.what[1:]
	if p.options.Checkpoint.ID == (manifest.CheckpointID{}) && r.Checkpoint.ID != (manifest.CheckpointID{}) {
		title += ": to " + rows.Briefly(target)
	}
	fact(screen.Bold, title)
	fact(screen.Plain, "")
	conv := r.Conversation
	switch {
	case p.options.Half == conversation.ConversationOnly:
		fact(screen.Plain, "The conversation alone; files stay as they are.")
	case p.parts != "":
		fact(screen.Plain, "Of the files, "+p.parts+"; the conversation stays.")
	case conv == nil && len(p.options.Paths) > 0:
		fact(screen.Plain, "Of the files, the "+app.Plural(len(p.options.Paths), "path that was chosen", "paths that were chosen")+"; the conversation stays.")
	case conv == nil && p.options.Half == conversation.CodeOnly:
		fact(screen.Plain, "The files alone; the conversation stays.")
	default:
		fact(screen.Plain, "Files: "+report.RestoredLine(r))
	}
	if p.options.Half == conversation.CodeOnly {
		fact(screen.Plain, "Files: "+report.RestoredLine(r))
	}
	if conv != nil {
		text := "Conversation: a fork"
		switch {
		case conv.Removed:
			text = "Conversation: the fork is removed"
		case conv.InPlace:
			text = "Conversation: rewritten in place"
		}
		if n := len(conv.Prompts); n > 0 {
			text += ", without the last " + app.Plural(n, "prompt", "prompts")
		}
		fact(screen.Plain, text+".")
	} else if r.Stuck {
		fact(screen.Plain, "Conversation: stays, because no file can be restored.")
	} else if r.Without != nil && p.options.Half != conversation.CodeOnly {
		fact(screen.Dim, "Conversation: stays; "+app.Escape(r.Without.Error())+".")
	}
	if text := report.GitFact(r, true); text != "" {
		fact(screen.Plain, text)
	}
	for _, text := range app.FirstN(r.Prompts, 5) {
		fact(screen.Dim, "  undoes: "+screen.Clip(app.FirstLine(text), 100))
	}
	for _, line := range report.OthersText("Also undoes", "Undoes", r) {
		fact(screen.Yellow, line)
	}
	note := func(text string) { out.Notes = append(out.Notes, screen.Text(screen.Dim, text)) }
	note("A safety checkpoint is taken first. " + map[string]string{"u": "Undo", "U": "Redo"}[p.Back] + " it with " + p.Back + " here, or with " + p.verb.TakeBack + ".")
	out.Files = PlannedFiles(r)
	for _, k := range app.FirstN(r.Skip, 20) {
		note("Skipped: " + app.EscapePath(k.Path) + ": " + app.Escape(k.Reason))
	}
	if len(out.Files) == 0 && conv == nil {
		return out
	}
	out.Question = p.what + planned(r) + "? " + p.Back + " takes it back"
	return out
}

// PlannedFiles are the paths that a plan changes.
func PlannedFiles(r *restore.Restored) (out []screen.File) {
	for _, g := range []struct {
		word  string
		paths []string
	}{{"delete", r.Delete}, {"replace", r.Replace}, {"mode", r.Mode}, {"create", r.Create}} {
		for _, path := range g.paths {
			out = append(out, screen.File{Status: g.word, Path: screen.Ordered(app.EscapePath(path)), Raw: path, Directory: r.Directories[path]})
		}
	}
	return out
}

// planned says in a few words what a plan does.
func planned(r *restore.Restored) string {
	var parts []string
	deleted, created := r.Files(r.Delete), r.Files(r.Create)
	for _, g := range []struct {
		word           string
		n, directories int
	}{{"deletes", deleted, len(r.Delete) - deleted}, {"replaces", len(r.Replace), 0}, {"creates", created, len(r.Create) - created}, {"modes", len(r.Mode), 0}} {
		var counts []string
		if g.n > 0 {
			counts = append(counts, strconv.Itoa(g.n))
		}
		if g.directories > 0 { // they are in the list
			counts = append(counts, app.Plural(g.directories, "directory", "directories"))
		}
		if len(counts) > 0 {
			parts = append(parts, g.word+" "+strings.Join(counts, " with "))
		}
	}
	for _, o := range r.Others {
		parts = append(parts, app.Utoa(uint64(o.Paths))+" of "+app.Escape(strings.TrimSpace(o.Agent+" "+report.ShortSession(o.Session))))
	}
	if r.Conversation != nil && !r.Conversation.Removed {
		parts = append(parts, "forks the chat")
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// Do does the plan that was shown. Where that is no longer what would be done, it gives the plan as it is now.
func (s *Source) Do(ctx context.Context, a screen.Ask) (said string, now *screen.Plan, err error) {
	s.Mu.Lock()
	p, known := s.Plans[a.Plan], a.Plan > 0 && a.Plan <= s.planned
	s.Mu.Unlock()
	if p == nil {
		return "", nil, &StaleError{What: "plan", Name: app.Utoa(uint64(max(0, a.Plan))), Known: known}
	}
	if p.revert != nil {
		return s.doRevert(ctx, p)
	}
	done, err := p.verb.Do(ctx, s.P, p.options)
	var changed *restore.PlanChangedError
	if errors.As(err, &changed) {
		now, err := s.planOf(ctx, p)
		return "nothing was done: " + changed.Error() + "; this is the plan now.", now, err
	}
	if err != nil {
		return "", nil, err
	}
	s.Mu.Lock()
	s.Done = append(s.Done, doneRestore{verb: p.verb, Done: done})
	clear(s.Plans)
	clear(s.shownHunks)
	s.Mu.Unlock()
	said = p.did + ": " + report.RestoredLine(done) + " " + p.Back + " takes it back, q leaves"
	return said, nil, nil
}
