package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"rewind/engine"
	"rewind/engine/account"
	"rewind/engine/conversation"
	"rewind/engine/problem"
	"rewind/engine/project"
	"rewind/engine/stores"

	restorer "rewind/engine/restore"
	"rewind/engine/settings"
	"rewind/engine/transcript"
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
	document      bool         // with --json, an error document is printed
}

// maxNamed bounds how many paths an error names on the screen; --json has all.
const maxNamed = 20

// explain is the one place that turns errors into message, hint and exit code.
func explain(err error) failure {
	f := failure{code: exitFailed, message: err.Error(), document: true}
	var (
		usage     *usageError
		partial   *partialError
		partly    *partlyError
		damagedIn *damagedError
		invalid   *invalidError
		declined  *engine.DeclinedError
		output    *outputError
	)
	switch {
	case errors.Is(err, context.Canceled):
		f.code, f.message = exitInterrupted, "interrupted"
	case isBrokenPipe(err):
		return failure{code: exitFailed}
	case errors.As(err, &output):
	case errors.As(err, &usage):
		f.code, f.hint = exitUsage, usage.hint
	case errors.As(err, &partial):
		return partial.failure()
	case errors.As(err, &partly):
		f = explain(partly.err)
		f.code, f.document = exitPartial, false
		return f
	case errors.As(err, &damagedIn):
		hint := "rewind repair"
		if damagedIn.afterRepair {
			hint = "what is listed is lost; all other checkpoints can be restored"
		}
		return failure{code: exitDamaged, message: damagedIn.Error(), hint: hint}
	case errors.As(err, &invalid):
		return failure{code: invalid.code}
	case errors.As(err, &declined): // the person has answered: nothing to advise
	default:
		explainEngine(err, &f)
	}
	var hinted *hintedError
	if errors.As(err, &hinted) {
		f.hint = hinted.hint
	}
	return f
}

