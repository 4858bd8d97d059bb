package cli

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/attempts"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/gitprogram"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/maintain"
	"github.com/rewind-cli/rewind/engine/port"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/restore"
	"github.com/rewind-cli/rewind/engine/save"
	"github.com/rewind-cli/rewind/engine/settings"
	"github.com/rewind-cli/rewind/engine/stores"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/engine/treeio"
	"github.com/rewind-cli/rewind/engine/watch"
	"github.com/rewind-cli/rewind/engine/work"
)

// explainEngine knows the engine's typed errors.
func explainEngine(err error, f *failure) {
	_ = explainGrep(err, f) ||
		explainRevert(err, f) ||
		explainStore(err, f) ||
		explainNamed(err, f) ||
		explainHeld(err, f) ||
		explainConversation(err, f) ||
		explainRest(err, f)
}

// explainStore says why a store cannot be used; false: it is none of that.
func explainStore(err error, f *failure) bool {
	var (
		notInit  *project.NotInitializedError
		refused  *project.RefusedRootError
		system   *account.UnsupportedError
		foreign  *account.ForeignStoreError
		moved    *project.MovedError
		link     *project.LinkError
		noStore  *project.NoStoreError
		remote   *project.RemoteError
		vanished *project.VanishedError
		future   *account.FutureFormatError
		format   *account.FormatError
		damaged  *account.DamagedStoreError
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
			f.hint = "rewind stores rm . finishes the removal"
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
		f.code, f.hint = exitDamaged, "rewind verify --repair"
		if format.Lost != "" {
			f.hint = "restore the format file from a backup, or move the store away and start over: rewind init"
		}
	case errors.As(err, &damaged):
		f.code, f.hint = exitDamaged, "rewind verify"
	default:
		return false
	}
	return true
}

// explainRevert says what a revert does not find; false: it is none of that.
func explainRevert(err error, f *failure) bool {
	var (
		unknown *work.UnknownWorkError
		gone    *work.StatesGoneError
	)
	switch {
	case errors.As(err, &unknown):
		f.code, f.hint = exitNotFound, "rewind list --all shows the checkpoints; rewind show says a call's id and its subagent, with --json those of each path"
		if len(unknown.Matches) > 0 {
			f.hint = "use more characters: " + strings.Join(firstN(unknown.Matches, 8), ", ")
		} else if len(unknown.Sessions) > 0 {
			f.hint = "rewind revert with a checkpoint takes back its turn, --session all that one of them did: " + strings.Join(firstN(unknown.Sessions, 8), ", ")
		} else if unknown.What == "checkpoint" {
			f.hint = "rewind restore " + shellQuote(unknown.Name) + " --code-only goes to it; rewind list shows the turns"
		}
	case errors.As(err, &gone):
		f.code = exitNotFound
		f.hint = "rewind list --all shows the states that are left"
		if gone.Since > 0 {
			f.hint = fmt.Sprintf("--since prompt~%d takes back what came after it", gone.Since)
		}
	default:
		return false
	}
	return true
}

// explainNamed says what was named and is not there, or may not be named so; false: it is none of that.
func explainNamed(err error, f *failure) bool {
	var (
		unsaved   *conversation.PromptNotSavedError
		noCkpt    *project.NoCheckpointError
		ambiguous *project.AmbiguousError
		noPath    *project.NoPathError
		precious  *port.OnlyPreciousError
		notHeld   *maintain.NotHeldError
		several   *inspect.SeveralPathsError
		outside   *project.OutsideError
		badName   *project.BadNameError
		taken     *project.NameTakenError
		noAttempt *attempts.NoAttemptError
	)
	switch {
	case errors.As(err, &noAttempt):
		f.code, f.hint = exitNotFound, "rewind list --attempts"
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
	case errors.As(err, &several):
		f.code, f.hint = exitUsage, "name one of them: "+quotedPaths(several.Matches)
	case errors.As(err, &precious):
		f.hint = "--with-precious includes it"
	case errors.As(err, &noPath):
		f.hint = "rewind show CKPT --files lists the paths of a checkpoint"
	case errors.As(err, &notHeld):
		f.hint = "nothing was removed; rewind history PATH shows the checkpoints that have a path"
	case errors.As(err, &outside):
		f.code, f.hint = exitUsage, "paths are relative to the working directory and must be inside the project"
	case errors.As(err, &badName):
		f.code, f.hint = exitUsage, "choose another name, such as before-merge"
	case errors.As(err, &taken):
		f.hint = "choose another name, or free this one: rewind pin " + taken.Checkpoint + " --name ''"
	default:
		return false
	}
	return true
}

