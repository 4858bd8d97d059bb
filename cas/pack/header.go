package pack

import (
	"encoding/binary"
	"io"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// The header of a pack: magic, version uint16, kind byte, flags byte, tag
// uint64, store id, xxhash64 of all that. Integers are little-endian.
const (
	magic   = "rwpack\r\n"
	version = 2 // 1 has no blocks of small deltas
	// HeaderSize is the size of a header in bytes: the first record lies there.
	HeaderSize = 8 + 2 + 1 + 1 + 8 + 16 + 8

	flagDense = 1 << 0
)

// Header is what a pack begins with.
type Header struct {
	Name  Name
	Store [16]byte // id of the store
	Dense bool     // written by gc: large blocks, better compression
	Older bool     // of an earlier version: nothing is added to it
}

// Append appends the header's bytes.
func (h Header) Append(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, magic...)
	v := uint16(version)
	if h.Older {
		v = version - 1
	}
	dst = binary.LittleEndian.AppendUint16(dst, v)
	flags := byte(0)
	if h.Dense {
		flags |= flagDense
	}
	dst = append(dst, byte(h.Name.Kind), flags)
	dst = binary.LittleEndian.AppendUint64(dst, h.Name.Tag)
	dst = append(dst, h.Store[:]...)
	return binary.LittleEndian.AppendUint64(dst, xxhash.Sum64(dst[start:]))
}

func parseHeader(b []byte) (Header, error) {
	var h Header
	if len(b) < HeaderSize {
		return h, MalformedError("the header is cut short")
	}
	if string(b[:8]) != magic {
		return h, MalformedError("the header has no magic number")
	}
	if xxhash.Sum64(b[:HeaderSize-8]) != binary.LittleEndian.Uint64(b[HeaderSize-8:]) {
		return h, MalformedError("the header does not match its checksum")
	}
	v := binary.LittleEndian.Uint16(b[8:])
	if v != version && v != version-1 {
		return h, UnknownVersion(v)
	}
	h.Older = v != version
	h.Name.Kind, h.Dense = Kind(b[10]), b[11]&flagDense != 0
	h.Name.Tag = binary.LittleEndian.Uint64(b[12:])
	copy(h.Store[:], b[20:])
	if b[11]&^flagDense != 0 || h.Name.Kind != Log && h.Name.Kind != Data {
		return Header{}, MalformedError("the header has an unknown kind or flag")
	}
	return h, nil
}

// ReadHeader reads the header of a pack. Errors: MalformedError, UnknownVersion, those of reading.
func ReadHeader(file io.ReaderAt) (Header, error) {
	buf := make([]byte, HeaderSize)
	ok, err := ReadFull(file, buf, 0)
	if err != nil {
		return Header{}, err
	}
	if !ok {
		buf = nil
	}
	return parseHeader(buf)
}

// BrokenHeader reports whether a file begins with something that is no header. A crash leaves zeros or nothing.
func BrokenHeader(file io.ReaderAt) bool {
	var buf [HeaderSize]byte
	n, err := file.ReadAt(buf[:], 0)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF || buf == [HeaderSize]byte{} {
		return false
	}
	if n < HeaderSize && strings.HasPrefix(magic, string(buf[:min(n, len(magic))])) {
		return false
	}
	_, err = parseHeader(buf[:n])
	return IsMalformed(err)
}

// BeginsAsOurs reports whether a file begins with the magic number and the store id of a pack or of an index.
func BeginsAsOurs(file io.ReaderAt, store [16]byte) bool {
	b := make([]byte, HeaderSize)
	if ok, err := ReadFull(file, b, 0); !ok || err != nil {
		return false
	}
	return string(b[:8]) == magic && [16]byte(b[20:]) == store || string(b[:8]) == indexMagic && [16]byte(b[24:]) == store
}
