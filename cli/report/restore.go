package report

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/attempts"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/manifest"
)

// ReportRestored prints what a restore did. Errors: *app.PartialError for what it could not do, *app.PartlyError for what was forgotten.
func ReportRestored(c *app.Call, done *restore.Restored, v RestoreWords) error {
	return ReportRestoredIn(c, done, v, func(view RestoredView) any { return view })
}

// ReportRestoredIn is ReportRestored for a verb whose document has more than the view.
func ReportRestoredIn(c *app.Call, done *restore.Restored, v RestoreWords, document func(RestoredView) any) error {
	c.Out.EndProgress()
	named(c, done)
	if c.JSON {
		view := viewRestored(done)
		if view.Git != nil && len(c.Paths) > 0 {
			view.Git.Hint = ""
		}
		view.Instead = keepCommand(c, done)
		if err := c.Out.Document(document(view)); err != nil {
			return err
		}
	} else {
		printRestored(c, done, v)
	}
	forgotten := forgottenText(done)
	if forgotten != "" && done.DryRun && !c.Out.Quiet {
		c.Out.Warn("%s", forgotten)
	}
	warnTorn(c.Out, done)
	warnLate(c.Out, done)
	if !c.JSON {
		WarnGit(c, done, done.DryRun)
	}
	if bad := problem.FailedOf(done.Skip); len(bad) > 0 {
		return &app.PartialError{Verb: "restored", Paths: bad, Hint: finishLater(c, done, bad)}
	}
	if forgotten != "" && !done.DryRun {
		return &app.PartlyError{Err: errors.New(forgotten)}
	}
	if (done.GitLeft || slices.ContainsFunc(done.GitState, gitLeft)) && !done.DryRun {
		err := &app.PartlyError{Err: errors.New("not all of git's own state could be brought back")}
		if done.GitRemoved != nil {
			return app.Hinted(err, app.LinkAgain(done.GitRemoved, "rewind restore last --git-only there"))
		}
		return err
	}
	return nil
}

// finishLater is the way to restore what could not be, when that can be done; "" where it is not known.
func finishLater(c *app.Call, done *restore.Restored, bad []problem.Problem) string {
	if done.DryRun || done.PutBack || done.Of != "" || done.Since != "" || done.Checkpoint.ID == (manifest.CheckpointID{}) || c.Flags.Changed("patch") {
		return ""
	}
	text, cause := "rewind restore "+done.Checkpoint.ID.String()[:app.ShortID]+" --", "the cause is gone"
	for _, p := range app.FirstN(bad, app.MaxNamed) {
		text += " " + app.ShellQuote(c.FromHere(c.Project.Root(), p.Path))
	}
	if problem.InTheWayOfAll(bad) {
		cause = "what is in the way is moved or unmounted"
	}
	return text + " finishes it when " + cause
}

// forgottenText names what cannot be undone, since it was forgotten; "" for nothing.
func forgottenText(done *restore.Restored) string {
	f := done.Forgotten
	if f.Count == 0 {
		return ""
	}
	which := ""
	if len(f.Named) > 0 {
		which = " (" + somePaths(f.Named, app.MaxNamed)
		if f.Count > len(f.Named) {
			which += ", and others whose names are forgotten, too"
		}
		which += ")"
	}
	return fmt.Sprintf("%s of it%s cannot be taken back: rewind forget removed every state of %s", app.Plural(f.Count, "path", "paths"), which, app.ItOrThem(f.Count))
}

// warnLate names files that another program wrote while they were replaced or deleted.
func warnLate(o *app.Output, done *restore.Restored) {
	if o.Quiet || len(done.Late) == 0 || done.Safety == nil {
		return
	}
	id := done.Safety.ID.String()[:app.ShortID]
	app.WarnEach(o, done.Late, "", func(path string) string {
		return fmt.Sprintf("%s was written to while this ran: checkpoint %s has what was written", app.Escape(path), id)
	})
	o.Hint("rewind restore %s -- %s brings that back", id, app.ShellQuote(done.Late[0]))
}

