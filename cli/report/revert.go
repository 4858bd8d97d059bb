package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/revert"
	"github.com/rewind-cli/rewind/engine/work"
)

// keptError says that a revert left something that was to go. The answer has been printed.
type keptError struct {
	kept, marked int
	chosen       bool              // by the person, each of them
	failed       *app.PartialError // what could not be restored; nil: nothing
	shared       []string          // paths that stay since others could have changed them, or did so last
	forgotten    []string          // paths that stay since their history was forgotten
	nothing      bool              // was reverted
	dry          bool              // it is what would be
}

func (e *keptError) Error() string {
	var parts []string
	switch {
	case e.chosen && e.kept > 0:
		parts = append(parts, app.Plural(e.kept, "place that was to go stays, as chosen", "places that were to go stay, as chosen"))
	case e.kept > 0:
		parts = append(parts, app.Plural(e.kept, "place stayed as it was", "places stayed as they were"))
	}
	if e.chosen && e.marked > 0 {
		parts = append(parts, app.Plural(e.marked, "place", "places")+" with markers, as chosen")
	} else if e.marked > 0 {
		parts = append(parts, app.Plural(e.marked, "place", "places")+" with both versions between markers, since it was changed again")
	}
	if e.failed != nil {
		parts = append(parts, e.failed.Error())
	}
	stay := func(paths []string, noun, why string) {
		if n := len(paths); n > 0 {
			count := app.Plural(n, noun+app.Did(e.dry, " stays", " would stay"), noun+"s"+app.Did(e.dry, " stay", " would stay"))
			parts = append(parts, fmt.Sprintf("%s, since %s: %s", count, why, pathsText(paths)))
		}
	}
	stay(e.shared, "path", "others changed "+app.ItOrThem(len(e.shared))+", or could have")
	stay(e.forgotten, "file", app.ByCount(len(e.forgotten), "its", "their")+" history was forgotten")
	text := strings.Join(parts, "; ")
	if e.nothing {
		text = app.Did(e.dry, "nothing was reverted", "nothing would be reverted") + ": " + text
	}
	return text
}

func (e *keptError) Explain(f *app.Failure) {
	*f = app.Failure{Code: app.ExitPartial, Note: e.failed == nil && (!e.nothing || e.dry) && (e.chosen || e.kept+e.marked == 0)}
	if e.failed != nil {
		e.failed.Explain(f)
	}
	f.Message = e.Error()
}

// ConflictsError says where others built on what was to go. Nothing was changed.
type ConflictsError struct {
	*revert.ConflictError
	Lines []string
	Keep  string // the command with --conflicts keep
}

func (e *ConflictsError) Explain(f *app.Failure) {
	n := 0
	for _, k := range e.Reverted.Conflicts {
		if k.Choice == work.RefuseConflicts {
			n++
		}
	}
	*f = app.Failure{Code: app.ExitRefused, Message: app.Plural(n, "conflict", "conflicts") + "; nothing was changed", Warnings: e.Lines,
		Hint:      e.Keep + " leaves them as they are; --conflicts keep-file leaves the whole file, undo takes back what came since, too, markers writes both versions",
		Conflicts: app.Map(e.Reverted.Conflicts, viewConflict), Document: true}
}

// ReportReverted prints what was done, without what the plan has shown already (told). chosen:
// the person was asked what becomes of each conflict.
func ReportReverted(c *app.Call, r *revert.Reverted, flags *RevertFlags, told, chosen bool) error {
	c.Out.EndProgress()
	if c.JSON {
		if err := c.Out.Document(viewReverted(r)); err != nil {
			return err
		}
	} else if told {
		printDone(c, r, flags)
	} else {
		PrintReverted(c, r, flags, false)
	}
	if !c.JSON {
		WarnGit(c, r.Restored, r.DryRun)
	}
	var failed *app.PartialError
	if bad := problem.FailedOf(r.Skip); len(bad) > 0 {
		failed = &app.PartialError{Verb: "reverted", Paths: bad}
	}
	e := &keptError{failed: failed, chosen: true, forgotten: r.Forgotten, dry: r.DryRun}
	for _, s := range r.Shared {
		if !s.Goes {
			e.shared = append(e.shared, s.Path)
		}
	}
	if len(r.Kept)+len(e.shared)+len(e.forgotten) > 0 {
		e.nothing = len(e.shared)+len(e.forgotten) > 0 && len(r.Create)+len(r.Replace)+len(r.Delete)+len(r.Mode) == 0
		for _, k := range r.Kept {
			asked := chosen || flags.Conflicts == string(work.KeepBlock) || flags.Conflicts == string(work.KeepFile) || k.Marked && flags.Conflicts == string(work.MarkConflict)
			e.chosen = e.chosen && asked
			if k.Marked {
				e.marked++
			} else {
				e.kept++
			}
		}
		return e
	}
	if failed != nil {
		return failed
	}
	return nil
}

