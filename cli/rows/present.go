package rows

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/timeline"
)

// lookTime bounds the look at the tree: a list is there at once or it is no use.
const lookTime = 500 * time.Millisecond

// Look is timeline.Look for a list; why says what kept it from looking.
func Look(ctx context.Context, p *project.Project) (n *timeline.Present, why string) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	n, err := timeline.Look(ctx, p)
	var busy *account.BusyError
	switch {
	case err == nil:
		return n, ""
	case errors.As(err, &busy) && busy.Lock == account.TreeLockName:
		return nil, "a restore is running"
	case ctx.Err() != nil:
		return nil, fmt.Sprintf("looking at all files takes more than %s; rewind diff does it", app.FormatTook(lookTime))
	}
	return nil, app.Explain(err).Message
}
