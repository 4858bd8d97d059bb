package remote

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/gitrepo"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/remote/bucket"
	"github.com/rewind-cli/rewind/engine/remote/keyring"
)

// AddOptions are those of Add.
type AddOptions struct {
	Name, URL string
	Precious  bool // precious files go there, too
	Manual    bool // nothing is pushed by itself
	// WithoutKey joins a remote also where this account does not have its key: it can push then, and read nothing.
	WithoutKey bool
	Key        GivenKey // of a remote that is joined; the zero value: what this account has
}

// Added is what Add did.
type Added struct {
	*Remote
	New bool // the place held nothing: it is a new remote
	Can bucket.Capabilities
	Key *keyring.Key // of the remote; nil where this account does not have it: it can push, and read nothing
}

// Add makes a remote at a place that holds nothing, or joins the one that is there. Nothing is pushed. Errors: *TakenError, *project.BadNameError,
// *ShareError, *FutureError, *BadObjectError, those of package bucket.
func Add(ctx context.Context, p *project.Project, o AddOptions) (*Added, error) {
	if err := p.BeginWriting(ctx); err != nil {
		return nil, err
	}
	if err := project.CheckName(o.Name); err != nil {
		return nil, err
	}
	r, err := Find(p, o.Name)
	if err == nil {
		return nil, &TakenError{r.Name, r.URL}
	}
	if missing := (*NoRemoteError)(nil); !errors.As(err, &missing) {
		return nil, err
	}
	o.URL = absolute(p.Env, o.URL)
	place := options(p.Env)
	place.Project = p.Root()
	own := []string{p.Root(), p.StoreDir()}
	if repo, ok := gitrepo.Find(p.Root()); ok {
		own = append(own, repo.CommonDir)
		if strings.HasPrefix(o.URL, "git:") {
			own = append(own, repo.WorkTree)
		}
	}
	if path := bucket.LocalPath(o.URL, place); path != "" && slices.ContainsFunc(own, func(dir string) bool { return vfs.Within(dir, vfs.RealAsFar(path)) }) {
		return nil, &InsideError{o.URL}
	}
	b, err := open(o.URL, place)
	if err != nil {
		return nil, err
	}
	can, err := bucket.Probe(ctx, b)
	if err != nil {
		return nil, err
	}
	if can.Conditional { // the credentials may allow nothing else
		place.Conditional = true
		if b, err = open(o.URL, place); err != nil {
			return nil, err
		}
	}
	done := &Added{Remote: newRemote(p, o.Name, Config{}), Can: can}
	var keys unlocked
	a, err := describe(ctx, b, o.URL)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if a, err = done.make(ctx, b); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	case a.Share:
		return nil, &ShareError{o.URL}
	default:
		keys, err = unlock(ctx, b, p.Env, a, o.Key, nil)
		var none *KeyError
		switch {
		case err == nil:
			done.Key = new(keys.Current())
		case !errors.As(err, &none) || !none.Missing || !o.WithoutKey:
			return nil, err
		}
	}
	done.Config = Config{URL: o.URL, ID: a.ID, Recipient: a.Recipient, Precious: o.Precious, Manual: o.Manual, Conditional: can.Conditional}
	keys.config(&done.Config)
	if done.Key != nil {
		if err := keepKeys(p.Env, a.ID, keys.Keys, o.Key.File); err != nil {
			return nil, err
		}
	}
	if err := done.create(ctx); err != nil {
		return done, err
	}
	return done, done.write(markName, mark{Added: p.Env.Time()})
}

// InsideError: the place of a remote is in the project, which would save what it pushes, and delete it with a restore.
type InsideError struct{ URL string }

func (e *InsideError) Error() string { return e.URL + " is in the project" }

// create makes the remote's directory in the store, empty, and makes the remote known.
func (r *Remote) create(ctx context.Context) error {
	if err := os.RemoveAll(r.dir); err != nil { // of one that was removed, or of an add that was killed
		return err
	}
	if err := r.makeDir(); err != nil {
		return err
	}
	return change(ctx, r.p, func(all map[string]Config) { all[r.Name] = r.Config })
}

func (r *Remote) makeDir() error {
	if err := account.MakeDir(filepath.Dir(r.dir), r.p.Owner); err != nil {
		return err
	}
	return account.MakeDir(r.dir, r.p.Owner)
}

// make makes a new remote with a key of its own, which this account keeps before the remote is there.
func (d *Added) make(ctx context.Context, b bucket.Bucket) (about, error) {
	k, err := keyring.New()
	if err != nil {
		return about{}, err
	}
	a := about{Format: format, ID: account.NewStoreID().String(), Recipient: k.Recipient()}
	if err := keepKeys(d.p.Env, a.ID, keyring.Keys{k}, ""); err != nil {
		return a, err
	}
	d.New, d.Key = true, &k
	return a, a.put(ctx, b)
}

// absolute is a URL that means the same from any directory of the project.
func absolute(env account.Env, url string) string {
	if at, err := bucket.Resolve(url, options(env)); err == nil {
		url = at
	}
	if strings.Contains(url, ":") || strings.HasPrefix(url, "~") || filepath.IsAbs(url) {
		return url
	}
	return filepath.Join(env.Dir, url)
}

// Remove forgets a remote: what is there stays there, and the account keeps the key. It waits for a push and a pull. Error: *account.BusyError.
func Remove(ctx context.Context, p *project.Project, name string) (*Remote, error) {
	if err := p.BeginWriting(ctx); err != nil {
		return nil, err
	}
	r, err := Find(p, name)
	if err != nil {
		return nil, err
	}
	lock, err := r.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer lock.Release()
	pull, err := r.lockPull(ctx)
	if err != nil {
		return nil, err
	}
	defer pull.Release()
	if err := change(ctx, p, func(all map[string]Config) { delete(all, name) }); err != nil {
		return nil, err
	}
	return r, os.RemoveAll(r.dir)
}

// lock takes the lock under which one process at a time pushes to the remote. Error: *account.BusyError.
func (r *Remote) lock(ctx context.Context) (*account.FileLock, error) {
	return lockFile(ctx, r.p, r.lockName(), "push")
}

func (r *Remote) lockName() string { return "push-" + r.Name }

// Await waits until no other process pushes to the remote, however long that takes.
func (r *Remote) Await(ctx context.Context) error {
	lock, err := account.LockFile(ctx, filepath.Join(r.p.StoreDir(), account.LockName, r.lockName()), "push", true)
	if err == nil {
		lock.Release()
	}
	return err
}