// PrintReverted prints a plan, or what was done where no plan was shown. open: the conflicts have no choice yet.
func PrintReverted(c *app.Call, r *revert.Reverted, flags *RevertFlags, open bool) {
	o := c.Out
	verb := app.Did(r.DryRun, "Reverted", "Would revert")
	switch {
	case !Changed(r.Restored):
		o.Summary("%s", NothingReverted(r, flags.work(c.Session)))
	case onlySkipped(r.Restored):
		o.Summary("Nothing was reverted.")
	case len(r.Turns) == 0:
		o.Summary("%s.", verb)
	default:
		o.Summary("%s %s.", verb, TurnsText(r, flags.Tool != ""))
	}
	if Changed(r.Restored) {
		o.Summary("%s", RestoredLine(r.Restored))
	}
	c.TellRecovered(r.Restored)
	for _, fact := range RevertFacts(c, r, open) {
		o.Summary("%s", fact)
	}
	if slices.ContainsFunc(r.Shared, func(s revert.SharedPath) bool { return !s.Goes && !s.Last }) {
		o.Hint("--include-shared takes those back, too")
	}
	if r.DryRun || o.Verbose {
		most := app.MaxNamed
		if flags.DryRun || o.Verbose {
			most = 0
		}
		printRestoredPaths(o, r.Restored, most)
	} else {
		nameSkipped(o, r.Skip)
	}
	printBack(c, r)
}

// NothingReverted says why a revert of some work, "this turn", finds nothing to change.
func NothingReverted(r *revert.Reverted, work string) string {
	switch {
	case len(r.Kept) > 0:
		return "Nothing to revert but what was changed again since."
	case len(r.Shared) > 0:
		return "Nothing reverted: each change may be somebody else's."
	case len(r.Forgotten) > 0:
		return "Nothing to revert but files whose history was forgotten."
	case r.Wrote == 0 && len(r.NotCovered)+len(r.Elsewhere) == 0:
		return "Nothing to revert: " + work + " changed no file of the project."
	}
	return "Nothing to revert: nothing of it is left where it was written."
}

// onlySkipped reports whether nothing changed of what was to change.
func onlySkipped(r *restore.Restored) bool {
	return len(r.Skip) > 0 && len(r.Create)+len(r.Replace)+len(r.Delete)+len(r.Mode) == 0
}

// printDone is what is left to say after a plan that the person agreed to.
func printDone(c *app.Call, r *revert.Reverted, flags *RevertFlags) {
	if len(r.Turns) == 0 {
		c.Out.Summary("Reverted.")
	} else {
		c.Out.Summary("Reverted %s.", TurnsText(r, flags.Tool != ""))
	}
	c.Out.Summary("%s", RestoredLine(r.Restored))
	c.TellRecovered(r.Restored)
	nameSkipped(c.Out, r.Skip)
	printBack(c, r)
}

// printBack says how a revert is taken back, and what of the work is left.
func printBack(c *app.Call, r *revert.Reverted) {
	o := c.Out
	if !r.DryRun && r.Operation != 0 {
		o.Summary("Undo with: %s", o.Typed("rewind undo"))
		if r.Back > 0 && len(r.Turns) > 0 {
			o.Hint("the conversation still contains it; rewind back %d --session %s takes it back there, too", r.Back, app.ShellQuote(r.Turns[0].Session))
		}
	}
}