// explainHeld says what holds a command up: another process, the disk, a refusal; false: it is none of that.
func explainHeld(err error, f *failure) bool {
	var (
		busy      *account.BusyError
		diskFull  *project.DiskFullError
		noSpace   *maintain.NoSpaceError
		wouldLose *project.RefusedError
		otherPlan *restore.PlanChangedError
		changing  *settings.BusyError
		watched   *save.AlreadyWatchedError
		place     *port.CheckoutDirError
		part      *port.UnfinishedError
		same      *port.NoStatesError
		noGit     *gitprogram.MissingError
		edited    *restore.ChangedSinceError
	)
	switch {
	case errors.As(err, &edited):
		f.code, f.hint = exitRefused, "the same command shows them as they are now"
	case errors.As(err, &noGit):
		f.hint = "install git, or put it into $PATH"
	case errors.As(err, &same):
		f.hint = "rewind list shows the checkpoints; choose the ends with --good and --bad"
	case errors.As(err, &place):
		f.code, f.hint = exitRefused, place.Hint
		if f.hint == "" {
			f.hint = "choose a directory that is empty or not there yet"
		}
	case errors.As(err, &part):
		explainEngine(part.Err, f)
		if f.code == exitFailed || f.code == exitOK {
			f.code = exitPartial
		}
		f.hint = "the same command completes it; or remove " + shellQuote(part.Dir)
	case errors.As(err, &watched):
		f.code, f.hint = exitBusy, "end that one first: one is enough for a project"
	case errors.Is(err, watch.ErrGone):
		f.code, f.message, f.hint = exitNoProject, "the project's directory was moved or removed", "start rewind watch again in its new place"
	case errors.As(err, &changing):
		f.code = exitBusy
	case errors.As(err, &busy):
		f.code, f.hint = exitBusy, "try again when the other rewind has finished"
	case errors.As(err, &noSpace):
		f.message = strings.Replace(f.message, noSpace.Error(), "nothing was removed: what is kept has to be written to new files first, which takes "+
			formatSize(noSpace.Need)+", and only "+formatSize(noSpace.Free)+" are free on the disk", 1)
		f.hint = "free some space elsewhere, then run the command again; rewind stores rm --gone removes the stores of deleted projects"
	case errors.As(err, &diskFull):
		f.message = strings.Replace(f.message, diskFull.Error(), fmt.Sprintf("only %s free on the disk, less than minFreeDisk (%s)",
			formatSize(diskFull.Free), formatSize(diskFull.Floor)), 1)
		f.hint = "free some space, run rewind gc, or lower the limit: rewind config minFreeDisk SIZE (with --global where rewind init has yet to run)"
	case errors.As(err, &otherPlan):
		f.code, f.hint = exitRefused, "nothing was changed; look at the plan again: rewind restore --dry-run"
	case errors.As(err, &wouldLose):
		f.code = exitRefused
		f.warnings = namePaths(wouldLose.Paths)
		if wouldLose.Adopting {
			f.hint = "remove its own store first: rewind stores rm ."
		}
		if wouldLose.Forcible {
			f.hint = "--force proceeds anyway, after taking a safety checkpoint"
		}
		if wouldLose.Next != "" {
			f.hint = wouldLose.Next
		}
	default:
		return false
	}
	return true
}

// explainConversation says what is wrong with a session or its conversation; false: it is none of that.
func explainConversation(err error, f *failure) bool {
	var (
		noConv    *conversation.NoConversationError
		noSession *conversation.NoSessionError
		running   *conversation.AgentRunningError
		few       *transcript.FewPromptsError
	)
	switch {
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
	default:
		return false
	}
	return true
}

// explainRest says all other errors of the engine; false: it is none of that.
func explainRest(err error, f *failure) bool {
	var (
		nothing  *project.NothingError
		few      *project.FewStepsError
		done     *restore.NotTakenBackError
		readOnly *project.ReadOnlyError
		home     *account.HomeError
		removal  *stores.RemovalError
		noKey    *settings.KeyError
		badValue *settings.ValueError
		notJSON  *settings.NotJSONError
		aborted  *treeio.AbortedError
	)
	switch {
	case errors.As(err, &nothing):
		f.hint = "rewind list --ops shows the operations, rewind list shows the checkpoints"
		if nothing.Next != "" {
			f.hint = nothing.Next
		}
	case errors.As(err, &few):
		f.hint = fmt.Sprintf("rewind %s %d goes as far as possible", few.What, few.Have)
	case errors.As(err, &done):
		f.code, f.hint = exitRefused, "rewind list --ops shows which operations can still be taken back"
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
		f.code, f.hint = exitPartial, "fix the cause, then rewind undo continues putting files back"
		for _, s := range firstN(aborted.Left, maxNamed) {
			f.warnings = append(f.warnings, s.Path+": "+s.Reason)
		}
	case errors.Is(err, syscall.ENOSPC):
		f.message, f.hint = "no space left on the disk: "+err.Error(), "free some space, then run the command again; rewind stores rm --gone and rewind gc remove history"
	default:
		return false
	}
	return true
}

// quotedPaths names paths as a shell takes them.
func quotedPaths(paths []string) string { return strings.Join(quoteAll(paths), ", ") }
