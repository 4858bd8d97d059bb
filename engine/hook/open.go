package hook

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/stores"
	"github.com/rewind-cli/rewind/manifest"
)

// Open finds the project of the session. The directory that the client's process was started in decides: a cd inside the
// session changes nothing, and a session that is resumed in another directory belongs to that project from then on; so does
// one that a script's prompt names again in another project. A session whose directory has no project is captured in the
// project that the agent is in.
func (c *Call) Open(ctx context.Context) error {
	moved, err := c.place(ctx)
	if err != nil {
		return err
	}
	if e := &c.Event; e.By.Agent == "generic" && filepath.IsAbs(e.Cwd) && isGone(e.Cwd) && c.session.Dir == c.Env.Dir { // of other agents it was removed meanwhile
		c.note(&goneDirError{e.Cwd})
	}
	o := project.OpenOptions{Env: c.Env, LockWait: CallTime}
	o.Env.Dir = c.session.Dir
	o.Env.Getenv = func(name string) string {
		if name == "REWIND_PROJECT_ROOT" {
			return ""
		}
		return c.Env.Variable(name)
	}
	if c.session.Exact {
		o.Root = c.session.Dir
	}
	aside := c.worktree()
	if aside != "" {
		o.Root, o.Env.Dir = "", c.Event.Cwd
	}
	c.Project, err = project.Open(ctx, o)
	var missing *project.NotInitializedError
	if errors.As(err, &missing) && c.makes(missing) {
		c.Project, _, err = stores.Init(ctx, stores.InitOptions{OpenOptions: o, NoSave: true})
	}
	if err != nil && aside == "" {
		if p := c.besideNone(ctx, o, err); p != nil {
			c.Project, err, aside = p, nil, p.Root()
		}
	}
	if moved {
		c.startAnew(ctx)
	}
	c.enter(ctx, aside)
	if err == nil && aside == "" && c.session.Store != "" && c.session.Store != c.Project.ID.String() {
		c.follow(ctx, o)
	}
	c.noteOutside(ctx)
	return err
}

// place decides where the session's project is looked for. It reports whether the session continues in another directory
// than before.
func (c *Call) place(ctx context.Context) (moved bool, err error) {
	s, e := &c.session, &c.Event
	dir, exact := e.Dir, e.Exact
	for _, other := range []string{e.Cwd, c.Env.Dir} {
		if isGone(dir) {
			dir, exact = other, false
		}
	}
	if isGone(dir) {
		dir = ""
	}
	first := s.Dir == "" || isGone(s.Dir)
	if dir == "" {
		if first {
			return false, &project.RefusedRootError{Root: ".", Reason: "a working directory that no longer exists"}
		}
		return false, nil
	}
	moved = s.Dir != "" && (dir != s.Dir && (c.begins() || e.Asked && c.inAnother(dir)) || e.Fixed && dir == e.Dir && dir != cmp.Or(s.Named, s.Dir))
	if s.Ended && slices.Contains([]manifest.CheckpointKind{manifest.SessionStart, manifest.Prompt, manifest.PreTool}, e.Kind) {
		_ = c.updateSession(ctx, func(s *account.SessionState) { s.Ended = false })
	}
	if !first && !moved {
		return false, nil
	}
	was, named := s.Dir, cmp.Or(e.Dir, dir)
	s.Dir, s.Exact, s.Named = dir, exact, named
	// A state that cannot be kept is lost, as it may be: the next hook looks again.
	_ = c.updateSession(ctx, func(now *account.SessionState) {
		if now.Dir == was { // else a hook that runs at the same time has decided
			now.Dir, now.Exact, now.Named = dir, exact, named
		}
		*s = *now
	})
	return moved, nil
}

// goneDirError: what a session does is recorded where its hook ran.
type goneDirError struct{ dir string }

func (e *goneDirError) Error() string {
	return "a hook said that the agent works in " + strconv.Quote(e.dir) + ", which does not exist: its work is recorded for the directory in which the hook ran"
}

