package pack

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/cespare/xxhash/v2"
)

// A record: type byte, uvarint length of the payload, payload, xxhash64 over
// all that with the seed of pack and offset.
const (
	BlockRecord  = 0xB5 // type of a record whose payload is a block
	CommitRecord = 0xC6 // type of one whose payload is a commit

	recordOverhead = 1 + binary.MaxVarintLen32 + 8 // at most
	maxPayload     = math.MaxInt32 - recordOverhead
)

func checksum(seed uint64, offset int64, b []byte) uint64 {
	var d xxhash.Digest
	d.ResetWithSeed(seed + uint64(offset))
	d.Write(b) // never fails
	return d.Sum64()
}

// AppendRecord appends the record of payload for its offset in the pack whose seed is given.
func AppendRecord(dst []byte, seed uint64, offset int64, typ byte, payload []byte) []byte {
	start := len(dst)
	dst = append(dst, typ)
	dst = binary.AppendUvarint(dst, uint64(len(payload)))
	dst = append(dst, payload...)
	return binary.LittleEndian.AppendUint64(dst, checksum(seed, offset, dst[start:]))
}

// RecordSize is the size in bytes of the record of a payload of n bytes.
func RecordSize(n int) int64 {
	size := int64(1 + 1 + n + 8)
	for m := n; m >= 0x80; m >>= 7 {
		size++
	}
	return size
}

// parseRecordHead reads type and payload length; head is the number of bytes
// they take.
func parseRecordHead(b []byte) (typ byte, payload int, head int, err error) {
	if len(b) == 0 {
		return 0, 0, 0, MalformedError("the record is cut short")
	}
	if b[0] != BlockRecord && b[0] != CommitRecord {
		return 0, 0, 0, MalformedError("no record begins here")
	}
	n, used := Uvarint(b[1:])
	if used == 0 || n > maxPayload {
		return 0, 0, 0, MalformedError("the record's length is wrong")
	}
	return b[0], int(n), 1 + used, nil
}

// Record is a record that matches its checksum. Its payload aliases what was read.
type Record struct {
	Type    byte
	Offset  int64 // of the record in its pack
	End     int64 // first byte after it
	Payload []byte
	Raw     []byte // all of the record
}

// parseRecord reads the record at the start of b, which lies at offset.
func parseRecord(b []byte, seed uint64, offset int64) (Record, error) {
	typ, n, head, err := parseRecordHead(b)
	if err != nil {
		return Record{}, err
	}
	if len(b) < head+n+8 {
		return Record{}, MalformedError("the record is cut short")
	}
	if checksum(seed, offset, b[:head+n]) != binary.LittleEndian.Uint64(b[head+n:]) {
		return Record{}, MalformedError("the record does not match its checksum")
	}
	return Record{typ, offset, offset + int64(head+n+8), b[head : head+n], b[:head+n+8]}, nil
}

// Uvarint reads an unsigned varint in its shortest form; used is 0 otherwise.
func Uvarint(b []byte) (v uint64, used int) {
	v, used = binary.Uvarint(b)
	if used <= 0 || used > 1 && b[used-1] == 0 {
		return 0, 0
	}
	return v, used
}

// ReadFull fills buf from offset on; ok is false if the file ends before.
func ReadFull(file io.ReaderAt, buf []byte, offset int64) (ok bool, err error) {
	n, err := file.ReadAt(buf, offset)
	if n == len(buf) {
		return true, nil
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF || err == nil {
		return false, nil
	}
	return false, fmt.Errorf("read a pack: %w", err)
}
