package registration

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/hookio"
	"github.com/rewind-cli/rewind/hookio/register"
)

// A registration that an earlier version made is completed by itself: a session's start sees that nobody has looked
// since, and a detached process does it, once. A person who takes a hook out again is not overruled.

// CompleteTime is how long a detached process waits for another that is at the same.
const CompleteTime = 5 * time.Second

// Completable is an agent whose registration can grow, nil for another.
func Completable(env account.Env, agent hookio.Agent) *AgentFiles {
	c := register.ClientOf(agent)
	if c == nil || !c.Grows() || env.AccountDir() == "" {
		return nil
	}
	where := register.Where{Home: env.Home, Getenv: env.Variable}
	files := c.Files(where)
	if files == nil {
		return nil
	}
	return &AgentFiles{Client: c, Where: where, Title: c.Agent.Title(), Files: files}
}

// CompleteRegistration does it, in a detached process.
func CompleteRegistration(ctx context.Context, env account.Env, agent hookio.Agent) {
	a := Completable(env, agent)
	if a == nil {
		return
	}
	exe, err := os.Executable()
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, CompleteTime)
	defer cancel()
	// What cannot be written down is not done: it would be done again and again.
	_ = account.UpdateRegistration(ctx, env, string(a.Agent), a.Dir(a.Where), func(r *account.Registration) bool {
		if !r.Behind(register.Generation, env.Time()) {
			return false // another process was faster
		}
		done, failed := a.complete(register.Program{Path: exe, Version: app.VersionText()}, r.Generation, env.Now)
		r.Time = env.Time().UTC()
		r.Completed = append(r.Completed[:0:0], done...)
		if r.Failed = strings.Join(failed, "; "); r.Failed == "" {
			r.Generation = register.Generation
		}
		return true
	})
}

// complete changes the files that a version before registered, as far as it may.
func (a *AgentFiles) complete(program register.Program, from int, now func() time.Time) (done []account.CompletedFile, failed []string) {
	fail := func(file, reason string) { failed = append(failed, file+" "+reason) }
	for i, f := range a.Files {
		files, err := a.Read()
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

// completion is what is known, and to come, of a registration that an earlier version made.
type completion struct {
	account.Registration
	pending []string // the hooks that the next session's start adds
}

func (a *AgentFiles) Completion(env account.Env) (c completion) {
	if a = Completable(env, a.Agent); a == nil {
		return c
	}
	c.Registration = account.RegistrationOf(env, string(a.Agent), a.Dir(a.Where))
	exe, err := os.Executable()
	if err != nil || c.Generation >= register.Generation {
		return c
	}
	files, err := a.Read()
	if err != nil {
		return c
	}
	for i, f := range files {
		todo, err := a.Complete(files, i, register.Program{Path: exe, Version: app.VersionText()}, c.Generation)
		if err == nil && todo != nil && register.Untouchable(f.Path) == "" {
			c.pending = append(c.pending, todo.Added...)
		}
	}
	return c
}

// Describe adds to a finding what becomes of it by itself.
func (c *completion) Describe(f register.Finding, severity, message string) (string, string) {
	switch {
	case slices.Contains(c.pending, f.Missing()) || f.Code == register.OtherVersion && c.pending != nil:
		return Mild, message + ": the start of its next session adds that by itself"
	case c.Failed != "":
		return severity, message + "; that was not added by itself: " + c.Failed
	}
	return severity, message
}

// CompletedView is a registration that was completed by itself.
type CompletedView struct {
	Agent  string   `json:"agent"`
	File   string   `json:"file"`
	Backup string   `json:"backup"`
	Added  []string `json:"added"`
	Time   string   `json:"time"`
}

// CompletedViews are the registrations that were completed by themselves, and not registered by the person since.
func CompletedViews(env account.Env) []CompletedView {
	out := []CompletedView{}
	for _, a := range AgentsOf(env, "") {
		c := a.Completion(env)
		for _, f := range c.Completed {
			out = append(out, CompletedView{string(a.Agent), f.File, f.Backup, f.Added, app.ViewTime(c.Time)})
		}
	}
	return out
}
