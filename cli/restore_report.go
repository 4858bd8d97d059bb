package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rewind-cli/rewind/cli/screen"
	"github.com/rewind-cli/rewind/engine"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/manifest"
)

func reportRestored(c *call, done *engine.Restored, v restoreVerb) error {
	c.out.endProgress()
	c.named(done)
	if c.json {
		if err := c.out.document(viewRestored(done)); err != nil {
			return err
		}
	} else {
		printRestored(c, done, v)
	}
	warnTorn(c.out, done)
	warnLate(c.out, done)
	if bad := problem.FailedOf(done.Skip); len(bad) > 0 {
		return &partialError{verb: "restored", paths: bad}
	}
	return nil
}

// warnLate tells of files that somebody wrote while they were replaced or deleted.
func warnLate(o *output, done *engine.Restored) {
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
func warnTorn(o *output, done *engine.Restored) {
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
		o.warn("%s was skipped: %s", escape(path), engine.ReasonTorn)
	}
	if n := len(left) - maxNamed; n > 0 {
		o.warn("and %d more", n)
	}
	if len(left) > 0 {
		o.hint("rewind restore %s -- %s restores what was captured of it anyway", done.Checkpoint.ID, shellQuote(left[0]))
	}
	for _, path := range firstN(done.Torn, maxNamed) {
		o.warn("%s: %s", escape(path), engine.ReasonTorn)
	}
}

// confirm asks before many files are deleted, or another session's work goes.
func (c *call) confirm(plan *engine.Restored) (bool, error) {
	if len(plan.Others) > 0 {
		for _, line := range othersText("Also undoes", plan) {
			fmt.Fprintf(c.out.stderr, "  %s\n", line)
		}
		if c.named(plan); plan.Instead != nil {
			c.out.hint("%s keeps them", revertInstead(plan.Instead))
		}
		n := 0
		for _, o := range plan.Others {
			n += o.Paths
		}
		if yes, err := c.out.ask("This also undoes the work of %s (%s). A safety checkpoint is taken first. Continue?",
			plural(len(plan.Others), "other session", "other sessions"), plural(n, "path", "paths")); err != nil || !yes {
			return yes, err
		}
	}
	if len(plan.Delete) <= confirmAbove {
		return true, nil
	}
	c.nameFirst(plan.Delete)
	yes, err := c.out.ask("This deletes %d files that are not in %s. A safety checkpoint is taken first. Continue?",
		engine.CountPaths(plan.Delete), c.called(plan.Checkpoint))
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
func revertInstead(r *engine.RevertInstead) string {
	text := "rewind revert --session " + shellQuote(r.Session) + " --since prompt~" + strconv.Itoa(r.Turns)
	if len(r.Paths) > 0 {
		text += " -- " + strings.Join(quoteAll(r.Paths), " ")
	}
	return text
}

const (
	maxOtherTurns = 5  // of a session that are named
	maxOtherPaths = 10 // of a turn, or of the person
)

// othersText tells whose work goes too: a session a line, then its turns with their files; then the person's. It is
// escaped.
func othersText(verb string, r *engine.Restored) (lines []string) {
	for _, o := range r.Others {
		lines = append(lines, fmt.Sprintf("%s %s of another session, %s:", verb, plural(o.Paths, "path", "paths"), escape(strings.TrimSpace(o.Agent+" "+shortSession(o.Session)))))
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
		lines = append(lines, fmt.Sprintf("%s %s that you or a program of yours changed: %s", verb, plural(n, "path", "paths"), somePaths(r.Outside, maxOtherPaths)))
	}
	return lines
}

func printRestored(c *call, r *engine.Restored, v restoreVerb) {
	o, format := c.out, v.done
	if r.DryRun {
		format = v.would
	}
	if r.Checkpoint.ID == (manifest.CheckpointID{}) { // the conversation alone
		if !r.DryRun && r.Conversation != nil {
			o.summary("Done.")
		}
	} else {
		of := manifest.OpRestore
		if r.Of == manifest.OpRevert {
			of = r.Of
		}
		args := []any{c.called(r.Checkpoint)}
		if strings.Contains(format, "%[2]s") {
			args = append(args, string(of))
		}
		o.summary(format, args...)
	}
	if r.Conversation == nil || changed(r) {
		o.summary("%s", restoredLine(r))
	}
	also := "Also undid"
	if r.DryRun {
		also = "Would also undo"
	}
	for _, line := range othersText(also, r) {
		o.summary("%s", line)
	}
	if r.Instead != nil && r.DryRun {
		o.summary("Keep those with: %s", o.typed(revertInstead(r.Instead)))
	} else if r.Instead != nil {
		o.summary("Keep those with: %s, then %s", o.typed(v.takeBack), o.typed(revertInstead(r.Instead)))
	}
	printMoved(o, r)
	if r.DryRun || o.verbose {
		printRestoredPaths(o, r, 0)
	}
	if !r.DryRun && !o.verbose {
		nameSkipped(o, r.Skip)
	}
	if !r.DryRun && r.Operation != 0 {
		o.summary("Undo with: %s", o.typed(v.takeBack))
	}
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
func changed(r *engine.Restored) bool {
	return len(r.Create)+len(r.Replace)+len(r.Delete)+len(r.Mode)+len(r.Skip) > 0
}

// restoredLine is what changed, or on a dry run would change, in one line.
func restoredLine(r *engine.Restored) string {
	var parts []string
	for _, p := range []struct {
		one, many, did, would string
		n                     int
	}{
		{"", "", "created", "to create", engine.CountPaths(r.Create)}, {"", "", "replaced", "to replace", len(r.Replace)},
		{"", "", "deleted", "to delete", engine.CountPaths(r.Delete)}, {"mode ", "modes ", "changed", "to change", len(r.Mode)},
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
func printRestoredPaths(o *output, r *engine.Restored, most int) {
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
	}{{"create", screen.Green, r.Create}, {"replace", screen.Yellow, r.Replace}, {"delete", screen.Red, r.Delete}, {"mode", screen.Yellow, r.Mode}} {
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
