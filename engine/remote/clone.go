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
	Remote      *Remote          // nil: it is a share
	Machine     string           // whose log it was
	Root        string           // where the project was there, quoted as Go does
	Checkpoints int
	Bytes       int64
	Requests    int
	Torn        []string // names of segments that are not whole
	Others      []Log    // that the remote has, too, and the clone has not all of
}

// NotEmptyError: the directory of a clone has something in it.
type NotEmptyError struct {
	Dir    string
	Cloned bool // a clone of this very remote is there, as where one was killed when it was done
}

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
// project is written: restore does that. The new store pushes as a writer of its own; one of a share has no remote. After an error nothing is left of it, but what saves requests to the same clone again, where it was interrupted. Errors: *account.BusyError where another process clones into it, *InterruptedError,
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
		if all, lerr := b.List(ctx, segments); lerr == nil && len(all) > 0 {
			return nil, &BadObjectError{aboutName, "it is not there, and pushes are: it says which key opens them"}
		}
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
	o.Root, o.Cloning = o.Dir, true
	made, err := emptyDir(o)
	if full := (*NotEmptyError)(nil); errors.As(err, &full) {
		has := map[string]Config{}
		_ = readJSON(filepath.Join(o.Dir, filepath.FromSlash(account.StoreName), account.RemotesFile), &has) // what cannot be read is no clone
		full.Cloned = has[o.Name].ID == a.ID
	}
	if err != nil {
		return nil, err
	}
	if err = c.into(ctx, o, a, logs); err != nil {
		if made {
			err = errors.Join(err, removeEmpty(o.Dir))
		}
		return nil, err
	}
	c.done.Requests, c.done.Bytes = c.requests, c.bytes
	return c.done, nil
}

// into makes the store, or goes on with one that an interrupted clone has left, and fills it. After an error it is removed, unless the clone was interrupted and something has come that need not be fetched again.
func (c *cloning) into(ctx context.Context, o CloneOptions, a about, logs []string) error {
	p, _, err := stores.Init(ctx, stores.InitOptions{OpenOptions: o.OpenOptions, NoSave: true})
	if err != nil {
		return err
	}
	if !p.Format.Cloning {
		// The directory had a store that was lost, and has come back from its mirror: it is not this clone's to fill or to remove.
		return errors.Join(&NotEmptyError{Dir: o.Dir}, p.Close())
	}
	lock, err := lockFile(ctx, p, cloneName, cloneName) // one process at a time fills a store
	if err != nil {
		return errors.Join(err, p.Close())
	}
	defer lock.Release()
	if last, err := p.Store.Last(); err != nil || last.Seq > 0 { // another clone was faster, or was killed when it had filled the store
		if err == nil {
			err = p.Cloned()
		}
		return errors.Join(err, &NotEmptyError{o.Dir, true}, p.Close())
	}
	c.done.Project = p
	c.keep = filepath.Join(p.StoreDir(), account.TmpName, cloneName)
	err = account.MakeDir(c.keep, p.Owner)
	if err == nil {
		err = c.take(ctx, o, a, logs)
	}
	if err == nil {
		err = errors.Join(p.Cloned(), os.RemoveAll(c.keep))
	}
	if err == nil {
		return nil
	}
	err = errors.Join(err, p.Close())
	if kept, _ := os.ReadDir(c.keep); ctx.Err() != nil && len(kept) > 0 {
		return &InterruptedError{err}
	}
	return errors.Join(err, c.undo(o))
}

// cloneName is the directory for temporary files in which a clone keeps what it has fetched, until all of it is in the store.
const cloneName = "clone"

// InterruptedError: a clone was interrupted, and the same one again goes on with what has come.
type InterruptedError struct{ Err error }

func (e *InterruptedError) Error() string { return e.Err.Error() }
func (e *InterruptedError) Unwrap() error { return e.Err }

// Interrupted says what there is.
func (e *InterruptedError) Interrupted() string {
	return "the same rewind clone continues with what has come; rewind deinit removes it"
}

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
		if !errors.As(err, new(*UnsignedError)) {
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

// emptyDir makes the directory; made is false where it was there. A .git may be in it, and what an interrupted clone has left.
func emptyDir(o CloneOptions) (made bool, err error) {
	err = os.Mkdir(o.Dir, 0o777)
	if !errors.Is(err, fs.ErrExist) {
		return err == nil, err
	}
	names, err := os.ReadDir(o.Dir)
	if err != nil {
		return false, err
	}
	agent, below, _ := strings.Cut(account.StoreName, "/")
	for _, n := range names {
		switch n.Name() {
		case ".git":
		case agent:
			inside, err := os.ReadDir(filepath.Join(o.Dir, agent))
			if err != nil {
				return false, err
			}
			store := filepath.Join(o.Dir, filepath.FromSlash(account.StoreName))
			format, ferr := account.ReadFormat(store)
			if len(inside) > 1 || len(inside) == 1 && (inside[0].Name() != below || account.IsStore(store) && (ferr != nil || !format.Cloning)) {
				return false, &NotEmptyError{Dir: o.Dir}
			}
		default:
			return false, &NotEmptyError{Dir: o.Dir}
		}
	}
	return false, nil
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
