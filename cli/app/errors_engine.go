package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/attempts"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/gitprogram"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/port"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/save"
	"github.com/rewind-cli/rewind/engine/search"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/engine/settings"
	"github.com/rewind-cli/rewind/engine/stores"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/engine/treeio"
	"github.com/rewind-cli/rewind/engine/watch"
	"github.com/rewind-cli/rewind/engine/work"
	"github.com/rewind-cli/rewind/manifest"
)

// explainEngine knows the engine's typed errors.
func explainEngine(err error, f *Failure) {
	_ = explainRevert(err, f) ||
		explainStore(err, f) ||
		explainNamed(err, f) ||
		explainHeld(err, f) ||
		explainConversation(err, f) ||
		explainRemote(err, f) ||
		explainRest(err, f) ||
		explainDisk(err, f)
}

// is reports whether an error is a T; if so, f gets its code and hint.
func is[T error](err error, f *Failure, code int, hint string) bool {
	_, ok := errors.AsType[T](err)
	if ok {
		f.Code, f.Hint = code, hint
	}
	return ok
}

// explainStore says why a store cannot be used; false: it is none of that.
func explainStore(err error, f *Failure) bool {
	var (
		notInit *project.NotInitializedError
		foreign *account.ForeignStoreError
		moved   *project.MovedError
		link    *project.LinkError
		noStore *project.NoStoreError
		format  *account.FormatError

		inPlace  *account.InPlaceError
		vanished *project.VanishedError
		mixed    *project.MixedStoreError
	)
	switch {
	case errors.As(err, &notInit):
		f.Code, f.Hint = ExitNoProject, "rewind init"
		if notInit.Older != "" {
			f.Hint = "rewind init continues with the settings of the older rewind in " + notInit.Older + " and leaves its checkpoints where they are"
		}
		if notInit.NoList {
			f.Hint = "this account's list of stores is lost, but not their histories: rewind stores shows them, rewind init --adopt ID brings one here; rewind init starts a new one"
		}
		if len(notInit.History) > 0 {
			f.Warnings = HistoryText(notInit.History)
			id := ShortStore(notInit.History[0].ID)
			where := " DIR its files and git into another directory"
			if names, err := os.ReadDir(notInit.Root); err == nil && len(names) == 0 {
				where = " . the files and git, too"
			}
			f.Hint = "rewind init --adopt " + id + " brings the newest history here, and rewind rescue " + id + where + ", if that directory is gone; rewind init starts a new one"
		}
	case errors.As(err, &noStore):
		f.Code, f.Hint = ExitNotFound, "rewind stores lists all stores"
		if len(noStore.Matches) > 0 {
			f.Hint = "use more characters: " + strings.Join(FirstN(noStore.Matches, 8), ", ")
		}
	case errors.As(err, &link):
		f.Code = ExitNoProject
		switch {
		case link.Other != "":
			f.Hint = "each directory needs its own store: remove the link " + ShellQuote(link.Path)
		case link.Forcible:
			f.Hint = "if you made that link yourself: rewind init --force"
		default:
			f.Hint = "a store contains no links: check where this one points, then remove it"
		}
	case is[*account.UnsupportedError](err, f, ExitRefused, "to try it anyway, set REWIND_ALLOW_WINDOWS=1"):
	case is[*project.UnfinishedCloneError](err, f, ExitNoProject, "the same rewind clone again continues it; rewind deinit removes what has come of it"):
	case is[*project.RefusedRootError](err, f, ExitNoProject, "cd to the project, or give its directory with --root"):
	case errors.As(err, &foreign):
		f.Code, f.Hint = ExitNoProject, "if you trust its origin: rewind init --trust"
		switch {
		case foreign.OtherUser:
			f.Hint = "run rewind as the user who owns the store"
		case foreign.Going:
			f.Hint = "rewind stores rm . finishes the removal"
		case foreign.NoHome:
			f.Hint = "set HOME to the home directory of the account that the store was made on"
		case foreign.Tracked:
			f.Hint = "remove it from git's index: git rm -r -q --cached .agent/rewind"
		}
	case is[*project.RemoteError](err, f, ExitNoProject, "rewind init --mode global, or --force if you know it is safe"):
	case errors.As(err, &moved):
		f.Code, f.Hint = ExitNoProject, "rewind init --adopt "+ShellQuote(moved.Store)
		if moved.ID != "" {
			f.Hint = "rewind init --adopt " + ShortStore(moved.ID) + " brings its history here; rewind init starts a new one"
		}
	case errors.As(err, &inPlace):
		f.Code, f.Hint = ExitDamaged, "move it away, then run the command again"
		if inPlace.Link != "" {
			f.Hint = "make that directory available again, or remove the link"
		}
	case errors.As(err, &vanished):
		f.Code, f.Hint = ExitDamaged, "restore the store from a backup, or start over: rewind init --force"
		if vanished.Mirror != "" {
			f.Hint = "its history is in its mirror, and comes back with the next command when that is mended: " + vanished.Mirror
		}
	case errors.As(err, &mixed):
		f.Code, f.Hint = ExitDamaged, "mv "+ShellQuote(mixed.Store)+" elsewhere: the next command brings the history of this project, the store "+ShortStore(mixed.ID)+", back from its mirror"
	case is[*project.ReplacedError](err, f, ExitFailed, "run the command again: it works on the store that is there now"):
	case is[*account.FutureFormatError](err, f, ExitFailed, "install a newer rewind"):
	case errors.As(err, &format):
		f.Code, f.Hint = ExitDamaged, "rewind verify --repair"
		if format.Lost != "" {
			f.Hint = "restore the format file from a backup, or move the store away and start over: rewind init"
		}
	case is[*account.DamagedStoreError](err, f, ExitDamaged, "rewind verify"):
	default:
		return false
	}
	return true
}

