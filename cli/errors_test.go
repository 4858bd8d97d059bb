package cli

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
		{usagef("wrong"), 2, ""},
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
		{&partialError{verb: "captured", paths: make([]problem.Problem, 2)}, 3, ""},
		{&partlyError{fmt.Errorf("write: %w", syscall.ENOSPC)}, 3, "rewind gc"},
		{&treeio.AbortedError{Err: syscall.ENOSPC}, 1, "rewind gc"},
		{&treeio.AbortedError{Err: syscall.ENOSPC, Left: make([]problem.Problem, 1)}, 3, "rewind undo"},
		{&damagedError{n: 1}, 7, "rewind verify --repair"},
		{&invalidError{code: 1}, 1, ""},
		{&restore.DeclinedError{}, 1, ""},
		{&restore.PlanChangedError{}, 8, "--dry-run"},
		{&hintedError{&project.NotInitializedError{Root: "/p"}, "better"}, 4, "better"},
		{fmt.Errorf("write: %w", syscall.ENOSPC), 1, "rewind gc"},
		{&outputError{syscall.ENOSPC}, 1, ""},
		{fmt.Errorf("opening: %w", &account.BusyError{Lock: "append"}), 6, "again"},
	} {
		f := explain(c.err)
		if f.code != c.code || !strings.Contains(f.hint, c.hint) || c.hint == "" && f.hint != "" {
			t.Errorf("%T %v: code %d, hint %q; want %d, %q", c.err, c.err, f.code, f.hint, c.code, c.hint)
		}
		if first := []rune(f.message + "x")[0]; unicode.IsUpper(first) || strings.HasSuffix(f.message, ".") {
			t.Errorf("%T: message %q begins with a capital or ends with a full stop", c.err, f.message)
		}
		if exitMeaning(f.code) == "" {
			t.Errorf("%T: help does not know code %d", c.err, f.code)
		}
	}
	if f := explain(fmt.Errorf("write: %w", syscall.EPIPE)); f.message != "" || f.document {
		t.Errorf("a broken pipe is not quiet: %+v", f)
	}
}

func TestPartialNamesItsPaths(t *testing.T) {
	var paths []problem.Problem
	for i := range 50 {
		paths = append(paths, problem.Problem{Path: fmt.Sprint("p", i), Reason: "permission denied", Failed: true})
	}
	f := explain(&partialError{verb: "restored", paths: paths})
	if len(f.warnings) != maxNamed+1 || f.warnings[0] != "p0: permission denied" || !strings.Contains(f.warnings[maxNamed], "30 more") {
		t.Errorf("%q", f.warnings)
	}
	if f.message != "50 paths could not be restored" {
		t.Errorf("%q", f.message)
	}
}

func TestShellQuote(t *testing.T) {
	for in, want := range map[string]string{
		"plain/path-1.txt": "plain/path-1.txt", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$HOME": "'$HOME'", "größe": "größe",
	} {
		if got := shellQuote(in); got != want {
			t.Errorf("shellQuote(%q) = %q, want %q", in, got, want)
		}
	}
}
