package remote

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// sealedSegment is a segment as its object, or a merge, has it.
type sealedSegment struct {
	segmentName
	sealed []byte
}

// mergeHead is the line of JSON before the segments of a merge.
type mergeHead struct {
	Segments []string `json:"segments"` // their names, oldest first, without what is before the first sequence number
}

// encodeMerge makes a merge of segments of one writer, of which each continues the one before it. It holds their bytes unchanged, one after
// the other: so whoever reads it checks each of them as if it had an object of its own, and anybody may merge, since there is nothing to
// believe.
func encodeMerge(all []sealedSegment) (segmentName, []byte, error) {
	first, last := all[0], all[len(all)-1]
	n := segmentName{writer: first.writer, first: first.first, last: last.last, parent: first.parent, end: parentOf(last.stamp)}
	var h mergeHead
	for _, s := range all {
		h.Segments = append(h.Segments, strings.TrimPrefix(s.String(), ofWriter(s.writer)))
	}
	line, err := json.Marshal(h)
	if err != nil {
		return n, nil, err
	}
	body := append(line, '\n')
	for _, s := range all {
		body = append(body, s.sealed...)
	}
	n.stamp = stampOf(body)
	return n, body, nil
}

// parseMerge takes a merge apart again, and checks that the segments are those that it names, and make up what its own name says. Error: *BadObjectError.
func parseMerge(n segmentName, body []byte) (all []sealedSegment, err error) {
	bad := func(format string, args ...any) ([]sealedSegment, error) {
		return nil, &BadObjectError{n.String(), fmt.Sprintf(format, args...)}
	}
	line, rest, ok := bytes.Cut(body, []byte("\n"))
	var h mergeHead
	if !ok || json.Unmarshal(line, &h) != nil || len(h.Segments) == 0 {
		return bad("it does not say which segments it holds")
	}
	at, last := n.parent, n.first-1
	for _, text := range h.Segments {
		s, ok := parseSegmentName(ofWriter(n.writer) + text)
		if !ok || s.merge() || s.parent != at || s.first <= last || s.size > int64(len(rest)) {
			return bad("it cannot hold a segment %q there", text)
		}
		one := sealedSegment{s, rest[:s.size]}
		if stampOf(one.sealed) != s.stamp {
			return bad("the bytes of the segment %q in it are not those that were pushed", text)
		}
		all = append(all, one)
		rest, at, last = rest[s.size:], parentOf(s.stamp), s.last
	}
	if len(rest) > 0 || all[0].first != n.first || last != n.last || at != n.end {
		return bad("it does not hold the segments that its name says")
	}
	return all, nil
}