// explainRevert says what a search or a revert does not find; false: it is none of that.
func explainRevert(err error, f *Failure) bool {
	var (
		unknown *work.UnknownWorkError
		gone    *work.StatesGoneError
	)
	switch {
	case is[*search.PatternError](err, f, ExitUsage, "rewind grep -F takes the text literally"):
	case errors.As(err, &unknown):
		f.Code, f.Hint = ExitNotFound, "rewind list --all shows the checkpoints; rewind show says a call's id and its subagent, with --json those of each path"
		if len(unknown.Matches) > 0 {
			f.Hint = "use more characters: " + strings.Join(FirstN(unknown.Matches, 8), ", ")
		} else if len(unknown.Sessions) > 0 {
			f.Hint = "--session says which of them is meant: " + strings.Join(FirstN(unknown.Sessions, 8), ", ")
		} else if unknown.What == "checkpoint" {
			f.Hint = "rewind restore " + ShellQuote(unknown.Name) + " --code-only goes to it; rewind list shows the turns"
		}
	case errors.As(err, &gone):
		f.Code = ExitNotFound
		f.Hint = "rewind list --all shows the states that are left"
		if gone.Since > 0 {
			f.Hint = fmt.Sprintf("--since prompt~%d takes back what came after it", gone.Since)
		}
	default:
		return false
	}
	return true
}

