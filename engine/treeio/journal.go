package treeio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/rootfs"
	"github.com/rewind-cli/rewind/manifest"
	"github.com/rewind-cli/rewind/manifest/wire"
)

// The journal is one file of frames: uvarint length, payload, 8 bytes of
// xxhash64 over both. The payload's first byte is the frame's type. It counts
// only from the sealed frame on: until that is durable, nothing is touched.
const (
	frameHeader    = 1 // version, time, random id of the temporary names, note
	frameChange    = 2
	frameWritable  = 3 // a directory made writable for the time
	frameSealed    = 4 // number of frames before it
	frameWritten   = 5 // every temporary file is whole and durable
	frameCommitted = 6 // the operation is recorded: from here on only forward; the changes that were given up
	frameNote      = 7 // a later note: it replaces the one before it

	journalName    = "journal"
	journalVersion = 1
	maxFrame       = 1 << 20
)

// JournalError says that a journal cannot be read.
type JournalError struct {
	Offset int
	Reason string
}

func (e *JournalError) Error() string {
	return fmt.Sprintf("restore journal, offset %d: %s", e.Offset, e.Reason)
}

// record is what a journal holds.
type record struct {
	time      time.Time
	random    uint64
	note      []byte
	later     []byte   // the last of the later notes, nil for none
	changes   []Change // path, action, before, after, info
	writable  []modeOf
	sealed    bool
	written   bool
	committed bool
	size      int // bytes of the frames that were read
}

func (r *record) tempName(i int) string {
	return rootfs.Reserved(fmt.Sprintf("%016x-%d", r.random, i))
}

func appendFrame(dst, payload []byte) []byte {
	start := len(dst)
	dst = binary.AppendUvarint(dst, uint64(len(payload)))
	dst = append(dst, payload...)
	return binary.LittleEndian.AppendUint64(dst, xxhash.Sum64(dst[start:]))
}

func appendEntry(dst []byte, e manifest.Entry) []byte {
	dst = append(dst, byte(e.Kind))
	if e.Kind == 0 {
		return dst
	}
	dst = binary.AppendUvarint(dst, uint64(e.Mode))
	dst = binary.AppendUvarint(dst, e.Size)
	dst = binary.AppendUvarint(dst, e.Files)
	dst = append(dst, e.ID[:]...)
	return wire.AppendText(dst, e.Target)
}

func appendInfo(dst []byte, i rootfs.Info) []byte {
	dst = append(dst, byte(i.Kind))
	if i.Kind == 0 {
		return dst
	}
	for _, v := range []uint64{uint64(i.Mode), uint64(i.Size), uint64(i.Mtime), i.Dev, i.Ino} {
		dst = binary.AppendUvarint(dst, v)
	}
	return dst
}

// marshal gives all frames up to the sealed one, and the marks that are set.
func (r *record) marshal() []byte {
	head := []byte{frameHeader, journalVersion}
	head = binary.AppendVarint(head, r.time.UnixNano())
	head = binary.LittleEndian.AppendUint64(head, r.random)
	head = wire.AppendText(head, string(r.note))
	out := appendFrame(nil, head)
	var buf []byte
	for i := range r.changes {
		c := &r.changes[i]
		buf = append(buf[:0], frameChange, byte(c.Action))
		buf = wire.AppendText(buf, c.Path)
		buf = appendEntry(buf, c.Before)
		buf = appendEntry(buf, c.After)
		buf = appendInfo(buf, c.info)
		out = appendFrame(out, buf)
	}
	for _, w := range r.writable {
		buf = append(buf[:0], frameWritable)
		buf = wire.AppendText(buf, w.path)
		buf = binary.AppendUvarint(buf, uint64(w.mode))
		out = appendFrame(out, buf)
	}
	if r.sealed {
		out = appendFrame(out, binary.AppendUvarint([]byte{frameSealed}, uint64(1+len(r.changes)+len(r.writable))))
	}
	if r.written {
		out = appendFrame(out, []byte{frameWritten})
	}
	if r.later != nil {
		out = appendFrame(out, noteFrame(r.later))
	}
	if r.committed {
		out = appendFrame(out, committedFrame(r.changes))
	}
	return out
}

