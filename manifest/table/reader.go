package table

import (
	"bytes"
	"slices"

	"github.com/dgraph-io/badger/v4/y"
)

// Reader answers several questions to the runs of a generation. It remembers where the last one ended: what comes
// soon behind it is read without decompressing its block again, so questions are best asked in the order of
// their keys. It is not safe for concurrent use, nor for a question while a visitor is called, and does not
// outlive the runs.
type Reader struct {
	runs    Runs
	cursors []*cursor // of each run; nil: not read yet
}

// NewReader makes a Reader, which is to be closed.
func (rs Runs) NewReader() *Reader { return &Reader{runs: rs, cursors: make([]*cursor, len(rs))} }

// Close gives back what it holds of the runs.
func (r *Reader) Close() {
	for _, c := range r.cursors {
		if c != nil {
			c.close()
		}
	}
}

// to brings the cursor of a run to the first key that is not before first.
func (r *Reader) to(run int, first []byte) *cursor {
	c := r.cursors[run]
	if c == nil {
		c = &cursor{all: r.runs[run]}
		r.cursors[run] = c
	}
	c.to(first)
	return c
}

// Get gives a key's newest value, which is the caller's; nil for none.
func (r *Reader) Get(key []byte) ([]byte, error) {
	hash := y.Hash(key)
	for n, run := range slices.Backward(r.runs) {
		i, _ := slices.BinarySearchFunc(run, key, func(t *openTable, key []byte) int {
			return bytes.Compare(t.biggest, key)
		})
		if i == len(run) || bytes.Compare(key, run[i].smallest) < 0 {
			continue
		}
		if lacks, err := run[i].lacks(hash); err != nil {
			return nil, err
		} else if lacks {
			continue
		}
		c := r.to(n, key)
		if c.err != nil {
			return nil, c.err
		}
		if c.valid() && bytes.Equal(c.key, key) {
			return bytes.Clone(c.value), nil
		}
	}
	return nil, nil
}

// Ascend is Runs.Ascend.
func (r *Reader) Ascend(first []byte, within func(key []byte) bool, visit func(key, value []byte) error) error {
	for n := range r.runs {
		r.to(n, first)
	}
	for {
		var least *cursor
		for _, c := range slices.Backward(r.cursors) { // the newest first: it wins a tie
			if c.err != nil {
				return c.err
			}
			if c.valid() && (least == nil || bytes.Compare(c.key, least.key) < 0) {
				least = c
			}
		}
		if least == nil || !within(least.key) {
			return nil
		}
		if err := visit(least.key, least.value); err != nil {
			return err
		}
		for _, c := range r.cursors {
			if c != least && c.valid() && bytes.Equal(c.key, least.key) {
				c.next()
			}
		}
		least.next()
	}
}
