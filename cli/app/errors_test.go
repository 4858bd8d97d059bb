package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"unicode"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/treeio"

	"github.com/rewind-cli/rewind/engine/settings"
)

// The table of exit codes is a contract.
func TestExplain(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int
		hint string // part of it
	}{
		{errors.New("anything"), 1, ""},
		{Usagef("wrong"), 2, ""},
		{context.Canceled, 130, ""},
		{fmt.Errorf("scan: %w", context.Canceled), 130, ""},
		{&project.NotInitializedError{Root: "/p"}, 4, "rewind init"},
		{&project.RefusedRootError{Root: "/home/x", Reason: "the home directory"}, 4, "--root"},
		{&account.ForeignStoreError{Store: "/p/.agent/rewind", Reason: "is not known"}, 4, "--trust"},
		{&account.ForeignStoreError{Store: "/p/.agent/rewind", Reason: "belongs to another user", OtherUser: true}, 4, "user who owns"},
		{&project.MovedError{Store: "/s", Root: "/a b", Registered: "/b"}, 4, "--adopt /s"},
		{&project.RemoteError{Root: "/mnt", FileSystem: "nfs"}, 4, "--mode global"},
		{&project.VanishedError{Root: "/p", Reason: "no mirror"}, 7, "backup"},
		{&account.FutureFormatError{Store: "/s", Version: "9"}, 1, "newer rewind"},
		{&account.DamagedStoreError{What: "head", Err: errors.New("x")}, 7, "rewind verify"},
		{&project.NoCheckpointError{Spec: "x"}, 5, "rewind list"},
		{&project.AmbiguousError{Spec: "kkkk", Matches: []string{"kkkkm", "kkkkn"}}, 5, "kkkkm, kkkkn"},
		{&project.NoPathError{Path: "x"}, 1, "rewind show CKPT --files"},
		{&project.OutsideError{Path: "/etc"}, 2, "inside the project"},
		{&project.BadNameError{Name: "12", Reason: "only digits"}, 2, "another name"},
		{&project.NameTakenError{Name: "v1", Checkpoint: "kkkk"}, 1, "rewind pin kkkk --name ''"},
		{&account.BusyError{Lock: "append"}, 6, "again"},
		{&project.DiskFullError{Free: 1, Floor: 2}, 1, "minFreeDisk"},
		{&project.RefusedError{What: "would lose", Forcible: true}, 8, "--force"},
		{&project.RefusedError{What: "would lose"}, 8, ""},
		{&project.NothingError{What: "undo"}, 1, "rewind list --ops"},
		{&project.ReadOnlyError{Store: "/s", Err: fs.ErrPermission}, 1, "rewind status"},
		{&settings.KeyError{Key: "gaurd", Known: []string{"guard"}}, 2, "rewind config guard"},
		{&settings.ValueError{Key: "guard", Value: "x", Allowed: "true, false"}, 2, ""},
		{&settings.NotJSONError{File: "/f", Err: errors.New("x")}, 1, "by hand"},
		{&conversation.NoConversationError{}, 5, "--code-only"},
		{&PartialError{Verb: "captured", Paths: make([]problem.Problem, 2)}, 3, ""},
		{&PartlyError{fmt.Errorf("write: %w", syscall.ENOSPC)}, 3, "rewind gc"},
		{&treeio.AbortedError{Err: syscall.ENOSPC}, 1, "rewind gc"},
		{&treeio.AbortedError{Err: syscall.ENOSPC, Left: make([]problem.Problem, 1)}, 3, "rewind undo"},
		{&FailedError{Failure{Code: ExitDamaged, Message: "damaged", Hint: "rewind verify"}}, 7, "rewind verify"},
		{NoAnswer("the command succeeds", "choose a later end"), 1, "a later end"},
		{&restore.DeclinedError{}, 1, ""},
		{&restore.PlanChangedError{}, 8, "--dry-run"},
		{Hinted(&project.NotInitializedError{Root: "/p"}, "better"), 4, "better"},
		{fmt.Errorf("write: %w", syscall.ENOSPC), 1, "rewind gc"},
		{&OutputError{syscall.ENOSPC}, 1, ""},
		{fmt.Errorf("opening: %w", &account.BusyError{Lock: "append"}), 6, "again"},
	} {
		f := Explain(c.err)
		if f.Code != c.code || !strings.Contains(f.Hint, c.hint) || c.hint == "" && f.Hint != "" {
			t.Errorf("%T %v: code %d, hint %q; want %d, %q", c.err, c.err, f.Code, f.Hint, c.code, c.hint)
		}
		if first := []rune(f.Message + "x")[0]; unicode.IsUpper(first) || strings.HasSuffix(f.Message, ".") {
			t.Errorf("%T: message %q begins with a capital or ends with a full stop", c.err, f.Message)
		}
		if ExitMeaning(f.Code) == "" {
			t.Errorf("%T: help does not know code %d", c.err, f.Code)
		}
	}
	if f := Explain(fmt.Errorf("write: %w", syscall.EPIPE)); f.Message != "" || f.Document {
		t.Errorf("a broken pipe is not quiet: %+v", f)
	}
}

func TestPartialNamesItsPaths(t *testing.T) {
	var paths []problem.Problem
	for i := range 50 {
		paths = append(paths, problem.Problem{Path: fmt.Sprint("p", i), Reason: "permission denied", Failed: true})
	}
	f := Explain(&PartialError{Verb: "restored", Paths: paths})
	if len(f.Warnings) != MaxNamed+1 || f.Warnings[0] != "p0: permission denied" || !strings.Contains(f.Warnings[MaxNamed], "30 more") {
		t.Errorf("%q", f.Warnings)
	}
	if f.Message != "50 paths could not be restored" {
		t.Errorf("%q", f.Message)
	}
}

func TestShellQuote(t *testing.T) {
	for in, want := range map[string]string{
		"plain/path-1.txt": "plain/path-1.txt", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$HOME": "'$HOME'", "größe": "größe",
	} {
		if got := ShellQuote(in); got != want {
			t.Errorf("shellQuote(%q) = %q, want %q", in, got, want)
		}
	}
}