// explainEngine knows the engine's typed errors.
func explainEngine(err error, f *failure) {
	var (
		notInit   *project.NotInitializedError
		refused   *project.RefusedRootError
		system    *account.UnsupportedError
		foreign   *account.ForeignStoreError
		moved     *project.MovedError
		link      *project.LinkError
		noStore   *project.NoStoreError
		remote    *project.RemoteError
		vanished  *project.VanishedError
		future    *account.FutureFormatError
		format    *account.FormatError
		damaged   *account.DamagedStoreError
		unsaved   *conversation.PromptNotSavedError
		noCkpt    *project.NoCheckpointError
		ambiguous *project.AmbiguousError
		noPath    *project.NoPathError
		outside   *project.OutsideError
		badName   *project.BadNameError
		taken     *project.NameTakenError
		busy      *account.BusyError
		diskFull  *project.DiskFullError
		wouldLose *project.RefusedError
		nothing   *project.NothingError
		readOnly  *project.ReadOnlyError
		home      *account.HomeError
		removal   *stores.RemovalError
		noKey     *settings.KeyError
		badValue  *settings.ValueError
		notJSON   *settings.NotJSONError
		changing  *settings.BusyError
		noConv    *conversation.NoConversationError
		noSession *conversation.NoSessionError
		running   *conversation.AgentRunningError
		few       *transcript.FewPromptsError
		aborted   *restorer.AbortedError
	)
	switch {
	case errors.As(err, &notInit):
		f.code, f.hint = exitNoProject, "rewind init"
		if notInit.Older != "" {
			f.hint = "rewind init continues with the settings of the older rewind in " + notInit.Older + " and leaves its checkpoints where they are"
		}
		if len(notInit.History) > 0 {
			f.warnings = historyText(notInit.History)
			f.hint = "rewind init --adopt " + shortStore(notInit.History[0].ID) + " brings the newest history here; rewind init starts a new one"
		}
	case errors.As(err, &noStore):
		f.code, f.hint = exitNotFound, "rewind stores lists all stores"
		if len(noStore.Matches) > 0 {
			f.hint = "use more characters: " + strings.Join(firstN(noStore.Matches, 8), ", ")
		}
	case errors.As(err, &link):
		f.code = exitNoProject
		switch {
		case link.Other != "":
			f.hint = "each directory needs its own store: remove the link " + shellQuote(link.Path)
		case link.Forcible:
			f.hint = "if you made that link yourself: rewind init --force"
		default:
			f.hint = "a store contains no links: check where this one points, then remove it"
		}
	case errors.As(err, &system):
		f.code, f.hint = exitRefused, "to try it anyway, set REWIND_ALLOW_WINDOWS=1"
	case errors.As(err, &refused):
		f.code, f.hint = exitNoProject, "cd to the project, or give its directory with --root"
	case errors.As(err, &foreign):
		f.code, f.hint = exitNoProject, "if you trust its origin: rewind init --trust"
		switch {
		case foreign.OtherUser:
			f.hint = "run rewind as the user who owns the store"
		case foreign.Going:
			f.hint = "rewind deinit finishes the removal"
		case foreign.Tracked:
			f.hint = "remove it from git's index: git rm -r -q --cached .agent/rewind"
		}
	case errors.As(err, &remote):
		f.code, f.hint = exitNoProject, "rewind init --mode global, or --force if you know it is safe"
	case errors.As(err, &moved):
		f.code, f.hint = exitNoProject, "rewind init --adopt "+shellQuote(moved.Store)
		if moved.ID != "" {
			f.hint = "rewind init --adopt " + shortStore(moved.ID) + " brings its history here; rewind init starts a new one"
		}
	case errors.As(err, &vanished):
		f.code, f.hint = exitDamaged, "restore the store from a backup, or start over: rewind init --force"
	case errors.As(err, &future):
		f.hint = "install a newer rewind"
	case errors.As(err, &format):
		f.code, f.hint = exitDamaged, "rewind repair"
		if format.Lost != "" {
			f.hint = "restore the format file from a backup, or move the store away and start over: rewind init"
		}
	case errors.As(err, &damaged):
		f.code, f.hint = exitDamaged, "rewind verify"
	case errors.As(err, &unsaved):
		f.code = exitNotFound
		f.hint = fmt.Sprintf("rewind restore prompt~%d --context-only takes back the conversation alone; rewind list shows the checkpoints for rewind restore <id>", unsaved.N)
	case errors.As(err, &noCkpt):
		f.code, f.hint = exitNotFound, "rewind list"
	case errors.As(err, &ambiguous):
		f.code = exitNotFound
		if len(ambiguous.Matches) > 0 {
			f.hint = "use more characters: " + strings.Join(firstN(ambiguous.Matches, 8), ", ")
		}
	case errors.As(err, &noPath):
		f.hint = "rewind ls lists the paths of a checkpoint"
	case errors.As(err, &outside):
		f.code, f.hint = exitUsage, "paths are relative to the working directory and must be inside the project"
	case errors.As(err, &badName):
		f.code, f.hint = exitUsage, "choose another name, such as before-merge"
	case errors.As(err, &taken):
		f.hint = "choose another name, or free this one: rewind rename " + taken.Checkpoint + " ''"
	case errors.As(err, &changing):
		f.code = exitBusy
	case errors.As(err, &busy):
		f.code, f.hint = exitBusy, "try again when the other rewind has finished"
	case errors.As(err, &diskFull):
		f.message = strings.Replace(f.message, diskFull.Error(), fmt.Sprintf("only %s free on the disk, less than minFreeDisk (%s)",
			formatSize(diskFull.Free), formatSize(diskFull.Floor)), 1)
		f.hint = "free some space, run rewind gc, or lower the limit: rewind config minFreeDisk"
	case errors.As(err, &wouldLose):
		f.code = exitRefused
		f.warnings = namePaths(wouldLose.Paths)
		if wouldLose.Adopting {
			f.hint = "remove its own store first: rewind deinit"
		}
		if wouldLose.Forcible {
			f.hint = "--force proceeds anyway, after taking a safety checkpoint"
		}
		if wouldLose.Next != "" {
			f.hint = wouldLose.Next
		}
	case errors.As(err, &noConv):
		f.code, f.hint = exitNotFound, "--code-only restores only the files"
		if noConv.Before {
			f.hint = "start a new session, or restore only the files: --code-only"
		}
	case errors.As(err, &noSession):
		f.code, f.hint = exitNotFound, "rewind sessions lists all sessions; choose one with --session"
		f.choices = viewChoices(noSession.Choices)
		for _, s := range firstN(noSession.Choices, maxNamed) {
			f.warnings = append(f.warnings, "session "+choiceText(s, noSession.Now))
		}
	case errors.As(err, &few):
		f.code, f.hint = exitNotFound, "rewind list shows the prompts that have a checkpoint"
	case errors.As(err, &running):
		f.code, f.hint = exitRefused, "close it first, omit --in-place to get a fork, or proceed with --force"
	case errors.As(err, &nothing):
		f.hint = "rewind log shows the operations, rewind list shows the checkpoints"
	case errors.As(err, &removal):
		f.code, f.hint = exitPartial, "rewind stores rm "+removal.ID[:min(shortID, len(removal.ID))]+" --yes continues the removal"
	case errors.As(err, &home):
		f.hint = "check the owner and permissions of that directory, or set HOME to a directory of yours"
	case errors.As(err, &readOnly):
		f.hint = "check the owner and permissions of the store: rewind status"
	case errors.As(err, &noKey):
		f.code, f.hint = exitUsage, "rewind config lists the settings"
		if near := nearest(noKey.Key, noKey.Known); near != "" {
			f.hint = "rewind config " + near
		}
	case errors.As(err, &badValue):
		f.code = exitUsage
	case errors.As(err, &notJSON):
		f.hint = "the file was left unchanged; fix it by hand"
	case errors.As(err, &aborted) && len(aborted.Left) > 0:
		f.code, f.hint = exitPartial, "fix the cause, then rewind undo-restore continues putting files back"
		for _, s := range firstN(aborted.Left, maxNamed) {
			f.warnings = append(f.warnings, s.Path+": "+s.Reason)
		}
	case errors.Is(err, syscall.ENOSPC):
		f.message, f.hint = "no space left on the disk: "+err.Error(), "rewind gc"
	}
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
