package restore

import (
	"encoding/binary"
	"strings"

	"rewind/engine/rootfs"
	"rewind/manifest"
)

// decoder reads the fields of a frame. After the first failure it gives zeros.
type decoder struct {
	data []byte
	base int // offset of the frame's payload, for messages
	err  error
}

func (d *decoder) fail(reason string) {
	if d.err == nil {
		d.err = &JournalError{Offset: d.base, Reason: reason}
		d.data = nil
	}
}

func (d *decoder) take(n uint64) []byte {
	if uint64(len(d.data)) < n {
		d.fail("frame too short")
		return nil
	}
	b := d.data[:n]
	d.data = d.data[n:]
	return b
}

func (d *decoder) byte() byte {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) fixed64() uint64 {
	if b := d.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// uvarint takes the shortest form only: what parses marshals to the same bytes.
func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.data)
	if n <= 0 || n > 1 && d.data[n-1] == 0 {
		d.fail("bad number")
		return 0
	}
	d.data = d.data[n:]
	return v
}

func (d *decoder) varint() int64 {
	u := d.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

func (d *decoder) atMost(limit uint64) uint64 {
	v := d.uvarint()
	if v > limit {
		d.fail("number too large")
		return 0
	}
	return v
}

func (d *decoder) text() string { return string(d.take(d.uvarint())) }

// path takes only what rootfs would open: a journal could be forged.
func (d *decoder) path() string {
	p := d.text()
	if d.err == nil && (p == "" || rootfs.CheckPath(p) != nil) {
		d.fail("bad path")
	}
	for name := range strings.SplitSeq(p, "/") {
		if rootfs.IsReserved(name) {
			d.fail("reserved name in a path")
		}
	}
	return p
}

func (d *decoder) entry(name string) (e manifest.Entry) {
	k := manifest.Kind(d.byte())
	if k == 0 || d.err != nil {
		return e
	}
	if k > manifest.Subdir {
		d.fail("unknown kind")
		return e
	}
	e = manifest.Entry{Name: name, Kind: k}
	e.Mode = uint32(d.atMost(0o7777))
	e.Size = d.uvarint()
	e.Files = d.uvarint()
	copy(e.ID[:], d.take(uint64(len(e.ID))))
	e.Target = d.text()
	return e
}

func (d *decoder) info() (i rootfs.Info) {
	k := rootfs.Kind(d.byte())
	if k == 0 || d.err != nil {
		return i
	}
	if k > rootfs.Device {
		d.fail("unknown kind")
		return i
	}
	return rootfs.Info{
		Kind: k, Mode: uint32(d.atMost(0o7777)), Size: int64(d.uvarint()), Mtime: int64(d.uvarint()),
		Dev: d.uvarint(), Ino: d.uvarint(),
	}
}
