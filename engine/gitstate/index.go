package gitstate

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"path/filepath"

	"github.com/cespare/xxhash/v2"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/vfs"
)

// index captures one index, if it is there.
func (c *captured) index(into *tree, x index, prev oid.ID) error {
	data, err := vfs.ReadRegular(filepath.Join(c.repo.CommonDir, filepath.FromSlash(x.path)), 0)
	if vfs.IsMissing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	idSize, err := c.repo.IDSize()
	if err != nil {
		idSize = 0 // of a later git: it is kept as it is
	}
	kind, id, n, err := c.o.Tx.Pieces(0, withoutStats(data, idSize), prev)
	if err == nil {
		c.next.Indexes[x.name] = indexed{kind, id, uint64(n)}
		into.add(x.name, c.next.Indexes[x.name])
	}
	return err
}

// pieceOf says how many entries a piece of an index has, in the mean, less one: a power of two. A commit changes single entries in
// some pieces, so that each takes a few bytes; as a whole, all between the first and the last one would be compressed.
const pieceOf = 1<<6 - 1

// Parts of an index, by git's Documentation/gitformat-index.
const (
	indexHeader  = 12
	statSize     = 40
	statMode     = 24     // where the mode, 4 bytes that are no stat, lies in it
	flagExtended = 0x4000 // two more bytes of flags follow
)

// withoutStats gives an index without what only a look at the work tree put into it: the stat fields of the entries are
// zero, which git reads as "compare the content", and the extensions that git can make anew are gone. So the index of a
// state stays the same when git only refreshes it. What is no index that it knows comes back as it is. data is overwritten.
//
// It comes in pieces, cut behind entries by their names, so that one that comes or goes moves no other cut.
func withoutStats(data []byte, idSize int) (pieces [][]byte) {
	end := len(data) - idSize // where the checksum is
	if idSize == 0 || end < indexHeader || string(data[:4]) != "DIRC" {
		return [][]byte{data}
	}
	version := binary.BigEndian.Uint32(data[4:])
	var ends []int // of the entries
	at := indexHeader
	for range binary.BigEndian.Uint32(data[8:]) {
		size := entrySize(data[at:end], version, idSize)
		if size == 0 {
			return [][]byte{data}
		}
		at += size
		ends = append(ends, at)
	}
	var extensions []byte
	for rest := data[at:end]; len(rest) > 0; {
		if len(rest) < 8 {
			return [][]byte{data}
		}
		size := 8 + int64(binary.BigEndian.Uint32(rest[4:]))
		if size > int64(len(rest)) {
			return [][]byte{data}
		}
		if name := string(rest[:4]); name[0] >= 'a' || name == "REUC" { // what git must understand, and what it cannot make anew
			extensions = append(extensions, rest[:size]...)
		}
		rest = rest[size:]
	}
	begin := 0 // of the piece
	at = indexHeader
	for _, next := range ends {
		clear(data[at : at+statMode])
		clear(data[at+statMode+4 : at+statSize])
		if xxhash.Sum64(data[at+statSize+idSize:next])&pieceOf == 0 {
			pieces, begin = append(pieces, data[begin:next]), next
		}
		at = next
	}
	sum := data[end:]
	rest := append(bytes.Clone(data[begin:at]), extensions...)
	if len(bytes.Trim(sum, "\x00")) > 0 { // else git was to write none
		sum = checksumOf(data[:at], extensions, idSize)
	}
	return append(pieces, append(rest, sum...))
}

// entrySize is the size of the entry that data begins with, 0 for none.
func entrySize(data []byte, version uint32, idSize int) int {
	fixed := statSize + idSize + 2
	if len(data) <= fixed {
		return 0
	}
	if version >= 3 && binary.BigEndian.Uint16(data[fixed-2:])&flagExtended != 0 {
		fixed += 2
	}
	name := fixed
	if version == 4 { // the name's common part with the entry before comes first, as a number
		for name < len(data) && data[name]&0x80 != 0 {
			name++
		}
		name++
	}
	if name >= len(data) {
		return 0
	}
	n := bytes.IndexByte(data[name:], 0)
	switch {
	case n < 0:
		return 0
	case version == 4:
		return name + n + 1
	}
	if size := (name + n + 8) &^ 7; size <= len(data) {
		return size
	}
	return 0
}

func checksumOf(entries, extensions []byte, idSize int) []byte {
	sum := sha1.New() // git's own checksum, against damage and not against people
	if idSize == sha256.Size {
		sum = sha256.New()
	}
	_, _ = sum.Write(entries) // never fails
	_, _ = sum.Write(extensions)
	return sum.Sum(nil)
}
