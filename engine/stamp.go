package engine

import (
	"encoding/binary"

	"rewind/cas"
	"rewind/engine/scan"
)

// stampOf ties a head to the store: its generation and the commit that made
// the head's ids durable. A head with another generation, or whose commit the
// log does not hold, may name objects that are gone, and is not used.
func stampOf(generation uint64, at cas.Position) scan.Stamp {
	var s scan.Stamp
	binary.LittleEndian.PutUint64(s[0:], generation)
	binary.LittleEndian.PutUint32(s[8:], at.Pack)
	binary.LittleEndian.PutUint64(s[12:], uint64(at.Offset))
	binary.LittleEndian.PutUint64(s[20:], at.Seq)
	copy(s[28:44], at.Sum[:])
	return s
}

func readStamp(s scan.Stamp) (generation uint64, at cas.Position) {
	generation = binary.LittleEndian.Uint64(s[0:])
	at.Pack = binary.LittleEndian.Uint32(s[8:])
	at.Offset = int64(binary.LittleEndian.Uint64(s[12:]))
	at.Seq = binary.LittleEndian.Uint64(s[20:])
	copy(at.Sum[:], s[28:44])
	return generation, at
}
