package remote

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/remote/bucket"
	"github.com/rewind-cli/rewind/engine/remote/keyring"
)

// lookForKey asks the remote whether it has another key, and uses it where this account can open it. It says how many requests that took.
func (r *Remote) lookForKey(ctx context.Context, b bucket.Bucket) (requests int, err error) {
	listing, which, err := keyring.Look(ctx, b)
	if err != nil || which == r.Ring && !r.Newer {
		return 1, err
	}
	s, _, err := secrets(r.p.Env, r.ID, GivenKey{})
	if err != nil {
		s = keyring.Secrets{} // pushing needs no key
	}
	ring, err := keyring.Read(ctx, b, listing, r.ID, r.Recipient)
	if err != nil {
		return 1, err
	}
	was := r.Config
	chain, ok := ring.Chain(s, r.Keys)
	switch {
	case !ok:
		r.Newer, r.Ring = ring.Followed(), which
	case chain.Epoch() < r.Epoch(): // a part of it is not to be seen now
		r.Ring = ""
	default:
		unlocked{Chain: chain, which: which}.config(&r.Config)
	}
	return 1 + ring.Requests, r.note(ctx, was, chain.Keys, "")
}

// known are the keys that this account has, without a look at the remote. Error: *KeyError.
func (r *Remote) known() (u unlocked, err error) {
	if _, err := r.Key(); err != nil {
		return u, err
	}
	s, _, err := secrets(r.p.Env, r.ID, GivenKey{})
	if err != nil {
		return u, err
	}
	u.Newer, u.ring = r.Newer, &keyring.Ring{}
	for _, of := range append([]string{r.Recipient}, r.Config.Keys...) {
		if k, ok := s.Keys.Of(of); ok {
			u.Chain.Keys = append(u.Chain.Keys, k)
		}
	}
	return u, nil
}

// note writes down what is new about the keys.
func (r *Remote) note(ctx context.Context, was Config, keys keyring.Keys, person string) error {
	if len(keys) > 0 {
		if err := keepKeys(r.p.Env, r.ID, keys, person); err != nil {
			return err
		}
	}
	if slices.Equal(was.Keys, r.Keys) && was.Newer == r.Newer && was.Ring == r.Ring {
		return nil
	}
	return change(ctx, r.p, func(all map[string]Config) {
		if c, ok := all[r.Name]; ok && c.ID == r.ID {
			c.Keys, c.Newer, c.Ring = r.Keys, r.Newer, r.Ring
			all[r.Name] = c
		}
	})
}

// KeyState is what a remote says of its keys.
type KeyState struct {
	unlocked
	People []keyring.Opens // for whom the newest key is sealed
	b      bucket.Bucket
}

// Keyring asks the remote for its keys. given, if it is something, opens them; the account keeps what it opens. Errors: *KeyError, *GoneError,
// *BadObjectError where a key that was there is not any more, those of package bucket.
func (r *Remote) Keyring(ctx context.Context, given GivenKey) (*KeyState, error) {
	b, err := r.bucket()
	if err != nil {
		return nil, err
	}
	a, err := r.described(ctx, b)
	if err != nil {
		return nil, err
	}
	s := &KeyState{b: b}
	if s.unlocked, err = unlock(ctx, b, r.p.Env, a, given, r.Keys); err != nil {
		return nil, err
	}
	if s.Epoch() < r.Epoch() {
		return nil, &BadObjectError{keyring.Prefix, fmt.Sprintf("key %d, for which this store pushes, is not to be seen in the remote", r.Epoch())}
	}
	s.People = s.ring.People(s.Current())
	if r.p.BeginWriting(ctx) != nil { // who may only read sees it
		return s, nil
	}
	was := r.Config
	s.config(&r.Config)
	return s, r.note(ctx, was, s.Keys, given.File)
}

