package app

import (
	"errors"
	"strings"

	"github.com/rewind-cli/rewind/engine/remote"
	"github.com/rewind-cli/rewind/engine/remote/bucket"
	"github.com/rewind-cli/rewind/engine/remote/keyring"
)

// explainRemote says what is wrong with a remote; false: it is none of that.
func explainRemote(err error, f *Failure) bool {
	var (
		missing *remote.NoRemoteError
		denied  *bucket.DeniedError
		address *bucket.URLError
		log     *remote.NoLogError
		key     *remote.KeyError
		rival   *remote.RivalError
		share   *remote.NoShareError
		person  *remote.NoPersonError
		full    *remote.NotEmptyError

		unsigned *remote.UnsignedError
	)
	switch {
	case errors.As(err, &missing):
		f.Code, f.Hint = ExitNotFound, "rewind remote add NAME URL"
		if len(missing.Have) > 0 {
			if missing.Name == "" {
				f.Message = "the project has several remotes"
			}
			f.Hint = "name one of " + strings.Join(missing.Have, ", ")
		}
	case errors.As(err, &log):
		f.Code, f.Hint = ExitNotFound, "its logs:"
		if len(log.Have) == 0 {
			f.Hint = "nothing was pushed to it: rewind push"
		}
		for _, l := range log.Have {
			f.Hint += " " + l.ID
		}
	case errors.As(err, &share):
		f.Code, f.Hint = ExitNotFound, "rewind share --list shows what is shared"
	case is[*remote.ShareError](err, f, ExitRefused, "rewind clone makes a project of it"):
	case errors.As(err, &denied):
		f.Code, f.Hint = ExitUnreachable, denied.Next
	case errors.As(err, &address):
		f.Code, f.Hint = ExitUsage, address.Next
	case is[*bucket.UnreachableError](err, f, ExitUnreachable, "try again when it is there; what is saved here is not affected"):
	case is[*remote.ForgettingError](err, f, ExitBusy, "rewind gc removes it when no other process reads the store"):
	case is[*remote.GoneError](err, f, ExitUnreachable, "is the drive mounted, the bucket the right one? If the remote is gone: rewind remote remove, then rewind remote add"):
	case is[*remote.InsideError](err, f, ExitRefused, "name a directory outside of the project"):
	case errors.As(err, &unsigned):
		f.Code, f.Hint = ExitRefused, "if you know who pushed it: --log "+unsigned.Log+" takes it"
	case is[*remote.TakenError](err, f, ExitRefused, "choose another name, or first: rewind remote remove NAME"):
	case errors.As(err, &key):
		f.Code, f.Hint = ExitRefused, "on a machine that has the key: rewind remote key; here: set $"+remote.KeyVariable+", or --key FILE with clone, remote add or remote key, or remote add --without-key"
		if len(key.For) > 0 {
			f.Hint = "it is sealed for " + strings.Join(Map(key.For, func(s string) string { return Escape(keyring.Short(s)) }), ", ") + ": --key FILE with the private key of one of these, as ~/.ssh/id_ed25519, or --passphrase; or " + f.Hint
		}
	case errors.As(err, &rival):
		f.Code, f.Hint = ExitBusy, "this account has that key, too: it pushes for it from now on"
		if !rival.Opened {
			f.Hint = "rewind remote key there prints it; here: rewind remote key --key FILE"
		}
	case errors.As(err, &person):
		f.Code, f.Hint = ExitNotFound, "rewind remote key shows for whom it is"
	case errors.As(err, &full):
		f.Code, f.Hint = ExitRefused, "name a directory that does not exist"
		if full.Cloned {
			f.Hint = "it has the project of this remote already: rewind restore last, run there, writes its files"
		}
	case is[*remote.EmptyRemoteError](err, f, ExitNotFound, "on the machine that has the project: rewind push"):
	case is[*remote.UnsureError](err, f, ExitDamaged, "rewind remote check names what is missing; a log that is lost goes with: rewind remote gc --log ID"):
	case is[*remote.OwnLogError](err, f, ExitRefused, "to begin anew: rewind remote remove, and delete what is there"):
	case is[*remote.NoPolicyError](err, f, ExitUsage, "a directory has permissions instead"):
	case is[*remote.GapError](err, f, ExitDamaged, "a listing can lag behind: try again in a minute"):
	case is[*remote.BadObjectError](err, f, ExitDamaged, "something in the remote was changed or is damaged; on the machine that pushed it: rewind push --repair"):
	case is[*remote.FutureError](err, f, ExitFailed, "install a newer rewind"):
	default:
		return false
	}
	return true
}
