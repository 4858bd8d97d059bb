package cas

import "github.com/rewind-cli/rewind/cas/oid"

// prefix names the base of a delta. 16 bytes keep a one-line edit small; the
// object that a delta leads to is checked against its whole hash anyway.
type prefix [16]byte

func prefixOf(id oid.ID) prefix { return prefix(id[:16]) }
