package engine

import "context"

// SessionNamed finds a session of the project by its id, or by an unambiguous
// beginning of at least four characters. Error: *NoSessionError.
func (p *Project) SessionNamed(ctx context.Context, named string) (SessionInfo, error) {
	all, err := p.Sessions(ctx)
	if err != nil {
		return SessionInfo{}, err
	}
	return findSession(all, named)
}
