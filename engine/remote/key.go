package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/remote/bucket"
	"github.com/rewind-cli/rewind/engine/remote/keyring"
)

// KeyVariable names the variable of the environment that holds a remote's key.
const KeyVariable = "REWIND_REMOTE_KEY"

// KeyError: a remote's key is not to be had, or is another one's.
type KeyError struct {
	Reason  string
	Missing bool     // there is none
	For     []string // whose keys open it, as the remote says: public keys, and keyring.Passphrase
}

func (e *KeyError) Error() string { return e.Reason }

// GivenKey is what a person gives to open a remote's key with. The zero value is nothing.
type GivenKey struct {
	Text       string                              // a file of age identities or an ssh private key; the remote's own key is one, too
	File       string                              // where the text is, absolute; it is looked into again when the remote gets another key; "" for none
	Ask        func(prompt string) ([]byte, error) // asks for the passphrase of an ssh key; nil: there is nobody to ask
	Passphrase string                              // of the remote; "" for none
}

// current is the public half of the key that segments are sealed for.
func (c *Config) current() string {
	if n := len(c.Keys); n > 0 {
		return c.Keys[n-1]
	}
	return c.Recipient
}

// Epoch is the number of the key that segments are sealed for: 1 is the first.
func (c *Config) Epoch() int { return len(c.Keys) + 1 }

// Key reads the remote's key that is in force, if this account has it. Error: *KeyError.
func (r *Remote) Key() (keyring.Key, error) {
	s, from, err := secrets(r.p.Env, r.ID, GivenKey{})
	if err != nil {
		return keyring.Key{}, err
	}
	k, ok := s.Keys.Of(r.current())
	if !ok {
		return k, noKey(from, nil)
	}
	return k, nil
}

// encrypt seals an object for that key.
func (r *Remote) encrypt(data []byte) ([]byte, error) { return keyring.Seal(r.current(), data) }

// noKey is the error where nothing opens a remote. from is what was tried.
func noKey(from []string, claims []string) error {
	if len(from) == 0 {
		return &KeyError{"this account does not have the key of the remote", true, claims}
	}
	return &KeyError{fmt.Sprintf("the key does not open the remote (from: %s): it is a wrong one, or another remote's, or it is not valid any more; or somebody has changed the remote's description",
		strings.Join(from, ", ")), false, claims}
}

// secrets are all that this account has to open a remote's key with, and where it is from. Error: *KeyError for what is not readable.
func secrets(env account.Env, id string, given GivenKey) (s keyring.Secrets, from []string, err error) {
	add := func(where, text string, ask func(string) ([]byte, error)) error {
		more, err := keyring.ParseSecrets([]byte(text), ask)
		if err != nil {
			return &KeyError{Reason: fmt.Sprintf("%s: %v", where, err)}
		}
		s.Keys, s.Person = append(s.Keys, more.Keys...), append(s.Person, more.Person...)
		from = append(from, where)
		return nil
	}
	if given.Text != "" {
		if err := add(cmp.Or(given.File, "the key that was given"), given.Text, given.Ask); err != nil {
			return s, from, err
		}
	}
	if given.Passphrase != "" {
		if err := s.AddPassphrase(given.Passphrase); err != nil {
			return s, from, err
		}
		from = append(from, "the passphrase")
	}
	if len(from) > 0 {
		return s, from, nil
	}
	file := keyFile(env, id)
	if file != "" {
		data, err := vfs.ReadSmall(file, maxConfig, vfs.NoFollow)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return s, from, err
		}
		if len(data) > 0 {
			if err := add(file, string(data), nil); err != nil {
				return s, from, err
			}
			if person := personIn(string(data)); person != "" {
				if data, err := vfs.ReadSmall(person, maxConfig, 0); err == nil {
					_ = add(person, string(data), nil) // what is encrypted, or gone, opens nothing
				}
			}
		}
	}
	if text := env.Variable(KeyVariable); text != "" {
		if err := add("$"+KeyVariable, text, nil); err != nil && len(from) == 0 {
			return s, from, err
		}
	}
	return s, from, nil
}

// keyFile is where an account keeps a remote's keys; "" without a home.
func keyFile(env account.Env, id string) string {
	dir := env.AccountDir()
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, account.RemotesName, id+".key")
}

// personLine begins the line in such a file that names the file of a person's own key.
const personLine = "# opened with "

func personIn(text string) string {
	for line := range strings.Lines(text) {
		if file, ok := strings.CutPrefix(strings.TrimSpace(line), personLine); ok {
			return file
		}
	}
	return ""
}

// keepKeys adds keys of a remote to those that the account has, and never takes one away. person names the file of a person's own key that opened them; "": as it was.
func keepKeys(env account.Env, id string, keys keyring.Keys, person string) error {
	dir, owner, err := env.MakeAccountDir()
	if err != nil {
		return err
	}
	if err := account.MakeDir(filepath.Join(dir, account.RemotesName), owner); err != nil {
		return err
	}
	file := keyFile(env, id)
	was, err := vfs.ReadSmall(file, maxConfig, vfs.NoFollow)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	had, _ := keyring.Parse(string(was)) // what is not readable is of no use
	all := slices.Clone(had)
	for _, k := range keys {
		if _, ok := all.Of(k.Recipient()); !ok {
			all = append(all, k)
		}
	}
	if person == "" || strings.ContainsAny(person, "\r\n") {
		person = personIn(string(was))
	}
	text := all.String()
	if person != "" {
		text = personLine + person + "\n" + text
	}
	if text == string(was) {
		return nil
	}
	return account.WriteFile(file, []byte(text), owner)
}

// unlock finds the keys of a remote with what is given, or else with what the account has. prefer are those that it had before. Error: *KeyError.
func unlock(ctx context.Context, b bucket.Bucket, env account.Env, a about, given GivenKey, prefer []string) (u unlocked, err error) {
	s, from, err := secrets(env, a.ID, given)
	if err != nil {
		return u, err
	}
	listing, which, err := keyring.Look(ctx, b)
	if err != nil {
		return u, err
	}
	if u.ring, err = keyring.Read(ctx, b, listing, a.ID, a.Recipient); err != nil {
		return u, err
	}
	u.which, u.requests = which, 1+u.ring.Requests
	chain, ok := u.ring.Chain(s, prefer)
	if !ok {
		return u, noKey(from, u.ring.Claims())
	}
	u.Chain = chain
	return u, nil
}

// unlocked is the keys of a remote that this account can use.
type unlocked struct {
	keyring.Chain
	ring     *keyring.Ring
	which    string
	requests int
}

// config is what a store notes of them.
func (u unlocked) config(c *Config) {
	c.Keys, c.Newer, c.Ring = nil, u.Newer, u.which
	if len(u.Chain.Keys) == 0 { // only the public half is known, of the first key
		return
	}
	for _, k := range u.Chain.Keys[1:] {
		c.Keys = append(c.Keys, k.Recipient())
	}
}
