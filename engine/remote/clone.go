package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/remote/bucket"
	"github.com/rewind-cli/rewind/engine/stores"
)

// CloneOptions are those of Clone.
type CloneOptions struct {
	project.OpenOptions
	URL  string
	Dir  string // absolute; made if it is missing, must be empty else
	Name string // of the remote in the new store
	Key  string // the remote's key; "": that of KeyVariable or of the account
	// Log names, by the beginning of its id, the log that it is to have, also one that was pushed without the key; "": the one that was
	// pushed to last, and which must be signed.
	Log string
}

// Cloned is what Clone did.
type Cloned struct {
	Project     *project.Project // open; the caller closes it
	Remote      *Remote
	Machine     string // whose log it was
	Root        string // where the project was there, quoted as Go does
	Checkpoints int
	Bytes       int64
	Requests    int
	Torn        []string // names of segments that are not whole
	Others      []Log    // that the remote has, too, and the clone has not all of
}

// NotEmptyError: the directory of a clone has something in it.
type NotEmptyError struct{ Dir string }

func (e *NotEmptyError) Error() string { return fmt.Sprintf("%s is not empty", e.Dir) }

// EmptyRemoteError: nothing was pushed there.
type EmptyRemoteError struct{ URL string }

func (e *EmptyRemoteError) Error() string { return "nothing was pushed to " + e.URL + " yet" }

// cloning is one clone.
type cloning struct {
	b    bucket.Bucket
	key  Key
	done *Cloned
	all  []bucket.Object // the listing of the segments
}

// Clone makes a store in a directory of what a remote has: the log that was pushed to last, with all that it continues. No file of the
// project is written: restore does that. The new store pushes as a writer of its own. After an error nothing is left of it. Errors:
// *NotEmptyError, *EmptyRemoteError, *KeyError, *BadObjectError, *GapError, those of package bucket and of stores.Init.
func Clone(ctx context.Context, o CloneOptions) (*Cloned, error) {
	b, err := open(o.URL, options(o.Env))
	if err != nil {
		return nil, err
	}
	c := &cloning{b: b, done: &Cloned{Requests: 2}}
	a, err := describe(ctx, b, o.URL)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &EmptyRemoteError{o.URL}
	}
	if err != nil {
		return nil, err
	}
	if o.Key != "" {
		if c.key, err = ParseKey(o.Key); err == nil && c.key.Recipient() != a.Recipient {
			err = errors.New("it is not the key of the remote")
		}
		if err != nil {
			return nil, &KeyError{Reason: "the key that was given: " + err.Error()}
		}
	} else if c.key, err = keyOf(o.Env, a.ID, a.Recipient); err != nil {
		return nil, err
	}
	if c.all, err = b.List(ctx, segments); err != nil {
		return nil, err
	}
	chain, err := c.chain(o.Log)
	if err != nil {
		return nil, err
	}
	if len(chain) == 0 {
		return nil, &EmptyRemoteError{o.URL}
	}
	o.Root = o.Dir
	made, err := c.emptyDir(o)
	if err != nil {
		return nil, err
	}
	p, _, err := stores.Init(ctx, stores.InitOptions{OpenOptions: o.OpenOptions, NoSave: true})
	if err == nil {
		c.done.Project = p
		unfinished := filepath.Join(p.StoreDir(), account.TmpName, cloningName)
		err = account.WriteFile(unfinished, nil, p.Owner)
		if err == nil {
			err = c.fill(ctx, o, a, chain)
		}
		if err == nil {
			err = account.RemoveIfThere(unfinished)
		}
		if err != nil {
			err = errors.Join(err, p.Close(), c.undo(o))
		}
	}
	if err != nil {
		if made {
			err = errors.Join(err, removeEmpty(o.Dir))
		}
		return nil, err
	}
	return c.done, nil
}

// cloningName is the file in a store's directory for temporary files that says that a clone is not complete.
const cloningName = "cloning"

// emptyDir makes the directory; made is false where it was there. What a killed clone has left in it is removed; a .git may be there.
func (c *cloning) emptyDir(o CloneOptions) (made bool, err error) {
	err = os.Mkdir(o.Dir, 0o777)
	if !errors.Is(err, fs.ErrExist) {
		return err == nil, err
	}
	store := filepath.Join(o.Dir, filepath.FromSlash(account.StoreName))
	if account.Exists(filepath.Join(store, account.TmpName, cloningName)) {
		if err := c.undo(o); err != nil {
			return false, err
		}
	}
	names, err := os.ReadDir(o.Dir)
	for _, n := range names {
		if n.Name() != ".git" {
			return false, &NotEmptyError{o.Dir}
		}
	}
	return false, err
}

// removeEmpty removes a directory that Clone made, where nothing has come into it.
func removeEmpty(dir string) error {
	if names, err := os.ReadDir(dir); err != nil || len(names) > 0 {
		return err
	}
	return os.Remove(dir)
}

// undo removes the store that could not be filled.
func (c *cloning) undo(o CloneOptions) error {
	ctx := context.Background() // also where the clone was interrupted
	plan, err := stores.PlanDeinit(ctx, o.OpenOptions)
	if err == nil {
		err = plan.Apply(ctx, 0)
	}
	return err
}
