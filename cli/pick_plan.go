package cli

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/oplog"
	"github.com/rewind-cli/rewind/engine/pathspec"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/revert"
	"github.com/rewind-cli/rewind/manifest"
)

// pickedPlan is a plan that was shown: what y does.
type pickedPlan struct {
	verb    restoreVerb
	options restore.Options
	what    string                 // "restore to 3", in a question
	did     string                 // "Restored to 3"
	back    string                 // the key that takes it back
	parts   string                 // "2 of 5 hunks of a.go", "" for whole files
	instead *restore.RevertInstead // what keeps the work of others, nil where none goes
	alone   []restore.OtherWork    // of those whose work goes where it is unclear who is meant: each can go alone
	revert  *revert.Options        // instead of options, where it is a revert
	target  manifest.CheckpointID  // whose files it brings; zero before there was a plan
}

// keptPlans is how many plans that were shown can be done: whoever chooses paths one by one sees many.
const keptPlans = 32

// doneRestore is what y did.
type doneRestore struct {
	verb     restoreVerb
	done     *restore.Restored
	reverted *revert.Reverted // instead of both, where it was a revert
}

// pickedName is briefly for a question, which has one line for all that it names.
func pickedName(l *project.Listed) string {
	short := *l
	short.Prompt, short.Description, short.ToolSummary = screen.Clip(l.Prompt, 28), screen.Clip(l.Description, 28), screen.Clip(l.ToolSummary, 20)
	return briefly(short)
}

// placeName is pickedName, and of a safety checkpoint what was done then, to what, and when: there are many.
func (s *pickSource) placeName(ctx context.Context, l *project.Listed) (string, error) {
	if l.Kind != manifest.Safety {
		return pickedName(l), nil
	}
	ops, err := oplog.OperationLog(ctx, s.p, 0)
	if err != nil {
		return "", err
	}
	for _, op := range ops {
		if op.Safety != l.ID {
			continue
		}
		name := "the state before the " + operationVerb(&op.Operation)
		if op.Target != nil && op.Target.N > 0 {
			name += " to " + pickedName(op.Target)
		}
		return name + ", " + ago(s.c.out, op.Time), nil
	}
	return pickedName(l), nil
}

