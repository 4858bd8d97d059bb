package project

import (
	"encoding/binary"
	"time"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/engine/scan"
)

// Stamp ties a stat cache to the store: its generation and the commit that made
// its ids durable. One with another generation, or whose commit the
// log does not hold, may name objects that are gone, and is not used.
type Stamp struct {
	Generation uint64
	At         cas.Position
	// Start is that of the scan: the system was running then. In stat caches of older programs it is 0.
	Start time.Time
}

// Encode is the stamp as the stat cache has it.
func (s Stamp) Encode() scan.Stamp {
	var b scan.Stamp
	binary.LittleEndian.PutUint64(b[0:], s.Generation)
	binary.LittleEndian.PutUint32(b[8:], s.At.Pack)
	binary.LittleEndian.PutUint64(b[12:], uint64(s.At.Offset))
	binary.LittleEndian.PutUint64(b[20:], s.At.Seq)
	copy(b[28:44], s.At.Sum[:])
	binary.LittleEndian.PutUint64(b[44:], uint64(s.Start.UnixNano()))
	return b
}

// ReadStamp reads what Encode made.
func ReadStamp(b scan.Stamp) (s Stamp) {
	s.Generation = binary.LittleEndian.Uint64(b[0:])
	s.At.Pack = binary.LittleEndian.Uint32(b[8:])
	s.At.Offset = int64(binary.LittleEndian.Uint64(b[12:]))
	s.At.Seq = binary.LittleEndian.Uint64(b[20:])
	copy(s.At.Sum[:], b[28:44])
	s.Start = time.Unix(0, int64(binary.LittleEndian.Uint64(b[44:])))
	return s
}

// writeBack is how long at most what was written stays in memory alone: the kernel's
// 30 s and 5 s, and 10 minutes where a laptop spares its disk.
const writeBack = 10 * time.Minute

// Unsynced is from when on the stat cache's statuses are in doubt; zero: never. A power cut leaves a
// file's status without its content if that was still in memory, so a status that is from
// shortly before the last sign of a system that has been started anew since proves nothing.
func (p *Project) Unsynced(cache *scan.Cache, now time.Time) time.Time {
	if cache == nil {
		return time.Time{}
	}
	was := ReadStamp(cache.Stamp()).Start
	if boot := p.Env.BootTime(); boot.IsZero() || was.After(boot) && !was.After(now) {
		return time.Time{}
	}
	return was.Add(-writeBack)
}
