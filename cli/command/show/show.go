package show

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/engine/attempts"
	"github.com/rewind-cli/rewind/engine/attribution"
	"github.com/rewind-cli/rewind/engine/gitevents"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/timeline"
	"github.com/rewind-cli/rewind/manifest"
)

func NewShow() *app.Command {
	var files, coverage bool
	return &app.Command{
		Name:  "show",
		Usage: "[<ckpt>][:path] [--files] [--coverage]",
		Short: "show one checkpoint in full, or a file of it",
		Long: "Shows when and why a checkpoint was taken, its prompt, the changes that rewind list shows\n" +
			"for it, and, if they differ, the changes since the checkpoint before it. With :path,\n" +
			"prints the contents of that file in the checkpoint, or the target of a symlink.",
		Examples: []app.Example{
			{Line: "rewind show last", Does: "the newest"},
			{Line: "rewind show 3 --files", Does: "with every path in it"},
			{Line: "rewind show 3:notes.md >old-notes.md", Does: "one file of it"},
			{Line: "rewind show v1 --coverage", Does: "what it did not capture, and why"},
		},
		Answers: app.Answers{"show": shownView{}},
		Exits:   []int{app.ExitNotFound, app.ExitBusy, app.ExitDamaged},
		MinArgs: 0, MaxArgs: 1, Pulled: true,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&files, "files", false, "list every path")
			f.BoolVar(&coverage, "coverage", false, "list what was not captured, and why, instead of the changes")
		},
		Run: func(ctx context.Context, c *app.Call) error {
			p, l, err := c.CheckpointToRead(ctx, 0)
			if err != nil {
				if of, path, ok := fileOf(ctx, c, p, &err); ok {
					return catFile(ctx, c, p, of, path)
				}
				return otherWayRound(ctx, c, p, err)
			}
			if p, err = p.ViewOf(l.Of); err != nil {
				return err
			}
			v, err := gatherShow(ctx, p, l, files, coverage)
			if err != nil {
				return err
			}
			return c.Answer(ctx, v.view, func() { v.print(c.Out) })
		},
	}
}

// fileOf reads an argument that names no checkpoint as CKPT:PATH. Ids that agents bind, and times, have colons, too. Where CKPT is
// an attempt without a checkpoint, that becomes the error.
func fileOf(ctx context.Context, c *app.Call, p *project.Project, err *error) (of project.Listed, path string, ok bool) {
	if none := (*project.NoCheckpointError)(nil); p == nil || !errors.As(*err, &none) {
		return of, "", false
	}
	arg := c.Args[0]
	for i := range arg {
		if arg[i] != ':' || i == 0 || i == len(arg)-1 {
			continue
		}
		of, ferr := c.Resolve(ctx, p, arg[:i])
		if ferr == nil {
			return of, arg[i+1:], true
		}
		if errors.As(ferr, new(*attempts.NoAttemptError)) {
			*err = ferr
		}
	}
	return of, "", false
}

// otherWayRound adds to an error the command with CKPT:PATH, where PATH:CKPT was typed, or :PATH.
func otherWayRound(ctx context.Context, c *app.Call, p *project.Project, err error) error {
	if p == nil || !errors.As(err, new(*project.NoCheckpointError)) {
		return err
	}
	i := strings.LastIndexByte(c.Args[0], ':')
	if i < 0 {
		return err
	}
	path, of := c.Args[0][:i], c.Args[0][i+1:]
	if i == 0 {
		path, of = of, "last"
	}
	if path == "" || of == "" {
		return err
	}
	if _, rerr := c.Resolve(ctx, p, of); rerr != nil {
		return err
	}
	return app.Hinted(err, "rewind show "+app.ShellQuote(of+":"+path))
}

// shown is what show prints, either way.
type shown struct {
	project.Listed
	changes            []manifest.Change
	row                *timeline.Row     // nil where none is known
	own                []manifest.Change // the row's
	then               []manifest.Change // what came after the row, of a prompt after the end of its turn
	owned, ownOwned    rows.Owned        // whose changes and own are
	thenOwned          rows.Owned
	agents             bool // are at work in the project
	entries            []inspect.TreeEntry
	git                []gitevents.Event  // what git did after it and before the next
	stashes            *int               // entries of git's stash; nil: not known
	head               *inspect.HeadMoved // since the checkpoint before; nil: it is the same
	coverage           []problem.Problem
	withFiles, withCov bool
}

