package attempts

import (
	"context"
	"fmt"
	"slices"

	"github.com/rewind-cli/rewind/engine/project"
)

// NoAttemptError: an attempt that there is not.
type NoAttemptError struct {
	N         int
	Have      int             // attempts of the newest place; 0: none was tried twice
	Collected bool            // it is there, and no checkpoint has its work any more
	Now       bool            // it ends with the working tree, which no checkpoint has
	Newest    *project.Listed // with Now: its newest checkpoint, nil for none
}

func (e *NoAttemptError) Error() string {
	switch {
	case e.Now:
		return fmt.Sprintf("%s ends with the files as they are now, which no checkpoint has", Name(e.N))
	case e.Collected:
		return fmt.Sprintf("%s has no checkpoint any more: it was collected", Name(e.N))
	case e.Have == 0:
		return fmt.Sprintf("there is no %s: no prompt has more than one attempt", Name(e.N))
	}
	return fmt.Sprintf("there is no %s: the newest prompt that was tried more than once has %d attempts", Name(e.N), e.Have)
}

// Numbered finds an attempt of the newest Fork. Error: *NoAttemptError.
func Numbered(ctx context.Context, p *project.Project, n int) (*Fork, *Attempt, error) {
	f, err := Newest(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	if f == nil {
		return nil, nil, &NoAttemptError{N: n}
	}
	if n < 1 || n > len(f.Attempts) {
		return nil, nil, &NoAttemptError{N: n, Have: len(f.Attempts)}
	}
	a := &f.Attempts[n-1]
	if a.End == nil && !a.Open {
		return nil, nil, &NoAttemptError{N: n, Have: len(f.Attempts), Collected: true}
	}
	return f, a, nil
}

// Sessions are those in which the attempts of the newest Fork were made, in their order; none where there is no such Fork.
func Sessions(ctx context.Context, p *project.Project) (ids []string, err error) {
	f, err := Newest(ctx, p)
	if f == nil || err != nil {
		return nil, err
	}
	for _, a := range f.Attempts {
		if !slices.Contains(ids, a.Prompt.Session) {
			ids = append(ids, a.Prompt.Session)
		}
	}
	return ids, nil
}
