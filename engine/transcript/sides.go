package transcript

import (
	"encoding/binary"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/manifest/wire"
)

// Side is a file that belongs to a conversation beside its transcript: a
// subagent's transcript, a tool's long output, the settings of a session.
type Side struct {
	// Name is the file's path relative to the transcript's directory, with /.
	Name  string
	Lines bool // made of JSON lines: captured like a transcript
	Fixed bool // written once, never changed
}

// sideState is what is held of a side file.
type sideState struct {
	Name    string
	Content oid.ID // List
	Size    int64  // of the file when it was captured, torn line included
	ModTime int64  // nanoseconds since 1970; with Size, lets a file be skipped
}

const (
	sidesMagic = 'S'
	// maxSides bounds the side files of one conversation; the newest count.
	maxSides    = 4096
	maxSideName = 1024
)

// appendSides appends the canonical bytes: 'S', number, then in order of their
// names {length of the name, name, content, size, modification time}.
func appendSides(dst []byte, sides []sideState) []byte {
	dst = append(dst, sidesMagic)
	dst = binary.AppendUvarint(dst, uint64(len(sides)))
	for _, s := range sides {
		dst = binary.AppendUvarint(dst, uint64(len(s.Name)))
		dst = append(dst, s.Name...)
		dst = append(dst, s.Content[:]...)
		dst = binary.AppendUvarint(dst, uint64(s.Size))
		dst = binary.AppendUvarint(dst, uint64(s.ModTime))
	}
	return dst
}

func parseSides(data []byte) ([]sideState, error) {
	d := listDecoder{wire.Decoder{What: "conversation", Data: string(data)}}
	bad := func(reason string) ([]sideState, error) { return nil, &DamagedError{Reason: "side files: " + reason} }
	if d.Byte() != sidesMagic {
		return bad("not them")
	}
	n := d.Uvarint()
	if n == 0 || n > maxSides {
		return bad("wrong number")
	}
	var sides []sideState
	for range n {
		s := sideState{Name: d.Text(), Content: d.ID(), Size: int64(d.AtMost(math.MaxInt64)), ModTime: int64(d.AtMost(math.MaxInt64))}
		if d.Err != nil || !validSide(s.Name) {
			return bad("bad entry")
		}
		if k := len(sides); k > 0 && sides[k-1].Name >= s.Name {
			return bad("not in order")
		}
		sides = append(sides, s)
	}
	if d.End() != nil {
		return bad("wrong length")
	}
	return sides, nil
}

// validSide accepts relative paths that stay below the transcript's directory.
func validSide(name string) bool {
	if len(name) == 0 || len(name) > maxSideName || !utf8.ValidString(name) || strings.ContainsAny(name, "\\\x00") {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part == "." || part == ".." {
			return false
		}
	}
	return true
}
