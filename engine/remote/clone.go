package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/remote/bucket"
	"github.com/rewind-cli/rewind/engine/stores"
)

// CloneOptions are those of Clone.
type CloneOptions struct {
	project.OpenOptions
	URL  string
	Dir  string   // absolute; made if it is missing, must be empty else
	Name string   // of the remote in the new store
	Key  GivenKey // the zero value: what KeyVariable or the account has
	// Log names, by the beginning of its id, the log that it is to have, or an earlier state of one, also one that was pushed without the key; "": of those that
	// are marked with the remote's key as a whole, and if there are any with the key that is in force, the one that was pushed to last.
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
	*reader
	done *Cloned
}

// Clone makes a store in a directory of what a remote has: one log, with all that it continues. No file of the
// project is written: restore does that. The new store pushes as a writer of its own. After an error nothing is left of it. Errors:
// *NotEmptyError, *EmptyRemoteError, *KeyError, *UnsignedError, *BadObjectError, *GapError, those of package bucket and of stores.Init.
func Clone(ctx context.Context, o CloneOptions) (*Cloned, error) {
	place := options(o.Env)
	place.Existing = true // what is not there holds no remote
	place.Project = o.Env.Dir
	set, _ := project.LoadSettings(o.Env, "")
	place.Limit = set.Push.Limit
	var err error
	if o.URL, err = bucket.Resolve(o.URL, place); err != nil { // the new project has no remote of git of that name
		return nil, err
	}
	b, err := open(o.URL, place)
	if err != nil {
		return nil, err
	}
	c := &cloning{reader: &reader{b: b}, done: &Cloned{}}
	a, err := describe(ctx, b, o.URL)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &EmptyRemoteError{o.URL}
	}
	if err != nil {
		return nil, err
	}
	if c.keys, err = unlock(ctx, b, o.Env, a, o.Key, nil); err != nil {
		return nil, err
	}
	all, err := b.List(ctx, segments)
	if err != nil {
		return nil, err
	}
	c.requests, c.at = 2+c.keys.requests, list(all)
	c.done.Torn = c.at.torn
	if len(c.at.logs) == 0 {
		return nil, &EmptyRemoteError{o.URL}
	}
	logs, err := c.logs(ctx, o.Log)
	if err != nil {
		return nil, err
	}
	o.Root = o.Dir
	made, err := c.emptyDir(ctx, o)
	if err != nil {
		return nil, err
	}
	p, created, err := stores.Init(ctx, stores.InitOptions{OpenOptions: o.OpenOptions, NoSave: true})
	if err == nil && !created {
		// The directory had a store that was lost, and has come back from its mirror: it is not this clone's to fill or to remove.
		return nil, errors.Join(&NotEmptyError{o.Dir}, p.Close())
	}
	if err == nil {
		c.done.Project = p
		mark := filepath.Join(p.StoreDir(), account.TmpName, cloningName)
		err = account.WriteFile(mark, nil, p.Owner)
		if err == nil {
			err = c.take(ctx, o, a, logs)
		}
		if err == nil {
			err = account.RemoveIfThere(mark)
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
	c.done.Requests, c.done.Bytes = c.requests, c.bytes
	return c.done, nil
}

// cloningName is the file in a store's directory for temporary files that says that a clone is not complete.
const cloningName = "cloning"

// logs are the ends of the logs that the clone may take, the best first: the one that an id names, or all.
func (c *cloning) logs(ctx context.Context, id string) (ends []string, err error) {
	if id != "" {
		end, err := c.state(ctx, id)
		return []string{end}, err
	}
	all, err := c.ranked(ctx)
	for _, l := range all {
		ends = append(ends, l.ID)
	}
	return ends, err
}

// take fills the store with the first of the logs that is marked with the remote's key as a whole, or with the only one.
func (c *cloning) take(ctx context.Context, o CloneOptions, a about, ends []string) (err error) {
	var first error
	for _, end := range ends {
		path, err := c.chain(ctx, noParent, end)
		if err == nil {
			err = c.fill(ctx, o, a, path)
		}
		var without *UnsignedError
		if !errors.As(err, &without) {
			c.done.Others = slices.DeleteFunc(slices.Clone(c.at.logs), func(l Log) bool { return l.ID == end })
			return err
		}
		for i := range c.at.logs {
			c.at.logs[i].Unsigned = c.at.logs[i].Unsigned || c.at.logs[i].ID == end
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// emptyDir makes the directory; made is false where it was there. What a killed clone has left in it is removed, if no checkpoint is in it
// and nothing is beside it; a .git may be there.
func (c *cloning) emptyDir(ctx context.Context, o CloneOptions) (made bool, err error) {
	err = os.Mkdir(o.Dir, 0o777)
	if !errors.Is(err, fs.ErrExist) {
		return err == nil, err
	}
	names, err := os.ReadDir(o.Dir)
	if err != nil {
		return false, err
	}
	agent, _, _ := strings.Cut(account.StoreName, "/")
	left := false
	for _, n := range names {
		left = left || n.Name() == agent
		if n.Name() != ".git" && n.Name() != agent {
			return false, &NotEmptyError{o.Dir}
		}
	}
	if !left {
		return false, nil
	}
	empty, err := unfinished(ctx, o)
	if err == nil && !empty {
		err = &NotEmptyError{o.Dir}
	}
	if err == nil {
		err = c.undo(o)
	}
	if names, rerr := os.ReadDir(o.Dir); err == nil && rerr == nil && slices.ContainsFunc(names, func(n fs.DirEntry) bool { return n.Name() == agent }) {
		err = &NotEmptyError{o.Dir} // something else is in it
	}
	return false, err
}

// unfinished reports whether a directory has the store of a clone that was killed before anything was in its log.
func unfinished(ctx context.Context, o CloneOptions) (bool, error) {
	if !account.Exists(filepath.Join(o.Dir, filepath.FromSlash(account.StoreName), account.TmpName, cloningName)) {
		return false, nil
	}
	p, err := project.Open(ctx, o.OpenOptions)
	if err != nil {
		return false, err
	}
	last, err := p.Store.Last()
	return last.Seq == 0, errors.Join(err, p.Close())
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