// begins reports whether the event is the first one of a client's process: clear and compact come within one. After the
// session's end it is also what is asked or done next, but not what was still on its way.
func (c *Call) begins() bool {
	e := &c.Event
	switch e.Kind {
	case manifest.SessionStart:
		return e.Source != "clear" && e.Source != "compact"
	case manifest.Prompt, manifest.PreTool:
		return c.session.Ended
	}
	return false
}

// inAnother reports whether a directory is in a project, and that is not the session's or where a worktree's work goes anyway.
func (c *Call) inAnother(dir string) bool {
	if c.worktree() != "" {
		return false
	}
	known, _ := account.KnownStores(c.Env) // what cannot be read says nothing
	there, err := discover(c.Env, dir, known)
	if err != nil || there.Store == "" {
		return false
	}
	own, err := discover(c.Env, c.session.Dir, known)
	return err != nil || own.Root != there.Root
}

// discover finds the project of a directory, whatever the environment names.
func discover(env account.Env, dir string, known []account.KnownStore) (project.Location, error) {
	env.Dir, env.Getenv = dir, func(string) string { return "" }
	return project.Discover(project.OpenOptions{Env: env}, known)
}

// isGone reports whether there is no such directory.
func isGone(dir string) bool {
	_, err := os.Lstat(dir)
	return dir == "" || errors.Is(err, fs.ErrNotExist)
}

// startAnew forgets what the state of a session says about another project than the one that is open now: this one does
// not know the session.
func (c *Call) startAnew(ctx context.Context) {
	s := &c.session
	if c.Project != nil && s.Store == c.Project.ID.String() {
		return
	}
	*s = account.SessionState{Dir: s.Dir, Exact: s.Exact, Named: s.Named}
	now := *s
	_ = c.updateSession(ctx, func(s *account.SessionState) { *s = now })
}

// besideNone opens the project that the agent is in, where the session's directory has none: there is no other that its
// work could be captured in. nil where it is in none either.
func (c *Call) besideNone(ctx context.Context, o project.OpenOptions, failure error) *project.Project {
	var missing *project.NotInitializedError
	var refused *project.RefusedRootError
	if c.Event.Cwd == "" || c.Event.Cwd == c.session.Dir || !errors.As(failure, &missing) && !errors.As(failure, &refused) {
		return nil
	}
	o.Root, o.Env.Dir = "", c.Event.Cwd
	p, err := project.Open(ctx, o)
	if err != nil {
		return nil
	}
	return p
}

// makes reports whether the hook makes the store that is missing: with the setting autoInit, in a
// worktree of a project that the person has initialised, or where they have initialised the older
// program, whose hooks these were.
func (c *Call) makes(missing *project.NotInitializedError) bool {
	if missing.Parent != "" || missing.GoesOn() {
		return c.Event.Kind != manifest.SessionEnd
	}
	if c.Event.Makes || c.Event.Kind != manifest.SessionStart {
		return c.Event.Makes
	}
	set, _ := project.LoadSettings(c.Env, "")
	return set.AutoInit
}

// worktree is the worktree of an agent that it works in and that the session's project leaves out, "" for none: whole
// sessions, subagents and parts of a session do. What it does there belongs there.
func (c *Call) worktree() string {
	now := project.AgentWorktree(c.Event.Cwd)
	if !filepath.IsAbs(now) || now == project.AgentWorktree(c.session.Dir) {
		return ""
	}
	return now
}

// enter notes that the hook is captured in another project than that of the session's directory, "" for that one.
func (c *Call) enter(ctx context.Context, aside string) {
	if c.session.Worktree == aside {
		return
	}
	c.session.Worktree, c.session.Registered = aside, "" // the other store may not know the session
	_ = c.updateSession(ctx, func(s *account.SessionState) { s.Worktree, s.Registered = aside, "" })
}
