package manifest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"

	"github.com/cespare/xxhash/v2"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/pb"
	"google.golang.org/protobuf/proto"
)

// Files of the database's directory, and of a generation's directory in it.
const (
	pointerFile    = "current" // which generation
	pointerNewFile = "current.new"
	lockFile       = "lock"       // held by the fold at work
	layoutFile     = "GENERATION" // runs and tables, with checksums
	badgerManifest = "MANIFEST"   // the same for Badger
)

// maxRuns keeps every run on a level of its own: Badger has seven.
const maxRuns = 6

// layout is a generation's tables.
type layout struct {
	version uint64 // Badger's, of the newest run
	nextID  uint64 // of the next table
	runs    [][]tableFile
}

const layoutFormat = 1

// append appends the canonical bytes: they end with a checksum.
func (l *layout) append(dst []byte) []byte {
	from := len(dst)
	dst = append(dst, layoutFormat)
	dst = binary.AppendUvarint(dst, l.version)
	dst = binary.AppendUvarint(dst, l.nextID)
	dst = binary.AppendUvarint(dst, uint64(len(l.runs)))
	for _, r := range l.runs {
		dst = binary.AppendUvarint(dst, uint64(len(r)))
		for _, f := range r {
			dst = binary.AppendUvarint(dst, f.id)
			dst = binary.AppendUvarint(dst, f.size)
			dst = binary.AppendUvarint(dst, f.footer)
			dst = appendSeq(dst, f.sum)
		}
	}
	return append(dst[:from], sealLayout(dst[from:])...)
}

func sealLayout(body []byte) []byte {
	return appendSeq(body[:len(body):len(body)], xxhash.Sum64(body))
}

func parseLayout(data []byte) (*layout, error) {
	d := decoder{what: "generation", data: string(data)}
	if len(data) < 8 || binary.BigEndian.Uint64(data[len(data)-8:]) != xxhash.Sum64(data[:len(data)-8]) {
		d.fail("checksum does not match")
		return nil, d.err
	}
	d.data = d.data[:len(data)-8]
	if d.bytes(1) != string([]byte{layoutFormat}) {
		d.fail("unknown format")
	}
	l := &layout{version: d.uvarint(), nextID: d.uvarint()}
	n := d.uvarint()
	if n > maxRuns {
		d.fail("too many runs")
	}
	for range n {
		if d.err != nil {
			break
		}
		var r []tableFile
		for left := d.uvarint(); left > 0 && d.err == nil; left-- {
			r = append(r, tableFile{id: d.uvarint(), size: d.uvarint(), footer: d.uvarint(), sum: d.uint64()})
		}
		l.runs = append(l.runs, r)
	}
	if d.more() {
		d.fail("bytes after the end")
	}
	return l, d.err
}

// badgerManifest is the bytes of Badger's MANIFEST: its magic and version, then one
// set of changes with length and checksum. The oldest run is on the last level.
func (l *layout) badgerManifest() ([]byte, error) {
	const lastLevel = 6
	var set pb.ManifestChangeSet
	for i, r := range l.runs {
		for _, f := range r {
			set.Changes = append(set.Changes, &pb.ManifestChange{
				Id:          f.id,
				Op:          pb.ManifestChange_CREATE,
				Level:       uint32(lastLevel - i),
				Compression: uint32(options.ZSTD),
			})
		}
	}
	body, err := proto.Marshal(&set)
	if err != nil {
		return nil, err
	}
	data := []byte("Bdgr\x00\x00\x00\x08")
	data = binary.BigEndian.AppendUint32(data, uint32(len(body)))
	data = binary.BigEndian.AppendUint32(data, crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
	return append(data, body...), nil
}

// pointer is the content of the pointer file: the generation's number, and the checksum of its
// layout, so that one is never read with the other's.
func pointer(number uint64, layout []byte) []byte {
	return pointerOf(number, xxhash.Sum64(layout))
}

func pointerOf(number, sum uint64) []byte {
	return fmt.Appendf(nil, "%s %016x\n", generationName(number), sum)
}

func parsePointer(data []byte) (number, sum uint64, err error) {
	if len(data) <= 64 {
		_, err = fmt.Sscanf(string(data), "%d %x", &number, &sum)
	}
	if err != nil || !bytes.Equal(data, pointerOf(number, sum)) {
		return 0, 0, &FormatError{What: "pointer to the generation", Reason: "damaged"}
	}
	return number, sum, nil
}

func generationName(number uint64) string { return fmt.Sprintf("%08d", number) }

// openCurrent opens the generation that the pointer names; nil when there is
// none. A *DamagedError says that it does not open.
func openCurrent(dir string) (*generation, error) {
	var before []byte
	for {
		data, err := readSmall(join(dir, pointerFile))
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

// readSmall reads a file of at most 1 MiB: layouts and pointers are far smaller.
func readSmall(file string) ([]byte, error) {
	info, err := os.Lstat(file)
	if err != nil {
		return nil, err
	}
	if info.Size() > 1<<20 || !info.Mode().IsRegular() {
		return nil, &FormatError{What: file, Reason: "not a small file"}
	}
	return os.ReadFile(file)
}

func openGeneration(dir string, pointer []byte) (g *generation, err error) {
	number, sum, err := parsePointer(pointer)
	if err != nil {
		return nil, err
	}
	g = &generation{name: join(dir, generationName(number)), pointer: pointer}
	// Nothing is read through a link: neither the directory is one nor a file of it.
	if info, err := os.Lstat(g.name); err != nil || !info.IsDir() {
		return nil, errors.Join(errors.New("its directory is not there"), err)
	}
	data, err := readSmall(join(g.name, layoutFile))
	if err != nil {
		return nil, err
	}
	if xxhash.Sum64(data) != sum {
		return nil, errors.New("another layout than the pointer's")
	}
	if g.layout, err = parseLayout(data); err != nil {
		return nil, err
	}
	if g.runs, err = openRuns(g.name, g.layout.runs); err != nil {
		return nil, err
	}
	v, err := g.get([]byte{keyMeta})
	if err == nil {
		var ok bool
		if g.meta, ok = parseMeta(v); !ok {
			err = errors.New("no record of how far it is folded")
		}
	}
	if err != nil {
		return nil, errors.Join(err, g.close())
	}
	return g, nil
}

func openRuns(dir string, files [][]tableFile) (rs runs, err error) {
	for _, r := range files {
		var open run
		for _, f := range r {
			t, err := openTableFile(dir, f)
			if err != nil {
				return nil, errors.Join(fmt.Errorf("table %s: %w", f.name(), err), append(rs, open).close())
			}
			open = append(open, t)
		}
		rs = append(rs, open)
	}
	return rs, nil
}
