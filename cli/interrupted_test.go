package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/command/restore"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/treeio"
)

// Ctrl-C says what is changed and what is kept; but what could not be put back comes first, with its
// own code.
func TestInterrupted(t *testing.T) {
	f := app.Explain(&app.InterruptedError{Text: interruptedText("restore", context.Canceled)})
	if f.Code != app.ExitInterrupted || f.Message != "interrupted: the project is as it was" || f.Hint != "" {
		t.Errorf("%+v", f)
	}
	if f := app.Explain(&app.InterruptedError{Text: interruptedText("config", context.Canceled)}); f.Code != app.ExitInterrupted || f.Message != "interrupted" || f.Hint != "" {
		t.Errorf("%+v", f)
	}
	begun := &treeio.AbortedError{Err: &treeio.BegunError{Err: context.Canceled, Left: errors.New("locked")}}
	if text := interruptedText("restore", begun); text != "what was changed in git is not put back yet; rewind undo puts it back" || saysMore(begun) {
		t.Errorf("%q", text)
	}
	after := app.Explain(&app.InterruptedError{Text: interruptedText("run", &restore.NotRunError{Saved: "klmnopqr"})})
	if after.Message != "interrupted: the command was not run; the checkpoint klmnopqr is kept" {
		t.Errorf("%+v", after)
	}
	aborted := fmt.Errorf("restore: %w", &treeio.AbortedError{Err: context.Canceled, Left: []problem.Problem{{Path: "a.txt", Reason: "read-only"}}})
	if !saysMore(aborted) || saysMore(&treeio.AbortedError{Err: context.Canceled}) || saysMore(errors.New("x")) {
		t.Error("what says more than an interruption")
	}
	if f := app.Explain(aborted); f.Code != app.ExitPartial || !strings.Contains(strings.Join(f.Warnings, " "), "a.txt") {
		t.Errorf("%+v", f)
	}
}
