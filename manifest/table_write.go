package manifest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/cespare/xxhash/v2"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"
)

// pending is keys and values on their way into a run, in one piece of memory.
type pending struct {
	data    []byte
	entries []pendingEntry
}

type pendingEntry struct {
	at         int
	key, value uint32 // lengths
}

func (p *pending) add(key, value []byte) {
	p.entries = append(p.entries, pendingEntry{len(p.data), uint32(len(key)), uint32(len(value))})
	p.data = append(append(p.data, key...), value...)
}

func (p *pending) key(e pendingEntry) []byte { return p.data[e.at : e.at+int(e.key)] }

func (p *pending) value(e pendingEntry) []byte {
	at := e.at + int(e.key)
	return p.data[at : at+int(e.value)]
}

// truncate takes back what was added since there were n entries.
func (p *pending) truncate(n int) {
	if n < len(p.entries) {
		p.data = p.data[:p.entries[n].at]
		p.entries = p.entries[:n]
	}
}

// ascend visits the entries in order of their keys, which must differ.
func (p *pending) ascend(visit func(key, value []byte) error) error {
	slices.SortFunc(p.entries, func(a, b pendingEntry) int { return bytes.Compare(p.key(a), p.key(b)) })
	for _, e := range p.entries {
		if err := visit(p.key(e), p.value(e)); err != nil {
			return err
		}
	}
	return nil
}

// tableWriter writes sorted keys into tables of a directory.
type tableWriter struct {
	fs      fileSystem
	dir     string
	nextID  uint64 // of the next table
	version uint64 // Badger's: higher in newer runs
	expect  uint64 // about the bytes of the next run, so that memory is made for no more
	builder *table.Builder
	files   []tableFile
}

func (w *tableWriter) add(key, value []byte) error {
	if w.builder == nil {
		o := tableOptions()
		o.TableSize = min(o.TableSize, w.expect+blockSize)
		w.builder = table.NewTableBuilder(o)
	}
	w.builder.Add(y.KeyWithTs(key, w.version), y.ValueStruct{Value: value}, 0)
	if w.builder.ReachedCapacity() {
		return w.flush()
	}
	return nil
}

// flush writes and fsyncs the table that was being built.
func (w *tableWriter) flush() error {
	if w.builder == nil {
		return nil
	}
	data := w.builder.Finish()
	w.discard()
	footer, err := footerOf(data)
	if err != nil {
		return err
	}
	f := tableFile{id: w.nextID, size: uint64(len(data)), footer: footer, sum: xxhash.Sum64(data[footer:])}
	w.nextID++
	if err := w.fs.writeFile(join(w.dir, f.name()), data); err != nil {
		return err
	}
	w.files = append(w.files, f)
	return nil
}

// discard drops the table that was being built.
func (w *tableWriter) discard() {
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
