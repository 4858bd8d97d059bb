package cli

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/hook"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/hookio"
	"github.com/rewind-cli/rewind/hookio/register"
	"github.com/rewind-cli/rewind/manifest"
)

// A registration that an earlier version made is completed by itself: a session's start sees that nobody has looked
// since, and a detached process does it, once. A person who takes a hook out again is not overruled.

// completeTime is how long a detached process waits for another that is at the same.
const completeTime = 5 * time.Second

// completes reports whether the event is one after which the agent's registration is looked at. It costs
// one look at the account, at a session's start.
func (h *hookCall) completes() bool {
	if h.Event.Kind != manifest.SessionStart || h.Project == nil {
		return false
	}
	a := completable(h.Env, h.event.Agent)
	if a == nil {
		return false
	}
	r := account.RegistrationOf(h.Env, string(a.Agent), a.Dir(a.where))
	return r.Behind(register.Generation, h.Env.Time())
}

// complete starts the detached process where nothing else wanted one.
func (h *hookCall) complete() {
	if !h.completing && h.completes() {
		_ = h.detach(hook.WorkOptions{}) // the next session's start tries again
	}
}

// completable is an agent whose registration can grow, nil for another.
func completable(env account.Env, agent hookio.Agent) *agentFiles {
	c := register.ClientOf(agent)
	if c == nil || !c.Grows() || env.AccountDir() == "" {
		return nil
	}
	where := register.Where{Home: env.Home, Getenv: env.Variable}
	files := c.Files(where)
	if files == nil {
		return nil
	}
	return &agentFiles{Client: c, where: where, title: c.Agent.Title(), files: files}
}

// completeRegistration does it, in a detached process.
func completeRegistration(ctx context.Context, env account.Env, agent hookio.Agent) {
	a := completable(env, agent)
	if a == nil {
		return
	}
	exe, err := os.Executable()
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, completeTime)
	defer cancel()
	// What cannot be written down is not done: it would be done again and again.
	_ = account.UpdateRegistration(ctx, env, string(a.Agent), a.Dir(a.where), func(r *account.Registration) bool {
		if !r.Behind(register.Generation, env.Time()) {
			return false // another process was faster
		}
		done, failed := a.complete(register.Program{Path: exe, Version: versionText()}, r.Generation, env.Now)
		r.Time = env.Time().UTC()
		r.Completed = append(r.Completed[:0:0], done...)
		if r.Failed = strings.Join(failed, "; "); r.Failed == "" {
			r.Generation = register.Generation
		}
		return true
	})
}

// complete changes the files that a version before registered, as far as it may.
func (a *agentFiles) complete(program register.Program, from int, now func() time.Time) (done []account.CompletedFile, failed []string) {
	fail := func(file, reason string) { failed = append(failed, file+" "+reason) }
	for i, f := range a.files {
		files, err := a.read()
		if err != nil {
			return done, append(failed, problem.Text(err))
		}
		c, err := a.Complete(files, i, program, from)
		if err != nil {
			fail(f.Path, "is "+problem.Text(err))
			continue
		}
		if c == nil {
			continue
		}
		if reason := register.Untouchable(f.Path); reason != "" {
			fail(f.Path, reason)
			continue
		}
		w, err := register.Updater{Now: now, Made: a.Made}.Update(f.Path, func(old []byte) ([]byte, error) {
			files[i].Content = old
			c, err = a.Complete(files, i, program, from)
			if err != nil || c == nil {
				return old, err
			}
			return c.Content, nil
		})
		if err != nil && !errors.As(err, new(*vfs.NotDurableError)) {
			failed = append(failed, problem.Text(err))
		} else if w.Changed {
			done = append(done, account.CompletedFile{File: w.Path, Backup: w.Backup, Added: c.Added})
		}
	}
	return done, failed
}

// registeredNow remembers that a person has registered what there is, or has taken it out.
func (r *registering) registeredNow(a *agentFiles) {
	ctx, cancel := context.WithTimeout(context.Background(), completeTime)
	defer cancel()
	// Where that fails the next session looks, and finds nothing to do.
	_ = account.UpdateRegistration(ctx, r.env, string(a.Agent), a.Dir(a.where), func(known *account.Registration) bool {
		now := account.Registration{Agent: known.Agent, Dir: known.Dir, Time: r.env.Time().UTC()}
		if r.program != nil {
			now.Generation = register.Generation
			now.MadeDirs = append(known.MadeDirs, r.made...)
		} else {
			for _, dir := range slices.Backward(known.MadeDirs) {
				_ = os.Remove(dir) // one that is not empty stays
			}
		}
		r.made = nil
		*known = now
		return true
	})
}

// completion is what is known, and to come, of a registration that an earlier version made.
type completion struct {
	account.Registration
	pending []string // the hooks that the next session's start adds
}

func (a *agentFiles) completion(env account.Env) (c completion) {
	if a = completable(env, a.Agent); a == nil {
		return c
	}
	c.Registration = account.RegistrationOf(env, string(a.Agent), a.Dir(a.where))
	exe, err := os.Executable()
	if err != nil || c.Generation >= register.Generation {
		return c
	}
	files, err := a.read()
	if err != nil {
		return c
	}
	for i, f := range files {
		todo, err := a.Complete(files, i, register.Program{Path: exe, Version: versionText()}, c.Generation)
		if err == nil && todo != nil && register.Untouchable(f.Path) == "" {
			c.pending = append(c.pending, todo.Added...)
		}
	}
	return c
}

// describe adds to a finding what becomes of it by itself.
func (c *completion) describe(f register.Finding, severity, message string) (string, string) {
	switch {
	case slices.Contains(c.pending, f.Missing()) || f.Code == register.OtherVersion && c.pending != nil:
		return mild, message + ": the start of its next session adds that by itself"
	case c.Failed != "":
		return severity, message + "; that was not added by itself: " + c.Failed
	}
	return severity, message
}

// completedView is a registration that was completed by itself.
type completedView struct {
	Agent  string   `json:"agent"`
	File   string   `json:"file"`
	Backup string   `json:"backup"`
	Added  []string `json:"added"`
	Time   string   `json:"time"`
}

// completedViews are the registrations that were completed by themselves, and not registered by the person since.
func completedViews(env account.Env) []completedView {
	out := []completedView{}
	for _, a := range agentsOf(env, "") {
		c := a.completion(env)
		for _, f := range c.Completed {
			out = append(out, completedView{string(a.Agent), f.File, f.Backup, f.Added, viewTime(c.Time)})
		}
	}
	return out
}
