package remote

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"
)

// Key is the identity of a remote: whoever has it reads everything. A writer needs no more than its recipient.
type Key struct{ identity *age.X25519Identity }

// NewKey makes one.
func NewKey() (Key, error) {
	id, err := age.GenerateX25519Identity()
	return Key{id}, err
}

// ParseKey reads the line that String gives. Space around it, and lines that begin with #, do not count.
func ParseKey(text string) (Key, error) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		id, err := age.ParseX25519Identity(line)
		if err != nil {
			return Key{}, errors.New("it is not a key: a key is one line that begins with AGE-SECRET-KEY-1")
		}
		return Key{id}, nil
	}
	return Key{}, errors.New("it holds no key: a key is one line that begins with AGE-SECRET-KEY-1")
}

// String is the secret line that a person keeps.
func (k Key) String() string { return k.identity.String() }

// Recipient is the public half.
func (k Key) Recipient() string { return k.identity.Recipient().String() }

// seal encrypts data for a recipient.
func seal(recipient string, data []byte) ([]byte, error) {
	r, err := age.ParseX25519Recipient(recipient)
	if err != nil {
		return nil, fmt.Errorf("the remote's public key: %w", err)
	}
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

// open decrypts what seal gave. Errors: *KeyError for another key's, *BadObjectError's reason for what was changed.
func (k Key) open(sealed []byte) ([]byte, error) {
	r, err := age.Decrypt(bytes.NewReader(sealed), k.identity)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
