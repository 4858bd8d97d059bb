package patch

import "fmt"

// The modes that git has.
const (
	Regular    = 0o100644
	Executable = 0o100755
	Symlink    = 0o120000
)

// File is one side of a pair.
type File struct {
	Path string // with /, unchanged bytes
	Mode uint32 // one of git's
	Key  string // two files with the same key have the same content
	Size int64  // bytes; of a symlink, of its target
}

// Status is git's letter.
type Status byte

const (
	Added    Status = 'A'
	Deleted  Status = 'D'
	Modified Status = 'M'
	Retyped  Status = 'T' // a file became a symlink, or the other way round
	Renamed  Status = 'R'
	Copied   Status = 'C'
)

// Pair is a path before and after; with Renamed and Copied, Old has another path.
type Pair struct {
	Old, New *File // not both nil
	Score    int   // percent of the content that is the same, with Renamed and Copied
	copied   bool
}

// Status tells what became of it.
func (p Pair) Status() Status {
	switch {
	case p.Old == nil:
		return Added
	case p.New == nil:
		return Deleted
	case p.copied:
		return Copied
	case p.Old.Path != p.New.Path:
		return Renamed
	case (p.Old.Mode == Symlink) != (p.New.Mode == Symlink):
		return Retyped
	}
	return Modified
}

// Path is the path that the pair is listed under.
func (p Pair) Path() string {
	if p.New != nil {
		return p.New.Path
	}
	return p.Old.Path
}

// Source reads contents; of a symlink, its target.
type Source func(*File) ([]byte, error)

// Quote writes a path as git does: between quotes where it has what a line cannot show, or bytes beyond ASCII.
func Quote(path string) string { return string(appendQuoted(nil, path)) }

func appendQuoted(b []byte, path string) []byte {
	plain := true
	for i := range len(path) {
		if c := path[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			plain = false
		}
	}
	if plain {
		return append(b, path...)
	}
	const named = "\a\b\t\n\v\f\r" // 7 to 13
	b = append(b, '"')
	for i := range len(path) {
		switch c := path[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c >= named[0] && c <= named[len(named)-1]:
			b = append(b, '\\', "abtnvfr"[c-named[0]])
		case c < ' ' || c >= 0x7f:
			b = fmt.Appendf(b, `\%03o`, c)
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}
