package treeio

import (
	"bytes"
	"io"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/manifest"
)

// Source is where trees and contents come from. It is safe for concurrent use.
type Source interface {
	// Load loads a manifest.
	Load(id oid.ID) (manifest.Dir, error)
	// Open opens the content of a File or Chunked entry; every byte is verified.
	Open(e manifest.Entry) (io.ReadCloser, error)
}

// Sink takes what is read from the disk; see scan.Sink, which has the same
// methods with the same meaning. worker is below Options.Workers.
type Sink interface {
	Content(worker int, f io.Reader, size int64, prev oid.ID) (manifest.Kind, oid.ID, int64, error)
	Dir(worker int, data []byte, prev oid.ID) (oid.ID, error)
}

func isDir(e manifest.Entry) bool { return e.Kind == manifest.Subdir }

// sameContent reports whether a and b are the same apart from mode and name.
// Of directories it says only that both are some.
func sameContent(a, b manifest.Entry) bool {
	return a.Kind == b.Kind && (isDir(a) || a.ID == b.ID && a.Target == b.Target)
}

// sameContent is the function sameContent, and looks into files of which one is
// cut into chunks and the other is whole. What cannot be read is not the same.
func (p *Plan) sameContent(a, b manifest.Entry) bool {
	if sameContent(a, b) || a.Kind == b.Kind || !a.IsFile() || !b.IsFile() || a.Size != b.Size {
		return sameContent(a, b)
	}
	ra, err := p.o.Source.Open(a)
	if err != nil {
		return false
	}
	defer ra.Close()
	rb, err := p.o.Source.Open(b)
	if err != nil {
		return false
	}
	defer rb.Close()
	return sameBytes(ra, rb, int64(a.Size))
}

// sameBytes reports whether both readers give the same bytes, as many as size says.
func sameBytes(a, b io.Reader, size int64) bool {
	var x, y [32 << 10]byte
	for size > 0 {
		n := min(size, int64(len(x)))
		if _, err := io.ReadFull(a, x[:n]); err != nil {
			return false
		}
		if _, err := io.ReadFull(b, y[:n]); err != nil || !bytes.Equal(x[:n], y[:n]) {
			return false
		}
		size -= n
	}
	return true
}

// withMode is e with other permission bits.
func withMode(e manifest.Entry, mode uint32) manifest.Entry {
	e.Mode = mode
	return e
}

func sameEntry(a, b manifest.Entry) bool { return sameContent(a, b) && a.Mode == b.Mode }

func loadDir(src Source, id oid.ID) (manifest.Dir, error) {
	if id.IsZero() {
		return manifest.Dir{}, nil
	}
	return src.Load(id)
}
