package session

import (
	"cmp"
	"slices"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
)

// NestedIn is the root of the project below this one that a session belongs to, "" where that is none: the one in which its
// client was started, in dir by its transcript. Where that has no store, a session that is recorded here is ours.
func NestedIn(p *project.Project, agent, session, dir string, recorded bool) string {
	root, own := p.Nested(cmp.Or(account.LoadSession(p.Env, agent, session).Dir, dir))
	if !own && recorded {
		return ""
	}
	return root
}

// nested is nestedIn of a member.
func (s *member) nested(p *project.Project) string {
	s.look()
	return NestedIn(p, s.Agent, s.ID, s.Dir, s.Told || !s.newest.IsZero())
}

// leaveNested takes those sessions out that belong to projects below this one, and gives the root of one of these.
func leaveNested(p *project.Project, list []*member) (left []*member, root string) {
	left = slices.DeleteFunc(list, func(s *member) bool {
		in := s.nested(p)
		root = cmp.Or(root, in)
		return in != ""
	})
	return left, root
}
