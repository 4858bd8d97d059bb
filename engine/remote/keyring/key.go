package keyring

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"
	"github.com/zeebo/blake3"
)

// Key is an identity of a remote: whoever has it reads what is sealed for it. A writer needs no more than its recipient.
type Key struct{ identity *age.X25519Identity }

// New makes one.
func New() (Key, error) {
	id, err := age.GenerateX25519Identity()
	return Key{id}, err
}

// String is the secret line that a person keeps.
func (k Key) String() string { return k.identity.String() }

// Recipient is the public half.
func (k Key) Recipient() string { return k.identity.Recipient().String() }

// MAC is the mark that only who has the key can make: BLAKE3 of the parts, with the key that BLAKE3 derives from the secret
// line for a purpose; in hexadecimal.
func (k Key) MAC(purpose string, parts ...[]byte) (string, error) {
	var key [32]byte
	blake3.DeriveKey(purpose, []byte(k.String()), key[:])
	m, err := blake3.NewKeyed(key[:])
	if err != nil {
		return "", err
	}
	for _, p := range parts {
		m.Write(p)
	}
	return hex.EncodeToString(m.Sum(nil)), nil
}

// Keys are keys of one remote, oldest first.
type Keys []Key

// Parse reads the lines that String gives. Space around them, and lines that begin with #, do not count.
func Parse(text string) (ks Keys, err error) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		id, err := age.ParseX25519Identity(line)
		if err != nil {
			return nil, errors.New("it is not a key: a key is one line that begins with AGE-SECRET-KEY-1")
		}
		ks = append(ks, Key{id})
	}
	if len(ks) == 0 {
		return nil, errors.New("it holds no key: a key is one line that begins with AGE-SECRET-KEY-1")
	}
	return ks, nil
}

// String has a line for each, as Parse reads them.
func (ks Keys) String() string {
	var b strings.Builder
	for _, k := range ks {
		fmt.Fprintln(&b, k)
	}
	return b.String()
}

// Of finds the key with a public half.
func (ks Keys) Of(recipient string) (Key, bool) {
	for _, k := range ks {
		if k.Recipient() == recipient {
			return k, true
		}
	}
	return Key{}, false
}

// Open decrypts what Seal gave, and says which key did it. The error is that of age where none does.
func (ks Keys) Open(sealed []byte) (data []byte, by Key, err error) {
	err = errors.New("there is no key")
	for i := len(ks) - 1; i >= 0; i-- {
		var r io.Reader
		if r, err = age.Decrypt(bytes.NewReader(sealed), ks[i].identity); err == nil {
			data, err = io.ReadAll(r)
			return data, ks[i], err
		}
	}
	return nil, Key{}, err
}

// Seal encrypts data for a recipient.
func Seal(recipient string, data []byte) ([]byte, error) {
	r, err := age.ParseX25519Recipient(recipient)
	if err != nil {
		return nil, fmt.Errorf("the remote's public key: %w", err)
	}
	return sealFor(r, data)
}

func sealFor(r age.Recipient, data []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := age.Encrypt(&out, r)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	return out.Bytes(), err
}
