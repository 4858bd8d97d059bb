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

	"github.com/rewind-cli/rewind/cas/vfs"
)

// IndexFile is the path of the index, for its stat.
func (r Repo) IndexFile() string { return filepath.Join(r.GitDir, "index") }

// Tracked reads the index (versions 2 to 4, split and sparse ones, also of sha256 repositories). Paths are
// relative to the work tree. A repository without an index tracks nothing. Errors: *UnsupportedError for what a later
// git may have added, *FormatError, or of the file system; then the caller says so in the coverage.
func (r Repo) Tracked() (*Tracked, error) {
	x, err := r.openIndex()
	if vfs.IsMissing(err) {
		return &Tracked{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer x.Close() // read only: nothing can be lost
	half := ""
	file := indexFile{name: x.Name(), from: x, size: x.size, oid: x.oid, shared: func(id string) (*openedIndex, error) {
		half = filepath.Join(r.GitDir, "sharedindex."+id)
		f, size, err := openRegular(half, maxIndex, 0)
		return &openedIndex{f, size, x.oid}, err
	}}
	t, err := file.read()
	if err == nil {
		t.half = half
	}
	if err == nil && t.beyond != nil {
		t.beyond.objects = r.objects(x.oid)
	}
	return t, err
}

// openedIndex is an index that is a regular file.
type openedIndex struct {
	*os.File
	size int64
	oid  int // bytes of an object id
}

func (r Repo) openIndex() (*openedIndex, error) {
	oid, err := r.IDSize()
	if err != nil {
		return nil, err
	}
	f, size, err := openRegular(r.IndexFile(), maxIndex, 0)
	if err != nil {
		return nil, err
	}
	return &openedIndex{f, size, oid}, nil
}

// IDSize is the length of the repository's object ids in bytes.
func (r Repo) IDSize() (int, error) {
	v, ok := r.local.last("extensions.objectformat")
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
	flagSkip      = 0x4000 // of the extended ones: skip-worktree
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

// indexFile is an index to be read.
type indexFile struct {
	name   string
	from   io.ReaderAt
	size   int64
	oid    int                                   // bytes of an object id
	shared func(id string) (*openedIndex, error) // opens the other half of a split index
}

// read collects what the index holds.
func (file indexFile) read() (*Tracked, error) {
	p, err := file.parse(nil)
	if err != nil {
		return nil, err
	}
	t := p.set
	if b := (&beyond{sparse: p.sparse, rules: p.rules}); !b.none() {
		t.beyond = b
	}
	return t, nil
}

// parse reads entries and extensions. As the other half of a split index it is
// prepared for the number of its entries.
func (file indexFile) parse(half func(p *indexParser, count int) (wrong string)) (*indexParser, error) {
	bad := func(reason string) (*indexParser, error) { return nil, &FormatError{file.name, reason} }
	if file.size < indexHeader+int64(file.oid) {
		return bad("not an index")
	}
	w := &window{file: file.from, end: file.size - int64(file.oid)} // git may leave the checksum zero
	if err := w.fill(); err != nil {
		return nil, err
	}
	if string(w.buf[:4]) != "DIRC" {
		return bad("not an index")
	}
	version := binary.BigEndian.Uint32(w.buf[4:])
	if version < 2 || version > 4 {
		return nil, &UnsupportedError{file.name, "index version " + strconv.FormatUint(uint64(version), 10)}
	}
	count := binary.BigEndian.Uint32(w.buf[8:])
	w.buf = w.buf[indexHeader:]
	p := &indexParser{version: version, oid: file.oid, fixed: indexStat + file.oid + 2, limit: 16*int(file.size) + maxName}
	entries := w.end - indexHeader
	if int64(count)*int64(p.fixed+1) > entries {
		return bad("more entries than bytes")
	}
	room := entries - int64(count)*int64(p.fixed)
	if version == 4 {
		room += 32 * int64(count) // a guess at the prefixes
	}
	p.set = &Tracked{starts: make([]uint32, 0, count), names: make([]byte, 0, room)}
	if half != nil {
		if wrong := half(p, int(count)); wrong != "" {
			return bad(wrong)
		}
	}
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
	l, err := readExtensions(file.name, w, file.oid)
	switch {
	case err != nil:
		return nil, err
	case l != nil && file.shared == nil:
		return bad("half of a split index that is split itself")
	case l != nil:
		return p.complete(file, l)
	case len(p.nameless) > 0:
		return bad("empty name")
	}
	return p, nil
}

type indexParser struct {
	set     *Tracked
	sparse  []indexed
	rules   []indexed
	version uint32
	oid     int
	fixed   int    // bytes of an entry before extended flags and name
	limit   int    // of all names: version 4 repeats a prefix at no cost
	prev    []byte // name of the entry before
	last    []byte // name of the last one in the set
	at      int    // entries read

	nameless          []status // entries that replace one of the other half
	deleted, replaced bits     // as the other half: what the first one says of the entries
	replacements      []status
}

// status is what matters of an entry beside its name.
type status struct {
	mode uint32
	skip bool // not wanted in the work tree
	id   string
}

// entry takes in the entry that data begins with: n bytes, or the reason why it is none.
func (x *indexParser) entry(data []byte) (n int, reason string) {
	p := x.fixed
	if p > len(data) {
		return 0, "cut off within an entry"
	}
	st := status{mode: binary.BigEndian.Uint32(data[indexMode:])}
	id := data[indexStat : indexStat+x.oid]
	flags := binary.BigEndian.Uint16(data[p-2:])
	if flags&flagExtended != 0 {
		if x.version < 3 {
			return 0, "extended flags in version 2"
		}
		if p += 2; p > len(data) {
			return 0, "cut off within an entry"
		}
		st.skip = binary.BigEndian.Uint16(data[p-2:])&flagSkip != 0
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
	at := x.at
	x.at++
	if x.replaced.has(at) {
		if len(x.replacements) == 0 {
			return 0, "fewer replacements than replaced entries"
		}
		st, x.replacements = x.replacements[0], x.replacements[1:]
		id = []byte(st.id)
	}
	return p, x.add(keep, suffix, st, id, x.deleted.has(at))
}

func (x *indexParser) add(keep int, suffix []byte, st status, id []byte, deleted bool) (reason string) {
	t := x.set
	if keep+len(suffix) > maxName || len(t.names)+keep+len(suffix) > x.limit {
		return "bad name length"
	}
	start := len(t.names)
	t.names = append(append(t.names, x.prev[:keep]...), suffix...)
	name := t.names[start:]
	switch c := bytes.Compare(x.prev, name); {
	case len(name) == 0:
		st.id = string(id)
		if x.nameless = append(x.nameless, st); len(x.prev) > 0 {
			return "empty name"
		}
		return ""
	case c > 0:
		return "names out of order"
	}
	switch {
	case deleted:
	case st.mode&0o170000 == modeDirectory: // of a sparse index
		if name[len(name)-1] != '/' {
			return "a directory that does not end in a slash"
		}
		x.sparse = append(x.sparse, indexed{string(name), string(id)})
	case bytes.Equal(x.last, name): // the stages of a conflict
	default:
		if st.skip && isRuleFile(name) && st.mode&0o170000 == 0o100000 {
			x.rules = append(x.rules, indexed{string(name), string(id)})
		}
		t.starts = append(t.starts, uint32(start))
		t.names = append(t.names, 0)
		x.prev = t.names[start : len(t.names)-1]
		x.last = x.prev
		return ""
	}
	x.prev = append([]byte(nil), name...)
	t.names = t.names[:start]
	return ""
}

// isRuleFile reports whether a path is that of a .gitignore.
func isRuleFile(name []byte) bool {
	const rule = ".gitignore"
	return bytes.HasSuffix(name, []byte(rule)) && (len(name) == len(rule) || name[len(name)-len(rule)-1] == '/')
}

// readExtensions finds the link of a split index, and refuses what else changes the
// meaning of the entries: by git's rule all extensions whose name does not begin with a capital.
func readExtensions(file string, w *window, oid int) (l *link, err error) {
	for at := w.next - int64(len(w.buf)); w.end-at >= 8; {
		var head [8]byte
		if n, err := w.file.ReadAt(head[:], at); n < len(head) {
			return nil, err
		}
		name := string(head[:4])
		size := binary.BigEndian.Uint32(head[4:])
		if int64(size) > w.end-at-8 {
			return nil, &FormatError{file, "cut off within an extension"}
		}
		switch {
		case name == "link":
			data := make([]byte, size)
			if n, err := w.file.ReadAt(data, at+8); n < len(data) {
				return nil, err
			}
			if l, err = parseLink(file, data, oid); err != nil {
				return nil, err
			}
		case name == "sdir": // says only that there are directories
		case name[0] < 'A' || name[0] > 'Z':
			return nil, &UnsupportedError{file, "index extension " + strconv.Quote(name)}
		}
		at += 8 + int64(size)
	}
	return l, nil
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
	if vfs.IsMissing(err) {
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
