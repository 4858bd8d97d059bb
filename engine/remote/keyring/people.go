package keyring

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"filippo.io/age"
	"filippo.io/age/agessh"
	"golang.org/x/crypto/ssh"
)

// WorkFactor is the base-2 logarithm of scrypt's cost for a passphrase: about a second, and 256 MiB of memory. More is not accepted
// from a remote, since whoever can write there chooses it. Tests make it small.
var WorkFactor = 18

// Person is somebody for whom the key of a remote is sealed.
type Person struct {
	Text      string // the public key as it is written, with a comment at most; or Passphrase
	recipient age.Recipient
}

// Passphrase stands for whoever knows one, in the place of a public key.
const Passphrase = "passphrase"

// ParsePeople reads public keys: age1…, ssh-ed25519 and ssh-rsa lines. Empty lines, and lines that begin with #, do not count.
func ParsePeople(text string) (all []Person, err error) {
	for line := range strings.Lines(text) {
		line = strings.Join(strings.Fields(line), " ")
		if line == "" || line[0] == '#' {
			continue
		}
		p := Person{Text: line}
		switch {
		case len(line) > maxPerson:
			err = errors.New("it is too long")
		case strings.HasPrefix(line, "ssh-"):
			p.recipient, err = agessh.ParseRecipient(line)
		case strings.HasPrefix(line, "AGE-SECRET-KEY-"), strings.HasPrefix(line, "-----BEGIN"):
			return nil, errors.New("this is a secret key: give the public one")
		default:
			var some []age.Recipient
			if some, err = age.ParseRecipients(strings.NewReader(line)); err == nil {
				p.recipient = some[0]
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%.60q is no public key: a public key begins with age1, ssh-ed25519 or ssh-rsa", line)
		}
		all = append(all, p)
	}
	if len(all) == 0 {
		return nil, errors.New("it holds no public key: a public key begins with age1, ssh-ed25519 or ssh-rsa")
	}
	return all, nil
}

// maxPerson is the longest line of a public key that is taken, in bytes: one of 16384 bits of RSA.
const maxPerson = 4096

// WithPassphrase is whoever knows a passphrase. The error is for an empty one.
func WithPassphrase(text string) (Person, error) {
	r, err := age.NewScryptRecipient(text)
	if err != nil {
		return Person{}, err
	}
	r.SetWorkFactor(WorkFactor)
	return Person{Passphrase, r}, nil
}

// Same reports whether two lines name the same public key: comments do not count.
func Same(a, b string) bool { return bare(a) == bare(b) }

// Names reports whether a text names a public key: it is the same one, or the comment of it.
func Names(text, line string) bool {
	f := strings.Fields(line)
	return Same(text, line) || len(f) > 2 && strings.HasPrefix(line, "ssh-") && strings.Join(f[2:], " ") == strings.TrimSpace(text)
}

func bare(line string) string {
	if f := strings.Fields(line); len(f) > 2 && strings.HasPrefix(line, "ssh-") {
		return f[0] + " " + f[1]
	}
	return line
}

// Short is a public key as a message can have it: its kind, its end and its comment.
func Short(line string) string {
	f := strings.Fields(line)
	if len(f) < 2 || len(f[1]) < 16 {
		return line
	}
	f[1] = "…" + f[1][len(f[1])-12:]
	return strings.Join(f, " ")
}

// Secrets are what somebody has to open a remote's key with: keys of the remote, and keys and passphrases of a person.
type Secrets struct {
	Keys   Keys
	Person []age.Identity
}

// ParseSecrets reads a file of age identities, of which those of the remote may be some, or an ssh private key. ask is called for
// the passphrase of an ssh key that is encrypted; nil: there is nobody to ask.
func ParseSecrets(data []byte, ask func(prompt string) ([]byte, error)) (s Secrets, err error) {
	if block, _ := pem.Decode(data); block != nil && !strings.HasPrefix(block.Type, "AGE ") {
		id, err := parseSSH(data, ask)
		s.Person = append(s.Person, id)
		return s, err
	}
	if bytes.HasPrefix(data, []byte("age-encryption.org/")) || bytes.HasPrefix(data, []byte("-----BEGIN AGE")) {
		return s, errors.New("it is encrypted: decrypt it with age -d first")
	}
	all, err := age.ParseIdentities(bytes.NewReader(data))
	if err != nil {
		return s, errors.New("it holds no key: a key is a line that begins with AGE-SECRET-KEY-1, or an ssh private key")
	}
	for _, id := range all {
		if x, ok := id.(*age.X25519Identity); ok {
			s.Keys = append(s.Keys, Key{x})
		}
	}
	s.Person = all
	return s, nil
}

func parseSSH(data []byte, ask func(prompt string) ([]byte, error)) (age.Identity, error) {
	key, err := ssh.ParseRawPrivateKey(data)
	if locked := (*ssh.PassphraseMissingError)(nil); errors.As(err, &locked) {
		if ask == nil {
			return nil, errors.New("this ssh key is encrypted, and there is no terminal to ask for its passphrase")
		}
		text, err := ask("Passphrase of the ssh key: ")
		if err != nil {
			return nil, err
		}
		if key, err = ssh.ParseRawPrivateKeyWithPassphrase(data, text); err != nil {
			return nil, errors.New("the passphrase does not open the ssh key")
		}
	} else if err != nil {
		return nil, fmt.Errorf("it is no ssh key that can be read: %w", err)
	}
	switch k := key.(type) {
	case ed25519.PrivateKey:
		return agessh.NewEd25519Identity(k)
	case *ed25519.PrivateKey:
		return agessh.NewEd25519Identity(*k)
	case *rsa.PrivateKey:
		return agessh.NewRSAIdentity(k)
	}
	return nil, errors.New("of ssh keys, only those of the kinds ed25519 and RSA can be used")
}

// AddPassphrase adds one.
func (s *Secrets) AddPassphrase(text string) error {
	id, err := age.NewScryptIdentity(text)
	if err != nil {
		return err
	}
	id.SetMaxWorkFactor(WorkFactor)
	s.Person = append(s.Person, id)
	return nil
}
