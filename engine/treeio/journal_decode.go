package treeio

import (
	"math/bits"
	"strings"

	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/manifest"
	"github.com/rewind-cli/rewind/manifest/wire"
)

// journalDecoder reads the fields of a frame.
type journalDecoder struct{ wire.Decoder }

func (d *journalDecoder) fixed64() uint64 { return bits.ReverseBytes64(d.Uint64()) }

func (d *journalDecoder) varint() int64 {
	u := d.Uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// path takes only what rootfs would open: a journal could be forged.
func (d *journalDecoder) path() string {
	p := d.Text()
	if d.Err == nil && (p == "" || rootfs.CheckPath(p) != nil) {
		d.Fail("bad path")
	}
	for name := range strings.SplitSeq(p, "/") {
		if rootfs.IsReserved(name) {
			d.Fail("reserved name in a path")
		}
	}
	return p
}

func (d *journalDecoder) change() (c Change) {
	c.Action = Action(d.Byte())
	if c.Action < Create || c.Action > Mode {
		d.Fail("unknown action")
	}
	c.Path = d.path()
	_, name := rootfs.Split(c.Path)
	c.Before = d.entry(name)
	c.After = d.entry(name)
	c.info = d.info()
	if (c.Action == Create) != (c.Before.Kind == 0) || (c.Action == Delete) != (c.After.Kind == 0) {
		d.Fail("action and entries disagree")
	}
	return c
}

func (d *journalDecoder) entry(name string) (e manifest.Entry) {
	k := manifest.Kind(d.Byte())
	if k == 0 || d.Err != nil {
		return e
	}
	if k > manifest.Subdir {
		d.Fail("unknown kind")
		return e
	}
	e = manifest.Entry{Name: name, Kind: k}
	e.Mode = uint32(d.AtMost(0o7777))
	e.Size = d.Uvarint()
	e.Files = d.Uvarint()
	e.ID = d.ID()
	e.Target = d.Text()
	return e
}

func (d *journalDecoder) info() (i rootfs.Info) {
	k := rootfs.FileKind(d.Byte())
	if k == 0 || d.Err != nil {
		return i
	}
	if k > rootfs.Device {
		d.Fail("unknown kind")
		return i
	}
	return rootfs.Info{
		Kind: k, Mode: uint32(d.AtMost(0o7777)), Size: int64(d.Uvarint()), Mtime: int64(d.Uvarint()),
		Dev: d.Uvarint(), Ino: d.Uvarint(),
	}
}
