package manifest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

	"github.com/rewind-cli/rewind/manifest/table"
	"github.com/rewind-cli/rewind/manifest/wire"
)

// errStop ends a scan early, without an error.
var errStop = errors.New("stop")

// generation is an immutable fold of the log.
type generation struct {
	table.Runs
	name    string // directory
	pointer []byte // content of the pointer file that named it
	layout  *table.Layout
	meta    meta

	// idle are readers that are not in use, by the family of keys that they were used for: a question that asks
	// for many keys of several families finds each where it left it.
	idle [128]atomic.Pointer[table.Reader]
}

// Get gives a key's newest value, which is the caller's; nil for none.
func (g *generation) Get(key []byte) ([]byte, error) {
	r := g.reader(key[0])
	defer g.done(key[0], r)
	return r.Get(key)
}

// Ascend is Runs.Ascend.
func (g *generation) Ascend(first []byte, within func(key []byte) bool, visit func(key, value []byte) error) error {
	r := g.reader(first[0])
	defer g.done(first[0], r)
	return r.Ascend(first, within, visit)
}

// Close closes the tables. No query may be under way.
func (g *generation) Close() error {
	for i := range g.idle {
		if r := g.idle[i].Swap(nil); r != nil {
			r.Close()
		}
	}
	return g.Runs.Close()
}

// reader takes a reader for keys of a family, which no other query has until it is done.
func (g *generation) reader(family byte) *table.Reader {
	if r := g.idle[family].Swap(nil); r != nil {
		return r
	}
	return g.NewReader()
}

func (g *generation) done(family byte, r *table.Reader) {
	if other := g.idle[family].Swap(r); other != nil {
		other.Close()
	}
}

// meta is how far a generation has read, under keyMeta.
type meta struct {
	last uint64 // sequence number
	mark uint64 // fingerprint of that record
	dead uint64 // checkpoints deleted since it was folded whole
}

const metaFormat = 3

func (m meta) append(dst []byte) []byte {
	dst = append(dst, metaFormat)
	dst = appendSeq(dst, m.last)
	dst = appendSeq(dst, m.mark)
	return appendSeq(dst, m.dead)
}

func parseMeta(data []byte) (m meta, ok bool) {
	d := wire.Decoder{Data: string(data)}
	ok = d.Byte() == metaFormat
	m = meta{last: d.Uint64(), mark: d.Uint64(), dead: d.Uint64()}
	return m, ok && d.End() == nil
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
	return g.Ascend(first, func(key []byte) bool { return bytes.HasPrefix(key, prefix) }, living(visit))
}

// scanRange visits the living keys from first to last.
func (g *generation) scanRange(first, last []byte, visit func(key, value []byte) error) error {
	return g.Ascend(first, func(key []byte) bool { return bytes.Compare(key, last) <= 0 }, living(visit))
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
	v, err := g.Get(key)
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
	v, err := g.Get(seqKey(keyCheckpoint, seq))
	if err != nil {
		return nil, err
	}
	return g.parseCheckpoint(seq, v)
}

func (g *generation) parseCheckpoint(seq uint64, value []byte) (*Checkpoint, error) {
	r, _ := ParseRecord(value)
	if r.Checkpoint == nil {
		return nil, g.damaged(fmt.Sprintf("checkpoint %d", seq))
	}
	r.Checkpoint.Seq = seq
	return r.Checkpoint, nil
}

// sequenced is the value of a session or a binding.
func sequenced(seq uint64, r Record) []byte { return r.Append(appendSeq(nil, seq)) }

// parseSequenced reads what sequenced wrote; what it would not write is a record with no field set.
func parseSequenced(value []byte) (seq uint64, r Record) {
	if len(value) < 8 {
		return 0, Record{}
	}
	r, _ = ParseRecord(value[8:])
	return binary.BigEndian.Uint64(value), r
}

func (g *generation) session(value []byte) (sessionAt, error) {
	seq, r := parseSequenced(value)
	if r.Session == nil {
		return sessionAt{}, g.damaged("session")
	}
	return sessionAt{seq, *r.Session}, nil
}

// openCurrent opens the generation that the pointer names; nil when there is
// none. A *DamagedError says that it does not open.
func openCurrent(dir string) (*generation, error) {
	var before []byte
	for {
		data, err := table.ReadSmall(filepath.Join(dir, table.PointerFile))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		g, err := openGeneration(dir, data)
		if err == nil {
			return g, nil
		}
		// A fold may have replaced the generation, and removed this one, between two reads.
		if bytes.Equal(data, before) {
			return nil, &DamagedError{Generation: dir, What: err.Error()}
		}
		before = data
	}
}

func openGeneration(dir string, pointer []byte) (g *generation, err error) {
	number, sum, err := table.ParsePointer(pointer)
	if err != nil {
		return nil, err
	}
	g = &generation{name: filepath.Join(dir, table.GenerationName(number)), pointer: pointer}
	// Nothing is read through a link: neither the directory is one nor a file of it.
	if info, err := os.Lstat(g.name); err != nil || !info.IsDir() {
		return nil, errors.Join(errors.New("its directory is not there"), err)
	}
	data, err := table.ReadSmall(filepath.Join(g.name, table.LayoutFile))
	if err != nil {
		return nil, err
	}
	if xxhash.Sum64(data) != sum {
		return nil, errors.New("another layout than the pointer's")
	}
	if g.layout, err = table.ParseLayout(data); err != nil {
		return nil, err
	}
	if g.Runs, err = table.OpenRuns(g.name, g.layout.Runs); err != nil {
		return nil, err
	}
	v, err := g.Get([]byte{keyMeta})
	if err == nil {
		var ok bool
		if g.meta, ok = parseMeta(v); !ok {
			err = errors.New("no record of how far it is folded")
		}
	}
	if err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}