// explainNamed says what was named and is not there, or may not be named so; false: it is none of that.
func explainNamed(err error, f *Failure) bool {
	var (
		attempt   *attempts.NoAttemptError
		unsaved   *conversation.PromptNotSavedError
		ambiguous *project.AmbiguousError
		several   *inspect.SeveralPathsError
		taken     *project.NameTakenError
	)
	switch {
	case errors.As(err, &attempt):
		f.Code, f.Hint = ExitNotFound, "rewind list --attempts"
		if attempt.Now {
			f.Hint = "rewind save takes a checkpoint of them"
			if attempt.Newest != nil {
				f.Hint = "its newest checkpoint is " + attempt.Newest.ID.String()[:ShortID] + "; " + f.Hint
			}
		}
	case errors.As(err, &unsaved):
		f.Code = ExitNotFound
		f.Hint = fmt.Sprintf("rewind restore prompt~%d --context-only takes back the conversation alone; rewind list shows the checkpoints for rewind restore <id>", unsaved.N)
	case is[*project.NoCheckpointError](err, f, ExitNotFound, "rewind list"):
	case errors.As(err, &ambiguous):
		f.Code = ExitNotFound
		if len(ambiguous.Matches) > 0 {
			f.Hint = "use more characters: " + strings.Join(FirstN(ambiguous.Matches, 8), ", ")
		}
	case errors.As(err, &several):
		f.Code, f.Hint = ExitUsage, "name one of them: "+strings.Join(QuoteAll(several.Matches), ", ")
	case is[*port.OnlyPreciousError](err, f, ExitFailed, "--with-precious includes it"):
	case is[*project.NoPathError](err, f, ExitFailed, "rewind show CKPT --files lists the paths of a checkpoint"):
	case is[*maintain.NotHeldError](err, f, ExitFailed, "nothing was removed; rewind history PATH shows the checkpoints that have a path"):
	case is[*project.OutsideError](err, f, ExitUsage, "paths are relative to the working directory and must be inside the project"):
	case is[*project.BadNameError](err, f, ExitUsage, "choose another name, such as before-merge"):
	case errors.As(err, &taken):
		f.Hint = "choose another name, or free this one: rewind pin " + taken.Checkpoint + " --name ''"
	default:
		return false
	}
	return true
}

// explainHeld says what holds a command up: another process, a refusal; false: it is none of that.
func explainHeld(err error, f *Failure) bool {
	var (
		wouldLose *project.RefusedError
		place     *port.CheckoutDirError
		part      *port.UnfinishedError
		forgotten *restore.ForgottenStepError
		removed   *restore.WorktreeRemovedError
	)
	switch {
	case errors.As(err, &forgotten):
		f.Code, f.Hint = ExitRefused, "rewind list shows the checkpoints"
		f.Warnings = Map(FirstN(forgotten.Steps, MaxNamed), func(c manifest.Checkpoint) string {
			return strings.TrimSpace(c.ID.String()[:ShortID] + " " + c.Description)
		})
		if forgotten.Older != nil {
			f.Hint = "rewind restore " + forgotten.Older.ID.String()[:ShortID] + " goes further back, to the next checkpoint that differs"
		}
	case errors.As(err, &removed):
		f.Code, f.Hint = ExitRefused, LinkAgain(removed, "the same command again")
	case is[*restore.ChangedSinceError](err, f, ExitRefused, "the same command shows them as they are now"):
	case is[*gitprogram.MissingError](err, f, ExitFailed, "install git, or put it into $PATH"):
	case is[*port.NoStatesError](err, f, ExitFailed, "rewind list shows the checkpoints; choose the ends with --good and --bad"):
	case errors.As(err, &place):
		f.Code, f.Hint = ExitRefused, place.Hint
		if f.Hint == "" {
			f.Hint = "choose a directory that is empty or not there yet"
		}
	case errors.As(err, &part):
		explainEngine(part.Err, f)
		if f.Code == ExitFailed || f.Code == ExitOK {
			f.Code = ExitPartial
		}
		f.Hint = "the same command completes it; or remove " + ShellQuote(part.Dir)
	case is[*save.AlreadyWatchedError](err, f, ExitBusy, "end that one first: one is enough for a project"):
	case errors.Is(err, watch.ErrGone):
		f.Code, f.Message, f.Hint = ExitNoProject, "the project's directory was moved or removed", "start rewind watch again in its new place"
	case is[*settings.BusyError](err, f, ExitBusy, ""):
	case is[*account.BusyError](err, f, ExitBusy, "try again when the other rewind has finished"):
	case is[*restore.PlanChangedError](err, f, ExitRefused, "nothing was changed; look at the plan again: rewind restore --dry-run"):
	case errors.As(err, &wouldLose):
		f.Code = ExitRefused
		f.Warnings = FirstNamed(wouldLose.Paths, MaxNamed, func(path string) string { return path })
		if wouldLose.Adopting {
			f.Hint = "remove its own store first: rewind stores rm ."
		}
		if wouldLose.Forcible {
			f.Hint = "--force proceeds anyway, after taking a safety checkpoint"
		}
		if wouldLose.Next != "" {
			f.Hint = wouldLose.Next
		}
	default:
		return false
	}
	return true
}

