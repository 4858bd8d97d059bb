package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/treeio"
)

// Ctrl-C says what is changed and what is kept; but what could not be put back comes first, with its
// own code.
func TestInterrupted(t *testing.T) {
	f := explain(&interruptedError{command: "restore", cause: context.Canceled})
	if f.code != exitInterrupted || f.message != "interrupted: the project is as it was" || f.hint != "" {
		t.Errorf("%+v", f)
	}
	if f := explain(&interruptedError{command: "config", cause: context.Canceled}); f.code != exitInterrupted || f.message != "interrupted" || f.hint != "" {
		t.Errorf("%+v", f)
	}
	after := explain(&interruptedError{command: "run", cause: &notRunError{saved: "klmnopqr"}})
	if after.message != "interrupted: the command was not run; the checkpoint klmnopqr is kept" {
		t.Errorf("%+v", after)
	}
	aborted := fmt.Errorf("restore: %w", &treeio.AbortedError{Err: context.Canceled, Left: []problem.Problem{{Path: "a.txt", Reason: "read-only"}}})
	if !saysMore(aborted) || saysMore(&treeio.AbortedError{Err: context.Canceled}) || saysMore(errors.New("x")) {
		t.Error("what says more than an interruption")
	}
	if f := explain(aborted); f.code != exitPartial || !strings.Contains(strings.Join(f.warnings, " "), "a.txt") {
		t.Errorf("%+v", f)
	}
}
