package cas

import (
	"encoding/binary"

	"github.com/zeebo/blake3"
)

// A commit's payload: uvarint sequence number (0: unsequenced), uvarint number
// of commits before it in the pack, uvarint number of bytes between the commit
// before (or the header) and this record, BLAKE3 of those bytes and of the
// payload but for the hash itself (16 bytes), what the caller committed, and
// the size of the whole record as uint32, by which the last commit is found
// from the end of the pack.
type commit struct {
	seq     uint64
	ordinal uint64
	since   uint64
	sum     [16]byte
	data    []byte // aliases what was parsed
}

const maxCommit = 1 << 28 // bytes of a commit's data

// commitHash hashes what a commit covers. The caller has written the region.
func commitHash(region *blake3.Hasher, head, data []byte) (sum [16]byte) {
	region.Write(head)
	region.Write(data)
	var out [32]byte
	copy(sum[:], region.Sum(out[:0]))
	return sum
}

func (c *commit) head() []byte {
	var b [3 * binary.MaxVarintLen64]byte
	head := binary.AppendUvarint(b[:0], c.seq)
	head = binary.AppendUvarint(head, c.ordinal)
	return binary.AppendUvarint(head, c.since)
}

// seal sets the hash over region, which holds the c.since bytes before.
func (c *commit) seal(region *blake3.Hasher) { c.sum = commitHash(region, c.head(), c.data) }

func (c *commit) append(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, c.head()...)
	dst = append(dst, c.sum[:]...)
	dst = append(dst, c.data...)
	return binary.LittleEndian.AppendUint32(dst, uint32(recordSize(len(dst)-start+4)))
}

func parseCommit(b []byte) (commit, error) {
	var c commit
	rest := b
	for _, field := range []*uint64{&c.seq, &c.ordinal, &c.since} {
		v, used := uvarint(rest)
		if used == 0 {
			return c, malformedError("the commit's head is wrong")
		}
		*field, rest = v, rest[used:]
	}
	if len(rest) < 16+4 {
		return c, malformedError("the commit is cut short")
	}
	copy(c.sum[:], rest)
	c.data = rest[16 : len(rest)-4]
	if int64(binary.LittleEndian.Uint32(rest[len(rest)-4:])) != recordSize(len(b)) {
		return c, malformedError("the commit's size is wrong")
	}
	return c, nil
}

// trailerSize is what has to be read before the end of a pack to know how long
// the commit record there is: its size and the record's checksum.
const trailerSize = 4 + 8
