package cas

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// kind is what a pack is for.
type kind uint8

const (
	logPack  kind = 1 // sequenced commits and the objects of small saves
	dataPack kind = 2 // the objects of one bulk batch, or what gc kept
)

// packName identifies a pack in its store. It is written into the header and
// goes into the checksum of every record.
type packName struct {
	kind kind
	tag  uint64 // of a log pack: its number, from 1; else random
}

func (n packName) String() string {
	if n.kind == logPack {
		return fmt.Sprintf("log-%08d", n.tag)
	}
	return fmt.Sprintf("data-%016x", n.tag)
}

const (
	packSuffix  = ".pack"
	indexSuffix = ".idx"
)

func (n packName) file() string { return n.String() + packSuffix }

func (n packName) indexFile() string { return n.String() + indexSuffix }

// parsePackName reads the name of a pack's file. Only names as String writes
// them are packs.
func parsePackName(file string) (packName, bool) {
	stem, ok := strings.CutSuffix(file, packSuffix)
	if !ok {
		return packName{}, false
	}
	var n packName
	var err error
	if digits, ok := strings.CutPrefix(stem, "log-"); ok {
		n.kind = logPack
		n.tag, err = strconv.ParseUint(digits, 10, 32)
	} else if digits, ok := strings.CutPrefix(stem, "data-"); ok {
		n.kind = dataPack
		n.tag, err = strconv.ParseUint(digits, 16, 64)
	} else {
		return packName{}, false
	}
	if err != nil || n.file() != file || n.kind == logPack && n.tag == 0 {
		return packName{}, false
	}
	return n, true
}

// seed is what the checksums of the pack's records start from, apart from
// their offsets. A record is good at its own place only, so that the bytes of
// a pack that somebody stored as an object are never taken for records.
func (n packName) seed(store [16]byte) uint64 {
	b := append(store[:], byte(n.kind))
	return xxhash.Sum64(binary.LittleEndian.AppendUint64(b, n.tag))
}

// The header of a pack: magic, version uint16, kind byte, flags byte, tag
// uint64, store id, xxhash64 of all that. Integers are little-endian.
const (
	packMagic   = "rwpack\r\n"
	packVersion = 1
	headerSize  = 8 + 2 + 1 + 1 + 8 + 16 + 8

	flagDense = 1 << 0 // written by gc: large blocks, better compression
)

type packHeader struct {
	name  packName
	store [16]byte
	flags uint8
}

func (h packHeader) append(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, packMagic...)
	dst = binary.LittleEndian.AppendUint16(dst, packVersion)
	dst = append(dst, byte(h.name.kind), h.flags)
	dst = binary.LittleEndian.AppendUint64(dst, h.name.tag)
	dst = append(dst, h.store[:]...)
	return binary.LittleEndian.AppendUint64(dst, xxhash.Sum64(dst[start:]))
}

// errVersion carries the version of a header that is whole but not ours.
type errVersion int

func (e errVersion) Error() string { return fmt.Sprintf("format version %d", int(e)) }

func parsePackHeader(b []byte) (packHeader, error) {
	var h packHeader
	if len(b) < headerSize {
		return h, malformedError("the header is cut short")
	}
	if string(b[:8]) != packMagic {
		return h, malformedError("the header has no magic number")
	}
	if xxhash.Sum64(b[:headerSize-8]) != binary.LittleEndian.Uint64(b[headerSize-8:]) {
		return h, malformedError("the header does not match its checksum")
	}
	if v := binary.LittleEndian.Uint16(b[8:]); v != packVersion {
		return h, errVersion(v)
	}
	h.name.kind, h.flags = kind(b[10]), b[11]
	h.name.tag = binary.LittleEndian.Uint64(b[12:])
	copy(h.store[:], b[20:])
	if h.flags&^flagDense != 0 || h.name.kind != logPack && h.name.kind != dataPack {
		return h, malformedError("the header has an unknown kind or flag")
	}
	return h, nil
}

// A record: type byte, uvarint length of the payload, payload, xxhash64 over
// all that with the seed of pack and offset.
const (
	blockRecord  = 0xB5
	commitRecord = 0xC6

	recordOverhead = 1 + binary.MaxVarintLen32 + 8 // at most
	maxPayload     = math.MaxInt32 - recordOverhead
)

func checksum(seed uint64, offset int64, b []byte) uint64 {
	var d xxhash.Digest
	d.ResetWithSeed(seed + uint64(offset))
	d.Write(b) // never fails
	return d.Sum64()
}

// appendRecord appends the record of payload for its offset in the pack.
func appendRecord(dst []byte, seed uint64, offset int64, typ byte, payload []byte) []byte {
	start := len(dst)
	dst = append(dst, typ)
	dst = binary.AppendUvarint(dst, uint64(len(payload)))
	dst = append(dst, payload...)
	return binary.LittleEndian.AppendUint64(dst, checksum(seed, offset, dst[start:]))
}

// recordSize is the size of the record of a payload of n bytes.
func recordSize(n int) int64 {
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
		return 0, 0, 0, malformedError("the record is cut short")
	}
	if b[0] != blockRecord && b[0] != commitRecord {
		return 0, 0, 0, malformedError("no record begins here")
	}
	n, used := uvarint(b[1:])
	if used == 0 || n > maxPayload {
		return 0, 0, 0, malformedError("the record's length is wrong")
	}
	return b[0], int(n), 1 + used, nil
}

// record is a record that matches its checksum.
type record struct {
	typ     byte
	offset  int64 // of the record in its pack
	end     int64 // first byte after it
	payload []byte
}

// parseRecord reads the record at the start of b, which lies at offset.
func parseRecord(b []byte, seed uint64, offset int64) (record, error) {
	typ, n, head, err := parseRecordHead(b)
	if err != nil {
		return record{}, err
	}
	if len(b) < head+n+8 {
		return record{}, malformedError("the record is cut short")
	}
	if checksum(seed, offset, b[:head+n]) != binary.LittleEndian.Uint64(b[head+n:]) {
		return record{}, malformedError("the record does not match its checksum")
	}
	return record{typ, offset, offset + int64(head+n+8), b[head : head+n]}, nil
}

// uvarint reads an unsigned varint in its shortest form; used is 0 otherwise.
func uvarint(b []byte) (v uint64, used int) {
	v, used = binary.Uvarint(b)
	if used <= 0 || used > 1 && b[used-1] == 0 {
		return 0, 0
	}
	return v, used
}
