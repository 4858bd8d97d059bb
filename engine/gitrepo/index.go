package gitrepo

import (
	"bytes"
	"encoding/binary"
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
	file := r.IndexFile()
	data, err := readFile(file, maxIndex)
	if missing(err) {
		return &Tracked{}, nil
	}
	if err != nil {
		return nil, err
	}
	oid := 20
	if v, ok := r.localConfig().last("extensions.objectformat"); ok {
		switch strings.ToLower(v.text) {
		case "sha1":
		case "sha256":
			oid = 32
		default:
			return nil, &UnsupportedError{file, "object format " + strconv.Quote(v.text)}
		}
	}
	return parseIndex(file, data, oid)
}

const (
	indexHeader   = 12
	indexStat     = 40 // times, device, inode, mode, owner, size
	indexMode     = 24 // within the above
	flagExtended  = 0x4000
	modeDirectory = 0o040000
	maxName       = 1 << 16
)

// parseIndex collects the names in an index whose object ids have oid bytes.
func parseIndex(file string, data []byte, oid int) (*Tracked, error) {
	bad := func(reason string) (*Tracked, error) { return nil, &FormatError{file, reason} }
	if len(data) < indexHeader+oid || string(data[:4]) != "DIRC" {
		return bad("not an index")
	}
	version := binary.BigEndian.Uint32(data[4:])
	if version < 2 || version > 4 {
		return nil, &UnsupportedError{file, "index version " + strconv.FormatUint(uint64(version), 10)}
	}
	count := binary.BigEndian.Uint32(data[8:])
	end := len(data) - oid // the checksum; git may leave it zero
	fixed := indexStat + oid + 2
	if uint64(count)*uint64(fixed+1) > uint64(end-indexHeader) {
		return bad("more entries than bytes")
	}
	t := &Tracked{starts: make([]uint32, 0, count)}
	t.names = make([]byte, 0, end-indexHeader-int(count)*fixed)
	limit := 16*len(data) + maxName // of all names; version 4 repeats a prefix at no cost
	var prev []byte
	wrong := "" // about names: in a split index they may be empty, and then it is no damage
	p := indexHeader
	for range count {
		entry := p
		if p+fixed > end {
			return bad("cut off within an entry")
		}
		if binary.BigEndian.Uint32(data[p+indexMode:])&0o170000 == modeDirectory {
			return nil, &UnsupportedError{file, "a sparse index"}
		}
		flags := binary.BigEndian.Uint16(data[p+indexStat+oid:])
		p += fixed
		if flags&flagExtended != 0 {
			if version < 3 {
				return bad("extended flags in version 2")
			}
			p += 2
		}
		keep := 0
		if version == 4 {
			drop, n := offsetVarint(data[min(p, end):end])
			if n == 0 || drop > uint64(len(prev)) {
				return bad("bad name prefix")
			}
			p += n
			keep = len(prev) - int(drop)
		}
		if p > end {
			return bad("cut off within an entry")
		}
		n := bytes.IndexByte(data[p:end], 0)
		if n < 0 {
			return bad("name without end")
		}
		suffix := data[p : p+n]
		p += n + 1
		if version < 4 {
			p = entry + (p-entry+7)&^7 // padded to 8 bytes
		}
		if keep+n > maxName || len(t.names)+keep+n > limit {
			return bad("bad name length")
		}
		start := len(t.names)
		t.names = append(append(t.names, prev[:keep]...), suffix...)
		name := t.names[start:]
		switch c := bytes.Compare(prev, name); {
		case len(name) == 0:
			wrong = "empty name"
		case c > 0:
			wrong = "names out of order"
		case c == 0: // the stages of a conflict
			t.names = t.names[:start]
			continue
		}
		t.starts = append(t.starts, uint32(start))
		t.names = append(t.names, 0)
		prev = t.names[start : len(t.names)-1]
	}
	if err := checkExtensions(file, data, p, end); err != nil {
		return nil, err
	}
	if wrong != "" {
		return bad(wrong)
	}
	return t, nil
}

// checkExtensions refuses what changes the meaning of the entries: by git's
// rule all extensions whose name does not begin with a capital.
func checkExtensions(file string, data []byte, p, end int) error {
	for end-p >= 8 {
		name := string(data[p : p+4])
		size := binary.BigEndian.Uint32(data[p+4:])
		if uint64(size) > uint64(end-p-8) {
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
		p += 8 + int(size)
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