// parseJournal reads frames up to the first that is torn. What follows the
// seal may be torn; before it, a torn frame means that nothing was touched, and
// sealed is false. Errors are for what no crash explains (*JournalError).
func parseJournal(data []byte) (*record, error) {
	r := &record{}
	frames := uint64(0)
	for off := 0; off < len(data); frames++ {
		size, n := binary.Uvarint(data[off:])
		if n <= 0 || n > 1 && data[off+n-1] == 0 || size == 0 || size > maxFrame || uint64(len(data)-off-n) < size+8 {
			break
		}
		end := off + n + int(size)
		if binary.LittleEndian.Uint64(data[end:]) != xxhash.Sum64(data[off:end]) {
			break
		}
		d := journalDecoder{wire.Decoder{What: "journal", Data: string(data[off+n : end])}}
		kind := d.Byte()
		if (frames == 0) != (kind == frameHeader) || r.sealed != (kind > frameSealed) {
			d.Fail("frame out of place")
		}
		switch kind {
		case frameHeader:
			if v := d.Byte(); v != journalVersion && d.Err == nil {
				d.Fail(fmt.Sprintf("version %d is not known", v))
			}
			r.time = time.Unix(0, d.varint()).UTC()
			r.random = d.fixed64()
			r.note = []byte(d.Text())
		case frameChange:
			if len(r.writable) > 0 {
				d.Fail("frame out of place")
			}
			r.changes = append(r.changes, d.change())
		case frameWritable:
			w := modeOf{path: d.path(), mode: uint32(d.AtMost(0o7777))}
			r.writable = append(r.writable, w)
		case frameSealed:
			if d.Uvarint() != frames {
				d.Fail("frames are missing")
			}
			r.sealed = true
		case frameWritten:
			if r.written || r.committed {
				d.Fail("frame out of place")
			}
			r.written = true
		case frameNote:
			if r.committed {
				d.Fail("frame out of place")
			}
			r.later = []byte(d.Text())
		case frameCommitted:
			if r.committed {
				d.Fail("frame out of place")
			}
			r.committed = true
			for next := uint64(0); d.More(); {
				i := next + d.Uvarint()
				if i < next || i >= uint64(len(r.changes)) {
					d.Fail("no such change")
					break
				}
				r.changes[i].failed = true
				next = i + 1
			}
		default:
			d.Fail("unknown frame")
		}
		var bad *wire.FormatError
		if errors.As(d.End(), &bad) {
			return nil, &JournalError{Offset: off + n + bad.Offset, Reason: bad.Reason}
		}
		off = end + 8
		r.size = off
	}
	for i := range r.changes {
		r.changes[i].temp = r.tempName(i)
	}
	return r, nil
}

// journalFile is a journal being written.
type journalFile struct {
	f vfs.File
	o *ApplyOptions
}

// files is where the journal is written.
func (o *ApplyOptions) files() vfs.FS {
	if o.Files == nil {
		return vfs.OS
	}
	return o.Files
}

func createJournal(o *ApplyOptions, r *record) (*journalFile, error) {
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, err
	}
	file := filepath.Join(o.Dir, journalName)
	f, err := o.files().OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	j := &journalFile{f: f, o: o}
	r.sealed = true
	err = j.append(r.marshal())
	if err == nil && o.Owner != nil {
		err = o.Owner(file)
	}
	if err == nil {
		err = o.files().SyncDir(o.Dir)
	}
	if err != nil {
		f.Close()
		_ = o.files().Remove(file) // one that stays has touched nothing
		return nil, err
	}
	return j, nil
}

func (j *journalFile) append(data []byte) error {
	if _, err := j.f.Write(data); err != nil {
		return err
	}
	if j.o.NoSync {
		return nil
	}
	return j.f.Sync()
}

// committedFrame lists the changes that were given up, each as its distance
// from the one after the one before.
func committedFrame(changes []Change) []byte {
	buf, next := []byte{frameCommitted}, 0
	for i := range changes {
		if changes[i].failed {
			buf = binary.AppendUvarint(buf, uint64(i-next))
			next = i + 1
		}
	}
	return buf
}

func noteFrame(note []byte) []byte { return wire.AppendText([]byte{frameNote}, string(note)) }

func (j *journalFile) committed(changes []Change) error {
	return j.append(appendFrame(nil, committedFrame(changes)))
}

func (j *journalFile) mark(frame byte) error {
	return j.append(appendFrame(nil, []byte{frame}))
}

// remove ends the restore.
func (j *journalFile) remove() error {
	j.f.Close()
	return removeJournal(j.o)
}

func removeJournal(o *ApplyOptions) error {
	if err := o.files().Remove(filepath.Join(o.Dir, journalName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return o.files().SyncDir(o.Dir)
}
