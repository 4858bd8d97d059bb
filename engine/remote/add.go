package remote

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/remote/bucket"
)

// AddOptions are those of Add.
type AddOptions struct {
	Name, URL string
	Precious  bool // precious files go there, too
	Manual    bool // nothing is pushed by itself
}

// Added is what Add did.
type Added struct {
	*Remote
	New bool // the place held nothing: it is a new remote
	Key *Key // of the remote; nil where this account does not have it: it can push, and read nothing
}

// Add makes a remote at a place that holds nothing, or joins the one that is there. Nothing is pushed. Errors: *TakenError, *project.BadNameError,
// *FutureError, *BadObjectError, those of package bucket.
func Add(ctx context.Context, p *project.Project, o AddOptions) (*Added, error) {
	if err := p.Writing(ctx); err != nil {
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
	b, err := open(o.URL, options(p.Env))
	if err != nil {
		return nil, err
	}
	can, err := bucket.Probe(ctx, b)
	if err != nil {
		return nil, err
	}
	done := &Added{Remote: newRemote(p, o.Name, Config{})}
	a, err := describe(ctx, b, o.URL)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if a, err = done.make(ctx, b); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	default:
		k, err := keyOf(p.Env, a.ID, a.Recipient)
		if other := (*KeyError)(nil); err != nil && !errors.As(err, &other) {
			return nil, err
		} else if err == nil {
			done.Key = &k
		}
	}
	done.Config = Config{URL: absolute(p.Env, o.URL), ID: a.ID, Recipient: a.Recipient, Precious: o.Precious, Manual: o.Manual, Conditional: can.Conditional}
	if done.Key != nil {
		if err := keepKey(p.Env, a.ID, *done.Key); err != nil {
			return nil, err
		}
	}
	return done, done.create(ctx)
}

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

// describe reads the remote's description. The error is fs.ErrNotExist where there is none.
func describe(ctx context.Context, b bucket.Bucket, url string) (a about, err error) {
	data, err := b.Get(ctx, aboutName, maxConfig)
	if err != nil {
		return a, err
	}
	return parseAbout(url, data)
}

// make makes a new remote with a key of its own, which this account keeps before the remote is there.
func (d *Added) make(ctx context.Context, b bucket.Bucket) (about, error) {
	k, err := NewKey()
	if err != nil {
		return about{}, err
	}
	a := about{Format: format, ID: account.NewStoreID().String(), Recipient: k.Recipient()}
	if err := keepKey(d.p.Env, a.ID, k); err != nil {
		return a, err
	}
	data, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return a, err
	}
	d.New, d.Key = true, &k
	return a, b.Put(ctx, aboutName, append(data, '\n'))
}

// absolute is a URL that means the same from any directory.
func absolute(env account.Env, url string) string {
	if strings.Contains(url, ":") || strings.HasPrefix(url, "~") || filepath.IsAbs(url) {
		return url
	}
	return filepath.Join(env.Dir, url)
}

// Remove forgets a remote: what is there stays there, and the account keeps the key.
func Remove(ctx context.Context, p *project.Project, name string) (*Remote, error) {
	if err := p.Writing(ctx); err != nil {
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
	if err := change(ctx, p, func(all map[string]Config) { delete(all, name) }); err != nil {
		return nil, err
	}
	return r, os.RemoveAll(r.dir)
}

// lock takes the lock under which one process at a time pushes to the remote. Error: *account.BusyError.
func (r *Remote) lock(ctx context.Context) (*account.FileLock, error) {
	ctx, cancel := r.p.Wait(ctx)
	defer cancel()
	return account.LockFile(ctx, filepath.Join(r.p.StoreDir(), account.LockName, "push-"+r.Name), "push", true)
}
