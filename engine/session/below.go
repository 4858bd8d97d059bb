package session

import (
	"cmp"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
)

// NestedIn is the root of the project below this one that a session belongs to, "" for none: the project in which its client
// was started. dir is where the transcript says that it was started. If that project has no store, a session that the log of
// this one has (recorded) belongs here.
func NestedIn(p *project.Project, agent, session, dir string, recorded bool) string {
	root, own := p.Nested(cmp.Or(account.LoadSession(p.Env, agent, session).Dir, dir))
	if !own && recorded {
		return ""
	}
	return root
}

// nested is NestedIn of a member.
func (s *member) nested(p *project.Project) string {
	s.look()
	return NestedIn(p, s.Agent, s.ID, s.Dir, s.recorded())
}

// Elsewhere is the root of another project, neither this one nor below it, that a session belongs to; "" for none. This project's
// store has such a session where it is a copy, or a clone. dir is where the transcript says that the session was started.
func Elsewhere(p *project.Project, agent, session, dir string) string {
	return p.Elsewhere(cmp.Or(account.LoadSession(p.Env, agent, session).Dir, dir))
}
