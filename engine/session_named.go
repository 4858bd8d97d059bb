package engine

import "context"

// SessionNamed finds a session of the project by its id, or by an unambiguous
// beginning of at least four characters. Error: *NoSessionError.
func (p *Project) SessionNamed(ctx context.Context, named string) (SessionInfo, error) {
	s, err := p.namedSession(ctx, named, "named")
	if err != nil {
		return SessionInfo{}, err
	}
	return s.SessionInfo, nil
}
