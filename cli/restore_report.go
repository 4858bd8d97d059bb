package cli

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine/attempts"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/manifest"
)

func reportRestored(c *call, done *restore.Restored, v restoreVerb) error {
	c.out.endProgress()
	c.named(done)
	if c.json {
		view := viewRestored(done)
		view.Instead = c.keeps(done)
		if err := c.out.document(view); err != nil {
			return err
		}
	} else {
		printRestored(c, done, v)
	}
	warnForgotten(c.out, done)
	warnTorn(c.out, done)
	warnLate(c.out, done)
	if !c.json {
		c.warnGit(done, done.DryRun)
	}
	if bad := problem.FailedOf(done.Skip); len(bad) > 0 {
		return &partialError{verb: "restored", paths: bad}
	}
	return nil
}

// warnForgotten tells what cannot be taken back.
func warnForgotten(o *output, done *restore.Restored) {
	f := done.Forgotten
	if o.quiet || f.Count == 0 {
		return
	}
	which := ""
	if len(f.Named) > 0 {
		which = " (" + somePaths(f.Named, maxNamed)
		if f.Count > len(f.Named) {
			which += ", and others whose names are forgotten, too"
		}
		which += ")"
	}
	o.warn("%s of it%s cannot be taken back: rewind forget removed every state of %s", plural(f.Count, "path", "paths"), which, itOrThem(f.Count))
}

// warnLate tells of files that somebody wrote while they were replaced or deleted.
func warnLate(o *output, done *restore.Restored) {
	if o.quiet || len(done.Late) == 0 || done.Safety == nil {
		return
	}
	for _, path := range firstN(done.Late, maxNamed) {
		o.warn("%s was written to while this ran: checkpoint %s has what was written", escape(path), done.Safety.ID)
	}
	if n := len(done.Late) - maxNamed; n > 0 {
		o.warn("and %d more", n)
	}
	o.hint("rewind restore %s -- %s brings that back", done.Safety.ID, shellQuote(done.Late[0]))
}

// warnTorn tells of files that the checkpoint may hold half of.
func warnTorn(o *output, done *restore.Restored) {
	if o.quiet {
		return
	}
	var left []string
	for _, s := range done.Skip {
		if s.Code == problem.TargetIsTorn {
			left = append(left, s.Path)
		}
	}
	for _, path := range firstN(left, maxNamed) {
		o.warn("%s was skipped: %s", escape(path), restore.ReasonTorn)
	}
	if n := len(left) - maxNamed; n > 0 {
		o.warn("and %d more", n)
	}
	if len(left) > 0 {
		o.hint("rewind restore %s -- %s restores what was captured of it anyway", done.Checkpoint.ID, shellQuote(left[0]))
	}
	for _, path := range firstN(done.Torn, maxNamed) {
		o.warn("%s: %s", escape(path), restore.ReasonTorn)
	}
}

// confirm asks before many files are deleted, or another session's work goes.
func (c *call) confirm(plan *restore.Restored) (bool, error) {
	if len(plan.Others) > 0 {
		for _, line := range othersText("Also undoes", "Undoes", plan) {
			fmt.Fprintf(c.out.stderr, "  %s\n", line)
		}
		c.named(plan)
		if keeps := c.keeps(plan); keeps != "" {
			c.out.hint("%s keeps them", keeps)
		}
		for _, line := range alone(plan) {
			c.out.hint("%s takes back that session's work alone", line)
		}
		n := 0
		for _, o := range plan.Others {
			n += o.Paths
		}
		undoes, whose := "also undoes", plural(len(plan.Others), "other session", "other sessions")
		if plan.Unclear {
			undoes, whose = "undoes", plural(len(plan.Others), "session", "sessions")
		}
		if yes, err := c.out.ask("This %s the work of %s (%s). A safety checkpoint is taken first. Continue?",
			undoes, whose, plural(n, "path", "paths")); err != nil || !yes {
			return yes, err
		}
	}
	if len(plan.Delete) > confirmAbove {
		c.nameFirst(plan.Delete)
	}
	switch c.warnGit(plan, true); {
	case len(plan.Delete) > confirmAbove:
	case plan.Git != nil && plan.Git.Switched():
		return c.out.ask("This brings files of another state of git. A safety checkpoint is taken first. Continue?")
	default:
		return true, nil
	}
	yes, err := c.out.ask("This deletes %d files that are not in %s. A safety checkpoint is taken first. Continue?",
		plan.Files(plan.Delete), c.called(plan.Checkpoint))
	return yes, err
}

