package session

import (
	"fmt"
	"time"
)

// UnclearError: no session has that name, several have, or none was named and
// it is not clear which is meant.
type UnclearError struct {
	Named   string
	Short   bool // a session has an id that begins with Named, which is too little of it
	Choices []Info
	Nested  string    // root of a project below this one that has a session at work
	Now     time.Time // that their ages are counted from
}

func (e *UnclearError) Error() string {
	switch {
	case e.Nested != "" && len(e.Choices) < 2:
		return "the session that was active in the last hour belongs to the project " + e.Nested + ", below this one: name its id to go on"
	case e.Named != "" && len(e.Choices) > 0:
		return fmt.Sprintf("session %q is ambiguous", e.Named)
	case e.Short:
		return fmt.Sprintf("session %q is too short: give at least %d characters of the id", e.Named, leastOfID)
	case e.Named != "":
		return fmt.Sprintf("no session %q", e.Named)
	case len(e.Choices) > 0:
		return fmt.Sprintf("%d sessions had prompts in the last hour: choose one", len(e.Choices))
	}
	return "no session was active in the last hour: choose one"
}
