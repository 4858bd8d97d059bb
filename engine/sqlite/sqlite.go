package sqlite

import (
	"slices"
	"strings"
)

// Suffixes are what the names of a database's files end in: its own, that of its write-ahead log and that of its rollback
// journal. With all of them as they were at one moment, the database opens as after a crash at that moment. A database beside
// the log or the journal of another moment is damaged. The file -shm is only an index of the log, which SQLite makes anew.
var Suffixes = [...]string{"", "-wal", "-journal"}

// magic is how these files begin: the database, a write-ahead log of either byte order, a rollback journal.
var magic = []string{"SQLite format 3\x00", "\x37\x7f\x06\x82", "\x37\x7f\x06\x83", "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"}

// HeadSize is how many bytes Begins looks at.
const HeadSize = 16

// Begins reports whether a file of SQLite begins so.
func Begins(head []byte) bool {
	return slices.ContainsFunc(magic, func(m string) bool { return strings.HasPrefix(string(head[:min(len(head), HeadSize)]), m) })
}

// Base is the path of the database that a path belongs to by its name: its own, unless it is that of a log or a journal.
func Base(path string) string {
	for _, suffix := range Suffixes[1:] {
		if base, ok := strings.CutSuffix(path, suffix); ok && base != "" && !strings.HasSuffix(base, "/") {
			return base
		}
	}
	return path
}

// Beside reports whether a path is by its name that of a log or a journal.
func Beside(path string) bool { return Base(path) != path }

// MayBe reports whether a file with this path and this many bytes may belong to a database, without a look into it: a database
// is a number of pages, and the smallest page has 512 bytes.
func MayBe(path string, size uint64) bool { return Beside(path) || size > 0 && size%512 == 0 }