// warnTorn names files that were being written when the checkpoint was taken.
func warnTorn(o *app.Output, done *restore.Restored) {
	if o.Quiet {
		return
	}
	var left []string
	for _, s := range done.Skip {
		if s.Code == problem.TargetIsTorn {
			left = append(left, s.Path)
		}
	}
	app.WarnEach(o, left, "", func(path string) string { return app.Escape(path) + " was skipped: " + restore.ReasonTorn })
	if len(left) > 0 {
		o.Hint("rewind restore %s -- %s restores what was captured of it anyway", done.Checkpoint.ID, app.ShellQuote(left[0]))
	}
	for _, path := range app.FirstN(done.Torn, app.MaxNamed) {
		o.Warn("%s: %s", app.Escape(path), restore.ReasonTorn)
	}
}

// Confirm asks before many files are deleted, or another session's work goes.
func Confirm(c *app.Call, plan *restore.Restored) (bool, error) {
	if len(plan.Others) > 0 {
		for _, line := range OthersText("Also undoes", "Undoes", plan) {
			fmt.Fprintf(c.Out.Stderr, "  %s\n", line)
		}
		named(c, plan)
		if keeps := keepCommand(c, plan); keeps != "" {
			c.Out.Hint("%s keeps them", keeps)
		}
		for _, line := range alone(plan) {
			c.Out.Hint("%s takes back that session's work alone", line)
		}
		n := 0
		for _, o := range plan.Others {
			n += o.Paths
		}
		undoes, whose := "also undoes", app.Plural(len(plan.Others), "other session", "other sessions")
		if plan.Unclear {
			undoes, whose = "undoes", app.Plural(len(plan.Others), "session", "sessions")
		}
		if yes, err := c.Out.Ask("This %s the work of %s (%s). A safety checkpoint is taken first. Continue?",
			undoes, whose, app.Plural(n, "path", "paths")); err != nil || !yes {
			return yes, err
		}
	}
	if len(plan.Delete) > ConfirmAbove {
		nameFirst(c, plan.Delete)
	}
	if lines := GitStateText(plan); len(lines) > 0 {
		for _, line := range lines {
			fmt.Fprintf(c.Out.Stderr, "  Git: %s\n", line)
		}
		if yes, err := c.Out.Ask("This changes git's own state as listed. A safety checkpoint is taken first. Continue?"); err != nil || !yes {
			return yes, err
		}
	}
	switch WarnGit(c, plan, true); {
	case len(plan.Delete) > ConfirmAbove:
	case plan.Git != nil && plan.Git.Switched():
		return c.Out.Ask("This brings files of another state of git. A safety checkpoint is taken first. Continue?")
	default:
		return true, nil
	}
	return c.Out.Ask("This deletes %d files that are not in %s. A safety checkpoint is taken first. Continue?",
		plan.Files(plan.Delete), rows.Called(c, plan.Checkpoint))
}

// nameFirst names a few of many paths.
func nameFirst(c *app.Call, paths []string) {
	for _, path := range app.FirstN(paths, 5) {
		fmt.Fprintf(c.Out.Stderr, "  %s\n", app.EscapePath(path))
	}
	fmt.Fprintf(c.Out.Stderr, "  and %d more\n", len(paths)-5)
}

// revertInstead is the command that keeps the work of others.
func revertInstead(r *restore.RevertInstead) string {
	text := "rewind revert --session " + app.ShellQuote(r.Session)
	if r.Turns > 0 {
		text += " --since prompt~" + strconv.Itoa(r.Turns)
	}
	if len(r.Paths) > 0 {
		text += " -- " + strings.Join(app.QuoteAll(r.Paths), " ")
	}
	return text
}

// yoursAlone reports whether nothing but the person's own changes goes: to take it back is to keep them.
func yoursAlone(r *restore.Restored) bool {
	n := len(r.Outside)
	return n > 0 && r.Checkpoint.Kind != manifest.Prompt && n == len(r.Create)+len(r.Replace)+len(r.Delete)+len(r.Mode)
}

