package manifest

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/manifest/wire"
)

// Kind is what an entry is.
type Kind uint8

const (
	File    Kind = 1 // content is one object
	Chunked Kind = 2 // a file whose content is a list object of chunks
	Symlink Kind = 3
	Subdir  Kind = 4
)

// Entry is one name in a directory.
type Entry struct {
	Name   string // the bytes on disk; never empty, ".", "..", or with "/" or NUL
	Kind   Kind
	Mode   uint32 // permission bits with setuid, setgid, sticky: 07777; 0 for a symlink
	Size   uint64 // bytes; of a directory: the bytes of all files below; 0 for a symlink
	Files  uint64 // of a directory: the number of files and symlinks below
	ID     oid.ID // content, list, or directory manifest; zero for a symlink
	Target string // of a symlink: not empty, without NUL

	// Precious marks a file or symlink that git ignores and that is captured
	// because its loss would hurt: what leaves the machine leaves it out. It is
	// no part of what the path is: entries that differ in it alone are Alike.
	Precious bool
}

// Alike reports whether e and o are the same apart from the mark.
func (e Entry) Alike(o Entry) bool {
	e.Precious = o.Precious
	return e == o
}

// SameContent reports whether two sides of a change differ in nothing but their modes.
func SameContent(old, new *Entry) bool {
	return old != nil && new != nil && old.Kind == new.Kind && old.ID == new.ID && old.Target == new.Target
}

func SameKindDir(a, b *Entry) bool {
	return a != nil && b != nil && a.Kind == Subdir && b.Kind == Subdir
}

// SameEntries reports whether two entries are the same path's, both may be nil.
func SameEntries(a, b *Entry) bool {
	if a == nil || b == nil {
		return a == b
	}
	return SameContent(a, b) && a.Mode == b.Mode
}

// HasContent reports whether it is a file or a link.
func HasContent(e *Entry) bool { return e != nil && e.Kind != Subdir }

// IsFile reports whether it is a regular file, of one object or of chunks.
func (e *Entry) IsFile() bool { return e != nil && (e.Kind == File || e.Kind == Chunked) }

// Dir is a directory manifest: entries sorted by Name, bytewise.
type Dir struct{ Entries []Entry }

// The first byte of a directory manifest: dirMarked if one of its own entries is
// marked, else dirFormat. Programs that do not know the mark refuse such a directory,
// which is wanted: they would hand out what is marked.
const (
	dirFormat = 0xD1
	dirMarked = 0xD2
)

// markBit, above the bits of the mode, is Entry.Precious.
const markBit = 0o10000

// Append appends the canonical bytes. Same entries, same bytes. The entries
// must be sorted and valid (Check); what is not, ParseDir refuses.
func (d Dir) Append(dst []byte) []byte {
	first := len(dst)
	dst = append(dst, dirFormat)
	for i := range d.Entries {
		if d.Entries[i].Precious {
			dst[first] = dirMarked
		}
		dst = appendEntry(dst, &d.Entries[i])
	}
	return dst
}

func appendEntry(dst []byte, e *Entry) []byte {
	return appendBody(wire.AppendText(appendHead(dst, e), e.Name), e)
}

// appendHead appends kind, mode and mark.
func appendHead(dst []byte, e *Entry) []byte {
	head := uint64(e.Mode)<<3 | uint64(e.Kind)
	if e.Precious {
		head |= markBit << 3
	}
	return binary.AppendUvarint(dst, head)
}

// appendBody appends what follows kind, mode and name.
func appendBody(dst []byte, e *Entry) []byte {
	switch e.Kind {
	case Symlink:
		return wire.AppendText(dst, e.Target)
	case Subdir:
		dst = binary.AppendUvarint(dst, e.Files)
	}
	dst = binary.AppendUvarint(dst, e.Size)
	return append(dst, e.ID[:]...)
}