// newest refuses, with a *KeyError, what only who has the newest key can do.
func (s *KeyState) newest() error {
	if s.Newer {
		return &KeyError{Reason: "the remote has a newer key, which this account does not have", For: s.ring.Claims()}
	}
	return nil
}

// AddPeople seals the newest key of a remote for people, and gives those for whom it was not before. Errors: as Keyring.
func (r *Remote) AddPeople(ctx context.Context, people []keyring.Person) (added []string, err error) {
	s, err := r.Keyring(ctx, GivenKey{})
	if err == nil {
		err = s.newest()
	}
	if err != nil {
		return nil, err
	}
	for _, p := range people {
		if p.Text != keyring.Passphrase && slices.ContainsFunc(s.People, func(o keyring.Opens) bool { return keyring.Same(o.For, p.Text) }) {
			continue
		}
		n, err := s.ring.For(s.Current(), s.Epoch(), p)
		if err == nil {
			err = s.b.Put(ctx, n.Name, n.Data)
		}
		if err != nil {
			return added, err
		}
		added = append(added, p.Text)
	}
	return added, nil
}

// NoPersonError: the key of a remote is not sealed for such a public key.
type NoPersonError struct{ Text string }

func (e *NoPersonError) Error() string { return "the key of the remote is not sealed for " + e.Text }

// RemovePerson has the next rotation leave those out whom a public key, or the comment of one, names, and says who that is. Whoever had the key keeps
// it. deleted is false where the place does not let its objects be deleted. Errors: *NoPersonError, and as Keyring.
func (r *Remote) RemovePerson(ctx context.Context, text string) (gone []string, deleted bool, err error) {
	s, err := r.Keyring(ctx, GivenKey{})
	if err == nil {
		err = s.newest()
	}
	if err != nil {
		return nil, false, err
	}
	n, gone, names, err := s.ring.Not(s.Current(), s.Epoch(), text)
	if err != nil {
		return nil, false, err
	}
	if len(names) == 0 {
		return nil, false, &NoPersonError{text}
	}
	if err := s.b.Put(ctx, n.Name, n.Data); err != nil {
		return nil, false, err
	}
	deleted = true
	for _, name := range names {
		if err := s.b.Delete(ctx, name); denied(err) {
			deleted = false
		} else if err != nil {
			return nil, false, err
		}
	}
	return gone, deleted, nil
}

// RotateOptions are those of Rotate.
type RotateOptions struct {
	Rewrite    bool   // all is pushed again, for the new key, as a log of its own
	Passphrase string // seals the new key for who knows it; "": for nobody
}

// Rotated is what Rotate did.
type Rotated struct {
	*Remote
	Key    keyring.Key
	People []string // for whom the new key is sealed
	Left   []string // for whom it could not be: only who has the passphrase can
	Pushed *Pushed  // what was pushed again; nil without Rewrite
	Old    string   // with Rewrite, the id of the log that this store had before, which is sealed for earlier keys; "": none
	Others []Log    // with Rewrite, all further logs of the remote: of other machines, and those that this store began before a forget
}

// RivalError: another machine has given the remote another key at the same moment, and that one counts.
type RivalError struct{ Opened bool } // this account has it

func (e *RivalError) Error() string {
	return "another machine rotated the key at the same moment, and its key counts"
}

// settle is how long Rotate waits before it looks who else did: longer than a clock's second, in which the server gives times. Tests make it short.
var settle = 1100 * time.Millisecond

