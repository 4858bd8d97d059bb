package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/cespare/xxhash/v2"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/pb"
	"google.golang.org/protobuf/proto"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/manifest/wire"
)

// Files of the database's directory, and of a generation's directory in it.
const (
	PointerFile    = "current" // which generation
	PointerNewFile = "current.new"
	LockFile       = "lock"       // held by the fold at work
	LayoutFile     = "GENERATION" // runs and tables, with checksums
	BadgerName     = "MANIFEST"   // the same for Badger
)

// MaxRuns keeps every run on a level of its own: Badger has seven.
const MaxRuns = 6

// Layout is a generation's tables.
type Layout struct {
	Version uint64 // Badger's, of the newest run
	NextID  uint64 // of the next table
	Runs    [][]File
}

const layoutFormat = 1

// Append appends the canonical bytes: they end with a checksum.
func (l *Layout) Append(dst []byte) []byte {
	from := len(dst)
	dst = append(dst, layoutFormat)
	dst = binary.AppendUvarint(dst, l.Version)
	dst = binary.AppendUvarint(dst, l.NextID)
	dst = binary.AppendUvarint(dst, uint64(len(l.Runs)))
	for _, r := range l.Runs {
		dst = binary.AppendUvarint(dst, uint64(len(r)))
		for _, f := range r {
			dst = binary.AppendUvarint(dst, f.id)
			dst = binary.AppendUvarint(dst, f.size)
			dst = binary.AppendUvarint(dst, f.footer)
			dst = binary.BigEndian.AppendUint64(dst, f.sum)
		}
	}
	return append(dst[:from], sealLayout(dst[from:])...)
}

func sealLayout(body []byte) []byte {
	return binary.BigEndian.AppendUint64(body[:len(body):len(body)], xxhash.Sum64(body))
}

func ParseLayout(data []byte) (*Layout, error) {
	d := wire.Decoder{What: "generation", Data: string(data)}
	if len(data) < 8 || binary.BigEndian.Uint64(data[len(data)-8:]) != xxhash.Sum64(data[:len(data)-8]) {
		d.Fail("checksum does not match")
		return nil, d.Err
	}
	d.Data = d.Data[:len(data)-8]
	if d.Byte() != layoutFormat {
		d.Fail("unknown format")
	}
	l := &Layout{Version: d.Uvarint(), NextID: d.Uvarint()}
	n := d.Uvarint()
	if n > MaxRuns {
		d.Fail("too many runs")
	}
	for range n {
		if d.Err != nil {
			break
		}
		var r []File
		for left := d.Uvarint(); left > 0 && d.Err == nil; left-- {
			r = append(r, File{id: d.Uvarint(), size: d.Uvarint(), footer: d.Uvarint(), sum: d.Uint64()})
		}
		l.Runs = append(l.Runs, r)
	}
	if d.More() {
		d.Fail("bytes after the end")
	}
	return l, d.Err
}

// BadgerManifest is the bytes of Badger's MANIFEST: its magic and version, then one
// set of changes with length and checksum. The oldest run is on the last level.
func (l *Layout) BadgerManifest() ([]byte, error) {
	const lastLevel = 6
	var set pb.ManifestChangeSet
	for i, r := range l.Runs {
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

// PointerTo is the content of the pointer file: the generation's number, and the checksum of its
// layout, so that one is never read with the other's.
func PointerTo(number uint64, layout []byte) []byte {
	return PointerOf(number, xxhash.Sum64(layout))
}

func PointerOf(number, sum uint64) []byte {
	return fmt.Appendf(nil, "%s %016x\n", GenerationName(number), sum)
}

func ParsePointer(data []byte) (number, sum uint64, err error) {
	if len(data) <= 64 {
		_, err = fmt.Sscanf(string(data), "%d %x", &number, &sum)
	}
	if err != nil || !bytes.Equal(data, PointerOf(number, sum)) {
		return 0, 0, &wire.FormatError{What: "pointer to the generation", Reason: "damaged"}
	}
	return number, sum, nil
}

func GenerationName(number uint64) string { return fmt.Sprintf("%08d", number) }

// ReadSmall reads a file of at most 1 MiB: layouts and pointers are far smaller.
func ReadSmall(file string) ([]byte, error) {
	f, info, err := vfs.OpenRegular(file, vfs.NoFollow)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > 1<<20 {
		return nil, &wire.FormatError{What: file, Reason: "not a small file"}
	}
	return io.ReadAll(f)
}

func OpenRuns(dir string, files [][]File) (rs Runs, err error) {
	for _, r := range files {
		var open Run
		for _, f := range r {
			t, err := openTableFile(dir, f)
			if err != nil {
				return nil, errors.Join(fmt.Errorf("table %s: %w", f.Name(), err), append(rs, open).Close())
			}
			open = append(open, t)
		}
		rs = append(rs, open)
	}
	return rs, nil
}