func gatherShow(ctx context.Context, p *project.Project, l project.Listed, files, coverage bool) (*shown, error) {
	release, err := p.Use(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	s := &shown{Listed: l, withFiles: files, withCov: coverage}
	changes, err := inspect.Changes(ctx, p, l.Checkpoint)
	if err != nil {
		return nil, err
	}
	s.changes = withoutImplied(changes)
	if err := s.ownChanges(ctx, p); err != nil {
		return nil, err
	}
	if s.stashes, err = inspect.Stashes(p, l.Checkpoint); err != nil {
		return nil, err
	}
	if s.head, err = inspect.HeadCame(ctx, p, l.Checkpoint); err != nil {
		return nil, err
	}
	if files {
		err = inspect.Tree(ctx, p, l.Checkpoint, "", func(e inspect.TreeEntry) error {
			s.entries = append(s.entries, e)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if coverage || l.Partial > 0 {
		if s.coverage, err = inspect.Coverage(ctx, p, l.Checkpoint); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// ownChanges finds the changes of the checkpoint's row.
func (s *shown) ownChanges(ctx context.Context, p *project.Project) error {
	var now *timeline.Present
	r, err := timeline.RowOf(ctx, p, s.Seq, func() *timeline.Present {
		if s.Kind != manifest.Manual {
			now, _ = rows.Look(ctx, p) // the newest turn ends now
		}
		return now
	})
	if err != nil {
		return err
	}
	if err := s.owners(ctx, p, r, now); err != nil || r == nil {
		return err
	}
	if s.git, err = timeline.NewGit(p, now, nil).Of(r); err != nil {
		return err
	}
	var own []manifest.Change
	err = r.Changes(ctx, p, now, func(c manifest.Change) error {
		own = append(own, c)
		return nil
	})
	switch {
	case project.IsDamage(err):
		return nil // verify tells of that
	case err != nil:
		return err
	}
	if s.row = r; r.To == nil {
		s.row = nil
	}
	s.own = withoutImplied(own)
	if r.Then == nil {
		return nil
	}
	var then []manifest.Change
	err = r.Then.Changes(ctx, p, now, func(c manifest.Change) error {
		then = append(then, c)
		return nil
	})
	if s.then = withoutImplied(then); project.IsDamage(err) {
		return nil
	}
	return err
}

// owners finds whose the changes are. r is the checkpoint's row, nil for none.
func (s *shown) owners(ctx context.Context, p *project.Project, r *timeline.Row, now *timeline.Present) error {
	o := attribution.Options{From: s.Seq - 1, To: s.Seq}
	if r != nil && r.To != nil && r.Side != timeline.Since {
		if o.To = r.To.Seq; r.To.Now {
			o.To, o.Now = 0, now.Seen(p)
		}
	} else if r != nil && r.From != nil && r.From.Seq > 0 {
		o.From = min(o.From, r.From.Seq)
	}
	if r != nil && r.Then != nil {
		o.To, o.Now = r.Then.To.Seq, nil
	}
	a, err := attribution.New(ctx, p, o)
	if err != nil {
		return err
	}
	s.agents = a.Agents()
	steps, err := a.Changes(s.Seq)
	if err == nil {
		by := map[string][]attribution.Step{}
		for _, st := range steps {
			by[st.Path] = append(by[st.Path], st)
		}
		s.owned = rows.OwnedOf(by)
		s.ownOwned, err = rows.RowOwned(a, r)
	}
	if err == nil && r != nil {
		s.thenOwned, err = rows.RowOwned(a, r.Then)
	}
	if project.IsDamage(err) {
		return nil // verify tells of that
	}
	return err
}

// withoutImplied leaves out directories of which other changes tell.
func withoutImplied(changes []manifest.Change) (out []manifest.Change) {
	for i, ch := range changes {
		if i+1 == len(changes) || !impliedDir(ch, changes[i+1]) {
			out = append(out, ch)
		}
	}
	return out
}

// impliedDir: a directory that came or went with what is in it, as the next
// change says already.
func impliedDir(c, next manifest.Change) bool {
	e := c.New
	if e == nil {
		e = c.Old
	}
	return e.Kind == manifest.Subdir && (c.Old == nil || c.New == nil) && strings.HasPrefix(next.Path, c.Path+"/")
}

type shownView struct {
	rows.CheckpointView
	Changes  rows.OwnedChangesView `json:"changes"`
	Own      *ownPathsView         `json:"own_changes"` // as list tells them; null where they are not known
	Then     *ownPathsView         `json:"then"`        // what came after it, of a prompt after the end of its turn, as list has it; null for nothing
	Entries  *[]rows.EntryView     `json:"entries,omitempty"`
	Git      []rows.GitView        `json:"git,omitempty"`         // what git did after it and before the next checkpoint, or until now
	Stashes  *int                  `json:"git_stashes,omitempty"` // entries of git's stash; left out where git's own state is not known
	Head     *rows.HeadMovedView   `json:"head_moved,omitempty"`  // where git's HEAD was at the checkpoint before, if elsewhere
	Coverage *[]rows.ProblemView   `json:"coverage,omitempty"`
	// The same, as status calls it.
	NotCovered *[]rows.ProblemView `json:"not_covered,omitempty"`
}

// ownPathsView is what a row is responsible for, with the paths.
type ownPathsView struct {
	Side string  `json:"side"` // since: before its own state; did, after: behind it
	From *string `json:"from"` // checkpoint; null for the empty tree, or what an operation left
	To   *string `json:"to"`   // checkpoint; null for now, or what an operation found
	rows.OwnedChangesView
}

func (s *shown) view() any {
	v := shownView{CheckpointView: rows.ViewCheckpoint(s.Listed), Changes: rows.ViewOwned(s.changes, s.owned)}
	v.Git, v.Stashes, v.Head = rows.ViewGit(s.git), s.stashes, rows.ViewHeadMoved(s.head)
	if r := s.row; r != nil {
		v.Own = &ownPathsView{string(r.Side), viewStateID(r.From), viewStateID(r.To), rows.ViewOwned(s.own, s.ownOwned)}
		if then := r.Then; then != nil {
			v.Then = &ownPathsView{string(then.Side), viewStateID(then.From), viewStateID(then.To), rows.ViewOwned(s.then, s.thenOwned)}
		}
	}
	if s.withFiles {
		v.Entries = new(app.Map(s.entries, rows.ViewEntry))
	}
	if s.withCov {
		cov := rows.ViewProblems(s.coverage)
		v.Coverage, v.NotCovered = &cov, &cov
	}
	return v
}
