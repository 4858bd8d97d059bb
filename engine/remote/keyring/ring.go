package keyring

import (
	"bytes"
	"slices"
)

// maxSlow is how many objects a passphrase is tried on: each takes about a second.
const maxSlow = 8

// Chain is the keys of a remote that somebody can read with, and what is beyond them.
type Chain struct {
	Keys       // oldest first, from the first key of the remote on, each followed by the next
	Newer bool // a key that is not among them follows the last one
}

// Current is the newest.
func (c Chain) Current() Key { return c.Keys[len(c.Keys)-1] }

// Epoch is its number.
func (c Chain) Epoch() int { return len(c.Keys) }

// Chain finds the keys of the remote that secrets open. A key counts if each one from the first on is marked by the one before: so that who
// can write to the place, and has no key, can add none. Of two that follow the same key, one of prefer, which are public halves, counts, and else the one that
// was there first, by the clock of the server. ok is false where the secrets do not open the first key.
func (r *Ring) Chain(s Secrets, prefer []string) (c Chain, ok bool) {
	have := map[string]Key{}
	add := func(ks Keys) {
		for _, k := range ks {
			have[k.Recipient()] = k
		}
	}
	add(s.Keys)
	if len(s.Person) > 0 {
		slow := 0
		for _, o := range r.kind(kindFor) {
			if bytes.Contains(o.sealed[:min(len(o.sealed), 100)], []byte("\n-> scrypt ")) {
				if slow++; slow > maxSlow {
					continue
				}
			}
			if ks, err := o.open(s.Person...); err == nil && len(ks) == 1 && ks[0].Recipient() == o.Recipient {
				add(ks)
			}
		}
	}
	nexts := r.kind(kindNext)
	for i := len(nexts) - 1; i >= 0; i-- { // a key opens all before it: the order does not matter but for damaged ones
		o := nexts[i]
		if k, ok := have[o.Recipient]; ok {
			if ks, err := o.open(k.identity); err == nil {
				add(ks)
			}
		}
	}
	for at := r.First; ; {
		k, ok := have[at]
		if !ok {
			c.Newer = len(c.Keys) > 0
			return c, c.Newer
		}
		c.Keys = append(c.Keys, k)
		if at = r.after(k, prefer); at == "" {
			return c, true
		}
	}
}

// after is the public half of the key that follows one; "" where it is the newest.
func (r *Ring) after(k Key, prefer []string) (next string) {
	for _, o := range r.kind(kindNext) {
		if o.Before == k.Recipient() && o.Recipient != o.Before && o.marked(k) && (next == "" || slices.Contains(prefer, o.Recipient)) {
			next = o.Recipient
		}
	}
	return next
}

// Followed reports whether the remote says that a key follows its first one: for who has no key, and cannot know.
func (r *Ring) Followed() bool { return len(r.kind(kindNext)) > 0 }

// kind are the objects of one kind, in the order in which they came.
func (r *Ring) kind(kind string) (some []*object) {
	for _, o := range r.objects {
		if o.Kind == kind {
			some = append(some, o)
		}
	}
	return some
}

// Opens is for whom a key is sealed.
type Opens struct {
	For  string // the public key, or Passphrase
	name string
}

// People are those for whom the newest key of a chain is sealed, by who had the key.
func (r *Ring) People(k Key) (all []Opens) {
	gone := map[string]bool{}
	for _, o := range r.kind(kindNot) {
		if o.Recipient == k.Recipient() && o.marked(k) {
			for _, name := range o.Not {
				gone[name] = true
			}
		}
	}
	for _, o := range r.kind(kindFor) {
		if o.Recipient == k.Recipient() && !gone[o.name] && o.marked(k) {
			all = append(all, Opens{o.For, o.name})
		}
	}
	return all
}

// Claims are those for whom keys are sealed, as the remote says: for who has no key, and cannot know better.
func (r *Ring) Claims() (all []string) {
	for _, o := range r.kind(kindFor) {
		if !slices.ContainsFunc(all, func(s string) bool { return Same(s, o.For) }) {
			all = append(all, o.For)
		}
	}
	return all
}

// Made is an object that is to be put into the remote.
type Made struct {
	Name string
	Data []byte
}

func (r *Ring) make(o object, mark Key) (Made, error) {
	o.Remote = r.ID
	data, err := o.bytes(mark)
	return Made{o.name, data}, err
}

// For seals a key for a person.
func (r *Ring) For(k Key, epoch int, p Person) (Made, error) {
	sealed, err := sealFor(p.recipient, []byte(Keys{k}.String()))
	if err != nil {
		return Made{}, err
	}
	return r.make(object{head: head{Kind: kindFor, Epoch: epoch, Recipient: k.Recipient(), For: p.Text}, sealed: sealed}, k)
}

// Not takes those away whom a text names; gone is who they are, and names the objects that could be deleted.
func (r *Ring) Not(k Key, epoch int, text string) (n Made, gone, names []string, err error) {
	for _, p := range r.People(k) {
		if Names(text, p.For) {
			gone, names = append(gone, p.For), append(names, p.name)
		}
	}
	n, err = r.make(object{head: head{Kind: kindNot, Epoch: epoch, Recipient: k.Recipient(), Not: names}}, k)
	return n, gone, names, err
}

// Next has a new key follow the newest of a chain.
func (r *Ring) Next(c Chain, k Key) (Made, error) {
	sealed, err := Seal(k.Recipient(), []byte(c.Keys.String()))
	if err != nil {
		return Made{}, err
	}
	return r.make(object{head: head{Kind: kindNext, Epoch: c.Epoch() + 1, Recipient: k.Recipient(), Before: c.Current().Recipient()}, sealed: sealed}, c.Current())
}