// nameFirst names a few of many paths.
func (c *call) nameFirst(paths []string) {
	for _, path := range firstN(paths, 5) {
		fmt.Fprintf(c.out.stderr, "  %s\n", escapePath(path))
	}
	fmt.Fprintf(c.out.stderr, "  and %d more\n", len(paths)-5)
}

// revertInstead is the command that keeps the work of others.
func revertInstead(r *restore.RevertInstead) string {
	text := "rewind revert --session " + shellQuote(r.Session)
	if r.Turns > 0 {
		text += " --since prompt~" + strconv.Itoa(r.Turns)
	}
	if len(r.Paths) > 0 {
		text += " -- " + strings.Join(quoteAll(r.Paths), " ")
	}
	return text
}

// keeps is the command that leaves the work of others alone; "" where none is known.
func (c *call) keeps(r *restore.Restored) string {
	switch {
	case r.Instead != nil:
		return revertInstead(r.Instead)
	case len(r.Own) == 0 || len(r.Own) > maxOtherPaths || c.flags.Changed("patch"):
		return ""
	}
	root := ""
	if c.project != nil {
		root = c.project.Root()
	}
	words := make([]string, len(r.Own))
	for i, path := range r.Own {
		words[i] = shellQuote(c.fromHere(root, path))
	}
	return "rewind restore " + r.Checkpoint.ID.String()[:shortID] + " -- " + strings.Join(words, " ")
}

// alone are the commands that take back the work of one of several sessions, where nobody knows which is meant.
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

// othersText tells whose work goes too: a session a line, then its turns with their files; then the person's. Where
// something else goes, it begins with also, else with plain. It is escaped.
func othersText(also, plain string, r *restore.Restored) (lines []string) {
	verb, whose := also, "another session, "
	if r.Unclear {
		verb, whose = plain, "session "
	}
	for _, o := range r.Others {
		lines = append(lines, fmt.Sprintf("%s %s of %s%s:", verb, plural(o.Paths, "path", "paths"), whose, escape(strings.TrimSpace(o.Agent+" "+shortSession(o.Session)))))
		for _, t := range firstN(o.Turns, maxOtherTurns) {
			text := "  "
			if t.Prompt != "" {
				text += quoted(firstLine(t.Prompt)) + ": "
			}
			lines = append(lines, text+somePaths(t.Files, maxOtherPaths))
		}
		if n := len(o.Turns) - maxOtherTurns; n > 0 {
			lines = append(lines, fmt.Sprintf("  and %s more", plural(n, "prompt", "prompts")))
		}
	}
	if n := len(r.Outside); n > 0 {
		if r.Checkpoint.Kind != manifest.Prompt && n == len(r.Create)+len(r.Replace)+len(r.Delete)+len(r.Mode) {
			verb = plain
		}
		lines = append(lines, fmt.Sprintf("%s %s that you, or something outside this project's sessions, changed: %s", verb, plural(n, "path", "paths"), somePaths(r.Outside, maxOtherPaths)))
	}
	return lines
}