// keepCommand is the command that leaves the work of others alone; "" where none is known, or needed.
func keepCommand(c *app.Call, r *restore.Restored) string {
	switch {
	case yoursAlone(r):
		return ""
	case r.Instead != nil:
		return revertInstead(r.Instead)
	case len(r.Own) == 0 || len(r.Own) > maxOtherPaths || c.Flags.Changed("patch"):
		return ""
	}
	root := ""
	if c.Project != nil {
		root = c.Project.Root()
	}
	words := app.Map(r.Own, func(path string) string { return app.ShellQuote(c.FromHere(root, path)) })
	return "rewind restore " + r.Checkpoint.ID.String()[:app.ShortID] + " -- " + strings.Join(words, " ")
}

// alone are the commands that undo the work of one of several sessions, where it is not clear which one is meant.
func alone(r *restore.Restored) (commands []string) {
	for _, o := range r.Others {
		if o.Alone != nil {
			commands = append(commands, revertInstead(o.Alone))
		}
	}
	return commands
}

const (
	maxOtherTurns = 5  // of a session that are named
	maxOtherPaths = 10 // of a turn, or of the person
)

// OthersText lists whose other work is undone: one line for each session, then its turns with their files, then the person's. Where
// something else goes, it begins with also, else with plain. It is escaped.
func OthersText(also, plain string, r *restore.Restored) (lines []string) {
	verb, whose := also, "another session, "
	if r.Unclear {
		verb, whose = plain, "session "
	}
	for _, o := range r.Others {
		of := "of"
		if o.Shared { // a revert of either session's work leaves it
			of = "that may be of"
		}
		lines = append(lines, fmt.Sprintf("%s %s %s %s%s:", verb, app.Plural(len(r.Named(o.Files)), "path", "paths"), of, whose, app.Escape(strings.TrimSpace(o.Agent+" "+ShortSession(o.Session)))))
		for _, t := range app.FirstN(o.Turns, maxOtherTurns) {
			text := "  "
			if t.Prompt != "" {
				text += rows.Quoted(app.FirstLine(t.Prompt)) + ": "
			}
			lines = append(lines, text+somePaths(r.Named(t.Files), maxOtherPaths))
		}
		if n := len(o.Turns) - maxOtherTurns; n > 0 {
			lines = append(lines, fmt.Sprintf("  and %s more", app.Plural(n, "prompt", "prompts")))
		}
	}
	if len(r.Outside) > 0 {
		if yoursAlone(r) {
			verb = plain
		}
		lines = append(lines, fmt.Sprintf("%s %s that you, or something outside this project's sessions, changed: %s", verb, app.Plural(len(r.Named(r.Outside)), "path", "paths"), somePaths(r.Named(r.Outside), maxOtherPaths)))
	}
	return append(lines, nestedText(r)...)
}

// nestedText says which projects below this one have files that change: their sessions get no notice. It is escaped.
func nestedText(r *restore.Restored) (lines []string) {
	for _, n := range r.Nested {
		lines = append(lines, fmt.Sprintf("Also changes %s in %s, a project of its own, whose sessions get no notice", app.Plural(n.Paths, "path", "paths"), app.EscapePath(n.Path)))
	}
	return lines
}

