package remote

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/rewind-cli/rewind/cas/oid"
)

// Names in a remote. FORMAT has the list.
const (
	aboutName = "rewind.json"
	segments  = "w/"
	packs     = "d/"

	maxSealed = 1 << 30 // bytes that are ever read of one: a segment is one directory of millions of entries at worst
	hashBytes = 16      // of the BLAKE3-256 of the sealed bytes in a name
)

// maxObject is how many bytes an object has, about: one PUT of a body in memory. Tests make it small.
var maxObject = 16 << 20

// writerID names a writer of a remote: 16 hexadecimal digits.
type writerID string

func (w writerID) valid() bool {
	b, err := hex.DecodeString(string(w))
	return err == nil && len(b) == 8 && string(w) == hex.EncodeToString(b)
}

// stamp is what a name says of the object's sealed bytes.
type stamp struct {
	size int64
	hash string // hexadecimal
}

func stampOf(sealed []byte) stamp {
	id := oid.Sum(sealed)
	return stamp{int64(len(sealed)), hex.EncodeToString(id[:hashBytes])}
}

func (s stamp) String() string { return fmt.Sprintf("%d-%s", s.size, s.hash) }

func parseStamp(text string) (s stamp, ok bool) {
	size, hash, ok := strings.Cut(text, "-")
	n, err := strconv.ParseInt(size, 10, 64)
	b, herr := hex.DecodeString(hash)
	s = stamp{n, hash}
	return s, ok && err == nil && herr == nil && n > 0 && n <= maxSealed && len(b) == hashBytes && s.String() == text
}

// packName is the name of a pack in the remote.
func (s stamp) packName() string { return packs + s.String() }

// parentDigits is how much of the hash of the segment before a name has.
const parentDigits = 16

// noParent is in the name of the first segment of all.
var noParent = strings.Repeat("0", parentDigits)

// segmentName says whose log a segment is of, which part of it, and what it continues: so that a listing alone shows each log, where
// one was continued twice, and what is missing.
type segmentName struct {
	writer      writerID
	first, last uint64 // sequence numbers of its commits
	parent      string // the beginning of the hash of the segment that it continues, or noParent
	stamp
}

// parentOf is the parent in the name of what continues a segment.
func parentOf(s stamp) string { return s.hash[:parentDigits] }

func (n segmentName) String() string {
	return fmt.Sprintf("%s%s/%d-%d-%s-%s", segments, n.writer, n.first, n.last, n.parent, n.stamp)
}

func parseSegmentName(text string) (n segmentName, ok bool) {
	rest, ok := strings.CutPrefix(text, segments)
	writer, rest, cut := strings.Cut(rest, "/")
	parts := strings.SplitN(rest, "-", 4)
	if !ok || !cut || len(parts) != 4 {
		return n, false
	}
	var err, lerr error
	n.writer, n.parent = writerID(writer), parts[2]
	n.first, err = strconv.ParseUint(parts[0], 10, 64)
	n.last, lerr = strconv.ParseUint(parts[1], 10, 64)
	n.stamp, ok = parseStamp(parts[3])
	return n, ok && err == nil && lerr == nil && n.writer.valid() && len(n.parent) == parentDigits && n.first > 0 && n.first <= n.last && n.String() == text
}
