package page

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"net/http"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/gitprogram"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/revert"
	"github.com/rewind-cli/rewind/engine/transcript"
)

// failure is an error in the form that the page gets.
type failure struct {
	shown  app.Failure
	status int
}

func (e *failure) Error() string { return e.shown.Message }

func (e *failure) Status() int { return e.status }

func (e *failure) Hint() string { return e.shown.Hint }

// explained returns an error with the command line's message and a hint that the page can follow. A status from 500 on is a fault,
// of the store, the disk or the machine; whatever comes of what is asked, or of what happened meanwhile, is below.
func explained(err error) error {
	if err == nil {
		return nil
	}
	if is[*failure](err) {
		return err
	}
	f := &failure{app.Explain(err), http.StatusInternalServerError}
	stale, isStale := errors.AsType[*app.StaleError](err)
	lose, loses := errors.AsType[*project.RefusedError](err)
	switch {
	case isStale && stale.Known:
		f.status, f.shown.Hint = http.StatusGone, "something changed since then; ask for it again"
	case isStale:
		f.status, f.shown.Hint = http.StatusNotFound, "reload the page"
	case is[*project.NothingError](err), is[*project.FewStepsError](err):
		f.status, f.shown.Hint = http.StatusConflict, "Operations (o) shows what was done"
	case loses:
		f.status = http.StatusConflict
		if len(lose.Paths) > 0 {
			f.shown.Message += ": " + strings.Join(app.FirstN(lose.Paths, 3), ", ")
		}
		if lose.Forcible {
			f.shown.Hint = "in a terminal, " + cmp.Or(lose.Next, "--force proceeds anyway, after a safety checkpoint")
		}
	case is[*project.NameTakenError](err), is[*transcript.ChangedError](err), is[*revert.ConflictError](err):
		f.status = http.StatusConflict
	case is[*project.NoPathError](err):
		f.status, f.shown.Hint = http.StatusNotFound, "Health shows what is in the store"
	case is[*conversation.NoConversationError](err):
		f.status, f.shown.Hint = http.StatusNotFound, "the files alone can be restored: Files"
	case is[*project.ReadOnlyError](err), errors.Is(err, fs.ErrPermission):
		f.status = http.StatusForbidden
	case is[*project.DiskFullError](err), problem.NoSpace(err):
		f.status = http.StatusInsufficientStorage
	case is[*account.FutureFormatError](err), is[*gitprogram.MissingError](err):
		f.status = http.StatusNotImplemented
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		f.status = http.StatusServiceUnavailable
	default:
		f.status = cmp.Or(map[int]int{app.ExitUsage: http.StatusBadRequest, app.ExitNotFound: http.StatusNotFound, app.ExitNoProject: http.StatusGone,
			app.ExitRefused: http.StatusConflict, app.ExitBusy: http.StatusServiceUnavailable}[f.shown.Code], f.status)
	}
	return f
}

func is[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}
