package manifest

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// EntryError is an entry of the log that is no record that this program can read.
type EntryError struct {
	Seq uint64
	Err error
}

func (e *EntryError) Error() string { return fmt.Sprintf("entry %d of the log: %v", e.Seq, e.Err) }

func (e *EntryError) Unwrap() error { return e.Err }

// Skip passes over entries that cannot be read: for Replay and Newest.
func Skip(*EntryError) error { return nil }

// Strict ends with the first entry that cannot be read: for Replay and Newest.
func Strict(e *EntryError) error { return e }

// Replayed is what a run of the log's records says. It does not change, but by Drop.
type Replayed struct{ s *state }

// Replay applies the records from sequence number from on, 1 for the whole log. Records are the outcome of
// those before them: a replay from later on is right about the checkpoints whose commits it has
// seen, but for a name that went to an earlier one. unreadable decides about entries that are no
// records (Skip, Strict, or one that takes note); its error, and one of the log itself, ends the
// replay and is returned with the state up to then.
func Replay(ctx context.Context, src Source, from uint64, unreadable func(*EntryError) error) (*Replayed, error) {
	s, err := newState(nil)
	if err != nil {
		return nil, err
	}
	return &Replayed{s}, s.applyAll(ctx, src, from, unreadable)
}

// applyAll applies what the log has from sequence number from on.
func (s *state) applyAll(ctx context.Context, src Source, from uint64, unreadable func(*EntryError) error) error {
	for r, err := range src.Records(from) {
		var entry *EntryError
		switch {
		case errors.As(err, &entry):
			if err := unreadable(entry); err != nil {
				return err
			}
			continue
		case err != nil:
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.apply(r); err != nil {
			return err
		}
	}
	return nil
}

// Drop removes checkpoints from r, as a Delete record would. Nothing else may use r while it runs.
func (r *Replayed) Drop(ids []CheckpointID) error { return r.s.deleteAll(ids) }

// Last is the sequence number of the newest record, 0 for none.
func (r *Replayed) Last() uint64 { return r.s.last }

// Amended reports whether a record (Rewrite, Amend) replaced others.
func (r *Replayed) Amended() bool { return r.s.rewrote }

// Checkpoints are those that live, newest first, with root, name and pin at the end.
func (r *Replayed) Checkpoints() []Checkpoint {
	var list []Checkpoint
	for _, seq := range slices.Backward(r.s.fresh) {
		if r.s.index.at(seq) != 0 {
			list = append(list, *r.s.checkpoints[seq])
		}
	}
	return list
}

// Newest is the newest living checkpoint for which match holds, nil for none.
func (r *Replayed) Newest(match func(*Checkpoint) bool) *Checkpoint {
	for _, seq := range slices.Backward(r.s.fresh) {
		if c := r.s.checkpoints[seq]; r.s.index.at(seq) != 0 && match(c) {
			found := *c
			return &found
		}
	}
	return nil
}

// ByID is a living checkpoint.
func (r *Replayed) ByID(id CheckpointID) (Checkpoint, bool) {
	c, err := r.s.byID(id)
	if err != nil || c == nil { // without a generation there is no error
		return Checkpoint{}, false
	}
	return *c, true
}

// Operations are newest first.
func (r *Replayed) Operations() []Operation {
	list := make([]Operation, 0, len(r.s.operations))
	for _, o := range slices.Backward(r.s.operations) {
		list = append(list, *o)
	}
	return list
}

// Any matches every checkpoint: for Newest.
func Any(*Checkpoint) bool { return true }

// Newest finds the newest living checkpoint for which match holds, nil for none, by replaying the
// log's end: as much of it as it takes, but at most back records (0: all of it). last is
// the log's newest sequence number. Entries that cannot be read are passed over. It gives the end of the log
// that was replayed, too: all behind the checkpoint is in it. That is nil for an empty log.
func Newest(ctx context.Context, src Source, last, back uint64, match func(*Checkpoint) bool) (*Checkpoint, *Replayed, error) {
	if back == 0 || back > last {
		back = last
	}
	if back == 0 {
		return nil, nil, nil
	}
	var records []Sequenced // from first on
	for first, span := uint64(0), uint64(8); ; span *= 2 {
		span = min(span, back)
		from := last - span + 1
		older, found, err := readBetween(ctx, src, from, first)
		if err != nil {
			return nil, nil, err
		}
		records, first = append(older, records...), from
		if !found && span < back {
			continue
		}
		s, err := newState(nil)
		if err != nil {
			return nil, nil, err
		}
		for _, r := range records {
			if err := s.apply(r); err != nil {
				return nil, nil, err
			}
		}
		r := &Replayed{s}
		if c := r.Newest(match); c != nil || span == back {
			return c, r, nil
		}
	}
}

// readBetween reads the records from a sequence number on, up to another one, which is not among them; 0: up to the end.
// found: a checkpoint is among them. Entries that cannot be read are passed over.
func readBetween(ctx context.Context, src Source, from, before uint64) (records []Sequenced, found bool, err error) {
	for r, err := range src.Records(from) {
		var entry *EntryError
		switch {
		case errors.As(err, &entry):
			r.Seq = entry.Seq
		case err != nil:
			return nil, false, err
		}
		if before != 0 && r.Seq >= before {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		if entry == nil {
			records = append(records, r)
			found = found || r.Record.Checkpoint != nil
		}
	}
	return records, found, nil
}
