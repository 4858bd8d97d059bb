package scan

import (
	"math/bits"
	"time"

	"github.com/rewind-cli/rewind/engine/problem"
)

// stat is what of a path's status decides whether it is unchanged.
type stat struct {
	size             int64
	mtime, ctime     int64 // seconds
	mtimeNs, ctimeNs int64
	ino, dev         uint64
	mode             uint32 // type and permission bits as in st_mode
	links            uint64 // names; not of what decides
}

// File types of stat.mode, as on every Unix.
const (
	modeType    = 0o170000
	modeRegular = 0o100000
	modeDir     = 0o040000
	modeSymlink = 0o120000
	modeFIFO    = 0o010000
	modeSocket  = 0o140000
	modePerm    = 0o7777
)

func (s *stat) regular() bool { return s.mode&modeType == modeRegular }
func (s *stat) dir() bool     { return s.mode&modeType == modeDir }
func (s *stat) symlink() bool { return s.mode&modeType == modeSymlink }

// same reports whether nothing was written between two looks at one open file.
func (s *stat) same(t *stat) bool {
	return s.size == t.size && s.mtime == t.mtime && s.mtimeNs == t.mtimeNs &&
		s.ctime == t.ctime && s.ctimeNs == t.ctimeNs && s.mode == t.mode
}

// special names what a checkpoint cannot hold, "" for what it can.
func (s *stat) special() string {
	switch s.mode & modeType {
	case modeRegular, modeDir, modeSymlink:
		return ""
	case modeFIFO:
		return problem.Fifo
	case modeSocket:
		return problem.Socket
	}
	return problem.Device
}

// Grains of the clocks that file systems stamp with. The kernel's tick is at
// most 10 ms; a file system without nanoseconds counts whole seconds, FAT pairs of them.
const (
	fineGrain   = 10 * time.Millisecond
	coarseGrain = 2 * time.Second
)

// racy reports whether a later write could leave the same ctime: when it is not older
// than the start of the scan by more than the clock's grain, or lies in the future.
func (s *stat) racy(start time.Time) bool {
	grain := fineGrain
	if s.ctimeNs == 0 {
		grain = coarseGrain
	}
	return !time.Unix(s.ctime, s.ctimeNs).Add(grain).Before(start)
}

// after reports whether the path changed after t.
func (s *stat) after(t time.Time) bool {
	return time.Unix(s.ctime, s.ctimeNs).After(t)
}

// seed keys the fingerprints of one stat cache.
type seed struct{ a, b, c, d, e, f uint64 }

func newSeed(s uint64) seed {
	next := func() uint64 { // splitmix64
		s += 0x9e3779b97f4a7c15
		z := s
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		return z ^ z>>31
	}
	return seed{next(), next(), next(), next(), next(), next()}
}

// fingerprint hashes a stat tuple. It is never 0: that value means "do not trust".
func (k *seed) fingerprint(s *stat) uint64 {
	x := mix(uint64(s.size)^k.a, uint64(s.mtime)<<30^uint64(s.mtimeNs)^k.b)
	y := mix(s.ino^k.c, uint64(s.ctime)<<30^uint64(s.ctimeNs)^k.d)
	z := mix(s.dev^k.e, uint64(s.mode)^k.f)
	h := mix(x^k.d, y^k.a) ^ mix(z^k.c, y^x^k.e)
	if h == 0 {
		return 1
	}
	return h
}

// trust is what statuses are compared by.
type trust struct {
	seed     seed
	unsynced time.Time // see Options
}

// unchanged reports whether a path is as it was when the stat cache recorded slot.
func (t *trust) unchanged(s *stat, slot uint64) bool {
	return slot == t.seed.fingerprint(s) && (t.unsynced.IsZero() || !s.after(t.unsynced))
}

// mix folds a 128-bit product, the step of wyhash.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}
