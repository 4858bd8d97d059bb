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
	condemned = "g/"
	indexes   = "i/"
	probes    = "probe/"
	clocks    = "z/" // behind all others, so that a listing that ends too early is noticed

	maxSealed = 1 << 30  // bytes that are ever read of one: a segment is one directory of millions of entries at worst
	maxMerge  = 64 << 20 // likewise of a merge
	hashBytes = 16       // of the BLAKE3-256 of the sealed bytes in a name
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

// segmentName says whose log an object is of, which part of it, and what it continues: so that a listing alone shows each log, where
// one was continued twice, and what is missing. The object is a segment, or a merge, which holds several segments of one writer that follow
// each other, as they were.
type segmentName struct {
	writer      writerID
	first, last uint64 // sequence numbers of its commits
	parent      string // the id of the segment that it continues, or noParent
	end         string // of a merge: the id of the newest segment in it; "" for a segment
	stamp
}

// parentOf is the id of a segment: the beginning of its hash, as what continues it has it in its name.
func parentOf(s stamp) string { return s.hash[:parentDigits] }

// merge reports whether a name is that of a merge.
func (n segmentName) merge() bool { return n.end != "" }

// id is that of the newest segment in the object.
func (n segmentName) id() string {
	if n.merge() {
		return n.end
	}
	return parentOf(n.stamp)
}

func (n segmentName) String() string {
	parts := []any{n.first, n.last, n.parent, n.stamp}
	if n.merge() {
		parts = []any{n.first, n.last, n.parent, n.end, n.stamp}
	}
	text := ""
	for _, p := range parts {
		text += fmt.Sprint("-", p)
	}
	return ofWriter(n.writer) + text[1:]
}

// ofWriter is what the names of a writer's segments begin with.
func ofWriter(w writerID) string { return segments + string(w) + "/" }

func parseSegmentName(text string) (n segmentName, ok bool) {
	rest, ok := strings.CutPrefix(text, segments)
	writer, rest, cut := strings.Cut(rest, "/")
	parts := strings.Split(rest, "-")
	if !ok || !cut || len(parts) != 5 && len(parts) != 6 {
		return n, false
	}
	n.writer, n.parent = writerID(writer), parts[2]
	if len(parts) == 6 {
		n.end = parts[3]
		if len(n.end) != parentDigits {
			return n, false
		}
	}
	var err, lerr error
	n.first, err = strconv.ParseUint(parts[0], 10, 64)
	n.last, lerr = strconv.ParseUint(parts[1], 10, 64)
	n.stamp, ok = parseStamp(strings.Join(parts[len(parts)-2:], "-"))
	return n, ok && err == nil && lerr == nil && n.writer.valid() && len(n.parent) == parentDigits && n.first > 0 && n.first <= n.last &&
		(!n.merge() || n.size <= maxMerge) && n.String() == text
}
