package engine

import (
	"encoding/binary"
	"time"

	"rewind/cas"
	"rewind/engine/scan"
)

// stamp ties a head to the store: its generation and the commit that made
// the head's ids durable. A head with another generation, or whose commit the
// log does not hold, may name objects that are gone, and is not used.
type stamp struct {
	generation uint64
	at         cas.Position
	// moment is that of the scan: the system was running then. In heads of older programs it is 0.
	moment time.Time
}

func (s stamp) encode() scan.Stamp {
	var b scan.Stamp
	binary.LittleEndian.PutUint64(b[0:], s.generation)
	binary.LittleEndian.PutUint32(b[8:], s.at.Pack)
	binary.LittleEndian.PutUint64(b[12:], uint64(s.at.Offset))
	binary.LittleEndian.PutUint64(b[20:], s.at.Seq)
	copy(b[28:44], s.at.Sum[:])
	binary.LittleEndian.PutUint64(b[44:], uint64(s.moment.UnixNano()))
	return b
}

func readStamp(b scan.Stamp) (s stamp) {
	s.generation = binary.LittleEndian.Uint64(b[0:])
	s.at.Pack = binary.LittleEndian.Uint32(b[8:])
	s.at.Offset = int64(binary.LittleEndian.Uint64(b[12:]))
	s.at.Seq = binary.LittleEndian.Uint64(b[20:])
	copy(s.at.Sum[:], b[28:44])
	s.moment = time.Unix(0, int64(binary.LittleEndian.Uint64(b[44:])))
	return s
}

// writeBack is how long at most what was written stays in memory alone: the kernel's
// 30 s and 5 s, and 10 minutes where a laptop spares its disk.
const writeBack = 10 * time.Minute

// unsynced is from when on the head's statuses are in doubt; zero: never. A power cut leaves a
// file's status without its content if that was still in memory, so a status that is from
// shortly before the last sign of a system that has been started anew since proves nothing.
func (p *Project) unsynced(head *scan.Head, now time.Time) time.Time {
	if head == nil {
		return time.Time{}
	}
	was := readStamp(head.Stamp()).moment
	if boot := p.env.bootTime(); boot.IsZero() || was.After(boot) && !was.After(now) {
		return time.Time{}
	}
	return was.Add(-writeBack)
}
