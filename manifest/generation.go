package manifest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// errStop ends a scan early, without an error.
var errStop = errors.New("stop")

// DamagedError says that a generation does not hold what it should. The
// database is only a reading of the log: it is dropped and folded again.
type DamagedError struct {
	Generation string // directory
	What       string
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("database generation %s is damaged: %s", e.Generation, e.What)
}

// generation is an immutable fold of the log.
type generation struct {
	runs
	name    string // directory
	pointer []byte // content of the pointer file that named it
	layout  *layout
	meta    meta
}

// meta is how far a generation has read, under keyMeta.
type meta struct {
	last uint64 // sequence number
	mark uint64 // fingerprint of that record
	dead uint64 // checkpoints deleted since it was folded whole
}

const metaFormat = 2

func (m meta) append(dst []byte) []byte {
	dst = append(dst, metaFormat)
	dst = appendSeq(dst, m.last)
	dst = appendSeq(dst, m.mark)
	return appendSeq(dst, m.dead)
}

func parseMeta(data []byte) (m meta, ok bool) {
	if len(data) != 25 || data[0] != metaFormat {
		return meta{}, false
	}
	m.last = binary.BigEndian.Uint64(data[1:])
	m.mark = binary.BigEndian.Uint64(data[9:])
	m.dead = binary.BigEndian.Uint64(data[17:])
	return m, true
}

func (g *generation) damaged(what string) error {
	return &DamagedError{Generation: g.name, What: what}
}

// scan visits the living keys that begin with prefix.
func (g *generation) scan(prefix []byte, visit func(key, value []byte) error) error {
	return g.scanFrom(prefix, prefix, visit)
}

// scanFrom visits the living keys that begin with prefix, from first on.
func (g *generation) scanFrom(first, prefix []byte, visit func(key, value []byte) error) error {
	return g.ascend(first, func(key []byte) bool { return bytes.HasPrefix(key, prefix) }, living(visit))
}

// scanRange visits the living keys from first to last.
func (g *generation) scanRange(first, last []byte, visit func(key, value []byte) error) error {
	return g.ascend(first, func(key []byte) bool { return bytes.Compare(key, last) <= 0 }, living(visit))
}

func living(visit func(key, value []byte) error) func(key, value []byte) error {
	return func(key, value []byte) error {
		if len(value) == 0 {
			return nil
		}
		return visit(key, value)
	}
}

// number is a sequence number under key, 0 for none.
func (g *generation) number(key []byte) (uint64, error) {
	v, err := g.get(key)
	if err != nil || len(v) == 0 {
		return 0, err
	}
	if len(v) != 8 {
		return 0, g.damaged("sequence number")
	}
	return binary.BigEndian.Uint64(v), nil
}

// checkpoint is the record of a checkpoint that the index says is there.
func (g *generation) checkpoint(seq uint64) (*Checkpoint, error) {
	v, err := g.get(seqKey(keyCheckpoint, seq))
	if err != nil {
		return nil, err
	}
	r, err := ParseRecord(v)
	if err != nil || r.Checkpoint == nil {
		return nil, g.damaged(fmt.Sprintf("checkpoint %d", seq))
	}
	r.Checkpoint.Seq = seq
	return r.Checkpoint, nil
}

func appendSession(dst []byte, at *sessionAt) []byte {
	return Record{Session: &at.session}.Append(appendSeq(dst, at.seq))
}

func (g *generation) session(value []byte) (at sessionAt, err error) {
	if len(value) < 8 {
		return at, g.damaged("session")
	}
	r, err := ParseRecord(value[8:])
	if err != nil || r.Session == nil {
		return at, g.damaged("session")
	}
	return sessionAt{seq: binary.BigEndian.Uint64(value), session: *r.Session}, nil
}
