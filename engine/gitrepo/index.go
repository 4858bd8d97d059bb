package gitrepo

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// IndexFile is the path of the index, for its stat.
func (r Repo) IndexFile() string { return filepath.Join(r.GitDir, "index") }

// Tracked reads the index (versions 2 to 4; also sha256 repositories). Paths are relative to the work tree,
// sorted. A repository without an index tracks nothing. Split or sparse indexes give *UnsupportedError: the
// caller says so in the coverage. Other errors: *FormatError, or of the file system.
func (r Repo) Tracked() (*Tracked, error) {
	x, err := r.openIndex()
	if missing(err) {
		return &Tracked{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer x.Close() // read only: nothing can be lost
	return parseIndex(x.Name(), x, x.size, x.oid)
}

// openedIndex is an index that is a regular file.
type openedIndex struct {
	*os.File
	size int64
	oid  int // bytes of an object id
}

func (r Repo) openIndex() (*openedIndex, error) {
	oid, err := r.idSize()
	if err != nil {
		return nil, err
	}
	f, size, err := openRegular(r.IndexFile(), maxIndex, 0)
	if err != nil {
		return nil, err
	}
	return &openedIndex{f, size, oid}, nil
}

// idSize is the length of the repository's object ids in bytes.
func (r Repo) idSize() (int, error) {
	v, ok := r.localConfig().last("extensions.objectformat")
	if !ok {
		return 20, nil
	}
	switch strings.ToLower(v.text) {
	case "sha1":
		return 20, nil
	case "sha256":
		return 32, nil
	}
	return 0, &UnsupportedError{r.IndexFile(), "object format " + strconv.Quote(v.text)}
}

const (
	indexHeader   = 12
	indexStat     = 40 // times, device, inode, mode, owner, size
	indexMode     = 24 // within the above
	flagExtended  = 0x4000
	flagLength    = 0x0fff
	modeDirectory = 0o040000
	maxName       = 1 << 16
)

// window is a part of a file, in a buffer that is used again and again: the
// whole index in memory would cost more in page faults than its parsing does.
type window struct {
	file io.ReaderAt
	next int64 // file offset behind buf
	end  int64 // where the trailing checksum begins
	buf  []byte
	room []byte
}

const (
	windowSize = 256 << 10
	maxEntry   = indexStat + 32 + 4 + 10 + maxName + 8 // with a longest name
)

// fill makes room for a longest entry: buf holds it, or all that is left.
func (w *window) fill() error {
	if len(w.buf) >= maxEntry || w.next >= w.end {
		return nil
	}
	if w.room == nil {
		w.room = make([]byte, min(windowSize, w.end))
	}
	n := copy(w.room, w.buf)
	m := int(min(int64(len(w.room)-n), w.end-w.next))
	if k, err := w.file.ReadAt(w.room[n:n+m], w.next); k < m {
		return fmt.Errorf("reading the index: %w", err)
	}
	w.next += int64(m)
	w.buf = w.room[:n+m]
	return nil
}

// parseIndex collects the names in an index of size bytes whose object ids have oid bytes.
func parseIndex(file string, from io.ReaderAt, size int64, oid int) (*Tracked, error) {
	bad := func(reason string) (*Tracked, error) { return nil, &FormatError{file, reason} }
	if size < indexHeader+int64(oid) {
		return bad("not an index")
	}
	w := &window{file: from, end: size - int64(oid)} // git may leave the checksum zero
	if err := w.fill(); err != nil {
		return nil, err
	}
	if string(w.buf[:4]) != "DIRC" {
		return bad("not an index")
	}
	version := binary.BigEndian.Uint32(w.buf[4:])
	if version < 2 || version > 4 {
		return nil, &UnsupportedError{file, "index version " + strconv.FormatUint(uint64(version), 10)}
	}
	count := binary.BigEndian.Uint32(w.buf[8:])
	w.buf = w.buf[indexHeader:]
	p := indexParser{version: version, fixed: indexStat + oid + 2, limit: 16*int(size) + maxName}
	entries := w.end - indexHeader
	if int64(count)*int64(p.fixed+1) > entries {
		return bad("more entries than bytes")
	}
	room := entries - int64(count)*int64(p.fixed)
	if version == 4 {
		room += 32 * int64(count) // a guess at the prefixes
	}
	p.set = &Tracked{starts: make([]uint32, 0, count), names: make([]byte, 0, room)}
	for range count {
		if err := w.fill(); err != nil {
			return nil, err
		}
		n, reason := p.entry(w.buf)
		if reason != "" {
			return bad(reason)
		}
		w.buf = w.buf[n:]
	}
	if p.sparse {
		return nil, &UnsupportedError{file, "a sparse index"}
	}
	if err := checkExtensions(file, w); err != nil {
		return nil, err
	}
	if p.wrong != "" {
		return bad(p.wrong)
	}
	return p.set, nil
}

type indexParser struct {
	set     *Tracked
	version uint32
	fixed   int // bytes of an entry before extended flags and name
	limit   int // of all names: version 4 repeats a prefix at no cost
	prev    []byte
	sparse  bool
	wrong   string // about names: in a split index they may be empty, and then it is no damage
}

// entry takes in the entry that data begins with: n bytes, or the reason why it is none.
func (x *indexParser) entry(data []byte) (n int, reason string) {
	p := x.fixed
	if p > len(data) {
		return 0, "cut off within an entry"
	}
	if binary.BigEndian.Uint32(data[indexMode:])&0o170000 == modeDirectory {
		x.sparse = true
	}
	flags := binary.BigEndian.Uint16(data[p-2:])
	if flags&flagExtended != 0 {
		if x.version < 3 {
			return 0, "extended flags in version 2"
		}
		p += 2
	}
	keep := 0
	if x.version == 4 {
		drop, k := offsetVarint(data[min(p, len(data)):])
		if k == 0 || drop > uint64(len(x.prev)) {
			return 0, "bad name prefix"
		}
		p += k
		keep = len(x.prev) - int(drop)
	}
	if p > len(data) {
		return 0, "cut off within an entry"
	}
	// A length that fits its 12 bits saves looking for the end.
	length := int(flags & flagLength)
	if x.version == 4 || length == flagLength || p+length >= len(data) || data[p+length] != 0 {
		if length = bytes.IndexByte(data[p:], 0); length < 0 {
			return 0, "name without end"
		}
	}
	suffix := data[p : p+length]
	p += length + 1
	if x.version < 4 {
		if p = (p + 7) &^ 7; p > len(data) { // padded to 8 bytes
			return 0, "cut off within an entry"
		}
	}
	return p, x.add(keep, suffix)
}

func (x *indexParser) add(keep int, suffix []byte) (reason string) {
	t := x.set
	if keep+len(suffix) > maxName || len(t.names)+keep+len(suffix) > x.limit {
		return "bad name length"
	}
	start := len(t.names)
	t.names = append(append(t.names, x.prev[:keep]...), suffix...)
	name := t.names[start:]
	switch c := bytes.Compare(x.prev, name); {
	case len(name) == 0:
		x.wrong = "empty name"
	case c > 0:
		x.wrong = "names out of order"
	case c == 0: // the stages of a conflict
		t.names = t.names[:start]
		return ""
	}
	t.starts = append(t.starts, uint32(start))
	t.names = append(t.names, 0)
	x.prev = t.names[start : len(t.names)-1]
	return ""
}

// checkExtensions refuses what changes the meaning of the entries: by git's
// rule all extensions whose name does not begin with a capital.
func checkExtensions(file string, w *window) error {
	for at := w.next - int64(len(w.buf)); w.end-at >= 8; {
		var head [8]byte
		if n, err := w.file.ReadAt(head[:], at); n < len(head) {
			return err
		}
		name := string(head[:4])
		size := binary.BigEndian.Uint32(head[4:])
		if int64(size) > w.end-at-8 {
			return &FormatError{file, "cut off within an extension"}
		}
		switch {
		case name == "link":
			return &UnsupportedError{file, "a split index"}
		case name == "sdir":
			return &UnsupportedError{file, "a sparse index"}
		case name[0] < 'A' || name[0] > 'Z':
			return &UnsupportedError{file, "index extension " + strconv.Quote(name)}
		}
		at += 8 + int64(size)
	}
	return nil
}

// offsetVarint reads git's variable-length number; n is 0 if it does not end.
func offsetVarint(b []byte) (v uint64, n int) {
	for n < len(b) && n < 9 {
		c := b[n]
		n++
		v |= uint64(c & 0x7f)
		if c&0x80 == 0 {
			return v, n
		}
		v = (v + 1) << 7
	}
	return 0, 0
}

// IndexKey identifies the content of the index by the checksum at its end, at
// the cost of reading only that: where the key is the same and not "", so is
// what Lazy loads. It is "" where git keeps no checksum.
func (r Repo) IndexKey() string {
	x, err := r.openIndex()
	if missing(err) {
		return "none"
	}
	if err != nil {
		return ""
	}
	defer x.Close() // read only: nothing can be lost
	sum := make([]byte, x.oid)
	if n, _ := x.ReadAt(sum, x.size-int64(x.oid)); n < len(sum) || len(bytes.Trim(sum, "\x00")) == 0 {
		return ""
	}
	return fmt.Sprintf("%d-%x-%s", x.size, sum, r.Prefix)
}
