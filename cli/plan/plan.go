// Package plan makes the plans that are shown before they are done: what a restore, an undo, a redo or a revert would do, as
// values. The picker and the page show them, each in its own way, and have the one that was shown done.
package plan

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/report"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/revert"
)

// Plan is what an action would do, as a dry run found it. Texts are escaped, paths are not.
type Plan struct {
	ID       int
	Title    string
	Facts    []Fact
	Others   []string // the work of other sessions that goes too
	Files    []File
	Notes    []string
	Question string // "" where there is nothing to do
	Back     string // the key that takes it back: u, of an undo U
	keyless  bool   // there are no keys, see Plans

	OffersGit bool // what git has lost since can return, too
	Git       bool // it does

	Restored *restore.Restored
	Reverted *revert.Reverted       // nil but of a revert
	Instead  *restore.RevertInstead // what keeps the work of others, nil where there is no such way
	Alone    []restore.OtherWork    // sessions whose work can be taken back alone, where it is unclear which is meant

	made action
	what string // "restore to 3", in a question
	did  string // "Restored to 3"
}

// Fact is a line of a plan.
type Fact struct {
	Text  string
	Faint bool // of less weight than the others
}

// File is a path that a plan changes.
type File struct {
	Action    string // delete, replace, mode, create
	Path      string
	Directory bool // that is created or deleted: it is not counted
}

// action is what a plan is made from, and made from again where it is out of date.
type action interface {
	// plan fills a plan by a dry run.
	plan(ctx context.Context, s *Plans, p *Plan) error
	// carryOut does what that dry run found. Error: *restore.PlanChangedError, where something else would be done by now.
	carryOut(ctx context.Context, p *project.Project) (*Done, error)
}

// Done is what was done.
type Done struct {
	Summary  string // "Restored to 3: 1 replaced. u takes it back"
	Back     string // as in the Plan
	Restored *restore.Restored
	Reverted *revert.Reverted // nil but of a revert

	words report.RestoreWords
}

// TakesBack reports whether it took back what was done just before: an undo whatever is no undo, a redo an undo.
func (d *Done) TakesBack(before *Done) bool {
	return d.words.TakesTo && !before.words.TakesTo || d.words.Forward && before.words.TakesTo
}

// Report prints it as the command does. Error: it was done in part.
func (d *Done) Report(c *app.Call) error {
	if d.Reverted != nil {
		return report.ReportReverted(c, d.Reverted, &report.RevertFlags{}, false, true)
	}
	return report.ReportRestored(c, d.Restored, d.words)
}

// kept is how many plans that were shown can be done: a person who chooses paths one by one sees many.
const kept = 32

// Plans are those of one project that were shown. It is for one goroutine at a time.
type Plans struct {
	c     *app.Call
	p     *project.Project
	made  int
	shown map[int]*Plan

	Keyless bool // plans name the command that takes them back, and no key
}

// New has no plan yet.
func New(c *app.Call, p *project.Project) *Plans { return &Plans{c: c, p: p, shown: map[int]*Plan{}} }

// make makes a plan and keeps it.
func (s *Plans) make(ctx context.Context, a action) (*Plan, error) {
	p := &Plan{made: a, Back: "u", keyless: s.Keyless}
	if err := a.plan(ctx, s, p); err != nil {
		return nil, err
	}
	p.ask()
	s.made++ // an id is never used again: another page may still show the plan that had it
	p.ID = s.made
	s.shown[p.ID] = p
	delete(s.shown, p.ID-kept)
	return p, nil
}

// Do carries out a plan that was shown. If it is out of date, it does nothing: now is the present plan, and why says so.
func (s *Plans) Do(ctx context.Context, id int) (done *Done, now *Plan, why string, err error) {
	p := s.shown[id]
	if p == nil {
		return nil, nil, "", &app.StaleError{What: "plan", Name: app.Utoa(uint64(max(0, id))), Known: id > 0 && id <= s.made}
	}
	done, err = p.made.carryOut(ctx, s.p)
	var changed *restore.PlanChangedError
	switch {
	case errors.As(err, &changed):
		now, err := s.make(ctx, p.made)
		return nil, now, "nothing was done: " + changed.Error() + "; this is the plan now.", err
	case err != nil:
		return nil, nil, "", err
	}
	done.Back = p.Back
	done.Summary = p.did + ": " + report.RestoredLine(done.Restored)
	if r := done.Restored; r.Conversation != nil && !report.Changed(r) && len(r.GitState) == 0 {
		done.Summary = p.did + ": the conversation."
	}
	if done.Reverted != nil {
		done.Summary += report.KeptText(done.Reverted)
	}
	if text := report.GoneText(done.Restored); text != "" {
		done.Summary += " " + text
	}
	done.Summary += " " + p.takesBack() + " takes it back"
	clear(s.shown)
	return done, nil, "", nil
}

func (p *Plan) fact(text string) { p.Facts = append(p.Facts, Fact{Text: text}) }

func (p *Plan) faint(text string) { p.Facts = append(p.Facts, Fact{text, true}) }

// ask lists the paths of a plan, and asks whether it is to be done.
func (p *Plan) ask() {
	r := p.Restored
	for _, g := range []struct {
		action string
		paths  []string
	}{{"delete", r.Delete}, {"replace", r.Replace}, {"mode", r.Mode}, {"create", r.Create}} {
		for _, path := range g.paths {
			p.Files = append(p.Files, File{g.action, path, r.Directories[path]})
		}
	}
	if len(p.Files) > 0 || r.Conversation != nil || len(r.GitState) > 0 {
		p.Question = p.what + planned(r) + "? " + p.takesBack() + " takes it back"
	}
}

// takesBack is what is typed to take it back.
func (p *Plan) takesBack() string {
	if p.keyless {
		return "rewind " + takers[p.Back]
	}
	return p.Back
}

// takers are the verbs by their keys.
var takers = map[string]string{"u": "undo", "U": "redo"}

// howBack says how it is taken back, and that a safety checkpoint is taken where files, or git's own state, change.
func (p *Plan) howBack() string {
	text := upper(takers[p.Back]) + " it with "
	if !p.keyless {
		text += p.Back + " here, or with "
	}
	text += "rewind " + takers[p.Back] + "."
	if r := p.Restored; len(r.Create)+len(r.Replace)+len(r.Delete)+len(r.Mode)+len(r.GitState) > 0 {
		text = "A safety checkpoint is taken first. " + text
	}
	return text
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
	if len(r.GitState) > 0 {
		parts = append(parts, "with git")
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}
