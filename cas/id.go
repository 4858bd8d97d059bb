package cas

import (
	"encoding/hex"

	"github.com/zeebo/blake3"
)

// ID addresses an object: the BLAKE3-256 hash of its bytes. The zero ID
// addresses nothing.
type ID [32]byte

// prefix names the base of a delta. 16 bytes keep a one-line edit small; the
// object that a delta leads to is checked against its whole hash anyway.
type prefix [16]byte

// Sum is the ID of data.
func Sum(data []byte) ID { return blake3.Sum256(data) }

// String is the ID in hexadecimal.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

func (id ID) prefix() prefix { return prefix(id[:16]) }
