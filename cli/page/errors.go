package page

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"net/http"

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

// told returns an error with the command line's message and a hint that the page can follow. A status from 500 on is a fault,
// of the store, the disk or the machine; whatever comes of what is asked, or of what happened meanwhile, is below.
func told(err error) error {
	if err == nil {
		return nil
	}
	var as *failure
	if errors.As(err, &as) {
		return err
	}
	f := &failure{app.Explain(err), http.StatusInternalServerError}
	var (
		stale   *app.StaleError
		nothing *project.NothingError
		few     *project.FewStepsError
		taken   *project.NameTakenError
		noPath  *project.NoPathError
		noTalk  *conversation.NoConversationError
		lose    *project.RefusedError
		late    *transcript.ChangedError
		build   *revert.ConflictError
		shut    *project.ReadOnlyError
		full    *project.DiskFullError
		newer   *account.FutureFormatError
		noGit   *gitprogram.MissingError
	)
	switch {
	case errors.As(err, &stale) && stale.Known:
		f.status, f.shown.Hint = http.StatusGone, "something changed since then; ask for it again"
	case errors.As(err, &stale):
		f.status, f.shown.Hint = http.StatusNotFound, "reload the page"
	case errors.As(err, &nothing), errors.As(err, &few):
		f.status, f.shown.Hint = http.StatusConflict, "Operations (o) shows what was done"
	case errors.As(err, &lose):
		f.status = http.StatusConflict
		for i, path := range app.FirstN(lose.Paths, 3) {
			f.shown.Message += map[bool]string{true: ": ", false: ", "}[i == 0] + path
		}
		if lose.Forcible {
			f.shown.Hint = "in a terminal, " + cmp.Or(lose.Next, "--force proceeds anyway, after a safety checkpoint")
		}
	case errors.As(err, &taken), errors.As(err, &late), errors.As(err, &build):
		f.status = http.StatusConflict
	case errors.As(err, &noPath):
		f.status, f.shown.Hint = http.StatusNotFound, "Health shows what is in the store"
	case errors.As(err, &noTalk):
		f.status, f.shown.Hint = http.StatusNotFound, "the files alone can be restored: Files"
	case errors.As(err, &shut), errors.Is(err, fs.ErrPermission):
		f.status = http.StatusForbidden
	case errors.As(err, &full), problem.NoSpace(err):
		f.status = http.StatusInsufficientStorage
	case errors.As(err, &newer), errors.As(err, &noGit):
		f.status = http.StatusNotImplemented
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		f.status = http.StatusServiceUnavailable
	case f.shown.Code == app.ExitUsage:
		f.status = http.StatusBadRequest
	case f.shown.Code == app.ExitNotFound:
		f.status = http.StatusNotFound
	case f.shown.Code == app.ExitNoProject:
		f.status = http.StatusGone
	case f.shown.Code == app.ExitRefused:
		f.status = http.StatusConflict
	case f.shown.Code == app.ExitBusy:
		f.status = http.StatusServiceUnavailable
	}
	return f
}
