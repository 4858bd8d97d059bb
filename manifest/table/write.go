package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"path/filepath"
	"slices"

	"github.com/cespare/xxhash/v2"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"
)

// Pending is keys and values on their way into a run, in one piece of memory.
type Pending struct {
	Data    []byte
	Entries []pendingEntry
}

type pendingEntry struct {
	at         int
	key, value uint32 // lengths
}

func (p *Pending) Add(key, value []byte) {
	p.Entries = append(p.Entries, pendingEntry{len(p.Data), uint32(len(key)), uint32(len(value))})
	p.Data = append(append(p.Data, key...), value...)
}

func (p *Pending) key(e pendingEntry) []byte { return p.Data[e.at : e.at+int(e.key)] }

func (p *Pending) value(e pendingEntry) []byte {
	at := e.at + int(e.key)
	return p.Data[at : at+int(e.value)]
}

// Truncate takes back what was added since there were n entries.
func (p *Pending) Truncate(n int) {
	if n < len(p.Entries) {
		p.Data = p.Data[:p.Entries[n].at]
		p.Entries = p.Entries[:n]
	}
}

// Ascend visits the entries in order of their keys, which must differ.
func (p *Pending) Ascend(visit func(key, value []byte) error) error {
	slices.SortFunc(p.Entries, func(a, b pendingEntry) int { return bytes.Compare(p.key(a), p.key(b)) })
	for _, e := range p.Entries {
		if err := visit(p.key(e), p.value(e)); err != nil {
			return err
		}
	}
	return nil
}

// Writer writes sorted keys into tables of a directory.
type Writer struct {
	Files   Files
	Dir     string
	NextID  uint64 // of the next table
	Version uint64 // Badger's: higher in newer runs
	Expect  uint64 // about the bytes of the next run, so that memory is made for no more
	builder *table.Builder
	Made    []File
}

func (w *Writer) Add(key, value []byte) error {
	if w.builder == nil {
		o := tableOptions()
		o.TableSize = min(o.TableSize, w.Expect+blockSize)
		w.builder = table.NewTableBuilder(o)
	}
	w.builder.Add(y.KeyWithTs(key, w.Version), y.ValueStruct{Value: value}, 0)
	if w.builder.ReachedCapacity() {
		return w.Flush()
	}
	return nil
}

// Flush writes and fsyncs the table that was being built.
func (w *Writer) Flush() error {
	if w.builder == nil {
		return nil
	}
	data := w.builder.Finish()
	w.Discard()
	footer, err := footerOf(data)
	if err != nil {
		return err
	}
	f := File{id: w.NextID, size: uint64(len(data)), footer: footer, sum: xxhash.Sum64(data[footer:])}
	w.NextID++
	if err := w.Files.WriteFile(filepath.Join(w.Dir, f.Name()), data); err != nil {
		return err
	}
	w.Made = append(w.Made, f)
	return nil
}

// Discard drops the table that was being built.
func (w *Writer) Discard() {
	if w.builder != nil {
		w.builder.Close()
		w.builder = nil
	}
}

// footerOf is where a table's footer begins: the length of the index before it (four bytes,
// big-endian), a checksum of the index, and the checksum's length. The lengths are checked.
func footerOf(data []byte) (uint64, error) {
	end := len(data) - 4
	if end >= 4 {
		if sum := uint64(binary.BigEndian.Uint32(data[end:])); sum <= uint64(end-4) {
			footer := end - int(sum) - 4
			if index := uint64(binary.BigEndian.Uint32(data[footer:])); index <= uint64(footer) {
				return uint64(footer), nil
			}
		}
	}
	return 0, errors.New("table without a footer")
}