// explainConversation says what is wrong with a session or its conversation; false: it is none of that.
func explainConversation(err error, f *Failure) bool {
	var (
		noConv    *conversation.NoConversationError
		noSession *session.UnclearError
	)
	switch {
	case errors.As(err, &noConv):
		f.Code, f.Hint = ExitNotFound, "--code-only restores only the files"
		if noConv.Before {
			f.Hint = "start a new session, or restore only the files: --code-only"
		}
	case errors.As(err, &noSession):
		f.Code, f.Hint = ExitNotFound, "rewind sessions lists all sessions; choose one with --session"
		f.choices = Map(noSession.Choices, viewChoice)
		f.Choices = Map(FirstN(noSession.Choices, MaxNamed), func(s session.Info) string { return "session " + choiceText(s, noSession.Now) })
	case is[*transcript.FewPromptsError](err, f, ExitNotFound, "rewind list shows the prompts that have a checkpoint"):
	case is[*conversation.AgentRunningError](err, f, ExitRefused, "close it first, omit --in-place to get a fork, or proceed with --force"):
	default:
		return false
	}
	return true
}

// explainRest says all other errors of the engine; false: it is none of that.
func explainRest(err error, f *Failure) bool {
	var (
		nothing *project.NothingError
		few     *project.FewStepsError
		removal *stores.RemovalError
		noKey   *settings.KeyError
		aborted *treeio.AbortedError
	)
	switch {
	case errors.As(err, &nothing):
		f.Hint = "rewind list --ops shows the operations, rewind list shows the checkpoints"
		if nothing.Next != "" {
			f.Hint = nothing.Next
		}
	case errors.As(err, &few):
		f.Hint = fmt.Sprintf("rewind %s %d goes as far as possible", few.What, few.Have)
	case is[*restore.NotTakenBackError](err, f, ExitRefused, "rewind list --ops shows which operations can still be taken back"):
	case errors.As(err, &removal):
		f.Code, f.Hint = ExitPartial, "rewind stores rm "+removal.ID[:min(ShortID, len(removal.ID))]+" --yes continues the removal"
	case is[*account.HomeError](err, f, ExitFailed, "check the owner and permissions of that directory, or set HOME to a directory of yours"):
	case is[*project.ReadOnlyError](err, f, ExitFailed, "check the owner and permissions of the store: rewind status"):
	case errors.As(err, &noKey):
		f.Code, f.Hint = ExitUsage, "rewind config lists the settings"
		if near := Nearest(noKey.Key, noKey.Known); near != "" {
			f.Hint = "rewind config " + near
		}
	case is[*settings.ValueError](err, f, ExitUsage, ""):
	case is[*settings.NotJSONError](err, f, ExitFailed, "the file was left unchanged; fix it by hand"):
	case errors.As(err, &aborted) && len(aborted.Left) > 0:
		f.Code, f.Hint = ExitPartial, "fix the cause, then rewind undo continues putting files back"
		f.Warnings = Map(FirstN(aborted.Left, MaxNamed), func(s problem.Problem) string { return s.Path + ": " + s.Reason })
	default:
		return false
	}
	return true
}

// LinkAgain is how a person says that a directory is to be the linked worktree again that it was, in front of a command.
func LinkAgain(e *restore.WorktreeRemovedError, command string) string {
	parent, does := "", "registers it anew with its HEAD and its index"
	if e.Gone {
		parent, does = "mkdir -p "+ShellQuote(filepath.Dir(e.CommonDir))+" && ", "builds it anew with all that is held"
	}
	return fmt.Sprintf("%secho %s >%s, then %s, %s", parent,
		ShellQuote("gitdir: "+e.GitDir), ShellQuote(filepath.Join(e.WorkTree, ".git")), command, does)
}
