package maintain

import (
	"context"
	"errors"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/project"
)

// isLost reports whether an error says that no pack has an object. Where the store was completed from its mirror before, it
// will not come back: what still refers to it must not keep gc or forget from all else.
func isLost(err error) bool {
	var missing *cas.NotFoundError
	return errors.As(err, &missing)
}

// pass is nil for what is lost, which it notes; other errors stay.
func (m *marker) pass(err error) error {
	if m.strict || !isLost(err) {
		return err
	}
	m.hurt = true
	return nil
}

// tears begins with a directory or a list; what it gives notes at its end whether something of it is lost.
func (m *marker) tears(id oid.ID) (end func()) {
	was := m.hurt
	m.hurt = false
	return func() {
		if m.hurt {
			if m.torn == nil {
				m.torn = map[oid.ID]bool{}
			}
			m.torn[id] = true
		}
		m.hurt = m.hurt || was
	}
}

// isTorn reports whether a directory of a tree is lost.
func isTorn(ctx context.Context, p *project.Project, root oid.ID) bool {
	m := &marker{live: map[oid.ID]struct{}{}, load: p.LoadDir, get: p.Store.Get}
	err := m.tree(ctx, root)
	return err == nil && m.hurt || project.IsDamage(err)
}
