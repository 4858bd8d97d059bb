package manifest

import (
	"bytes"
	"cmp"
	"slices"
)

// kindCode is what the index knows of a sequence number: 0 for one that is no
// living checkpoint, else the place of its kind in checkpointKinds, from 1.
type kindCode = byte

const (
	codeSafety kindCode = 8
	codeOther  kindCode = 9 // a kind of a newer program
	codes               = 10
)

func codeOf(kind CheckpointKind) kindCode {
	if i := slices.Index(checkpointKinds, kind); i >= 0 {
		return kindCode(i + 1)
	}
	return codeOther
}

// kindSet is a set of codes.
type kindSet [256]bool

func setOf(all bool, kinds []CheckpointKind) (s kindSet) {
	for code := kindCode(1); code < codes; code++ {
		s[code] = all || kinds == nil && code != codeSafety
	}
	if kinds != nil {
		for code := range kindCode(codes) {
			s[code] = false
		}
		for _, kind := range kinds {
			s[codeOf(kind)] = true
		}
	}
	return s
}

// anyKind and numbered are all living checkpoints, and those that have a position.
var (
	anyKind  = setOf(true, nil)
	numbered = setOf(false, nil)
)

// bucketSize is how many sequence numbers a bucket of the index spans: as many bytes as a
// fold rewrites for a few new checkpoints, and as many as a look-up by position reads at most.
const bucketSize = 1024

// index holds a code for every sequence number, a byte each, in buckets. Positions,
// predecessors and counts are loops over bytes: 100,000 checkpoints take some ten microseconds.
type index struct {
	buckets []bucket // by number; none is empty of memory, some may be all zero
}

type bucket struct {
	number uint64 // of its first sequence number, divided by bucketSize
	codes  []kindCode
	shared bool // codes belong to someone else: copied before the first change
	dirty  bool // changed since the index was loaded
}

func (x *index) find(number uint64) (int, bool) {
	// The newest bucket is asked for most.
	if n := len(x.buckets); n > 0 && x.buckets[n-1].number == number {
		return n - 1, true
	}
	return slices.BinarySearchFunc(x.buckets, number, func(b bucket, number uint64) int {
		return cmp.Compare(b.number, number)
	})
}

func (x *index) at(seq uint64) kindCode {
	i, ok := x.find(seq / bucketSize)
	if !ok {
		return 0
	}
	b := &x.buckets[i]
	if at := int(seq % bucketSize); at < len(b.codes) {
		return b.codes[at]
	}
	return 0
}

func (x *index) set(seq uint64, code kindCode) {
	number := seq / bucketSize
	i, ok := x.find(number)
	if !ok {
		x.buckets = slices.Insert(x.buckets, i, bucket{number: number})
	}
	b := &x.buckets[i]
	at := int(seq % bucketSize)
	if b.shared || at >= len(b.codes) {
		grown := make([]kindCode, max(at+1, len(b.codes)), bucketSize)
		copy(grown, b.codes)
		b.codes, b.shared = grown, false
	}
	b.codes[at] = code
	b.dirty = true
}

// prev is the newest sequence number below seq whose code is in set; 0 for none.
func (x *index) prev(seq uint64, set *kindSet) uint64 {
	i, ok := x.find(seq / bucketSize)
	if !ok {
		i--
	}
	for ; i >= 0; i-- {
		b := &x.buckets[i]
		end := uint64(len(b.codes))
		if first := b.number * bucketSize; seq-first < end {
			end = seq - first
		}
		for at := int(end) - 1; at >= 0; at-- {
			if set[b.codes[at]] {
				return b.number*bucketSize + uint64(at)
			}
		}
	}
	return 0
}

// next is the oldest sequence number above seq whose code is in set; 0 for none.
func (x *index) next(seq uint64, set *kindSet) uint64 {
	i, ok := x.find(seq / bucketSize)
	from := 0
	if ok {
		from = int(seq%bucketSize) + 1
	}
	for ; i < len(x.buckets); i++ {
		b := &x.buckets[i]
		for at := from; at < len(b.codes); at++ {
			if set[b.codes[at]] {
				return b.number*bucketSize + uint64(at)
			}
		}
		from = 0
	}
	return 0
}

// countCodes is how many codes are living checkpoints with a position, and how many safety ones.
func countCodes(codes []kindCode) (positions, safety int) {
	safety = bytes.Count(codes, []byte{codeSafety})
	return len(codes) - bytes.Count(codes, []byte{0}) - safety, safety
}

func (x *index) counts() (positions, safety int) {
	for i := range x.buckets {
		p, s := countCodes(x.buckets[i].codes)
		positions, safety = positions+p, safety+s
	}
	return positions, safety
}

// nth is the sequence number of the n-th newest checkpoint that has a position; 0 for none.
func (x *index) nth(n int) uint64 {
	if n < 1 {
		return 0
	}
	for i := len(x.buckets) - 1; i >= 0; i-- {
		b := &x.buckets[i]
		if p, _ := countCodes(b.codes); n > p {
			n -= p
			continue
		}
		for at := len(b.codes) - 1; at >= 0; at-- {
			if numbered[b.codes[at]] {
				if n--; n == 0 {
					return b.number*bucketSize + uint64(at)
				}
			}
		}
	}
	return 0
}

// position is n of the checkpoint for which nth(n) is seq; 0 for one that has none.
func (x *index) position(seq uint64) int {
	if !numbered[x.at(seq)] {
		return 0
	}
	n := 0
	for i := len(x.buckets) - 1; i >= 0; i-- {
		b := &x.buckets[i]
		if b.number == seq/bucketSize {
			p, _ := countCodes(b.codes[seq%bucketSize:])
			return n + p
		}
		p, _ := countCodes(b.codes)
		n += p
	}
	return 0
}
