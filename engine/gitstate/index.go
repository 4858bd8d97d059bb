package gitstate

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"path/filepath"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/vfs"
)

// index captures one index, if it is there.
func (c *captured) index(into *tree, x index, prev oid.ID) error {
	data, err := vfs.ReadRegular(filepath.Join(c.repo.CommonDir, filepath.FromSlash(x.path)), 0)
	if missing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	idSize, err := c.repo.IDSize()
	if err != nil {
		idSize = 0 // of a later git: it is kept as it is
	}
	data = withoutStats(data, idSize)
	if err := into.file(x.name, bytes.NewReader(data), int64(len(data)), prev); err != nil {
		return err
	}
	e := into.dir.Entries[len(into.dir.Entries)-1]
	c.next.Indexes[x.name] = indexed{e.Kind, e.ID, e.Size}
	return nil
}

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
func withoutStats(data []byte, idSize int) []byte {
	end := len(data) - idSize // where the checksum is
	if idSize == 0 || end < indexHeader || string(data[:4]) != "DIRC" {
		return data
	}
	original := bytes.Clone(data)
	version := binary.BigEndian.Uint32(data[4:])
	at := indexHeader
	for range binary.BigEndian.Uint32(data[8:]) {
		size := entrySize(data[at:end], version, idSize)
		if size == 0 {
			return original
		}
		clear(data[at : at+statMode])
		clear(data[at+statMode+4 : at+statSize])
		at += size
	}
	out := data[:at]
	for rest := data[at:end]; len(rest) > 0; {
		if len(rest) < 8 {
			return original
		}
		size := 8 + int64(binary.BigEndian.Uint32(rest[4:]))
		if size > int64(len(rest)) {
			return original
		}
		if name := string(rest[:4]); name[0] >= 'a' || name == "REUC" { // what git must understand, and what it cannot make anew
			out = append(out, rest[:size]...)
		}
		rest = rest[size:]
	}
	sum := make([]byte, idSize) // all zero where git was to write none
	if checksum := original[end:]; !bytes.Equal(checksum, sum) {
		sum = checksumOf(out, idSize)
	}
	return append(out, sum...)
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

func checksumOf(data []byte, idSize int) []byte {
	if idSize == sha256.Size {
		sum := sha256.Sum256(data)
		return sum[:]
	}
	sum := sha1.Sum(data) // git's own checksum, against damage and not against people
	return sum[:]
}