func printRestored(c *app.Call, r *restore.Restored, v RestoreWords) {
	o := c.Out
	did := func(did, would string) string { return app.Did(r.DryRun, did, would) }
	format := did(v.Done, v.Would)
	if v.of != "" && (r.Of == manifest.OpRestore || r.Of == manifest.OpRevert) {
		format = did(v.of, v.wouldOf)
	}
	if r.PutBack {
		v.Part, format = part{}, did("Put back the %v that did not finish: %a as before it.", "Would put back the %v that did not finish: %f as before it.")
		if len(r.GitState) > 0 {
			v.Part = part{"files and git's own state", true}
		}
	}
	named := strings.NewReplacer("%s", goal(c, r, v), "%v", rows.OperationNoun(cmp.Or(r.OfVerb, string(manifest.OpRestore))), "%p", v.Part.after(" "), "%f", v.Part.subject(), "%a", v.Part.are())
	if onlySkipped(r) && len(problem.FailedOf(r.Skip)) > 0 {
		o.Summary("%s", did("Nothing was restored.", "Would restore nothing."))
	} else if r.Checkpoint.ID == (manifest.CheckpointID{}) { // the conversation alone
		if m := r.Conversation; !r.DryRun && m != nil && m.From == "" && !m.Removed && !m.InPlace { // else printMoved says it
			undid, _, ok := strings.Cut(format, ":") // no file is as before it
			if !ok {
				undid = "Done"
			}
			o.Summary("%s.", named.Replace(undid))
		}
	} else if r.Since != "" {
		o.Summary("%s what was changed%s since the last %s.", did("Undid", "Would undo"), v.Part.after(" of "), rows.OperationNoun(r.Since))
	} else {
		o.Summary("%s", named.Replace(format))
	}
	if r.Conversation == nil || Changed(r) {
		o.Summary("%s", RestoredLine(r))
	}
	if len(r.Along) > 0 {
		o.Summary("%s with it, since a SQLite database is one with its write-ahead log and its journal: %s", did("Also changed", "Would also change"), somePaths(r.Along, app.MaxNamed))
	}
	c.TellRecovered(r)
	if r.Unfinished != "" {
		o.Summary("The last %s did not finish and left nothing changed: this is the step before it.", rows.OperationNoun(r.Unfinished))
	}
	for _, line := range OthersText(did("Also undid", "Would also undo"), did("Undid", "Would undo"), r) {
		o.Summary("%s", line)
	}
	first := did(o.Typed(v.TakeBack)+", then ", "")
	if keeps := keepCommand(c, r); keeps != "" {
		o.Summary("Keep those with: %s%s", first, o.Typed(keeps))
	}
	if commands := alone(r); len(commands) > 0 {
		o.Summary("Take back one alone, and keep the rest, with %sone of:", first)
		for _, command := range commands {
			o.Summary("  %s", o.Typed(command))
		}
	}
	if r.Stuck {
		o.Summary("The conversation stays as it is, because no file can be restored.")
	}
	if a := v.Attempt; a != nil && v.Part.Text == "" {
		switch {
		case r.Conversation == nil:
			o.Summary("The conversation stays as it is. That of the attempt: %s", app.Escape(strings.TrimSpace(a.Prompt.Agent+" "+a.Prompt.Session)))
		case a.Left:
			o.Summary("The conversation is without the attempt: it had gone back to before it when the last of these files were written.")
		}
	}
	printMoved(o, r)
	for _, line := range GitStateText(r) {
		o.Summary("Git: %s.", line)
	}
	if r.DryRun || o.Verbose {
		printRestoredPaths(o, r, 0)
	}
	if !r.DryRun && !o.Verbose {
		nameSkipped(o, r.Skip)
	}
	if r.NotCaptured > 0 {
		TellNotCaptured(c, r.NotCaptured, r.Checkpoint.ID.String()[:app.ShortID])
	}
	if text := GoneText(r); text != "" {
		o.Summary("%s", text)
	}
	if !r.DryRun && r.Operation != 0 && (r.Safety != nil || r.Conversation != nil && !r.Conversation.There) {
		command := v.TakeBack
		if r.StepsBack > 1 {
			command += fmt.Sprintf(" %d", r.StepsBack)
		}
		o.Summary("%s: %s", cmp.Or(v.Onward, "Undo with"), o.Typed(command))
	}
}

// goal is what a restore goes to, in its message.
func goal(c *app.Call, r *restore.Restored, v RestoreWords) string {
	a := v.Attempt
	if a == nil {
		return rows.Called(c, r.Checkpoint)
	}
	id := r.Checkpoint.ID.String()[:app.ShortID]
	return fmt.Sprintf("the end of %s %s (%s, %s)", attempts.Name(a.N), rows.Quoted(app.FirstLine(a.Prompt.Prompt)), id, app.Ago(c.Out, r.Checkpoint.Time))
}

// nameSkipped names the paths that were left alone, where they are few; those that
// failed, or are torn, have a message of their own.
func nameSkipped(o *app.Output, skips []problem.Problem) {
	if len(skips) > 3 {
		return
	}
	for _, s := range skips {
		if !s.Failed && s.Code != problem.TargetIsTorn {
			o.Summary("Skipped %s: %s", app.EscapePath(s.Path), app.Escape(s.Reason))
		}
	}
}