// plan makes the plan that a key asks for, by a dry run.
func (s *pickSource) plan(ctx context.Context, a screen.Ask) (*screen.Plan, error) {
	p := &pickedPlan{verb: restoreCheckpoint, what: "redo", did: "Redone", back: "u"}
	switch a.Verb {
	case screen.Revert:
		return s.planTurn(ctx, a.ID)
	case screen.Restore:
		l, err := s.checkpoint(a.ID)
		if err != nil {
			return nil, err
		}
		p.options.Checkpoint = l.Checkpoint
		p.options.Half = map[screen.Half]conversation.Half{screen.Code: conversation.CodeOnly, screen.Conversation: conversation.ConversationOnly}[a.Half]
		p.options.Paths = literalPaths(a.Paths)
		if a.Paths != "" || a.Parts != "" {
			p.verb.part = partOf(strings.Split(strings.TrimSuffix(a.Paths, "\x00"), "\x00"), a.Parts != "")
		}
		if s.c.session != "" && a.Half != screen.Code {
			if p.options.Session, err = conversation.ChooseSession(ctx, s.p, s.c.session); err != nil {
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
			p.verb.do = func(ctx context.Context, pr *project.Project, o restore.Options) (*restore.Restored, error) {
				return restore.RestoreHunks(ctx, pr, o, choices)
			}
		}
	case screen.Undo:
		p.verb, p.what, p.did, p.back = undoVerb, "undo", "Undone", "U"
	case screen.Redo:
		p.verb = redoVerb
	}
	return s.planOf(ctx, p)
}

// planOf runs a plan dry and keeps what it was made from.
func (s *pickSource) planOf(ctx context.Context, p *pickedPlan) (*screen.Plan, error) {
	o := p.options
	o.DryRun, o.Expect = true, nil
	r, err := p.verb.do(ctx, s.p, o)
	if err != nil {
		return nil, err
	}
	p.options.Expect, p.instead = &r.Expected, r.Instead
	if p.instead != nil && p.instead.Some { // here it has no paths
		p.instead = nil
	}
	p.alone = slices.DeleteFunc(slices.Clone(r.Others), func(o restore.OtherWork) bool { return o.Alone == nil || o.Alone.Some })
	if p.verb.takesTo { // undo: what it takes back may be something else than when it was planned last
		if p.what = "undo"; r.Of != "" {
			p.what += " the " + r.OfVerb
		}
	}
	p.target = r.Checkpoint.ID
	target := project.Listed{Checkpoint: r.Checkpoint}
	err = s.p.Query(ctx, func(db *manifest.DB) error {
		target.N = db.Position(r.Checkpoint.Seq)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return pickPlan(p, r, target, s.keepPlan(p)), nil
}

// keepPlan keeps a plan that is shown, and gives its token.
func (s *pickSource) keepPlan(p *pickedPlan) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.planned++ // an id is never used again: another page may still show the plan that had it
	s.plans[s.planned] = p
	delete(s.plans, s.planned-keptPlans)
	return s.planned
}

// literalPaths are the paths of an ask, as patterns that mean just them.
func literalPaths(paths string) (out []string) {
	for path := range strings.SplitSeq(paths, "\x00") {
		if path != "" {
			out = append(out, pathspec.EscapeGlob(path))
		}
	}
	return out
}

// pickPlan shows a plan: what is moved, what goes, whose work goes too, and how to take it back.
func pickPlan(p *pickedPlan, r *restore.Restored, target project.Listed, token int) *screen.Plan {
	out := &screen.Plan{Token: token}
	fact := func(st screen.Style, text string) { out.Facts = append(out.Facts, screen.Text(st, text)) }
	title := strings.ToUpper(p.what[:1]) + p.what[1:]
	if p.options.Checkpoint.ID == (manifest.CheckpointID{}) && r.Checkpoint.ID != (manifest.CheckpointID{}) {
		title += ": to " + briefly(target)
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
		fact(screen.Plain, "Of the files, the "+plural(len(p.options.Paths), "path that was chosen", "paths that were chosen")+"; the conversation stays.")
	case conv == nil && p.options.Half == conversation.CodeOnly:
		fact(screen.Plain, "The files alone; the conversation stays.")
	default:
		fact(screen.Plain, "Files: "+restoredLine(r))
	}
	if p.options.Half == conversation.CodeOnly {
		fact(screen.Plain, "Files: "+restoredLine(r))
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
			text += ", without the last " + plural(n, "prompt", "prompts")
		}
		fact(screen.Plain, text+".")
	} else if r.Stuck {
		fact(screen.Plain, "Conversation: stays, because no file can be restored.")
	} else if r.Without != nil && p.options.Half != conversation.CodeOnly {
		fact(screen.Dim, "Conversation: stays; "+escape(r.Without.Error())+".")
	}
	if text := gitFact(r, true); text != "" {
		fact(screen.Plain, text)
	}
	for _, text := range firstN(r.Prompts, 5) {
		fact(screen.Dim, "  undoes: "+screen.Clip(firstLine(text), 100))
	}
	for _, line := range othersText("Also undoes", "Undoes", r) {
		fact(screen.Yellow, line)
	}
	note := func(text string) { out.Notes = append(out.Notes, screen.Text(screen.Dim, text)) }
	note("A safety checkpoint is taken first. " + map[string]string{"u": "Undo", "U": "Redo"}[p.back] + " it with " + p.back + " here, or with " + p.verb.takeBack + ".")
	out.Files = plannedFiles(r)
	for _, k := range firstN(r.Skip, 20) {
		note("Skipped: " + escapePath(k.Path) + ": " + escape(k.Reason))
	}
	if len(out.Files) == 0 && conv == nil {
		return out
	}
	out.Question = p.what + planned(r) + "? " + p.back + " takes it back"
	return out
}

// plannedFiles are the paths that a plan changes.
func plannedFiles(r *restore.Restored) (out []screen.File) {
	for _, g := range []struct {
		word  string
		paths []string
	}{{"delete", r.Delete}, {"replace", r.Replace}, {"mode", r.Mode}, {"create", r.Create}} {
		for _, path := range g.paths {
			out = append(out, screen.File{Status: g.word, Path: screen.Ordered(escapePath(path)), Raw: path, Directory: r.Directories[path]})
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
			counts = append(counts, plural(g.directories, "directory", "directories"))
		}
		if len(counts) > 0 {
			parts = append(parts, g.word+" "+strings.Join(counts, " with "))
		}
	}
	for _, o := range r.Others {
		parts = append(parts, utoa(uint64(o.Paths))+" of "+escape(strings.TrimSpace(o.Agent+" "+shortSession(o.Session))))
	}
	if r.Conversation != nil && !r.Conversation.Removed {
		parts = append(parts, "forks the chat")
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// do does the plan that was shown. Where that is no longer what would be done, it gives the plan as it is now.
func (s *pickSource) do(ctx context.Context, a screen.Ask) (said string, now *screen.Plan, err error) {
	s.mu.Lock()
	p, known := s.plans[a.Plan], a.Plan > 0 && a.Plan <= s.planned
	s.mu.Unlock()
	if p == nil {
		return "", nil, &staleError{what: "plan", name: utoa(uint64(max(0, a.Plan))), known: known}
	}
	if p.revert != nil {
		return s.doRevert(ctx, p)
	}
	done, err := p.verb.do(ctx, s.p, p.options)
	var changed *restore.PlanChangedError
	if errors.As(err, &changed) {
		now, err := s.planOf(ctx, p)
		return "nothing was done: " + changed.Error() + "; this is the plan now.", now, err
	}
	if err != nil {
		return "", nil, err
	}
	s.mu.Lock()
	s.done = append(s.done, doneRestore{verb: p.verb, done: done})
	clear(s.plans)
	clear(s.shownHunks)
	s.mu.Unlock()
	said = p.did + ": " + restoredLine(done) + " " + p.back + " takes it back, q leaves"
	return said, nil, nil
}
