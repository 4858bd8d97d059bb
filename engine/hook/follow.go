package hook

import (
	"context"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
)

// follow handles another project in the place of the session's, which was moved or replaced. The call continues with the
// session's own project if that is found, else with the one in its place, for which the session is a new one.
func (c *Call) follow(ctx context.Context, o project.OpenOptions) {
	was := c.session.Store
	if own := c.own(ctx, o); own != nil {
		_ = c.Project.Close()
		c.Project = own
		c.session.Dir, c.session.Exact = own.Root(), true
	} else {
		c.session = account.SessionState{Dir: c.session.Dir, Exact: c.session.Exact, Told: c.session.Told}
	}
	now := c.session
	// What cannot be kept is found out again by the next hook.
	_ = c.updateSession(ctx, func(s *account.SessionState) {
		if s.Store == was {
			*s = now
		}
	})
}

// own finds the session's project: where the agent is now, or where the account knows it; nil where it is in neither.
func (c *Call) own(ctx context.Context, o project.OpenOptions) *project.Project {
	at := func(dir, root string) *project.Project {
		o.Env.Dir, o.Root = dir, root
		p, err := project.Open(ctx, o)
		if err != nil {
			return nil
		}
		if p.ID.String() == c.session.Store {
			return p
		}
		_ = p.Close()
		return nil
	}
	for _, dir := range []string{c.Event.Cwd, c.Event.Dir, c.Env.Dir} {
		if dir != "" && dir != c.session.Dir {
			if p := at(dir, ""); p != nil {
				return p
			}
		}
	}
	known, _ := account.Registry(c.Env) // what cannot be read says nothing
	for _, k := range known {
		if k.ID.String() == c.session.Store && !k.Going && k.Root != c.Project.Root() {
			return at(k.Root, k.Root)
		}
	}
	return nil
}