// Changed reports whether any file differs, or has to be named.
func Changed(r *restore.Restored) bool {
	return len(r.Create)+len(r.Replace)+len(r.Delete)+len(r.Mode)+len(r.Skip) > 0
}

// RestoredLine is what changed, or on a dry run would change, in one line.
func RestoredLine(r *restore.Restored) string {
	var parts []string
	created, emptyCreated := r.Count(r.Create)
	deleted, emptyDeleted := r.Count(r.Delete)
	const one, many = "empty directory ", "empty directories "
	for _, p := range []struct {
		one, many, did, would string
		n                     int
	}{
		{"", "", "created", "to create", created}, {one, many, "created", "to create", emptyCreated}, {"", "", "replaced", "to replace", len(r.Replace)},
		{"", "", "deleted", "to delete", deleted}, {one, many, "deleted", "to delete", emptyDeleted}, {"mode ", "modes ", "changed", "to change", len(r.Mode)},
		{"", "", "skipped", "to skip", len(r.Skip)},
	} {
		word := app.Did(r.DryRun, p.did, p.would)
		if p.n > 0 {
			parts = append(parts, app.Plural(p.n, p.one+word, p.many+word))
		}
	}
	if len(parts) == 0 && len(r.GitState) > 0 {
		return "No file differs."
	}
	if len(parts) == 0 {
		return "Nothing differs."
	}
	return strings.Join(parts, ", ") + "."
}

// printRestoredPaths lists paths, not more than most of them; 0: all.
func printRestoredPaths(o *app.Output, r *restore.Restored, most int) {
	if o.JSON || o.Quiet {
		return
	}
	n := 0
	line := func(format string, args ...any) {
		if n++; most == 0 || n <= most {
			o.Line(format, args...)
		}
	}
	for _, group := range []struct {
		letter string
		style  screen.Style
		paths  []string
	}{{"create", screen.Green, r.Named(r.Create)}, {"replace", screen.Yellow, r.Replace}, {"delete", screen.Red, r.Named(r.Delete)}, {"mode", screen.Yellow, r.Mode}} {
		for _, path := range group.paths {
			line("  %s %s", o.Color.Paint(group.style, app.Pad(group.letter, 7)), app.EscapePath(path))
		}
	}
	for _, p := range r.Skip {
		line("  %s %s: %s", app.Pad("skip", 7), app.EscapePath(p.Path), app.Escape(p.Reason))
	}
	if most > 0 && n > most {
		o.Line("  and %d more; --dry-run lists all", n-most)
	}
}

// TellNotCaptured says how many paths a checkpoint is without, and how to see them.
func TellNotCaptured(c *app.Call, n int, checkpoint string) {
	if n > 0 {
		c.Out.Summary("%s", NotCapturedText(c, n, checkpoint))
	}
}

// NotCapturedText is what TellNotCaptured prints of some paths.
func NotCapturedText(c *app.Call, n int, checkpoint string) string {
	return "Not captured: " + app.Plural(n, "path", "paths") + ". To list them: " + c.Out.Typed("rewind show "+checkpoint+" --coverage")
}

// GoneText names what was not captured and is lost, "" for nothing.
func GoneText(r *restore.Restored) string {
	if len(r.Gone) == 0 {
		return ""
	}
	names := firstOf(r.Gone, 3, func(g restore.GonePath) string {
		if g.Part {
			return "the rest of " + app.EscapePath(g.Path)
		}
		return app.EscapePath(g.Path)
	})
	return "Not captured, and gone since: " + names + "; " + app.ByCount(len(r.Gone), "it does", "they do") + " not come back."
}

// named gives the way to keep the work of others the paths that were typed. Of hunks there is none.
func named(c *app.Call, r *restore.Restored) {
	name := func(i **restore.RevertInstead) {
		if *i == nil || !(*i).Some {
			return
		}
		if (*i).Paths = c.Paths; len(c.Paths) == 0 || c.Flags.Changed("patch") {
			*i = nil
		}
	}
	name(&r.Instead)
	for i := range r.Others {
		name(&r.Others[i].Alone)
	}
}