// Rotate gives a remote a new key, for what is pushed from now on. Who has the new key can read what was there before; who has only the old one cannot
// read what is pushed for the new one. After an error, whatever was done harms nothing: what counts is one object, the last that is put, and the
// account has the new key before that. Errors: *RivalError, *account.BusyError, and as Keyring.
func (r *Remote) Rotate(ctx context.Context, o RotateOptions) (*Rotated, error) {
	if err := r.p.BeginWriting(ctx); err != nil {
		return nil, err
	}
	if err := r.forgetting(); err != nil && o.Rewrite {
		return nil, err
	}
	lock, err := r.lock(ctx)
	if err != nil {
		return nil, err
	}
	done, err := r.rotate(ctx, o)
	if err == nil && o.Rewrite {
		if end, ok := parseStamp(r.mark().Before); ok {
			done.Old = parentOf(end)
		}
		err = r.startAnew()
	}
	lock.Release()
	if err != nil || !o.Rewrite {
		return done, err
	}
	if done.Pushed, err = r.Push(ctx, false); err != nil {
		return done, err
	}
	done.Others, err = r.others(ctx, done.Old)
	return done, err
}

// others are the logs of the remote that are neither this store's own nor old.
func (r *Remote) others(ctx context.Context, old string) ([]Log, error) {
	b, err := r.bucket()
	if err != nil {
		return nil, err
	}
	listing, err := b.List(ctx, segments)
	if err != nil {
		return nil, err
	}
	own := r.mark().Writer
	return slices.DeleteFunc(list(listing).logs, func(l Log) bool { return l.ID == old || l.end.writer == own }), nil
}

func (r *Remote) rotate(ctx context.Context, o RotateOptions) (*Rotated, error) {
	s, err := r.Keyring(ctx, GivenKey{})
	if err == nil {
		err = s.newest()
	}
	if err != nil {
		return nil, err
	}
	k, err := keyring.New()
	if err != nil {
		return nil, err
	}
	if err := keepKeys(r.p.Env, r.ID, keyring.Keys{k}, ""); err != nil {
		return nil, err
	}
	done := &Rotated{Remote: r, Key: k}
	if o.Passphrase != "" {
		p, err := keyring.WithPassphrase(o.Passphrase)
		if err == nil {
			err = done.seal(ctx, s, s.Epoch()+1, p)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := done.sealAll(ctx, s, s.Epoch()+1, s.People); err != nil {
		return nil, err
	}
	n, err := s.ring.Next(s.Chain, k)
	if err == nil {
		err = s.b.Put(ctx, n.Name, n.Data)
	}
	if err != nil {
		return nil, err
	}
	select {
	case <-time.After(settle):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	now, err := r.Keyring(ctx, GivenKey{})
	switch {
	case err != nil:
		return nil, err
	case now.Newer || now.Epoch() > s.Epoch() && now.Current().Recipient() != k.Recipient():
		return nil, &RivalError{!now.Newer}
	case now.Epoch() == s.Epoch():
		return nil, errors.New("the new key is not to be seen in the remote yet: the next push uses it when it is")
	}
	// A listing can lag behind: whoever was not seen before is now.
	return done, done.sealAll(ctx, now, now.Epoch(), now.ring.People(s.Current()))
}

// sealAll seals the new key for those for whom the one before is.
func (d *Rotated) sealAll(ctx context.Context, s *KeyState, epoch int, people []keyring.Opens) error {
	for _, p := range people {
		if slices.Contains(d.People, p.For) || slices.Contains(d.Left, p.For) {
			continue
		}
		some, err := keyring.ParsePeople(p.For)
		if err != nil { // a passphrase, or a kind of key of a later version
			d.Left = append(d.Left, p.For)
			continue
		}
		if err := d.seal(ctx, s, epoch, some[0]); err != nil {
			return err
		}
	}
	return nil
}

func (d *Rotated) seal(ctx context.Context, s *KeyState, epoch int, p keyring.Person) error {
	n, err := s.ring.For(d.Key, epoch, p)
	if err == nil {
		err = s.b.Put(ctx, n.Name, n.Data)
	}
	if err == nil {
		d.People = append(d.People, p.Text)
	}
	return err
}

// startAnew has the next push send everything, as a log of its own.
func (r *Remote) startAnew() error {
	return errors.Join(r.dropSpool(), account.RemoveIfThere(filepath.Join(r.dir, markName)), os.RemoveAll(filepath.Join(r.dir, sentName)))
}
