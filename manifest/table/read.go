package table

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime/debug"
	"slices"

	"github.com/cespare/xxhash/v2"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"
	"github.com/dgraph-io/ristretto/v2/z"

	"github.com/rewind-cli/rewind/cas/vfs"
)

// The tables are Badger's, read through Badger's table package, one level below badger.DB.
// Badger's own Open ends the process on a truncated table (log.Fatal), leaves out a table whose checksum is
// wrong, and its iterators end early, without an error, at a damaged block; it starts eight goroutines and
// two caches besides. A short-lived reader that must never pass damage on needs the opposite: here, the
// damage of any byte is an error, and opening costs a few file maps.

// blockSize is the size of a block before compression. Larger ones compress better (16 KiB: 4 %
// less than 4 KiB over 79,000 paths) and cost every look-up their decompression.
const blockSize = 4 << 10

func tableOptions() table.Options {
	return table.Options{
		ReadOnly:             true,
		TableSize:            8 << 20,
		BlockSize:            blockSize,
		Compression:          options.ZSTD,
		ZSTDCompressionLevel: 3,
		ChkMode:              options.OnBlockRead,
		// A key that is not in the table, such as the id of a new checkpoint, is answered by the Bloom filter: no block is read.
		BloomFalsePositive: 0.01,
	}
}

// File is what a generation says of one of its tables. A table ends with its index, and that with a
// footer: the index's length and checksum. The blocks have checksums of their own.
type File struct {
	id     uint64
	size   uint64
	footer uint64 // where the footer begins
	sum    uint64 // xxhash of the footer: with it right, Badger finds all other damage without ending the process
}

func (f File) Name() string { return table.IDToFilename(f.id) }

// openTable is an open table; its blocks are checked as they are read.
type openTable struct {
	*table.Table
	File
	Dir               string
	smallest, biggest []byte // keys without version
}

func (t *openTable) damaged(what any) error {
	return &DamagedError{Generation: t.Dir, What: fmt.Sprintf("table %s: %v", t.Name(), what)}
}

// guard turns the panics of a damaged table, and a fault of its map, into an error.
func guard(err *error) func() {
	before := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(before)
		if r := recover(); r != nil {
			*err = fmt.Errorf("%v", r)
		}
	}
}

func openTableFile(dir string, f File) (t *openTable, err error) {
	name := filepath.Join(dir, f.Name())
	file, info, err := vfs.OpenRegular(name, vfs.NoFollow)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if uint64(info.Size()) != f.size || f.footer >= f.size || f.size > math.MaxInt32 {
		return nil, fmt.Errorf("%d bytes instead of %d", info.Size(), f.size)
	}
	data, err := z.Mmap(file, false, info.Size())
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, z.Munmap(data))
		}
	}()
	defer guard(&err)()
	if footer, err := footerOf(data); err != nil || footer != f.footer || xxhash.Sum64(data[footer:]) != f.sum {
		return nil, errors.New("damaged footer")
	}
	tab, err := table.OpenTable(&z.MmapFile{Data: data, Fd: file}, tableOptions())
	if err != nil {
		return nil, err
	}
	return &openTable{
		Dir:      dir,
		Table:    tab,
		File:     f,
		smallest: bytes.Clone(y.ParseKey(tab.Smallest())),
		biggest:  bytes.Clone(y.ParseKey(tab.Biggest())),
	}, nil
}

// lacks reports whether a table surely does not have the key of a hash.
func (t *openTable) lacks(hash uint32) (lacks bool, err error) {
	defer func() {
		if err != nil {
			err = t.damaged(err)
		}
	}()
	defer guard(&err)()
	return t.DoesNotHave(hash), nil
}

func (t *openTable) close() error { return z.Munmap(t.Data) }

// Run is tables in key order that do not overlap: what one fold wrote, or a
// merge of several. It holds a key at most once.
type Run []*openTable

func (r Run) Size() (bytes uint64) {
	for _, t := range r {
		bytes += t.size
	}
	return bytes
}

// cursor goes through the keys of a run. After an error it is at no key.
type cursor struct {
	all   Run
	run   Run // tables not yet finished, the current one first
	it    *table.Iterator
	key   []byte
	value []byte
	low   []byte // no key of the run lies from here to key; nil: it was nowhere yet
	err   error
}

// to brings the cursor to the first key that is not before first: step by step where it can be near, since what is in
// the same block need not be decompressed again.
func (c *cursor) to(first []byte) {
	if c.err == nil && c.low != nil && bytes.Compare(c.low, first) <= 0 {
		for walked := 0; walked <= blockSize; c.next() {
			if !c.valid() || bytes.Compare(c.key, first) >= 0 {
				return
			}
			walked += len(c.key) + len(c.value)
		}
	}
	c.seek(first)
}

func (c *cursor) seek(first []byte) {
	i, _ := slices.BinarySearchFunc(c.all, first, func(t *openTable, first []byte) int {
		return bytes.Compare(t.biggest, first)
	})
	if c.it != nil && (i == len(c.all) || c.all[i] != c.run[0]) {
		c.close()
	}
	c.run, c.key, c.value, c.err = c.all[i:], nil, nil, nil
	c.low = append(c.low[:0], first...)
	c.move(func(it *table.Iterator) { it.Seek(y.KeyWithTs(first, math.MaxUint64)) })
}

func (c *cursor) valid() bool { return c.err == nil && len(c.run) > 0 }

func (c *cursor) next() {
	c.low = append(append(c.low[:0], c.key...), 0)
	c.move((*table.Iterator).Next)
}

// move steps with step, and on to the next table where this one ends.
func (c *cursor) move(step func(*table.Iterator)) {
	var err error
	defer func() {
		if err != nil {
			c.err = c.run[0].damaged(err)
		}
	}()
	defer guard(&err)()
	for len(c.run) > 0 {
		t := c.run[0]
		if c.it == nil {
			c.it = t.NewIterator(table.NOCACHE)
		}
		step(c.it)
		if c.it.Valid() {
			c.key, c.value = y.ParseKey(c.it.Key()), c.it.Value().Value
			return
		}
		// The iterator ends alike at the end and at a block that it cannot read.
		if c.key == nil || !bytes.Equal(c.key, t.biggest) {
			err = errors.New("damaged block")
			return
		}
		c.close()
		c.run = c.run[1:]
		step = (*table.Iterator).Rewind
	}
}

func (c *cursor) close() {
	if c.it != nil {
		// An iterator of a table that stays open has nothing to report.
		_ = c.it.Close()
		c.it = nil
	}
}

// Runs are all runs of a generation, the oldest first. A newer run's value hides an older one's.
type Runs []Run

// Ascend visits each key from first on, as long as they are within, once, with its newest value. Key and
// value are the visitor's until it returns.
func (rs Runs) Ascend(first []byte, within func(key []byte) bool, visit func(key, value []byte) error) error {
	r := rs.NewReader()
	defer r.Close()
	return r.Ascend(first, within, visit)
}

func (rs Runs) Close() error {
	var errs []error
	for _, r := range rs {
		for _, t := range r {
			errs = append(errs, t.close())
		}
	}
	return errors.Join(errs...)
}

// DamagedError says that a generation does not hold what it should. The
// database is only a reading of the log: it is dropped and folded again.
type DamagedError struct {
	Generation string // directory
	What       string
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("database generation %s is damaged: %s", e.Generation, e.What)
}