func printRestored(c *call, r *restore.Restored, v restoreVerb) {
	o, format := c.out, v.done
	if r.DryRun {
		format = v.would
	}
	if v.of != "" && (r.Of == manifest.OpRestore || r.Of == manifest.OpRevert) {
		if format = v.of; r.DryRun {
			format = v.wouldOf
		}
	}
	if r.PutBack {
		if v.part, format = (part{}), "Put back the %v that did not finish: %a as before it."; r.DryRun {
			format = "Would put back the %v that did not finish: %f as before it."
		}
	}
	if onlySkipped(r) && len(problem.FailedOf(r.Skip)) > 0 {
		if r.DryRun {
			o.summary("Would restore nothing.")
		} else {
			o.summary("Nothing was restored.")
		}
	} else if r.Checkpoint.ID == (manifest.CheckpointID{}) { // the conversation alone
		if m := r.Conversation; !r.DryRun && m != nil && m.From == "" && !m.Removed && !m.InPlace { // else printMoved says it
			o.summary("Done.")
		}
	} else if r.Since != "" {
		verb := "Undid"
		if r.DryRun {
			verb = "Would undo"
		}
		o.summary("%s what was changed%s since the last %s.", verb, v.part.after(" of "), r.Since)
	} else {
		what := cmp.Or(r.OfVerb, string(manifest.OpRestore))
		o.summary("%s", strings.NewReplacer("%s", c.goal(r, v), "%v", escape(what), "%p", v.part.after(" "), "%f", v.part.subject(), "%a", v.part.are()).Replace(format))
	}
	if r.Conversation == nil || changed(r) {
		o.summary("%s", restoredLine(r))
	}
	c.tellRecovered(r)
	also, plain := "Also undid", "Undid"
	if r.DryRun {
		also, plain = "Would also undo", "Would undo"
	}
	for _, line := range othersText(also, plain, r) {
		o.summary("%s", line)
	}
	first := ""
	if !r.DryRun {
		first = o.typed(v.takeBack) + ", then "
	}
	if keeps := c.keeps(r); keeps != "" {
		o.summary("Keep those with: %s%s", first, o.typed(keeps))
	}
	if commands := alone(r); len(commands) > 0 {
		if !r.DryRun {
			first = "with " + first
		} else {
			first = "with "
		}
		o.summary("Take back one alone, and keep the rest, %sone of:", first)
		for _, command := range commands {
			o.summary("  %s", o.typed(command))
		}
	}
	if r.Stuck {
		o.summary("The conversation stays as it is, because no file can be restored.")
	}
	if a := v.attempt; a != nil && r.Conversation == nil && v.part.text == "" {
		o.summary("The conversation stays as it is. That of the attempt: %s", escape(strings.TrimSpace(a.Prompt.Agent+" "+a.Prompt.Session)))
	}
	printMoved(o, r)
	if r.DryRun || o.verbose {
		printRestoredPaths(o, r, 0)
	}
	if !r.DryRun && !o.verbose {
		nameSkipped(o, r.Skip)
	}
	if r.NotCaptured > 0 {
		tellNotCaptured(c, r.NotCaptured, r.Checkpoint.ID.String()[:shortID])
	}
	if !r.DryRun && r.Operation != 0 && (r.Safety != nil || r.Conversation != nil) {
		o.summary("%s: %s", cmp.Or(v.onward, "Undo with"), o.typed(v.takeBack))
	}
}

// goal is what a restore goes to, in its message.
func (c *call) goal(r *restore.Restored, v restoreVerb) string {
	a := v.attempt
	if a == nil {
		return c.called(r.Checkpoint)
	}
	id := r.Checkpoint.ID.String()[:shortID]
	return fmt.Sprintf("the end of %s %s (%s, %s)", attempts.Name(a.N), quoted(firstLine(a.Prompt.Prompt)), id, ago(c.out, r.Checkpoint.Time))
}

// nameSkipped names the paths that were left alone, where they are few; those that
// failed, or are torn, have a message of their own.
func nameSkipped(o *output, skips []problem.Problem) {
	if len(skips) > 3 {
		return
	}
	for _, s := range skips {
		if !s.Failed && s.Code != problem.TargetIsTorn {
			o.summary("Skipped %s: %s", escapePath(s.Path), escape(s.Reason))
		}
	}
}

// changed reports whether a file differs, or is to be told of.
func changed(r *restore.Restored) bool {
	return len(r.Create)+len(r.Replace)+len(r.Delete)+len(r.Mode)+len(r.Skip) > 0
}

// restoredLine is what changed, or on a dry run would change, in one line.
func restoredLine(r *restore.Restored) string {
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
		word := p.did
		if r.DryRun {
			word = p.would
		}
		if p.n > 0 {
			parts = append(parts, plural(p.n, p.one+word, p.many+word))
		}
	}
	if len(parts) == 0 {
		return "Nothing differs."
	}
	return strings.Join(parts, ", ") + "."
}

// printRestoredPaths lists paths, not more than most of them; 0: all.
func printRestoredPaths(o *output, r *restore.Restored, most int) {
	if o.json || o.quiet {
		return
	}
	n := 0
	line := func(format string, args ...any) {
		if n++; most == 0 || n <= most {
			o.line(format, args...)
		}
	}
	for _, group := range []struct {
		letter string
		style  screen.Style
		paths  []string
	}{{"create", screen.Green, r.Named(r.Create)}, {"replace", screen.Yellow, r.Replace}, {"delete", screen.Red, r.Named(r.Delete)}, {"mode", screen.Yellow, r.Mode}} {
		for _, path := range group.paths {
			line("  %s %s", o.color.Paint(group.style, pad(group.letter, 7)), escapePath(path))
		}
	}
	for _, p := range r.Skip {
		line("  %s %s: %s", pad("skip", 7), escapePath(p.Path), escape(p.Reason))
	}
	if most > 0 && n > most {
		o.line("  and %d more; --dry-run lists all", n-most)
	}
}
