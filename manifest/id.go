package manifest

import (
	"fmt"
	"io"
)

// CheckpointID is 64 random bits, written as 16 letters from k to z: four
// bits a letter, the highest first, so that text and bytes sort alike. No letter of it is
// a digit, so an id is never mistaken for a number.
type CheckpointID [8]byte

// NewCheckpointID draws an id from random. It is never the zero id.
func NewCheckpointID(random io.Reader) (CheckpointID, error) {
	var id CheckpointID
	for id.IsZero() {
		if _, err := io.ReadFull(random, id[:]); err != nil {
			return CheckpointID{}, fmt.Errorf("drawing a checkpoint id: %w", err)
		}
	}
	return id, nil
}

// IsZero reports whether id is the zero id, which names no checkpoint.
func (id CheckpointID) IsZero() bool { return id == CheckpointID{} }

// String is the id's 16 letters.
func (id CheckpointID) String() string {
	var text [2 * len(id)]byte
	for i, b := range id {
		text[2*i] = 'k' + b>>4
		text[2*i+1] = 'k' + b&15
	}
	return string(text[:])
}

// ParseCheckpointID parses 16 letters from k to z.
func ParseCheckpointID(s string) (CheckpointID, error) {
	var id CheckpointID
	if len(s) != 2*len(id) {
		return id, &FormatError{What: "checkpoint id", Reason: fmt.Sprintf("%d letters, not 16", len(s))}
	}
	for i := range len(s) {
		n := s[i] - 'k'
		if n > 15 {
			return CheckpointID{}, &FormatError{What: "checkpoint id", Offset: i, Reason: "not a letter from k to z"}
		}
		id[i/2] = id[i/2]<<4 | n
	}
	return id, nil
}

// idRange is the first and the last id that begin with prefix, which is at
// most 16 letters from k to z.
func idRange(prefix string) (first, last CheckpointID, ok bool) {
	if len(prefix) > 2*len(first) {
		return first, last, false
	}
	for i := range 2 * len(first) {
		low, high := byte(0), byte(15)
		if i < len(prefix) {
			n := prefix[i] - 'k'
			if n > 15 {
				return CheckpointID{}, CheckpointID{}, false
			}
			low, high = n, n
		}
		first[i/2] = first[i/2]<<4 | low
		last[i/2] = last[i/2]<<4 | high
	}
	return first, last, true
}
