package manifest

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"sync"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/manifest/table"
)

// longestKey is the longest key, in bytes, that a generation holds.
const longestKey = 16 << 10

// Source is where the log and the trees are.
type Source interface {
	// Records yields the log from sequence number from on, in order. An entry that is no
	// record is yielded as an *EntryError, and those after it follow; any other error ends the log.
	Records(from uint64) iter.Seq2[Sequenced, error]
	// Dir loads a directory manifest. Safe for concurrent use.
	Dir(id oid.ID) (Dir, error)
}

// Options says where the database is.
type Options struct {
	Dir      string                  // manifests/
	Owner    func(file string) error // gives a created file or directory to its rightful owner; nil: nothing
	ReadOnly bool                    // never writes
}

// DB answers queries about the log as it was when the DB was opened. It is safe for
// concurrent use and must be closed.
type DB struct {
	src     Source
	options Options

	mu      sync.Mutex // guards what follows
	state   *state
	gen     *generation // to be closed; the state may have left it
	damaged error
}

// Open opens the current generation and reads the tail of the log behind it. A
// generation that does not open, or is of another log, is dropped and folded anew; if that is not possible,
// the whole log is read in memory. Without a generation it is read in memory too: folding is the caller's decision.
func Open(ctx context.Context, o Options, src Source) (*DB, error) {
	db := &DB{src: src, options: o}
	db.gen, db.state, db.damaged = openState(ctx, o, src)
	var damaged *DamagedError
	switch {
	case db.damaged == nil:
		return db, nil
	case !errors.As(db.damaged, &damaged):
		return nil, db.damaged
	}
	if !o.ReadOnly && Fold(ctx, o, src) == nil {
		var err error
		if db.gen, db.state, err = openState(ctx, o, src); err == nil {
			return db, nil
		}
	}
	var err error
	db.gen = nil
	if db.state, err = readLog(ctx, src, nil); err != nil {
		return nil, err
	}
	return db, nil
}

// openState reads the current generation, if any, and the tail. What is wrong with a
// generation is a *DamagedError; other errors are the log's.
func openState(ctx context.Context, o Options, src Source) (*generation, *state, error) {
	gen, err := openCurrent(o.Dir)
	if err != nil {
		return nil, nil, &DamagedError{Generation: o.Dir, What: err.Error()}
	}
	s, err := readLog(ctx, src, gen)
	if err == nil && gen != nil && s.gen == nil {
		err = &DamagedError{Generation: gen.name, What: "folded from another log"}
	}
	if err != nil && gen != nil {
		err = errors.Join(err, gen.Close())
	}
	return gen, s, err
}

// readLog reads what the log has after gen. If the log does not hold the record that gen ends
// with, gen is of another log, and the state is made from all of this one. Entries that
// cannot be read are passed over: one of them must not hide the others, and verify names it.
func readLog(ctx context.Context, src Source, gen *generation) (*state, error) {
	if gen != nil {
		ours, err := gen.isOf(src)
		if err != nil {
			return nil, err
		}
		if !ours {
			gen = nil
		}
	}
	s, err := newState(gen)
	if err != nil {
		return nil, err
	}
	return s, s.applyAll(ctx, src, s.last+1, Skip)
}

// isOf reports whether src is the log that g was folded from: it holds the record that g ends with.
func (g *generation) isOf(src Source) (bool, error) {
	for r, err := range src.Records(g.meta.last) {
		if errors.As(err, new(*EntryError)) {
			return false, nil
		}
		return err == nil && r.Seq == g.meta.last && fingerprint(r.Record) == g.meta.mark, err
	}
	return false, nil
}

// Close gives the generation back. No query may be under way.
func (db *DB) Close() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.gen == nil {
		return nil
	}
	gen := db.gen
	db.gen = nil
	return gen.Close()
}

// Unfolded is how many checkpoints and touches the DB had to read from the log's tail: the
// measure of whether a Fold is due.
func (db *DB) Unfolded() int {
	s := db.now()
	return len(s.fresh) + len(s.touches)
}

// Extend adds what the log has by now. No query may be under way. After an error the DB is of no use.
func (db *DB) Extend(ctx context.Context) error {
	s := db.now()
	return s.applyAll(ctx, db.src, s.last+1, Skip)
}

// Last is the sequence number of the newest entry of the log that the DB knows.
func (db *DB) Last() uint64 { return db.now().last }

func (db *DB) now() *state {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.state
}

// heal answers from the log from now on, and drops the damaged generation so
// that the next fold makes a whole one.
func (db *DB) heal(failed *state, cause error) error {
	var damaged *DamagedError
	if !errors.As(cause, &damaged) {
		return cause
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.state != failed {
		return nil // healed by another query
	}
	s, err := readLog(context.Background(), db.src, nil)
	if err != nil {
		return errors.Join(cause, err)
	}
	db.state, db.damaged = s, cause
	if db.options.ReadOnly || failed.gen == nil {
		return nil
	}
	// If the pointer cannot be removed, the next one who meets the damage tries again.
	file := filepath.Join(db.options.Dir, table.PointerFile)
	if data, err := table.ReadSmall(file); err == nil && bytes.Equal(data, failed.gen.pointer) {
		_ = os.Remove(file)
	}
	return nil
}

// ask answers a query, a second time from the log if the generation is damaged.
func ask[T any](db *DB, query func(*state) (T, error)) (T, error) {
	s := db.now()
	v, err := query(s)
	if err != nil {
		if err = db.heal(s, err); err == nil {
			return query(db.now())
		}
	}
	return v, err
}

// stream yields what query visits. If the generation turns out damaged on the way, the log's answer
// continues where the generation's ended: they are the same in the same order.
func stream[T any](db *DB, query func(s *state, visit func(T) error) error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var done, skip int
		visit := func(v T) error {
			if skip > 0 {
				skip--
				return nil
			}
			done++
			if !yield(v, nil) {
				return errStop
			}
			return nil
		}
		s := db.now()
		err := query(s, visit)
		if err != nil && !errors.Is(err, errStop) {
			if err = db.heal(s, err); err == nil {
				skip = done
				err = query(db.now(), visit)
			}
		}
		if err != nil && !errors.Is(err, errStop) {
			var zero T
			yield(zero, err)
		}
	}
}

// Each visits what a query yields, until visit gives an error.
func Each[T any](all iter.Seq2[T, error], visit func(T) error) error {
	for v, err := range all {
		if err == nil {
			err = visit(v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
