package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/treeio"
)

// Exit codes: the contract with scripts.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitPartial     = 3
	exitNoProject   = 4
	exitNotFound    = 5
	exitBusy        = 6
	exitDamaged     = 7
	exitRefused     = 8
	exitInterrupted = 130
)

// exitMeaning is what help says about a code.
func exitMeaning(code int) string {
	switch code {
	case exitOK:
		return "done"
	case exitFailed:
		return "failed; nothing was changed"
	case exitUsage:
		return "usage error"
	case exitPartial:
		return "partly done: some paths could not be captured or restored; they are listed"
	case exitNoProject:
		return "no project here, not initialised, a root that is not allowed, or a store that is not yours"
	case exitNotFound:
		return "no such checkpoint or session, or an ambiguous one"
	case exitBusy:
		return "another process holds the lock"
	case exitDamaged:
		return "the store is damaged; rewind verify shows where"
	case exitRefused:
		return "refused: something would be lost; the hint says how to proceed"
	case exitInterrupted:
		return "interrupted"
	}
	return ""
}

// usageError is a wrong command line. Nothing has been touched.
type usageError struct{ msg, hint string }

func (e *usageError) Error() string { return e.msg }

func usagef(format string, args ...any) error {
	return &usageError{msg: fmt.Sprintf(format, args...)}
}

// partialError says that a command did its work but for some paths. The answer has been printed.
type partialError struct {
	verb  string // "captured", "restored"
	paths []problem.Problem
}

func (e *partialError) Error() string {
	return fmt.Sprintf("%s could not be %s", plural(len(e.paths), "path", "paths"), e.verb)
}

// partlyError says that a command changed some files, but not all that it should. The answer has been printed.
type partlyError struct{ err error }

func (e *partlyError) Error() string { return e.err.Error() }
func (e *partlyError) Unwrap() error { return e.err }

// damagedError says that verify or repair found damage. The answer has been printed.
type damagedError struct {
	n           int
	afterRepair bool
}

func (e *damagedError) Error() string {
	return "the store is damaged: " + plural(e.n, "problem", "problems") + " found"
}

// invalidError says that validate found something wrong. The answer has been printed.
type invalidError struct{ code int }

func (e *invalidError) Error() string { return "not valid" }

// outputError: the answer could not be written. What the command did, it did.
type outputError struct{ err error }

func (e *outputError) Error() string { return "cannot write the output: " + e.err.Error() }
func (e *outputError) Unwrap() error { return e.err }

// hintedError is an error for which the command knows a better hint.
type hintedError struct {
	error
	hint string
}

func (e *hintedError) Unwrap() error { return e.error }

// failure is an error as the person sees it.
type failure struct {
	code          int
	message, hint string
	warnings      []string
	choices       []choiceView // sessions that can be meant
	conflicts     []conflictView
	note          bool // what the person chose: no error
	document      bool // with --json, an error document is printed
}

// maxNamed bounds how many paths an error names on the screen; --json has all.
const maxNamed = 20

// explain is the one place that turns errors into message, hint and exit code.
func explain(err error) (f failure) {
	defer func() {
		f.message = problem.InWords(f.message, err)
		if f.hint == "" && f.code == exitFailed && errors.Is(err, fs.ErrPermission) {
			f.hint = "check the owner and the permissions"
		}
	}()
	f = failure{code: exitFailed, message: err.Error(), document: true}
	var (
		usage     *usageError
		partial   *partialError
		partly    *partlyError
		damagedIn *damagedError
		invalid   *invalidError
		ended     *commandExit
		stopped   *interruptedError
		left      *treeio.AbortedError
		coded     *codedError
		declined  *restore.DeclinedError
		output    *outputError
		none      *notFoundError
		taken     *portTakenError
		skipped   *skippedError
		conflicts *conflictsError
		kept      *keptError
		stale     *staleError
		selector  *otherSelectorError
	)
	switch {
	case errors.As(err, &selector):
		return selector.failure()
	case errors.As(err, &ended):
		return failure{code: ended.code}
	case errors.As(err, &coded):
		f.code = coded.code
	case errors.As(err, &stopped):
		return stopped.failure()
	case errors.As(err, &left) && len(left.Left) > 0: // what is left counts, whatever ended it
		explainEngine(err, &f)
	case errors.Is(err, context.Canceled):
		f.code, f.message = exitInterrupted, "interrupted"
	case isBrokenPipe(err):
		return failure{code: exitFailed}
	case errors.As(err, &output):
		f.message = output.Error()
		if pe := (*fs.PathError)(nil); errors.As(output.err, &pe) && pe.Op == "create" {
			f.message = pe.Error() // it names the file that was asked for
		}
	case errors.As(err, &skipped):
		f.code = exitPartial
	case errors.As(err, &none):
		f.hint = none.hint
	case errors.As(err, &taken):
		f.code, f.hint = exitBusy, "rewind ui takes a port that is free"
	case errors.As(err, &stale):
		f.code = exitNotFound
	case errors.As(err, &usage):
		f.code, f.hint = exitUsage, usage.hint
	case errors.As(err, &conflicts):
		return conflicts.failure()
	case errors.As(err, &kept):
		return kept.failure()
	case errors.As(err, &partial):
		return partial.failure()
	case errors.As(err, &partly):
		f = explain(partly.err)
		f.code, f.document = exitPartial, false
		return f
	case errors.As(err, &damagedIn):
		hint := "rewind verify --repair"
		if damagedIn.afterRepair {
			hint = "what is listed is lost; all other checkpoints can be restored"
		}
		return failure{code: exitDamaged, message: damagedIn.Error(), hint: hint}
	case errors.As(err, &invalid):
		return failure{code: invalid.code}
	case errors.As(err, &declined): // the person has answered: nothing to advise
		f.note = true
	default:
		explainEngine(err, &f)
	}
	var hinted *hintedError
	if errors.As(err, &hinted) {
		f.hint = hinted.hint
	}
	return f
}

func (e *partialError) failure() failure {
	f := failure{code: exitPartial, message: e.Error()}
	for _, p := range firstN(e.paths, maxNamed) {
		f.warnings = append(f.warnings, p.Path+": "+p.Reason)
	}
	if n := len(e.paths) - maxNamed; n > 0 {
		f.warnings = append(f.warnings, fmt.Sprintf("and %d more; --json lists all", n))
	}
	return f
}

// historyText says which stores another directory has left at a path.
func historyText(all []project.History) []string {
	var out []string
	for _, h := range all {
		text := "another directory at this path had the store " + shortStore(h.ID)
		if !h.LastSave.IsZero() {
			text += ", last saved " + h.LastSave.UTC().Format("2006-01-02 15:04 UTC")
		}
		out = append(out, text)
	}
	return out
}

// shortStore is as much of a store's id as a person types.
func shortStore(id string) string { return id[:min(len(id), 8)] }

func namePaths(paths []string) []string {
	out := append([]string(nil), firstN(paths, maxNamed)...)
	if n := len(paths) - maxNamed; n > 0 {
		out = append(out, fmt.Sprintf("and %d more", n))
	}
	return out
}

func firstN[T any](s []T, n int) []T {
	if len(s) > n {
		return s[:n]
	}
	return s
}

// isBrokenPipe: the reader of stdout is gone, as with head(1).
func isBrokenPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }

// shellQuote makes a word that a person can paste into a shell.
func shellQuote(s string) string {
	safe := s != ""
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case strings.IndexByte("/._-+=:,@%", c) >= 0, c >= 0x80:
		default:
			safe = false
		}
	}
	if safe {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