// ParseDir parses canonical bytes and refuses all others (*FormatError). The
// names and targets share one copy of data, which itself is not kept.
func ParseDir(data []byte) (Dir, error) {
	d := wire.Decoder{What: "directory manifest", Data: string(data)}
	format := d.Byte()
	if format != dirFormat && format != dirMarked {
		d.Pos = 0
		d.Fail("not a directory manifest of a known format")
		return Dir{}, d.Err
	}
	// 50 bytes is what an entry of a file takes at least in real trees: room that is right
	// for honest input, and at most the input's size for other.
	entries := make([]Entry, 0, len(data)/50+1)
	marked := false
	for d.More() {
		e := entry(&d)
		if n := len(entries); n > 0 && d.Err == nil && entries[n-1].Name >= e.Name {
			d.Fail("names not in ascending order")
		}
		marked = marked || e.Precious
		entries = append(entries, e)
	}
	if d.Err == nil && marked != (format == dirMarked) {
		d.Fail("marked entries in the format without, or none in the format with")
	}
	if d.Err != nil {
		return Dir{}, d.Err
	}
	return Dir{Entries: entries}, nil
}

func entry(d *wire.Decoder) Entry {
	e := head(d)
	e.Name = d.Text()
	body(d, &e)
	return e
}

// nameless reads an entry that is kept without its name: the path gives it.
func nameless(d *wire.Decoder, path string) *Entry {
	e := head(d)
	e.Name = path[strings.LastIndexByte(path, '/')+1:]
	body(d, &e)
	return &e
}

// head reads kind, mode and mark.
func head(d *wire.Decoder) Entry {
	head := d.Uvarint()
	if head>>3 > 0o7777|markBit {
		d.Fail("mode beyond 07777")
	}
	return Entry{Kind: Kind(head & 7), Mode: uint32(head >> 3 & 0o7777), Precious: head>>3&markBit != 0}
}

// body reads what follows kind, mode and name, and checks the whole.
func body(d *wire.Decoder, e *Entry) {
	switch e.Kind {
	case Symlink:
		e.Target = d.Text()
	case Subdir:
		e.Files = d.Uvarint()
		e.Size = d.Uvarint()
		e.ID = d.ID()
	case File, Chunked:
		e.Size = d.Uvarint()
		e.ID = d.ID()
	}
	if d.Err == nil {
		if reason := e.invalid(); reason != "" {
			d.Fail(reason)
		}
	}
}

// invalid says what is wrong with an entry, "" for nothing.
func (e *Entry) invalid() string {
	switch {
	case e.Name == "" || e.Name == "." || e.Name == "..":
		return "not the name of an entry"
	case strings.IndexByte(e.Name, '/') >= 0 || strings.IndexByte(e.Name, 0) >= 0:
		return "slash or NUL in a name"
	case e.Kind < File || e.Kind > Subdir:
		return "unknown kind"
	case e.Mode > 0o7777:
		return "mode beyond 07777"
	case e.Kind != Subdir && e.Files != 0:
		return "files below something that is not a directory"
	case e.Kind != Symlink && e.Target != "":
		return "target of something that is not a symlink"
	case e.Kind == Subdir && e.Precious:
		return "mark of a directory"
	}
	if e.Kind == Symlink {
		switch {
		case e.Mode != 0 || e.Size != 0 || !e.ID.IsZero():
			return "mode, size or content of a symlink"
		case e.Target == "" || strings.Contains(e.Target, "\x00"):
			return "empty target, or NUL in it"
		}
	}
	return ""
}

// Totals counts the files and links in a directory and below it, and their bytes.
func (d Dir) Totals() (files, bytes uint64) {
	for i := range d.Entries {
		bytes += d.Entries[i].Size
		if d.Entries[i].Kind == Subdir {
			files += d.Entries[i].Files
		} else {
			files++
		}
	}
	return files, bytes
}

// Lookup finds an entry by name (binary search).
func (d Dir) Lookup(name string) (Entry, bool) {
	i, ok := slices.BinarySearchFunc(d.Entries, name, func(e Entry, name string) int {
		return strings.Compare(e.Name, name)
	})
	if !ok {
		return Entry{}, false
	}
	return d.Entries[i], true
}
