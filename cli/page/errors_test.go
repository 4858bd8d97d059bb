package page

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/gitprogram"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/revert"
	"github.com/rewind-cli/rewind/engine/search"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/engine/treeio"
	"github.com/rewind-cli/rewind/engine/work"
)

// What comes of a question, or of what was done meanwhile, is no fault of the server; and a fault is nothing else.
func TestUIStatusOfErrors(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		hint   string
	}{
		{&project.NothingError{What: "undo"}, 409, "(o)"},
		{&project.NothingError{What: "redo", Next: "rewind undo"}, 409, "(o)"},
		{&project.FewStepsError{What: "undo", Have: 1}, 409, "(o)"},
		{&restore.NotTakenBackError{By: 1}, 409, ""},
		{&restore.PlanChangedError{}, 409, ""},
		{&revert.ConflictError{Reverted: &revert.Reverted{}}, 409, ""},
		{&project.RefusedError{Forcible: true}, 409, "terminal"},
		{&project.NameTakenError{Name: "x"}, 409, ""},
		{&conversation.AgentRunningError{}, 409, ""},
		{&transcript.ChangedError{}, 409, ""},
		{&app.StaleError{What: "plan", Known: true}, 410, "again"},
		{&app.StaleError{What: "plan"}, 404, "reload"},
		{&project.NotInitializedError{}, 410, ""},
		{&project.NoCheckpointError{}, 404, ""},
		{&project.NoPathError{Path: "x"}, 404, "Health"},
		{&work.UnknownWorkError{}, 404, ""},
		{&work.StatesGoneError{}, 404, ""},
		{&conversation.NoConversationError{}, 404, "Files"},
		{&session.UnclearError{}, 404, ""},
		{&transcript.FewPromptsError{}, 404, ""},
		{app.Usagef("x"), 400, ""},
		{&project.OutsideError{Path: ".."}, 400, ""},
		{&project.BadNameError{}, 400, ""},
		{&search.PatternError{}, 400, ""},
		{&project.ReadOnlyError{Err: errors.New("x")}, 403, ""},
		{fs.ErrPermission, 403, ""},
		{context.Canceled, 503, ""},
		{&account.BusyError{}, 503, ""},
		{&account.FutureFormatError{}, 501, ""},
		{&gitprogram.MissingError{}, 501, ""},
		{&project.DiskFullError{}, 507, ""},
		{syscall.ENOSPC, 507, ""},
		{&account.DamagedStoreError{}, 500, ""},
		{&treeio.UnfinishedError{}, 500, ""},
		{syscall.EIO, 500, ""},
	} {
		var f *failure
		if err := explained(fmt.Errorf("outer: %w", c.err)); !errors.As(err, &f) || f.Status() != c.status || !strings.Contains(f.Hint(), c.hint) {
			t.Errorf("%T: %d, hint %q; want %d %q", c.err, f.Status(), f.Hint(), c.status, c.hint)
		}
	}
}