// TurnsText names the turns that were reverted, of which there is one at least, or, of one, the call.
func TurnsText(r *revert.Reverted, call bool) string {
	turns := r.Turns
	var prompts []string
	for _, t := range turns {
		if t.Prompt != "" {
			prompts = append(prompts, rows.Quoted(app.FirstLine(t.Prompt)))
		}
	}
	text := app.Plural(len(turns), "turn", "turns")
	if call {
		text = "1 call"
	}
	if who := strings.TrimSpace(turns[0].Agent + " " + ShortSession(turns[0].Session)); who != "" {
		text += " of " + app.Escape(who)
	}
	if r.Subagent != "" {
		text += " (subagent " + app.Escape(ShortSession(r.Subagent)) + ")"
	}
	if len(prompts) > 0 {
		text += ": " + firstOf(prompts, 3, func(text string) string { return text })
	}
	return text
}

// ShortSession is the beginning of a session's id that tells it from others of its agent: of a UUID that begins with
// its time (version 7) all of the time, of an id that begins with a word, or that a script gave, 24 bytes.
func ShortSession(id string) string {
	n := app.ShortID
	switch {
	case len(id) == 36 && id[14] == '7':
		n = len("019aab00-1234")
	case strings.Trim(id[:min(n, len(id))], "0123456789abcdef-") != "":
		n = 24
	}
	return strings.ToValidUTF8(id[:min(n, len(id))], "")
}

// PlaceText names lines of a file, as compilers do.
func PlaceText(path string, from, to int) string {
	text := app.EscapePath(path)
	switch {
	case from == 0 && to == 0:
	case to < from:
		text += fmt.Sprintf(" before line %d", from)
	case from == to:
		text += fmt.Sprintf(":%d", from)
	default:
		text += fmt.Sprintf(":%d-%d", from, to)
	}
	return text
}

// byText names author, time and prompt, to follow what was done.
func byText(c *app.Call, list []attribution.Work) string {
	if len(list) == 0 {
		return ""
	}
	var parts []string
	for _, w := range app.FirstN(list, 3) {
		parts = append(parts, WorkText(c, w))
	}
	if n := len(list) - 3; n > 0 {
		parts = append(parts, fmt.Sprintf("%d more", n))
	}
	return ", by " + strings.Join(parts, "; ")
}

func WorkText(c *app.Call, w attribution.Work) string {
	who := app.Escape(strings.TrimSpace(w.Agent + " " + ShortSession(w.Session)))
	switch {
	case w.Operation != 0:
		who = "rewind " + app.Escape(w.Tool)
	case who == "":
		who = "you, or something outside this project's sessions"
	case w.Subagent != "":
		who += " (subagent " + app.Escape(ShortSession(w.Subagent)) + ")"
	}
	if !w.Start.IsZero() {
		who += ", " + app.Ago(c.Out, w.Start)
	}
	if w.Prompt != "" {
		who += ", for " + rows.Quoted(app.FirstLine(w.Prompt))
	}
	return who
}

func pathsText(paths []string) string { return somePaths(paths, 3) }

// somePaths names the first of some paths.
func somePaths(paths []string, most int) string {
	return firstOf(paths, most, app.EscapePath)
}

// firstOf joins the texts of the first elements of a list, and says how many more there are.
func firstOf[T any](list []T, most int, text func(T) string) string {
	var names []string
	for _, v := range app.FirstN(list, most) {
		names = append(names, text(v))
	}
	all := strings.Join(names, ", ")
	if n := len(list) - most; n > 0 {
		all += fmt.Sprintf(" and %d more", n)
	}
	return all
}

// ConflictLines list conflicts, a place a line.
func ConflictLines(c *app.Call, list []revert.RevertConflict) []string {
	return app.FirstNamed(list, app.MaxNamed, func(k revert.RevertConflict) string { return conflictText(c, k) })
}

func conflictText(c *app.Call, k revert.RevertConflict) string {
	return PlaceText(k.Path, k.From, k.To) + ": " + k.Reason + byText(c, k.By)
}

// KeptText names the places that stay although they were to go, after a sentence; "" for none.
func KeptText(r *revert.Reverted) string {
	if len(r.Kept) == 0 {
		return ""
	}
	names := app.FirstNamed(r.Kept, app.MaxNamed, func(k revert.KeptPart) string { return PlaceText(k.Path, k.From, k.To) })
	verb := "marked"
	if slices.ContainsFunc(r.Kept, func(k revert.KeptPart) bool { return !k.Marked }) {
		verb = "kept"
	}
	return " " + app.Plural(len(r.Kept), "place was ", "places were ") + verb + ": " + strings.Join(names, ", ") + "."
}
