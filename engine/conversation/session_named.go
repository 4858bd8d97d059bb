package conversation

import (
	"context"

	"github.com/rewind-cli/rewind/engine/project"
)

// SessionNamed finds a session of the project by its id, or by an unambiguous
// beginning of at least four characters. Error: *NoSessionError.
func SessionNamed(ctx context.Context, p *project.Project, named string) (SessionInfo, error) {
	s, err := namedSession(ctx, p, named, "named")
	if err != nil {
		return SessionInfo{}, err
	}
	return s.SessionInfo, nil
}
