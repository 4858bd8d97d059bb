// Package oid is the name of an object: the hash of its bytes. It stands apart so that what
// a store says (manifest, transcript) need not know how it is kept (cas).
package oid

import (
	"encoding/hex"
	"errors"

	"github.com/zeebo/blake3"
)

// ID addresses an object: the BLAKE3-256 hash of its bytes. The zero ID addresses nothing; as a
// tree it is the empty one, as a conversation likewise.
type ID [32]byte

// Sum is the ID of data.
func Sum(data []byte) ID { return blake3.Sum256(data) }

// IsZero reports whether id is the zero ID.
func (id ID) IsZero() bool { return id == ID{} }

// String is the ID in hexadecimal.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// MarshalText is the ID in hexadecimal.
func (id ID) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, id[:]), nil }

// UnmarshalText parses what MarshalText gives.
func (id *ID) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	if err == nil && len(b) != len(id) {
		err = errors.New("wrong length")
	}
	if err == nil {
		copy(id[:], b)
	}
	return err
}
