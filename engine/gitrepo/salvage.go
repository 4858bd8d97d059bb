package gitrepo

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha1" // git's own checksum
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"hash/crc32"
	"io"
	"math"
	"slices"
)

// packed is an object of a pack that is being salvaged.
type packed struct {
	at, end int64 // its bytes in the pack
	id      string
	sum     uint32 // of its bytes, CRC-32
	base    string // the id of the object that it is a delta of; "" for none
	size    []byte // the bytes that say its type and its size
	head    int64  // the length of these, and of what names the base
	whole   bool
}

// SalvagePack writes a pack with the objects of a damaged one that are whole: their bytes have the checksum that the index of the
// pack says, and if they are deltas, so have those of their bases. base is the path of both files without a suffix, idSize the
// length of an id. It gives the ids of the others, in order, and how many are whole. Errors: *FormatError where the index has no such
// checksums (version 1), of the file system.
func SalvagePack(base string, idSize int, to io.Writer) (lost []string, kept int, err error) {
	list, err := packEntries(base+".idx", idSize)
	if err != nil {
		return nil, 0, err
	}
	f, length, err := openRegular(base+".pack", math.MaxInt64, 0)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close() // read only: nothing can be lost
	findWhole(f, length-int64(idSize), list)
	for _, o := range list {
		if o.whole {
			kept++
		} else {
			lost = append(lost, hex.EncodeToString([]byte(o.id)))
		}
	}
	slices.Sort(lost)
	return lost, kept, writePack(f, list, kept, idSize, to)
}

// packEntries reads the index of a pack: its objects by where they begin.
func packEntries(file string, idSize int) (list []*packed, err error) {
	const large = 1 << 31 // marks an offset that is in the table behind
	data, err := readFile(file, 1<<31)
	if err != nil {
		return nil, err
	}
	const fanout = 8 + 256*4
	bad := &FormatError{file, "not the index of a pack with checksums"}
	if len(data) < fanout || !bytes.HasPrefix(data, []byte("\xfftOc\x00\x00\x00\x02")) {
		return nil, bad
	}
	n := int(binary.BigEndian.Uint32(data[fanout-4:]))
	if (len(data)-fanout)/(idSize+8) < n {
		return nil, bad
	}
	ids, sums := data[fanout:], data[fanout+n*idSize:]
	places, behind := sums[n*4:], sums[n*8:]
	for i := range n {
		at := int64(binary.BigEndian.Uint32(places[i*4:]))
		if at&large != 0 {
			if at = (at &^ large) * 8; at+8 > int64(len(behind)) {
				return nil, bad
			}
			at = int64(binary.BigEndian.Uint64(behind[at:]) & math.MaxInt64)
		}
		list = append(list, &packed{at: at, id: string(ids[i*idSize : (i+1)*idSize]), sum: binary.BigEndian.Uint32(sums[i*4:])})
	}
	slices.SortFunc(list, func(a, b *packed) int { return cmp.Compare(a.at, b.at) })
	return list, nil
}

// findWhole reads each object of a pack, whose objects end at end. A base can come after its delta.
func findWhole(f io.ReaderAt, end int64, list []*packed) {
	begins, byID := map[int64]*packed{}, map[string]*packed{}
	buf := make([]byte, 256<<10)
	for i, o := range list {
		if o.end = end; i+1 < len(list) {
			o.end = min(end, list[i+1].at)
		}
		begins[o.at], byID[o.id] = o, o
		sum := crc32.NewIEEE()
		n, err := io.CopyBuffer(sum, io.NewSectionReader(f, o.at, max(0, o.end-o.at)), buf)
		o.whole = err == nil && n > 0 && n == o.end-o.at && sum.Sum32() == o.sum && o.readHead(f, begins)
	}
	for again := true; again; {
		again = false
		for _, o := range list {
			if base := byID[o.base]; o.whole && o.base != "" && (base == nil || !base.whole) {
				o.whole, again = false, true
			}
		}
	}
}

// readHead reads what is in front of an object's content.
func (o *packed) readHead(f io.ReaderAt, begins map[int64]*packed) bool {
	head := make([]byte, min(64, o.end-o.at)) // more than the longest one
	if _, err := f.ReadAt(head, o.at); err != nil {
		return false
	}
	r := bytes.NewReader(head)
	typ, _, ok := packHeader(r)
	if !ok {
		return false
	}
	o.size = head[:len(head)-r.Len()]
	rest := head[len(o.size):]
	n := 0
	switch typ {
	case offsetDelta:
		var back uint64
		if back, n = offsetVarint(rest); n == 0 || back > uint64(o.at) || begins[o.at-int64(back)] == nil {
			return false
		}
		o.base = begins[o.at-int64(back)].id
	case refDelta:
		if n = len(o.id); n > len(rest) {
			return false
		}
		o.base = string(rest[:n])
	}
	o.head = int64(len(o.size) + n)
	return true
}

// writePack writes the objects that are whole. A delta names its base by its id: where that is, it is not any more.
func writePack(f io.ReaderAt, list []*packed, count, idSize int, to io.Writer) error {
	var sum hash.Hash = sha1.New()
	if idSize == sha256.Size {
		sum = sha256.New()
	}
	buffered := bufio.NewWriter(to)
	w := io.MultiWriter(buffered, sum)
	write := func(data []byte) error { _, err := w.Write(data); return err }
	err := write(binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(count)))
	for _, o := range list {
		if !o.whole || err != nil {
			continue
		}
		if o.base != "" {
			o.size[0] = o.size[0]&^0x70 | byte(refDelta)<<4
		}
		if err = write(append(o.size, o.base...)); err == nil {
			_, err = io.Copy(w, io.NewSectionReader(f, o.at+o.head, o.end-o.at-o.head))
		}
	}
	if err == nil {
		_, err = buffered.Write(sum.Sum(nil))
	}
	if err == nil {
		err = buffered.Flush()
	}
	return err
}
