package project

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/rewind-cli/rewind/cas"
	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/manifest"
)

// HeldReader reads content of a store, and calls Release when it is closed.
type HeldReader struct {
	io.ReadCloser
	Release func()
}

func (r *HeldReader) Close() error {
	defer r.Release()
	return r.ReadCloser.Close()
}

// ContentOf reads an entry's content from a store or a transaction.
func ContentOf(get func([]byte, oid.ID) ([]byte, error), e manifest.Entry) (io.ReadCloser, error) {
	switch e.Kind {
	case manifest.File:
		data, err := get(nil, e.ID)
		if err != nil {
			return nil, err
		}
		return io.NopCloser(bytes.NewReader(data)), nil
	case manifest.Chunked:
		data, err := get(nil, e.ID)
		if err != nil {
			return nil, err
		}
		list, err := cas.ParseList(data)
		if err != nil {
			return nil, err
		}
		return io.NopCloser(&ChunkReader{Get: get, Chunks: list.Chunks}), nil
	case manifest.Symlink:
		return io.NopCloser(strings.NewReader(e.Target)), nil
	}
	return nil, errors.New("a directory has no content")
}

// ChunkReader reads a chunked file, one verified chunk in memory at a time.
type ChunkReader struct {
	Get    func([]byte, oid.ID) ([]byte, error)
	Chunks []cas.Chunk
	buf    []byte
	rest   []byte
}

func (r *ChunkReader) Read(b []byte) (int, error) {
	for len(r.rest) == 0 {
		if len(r.Chunks) == 0 {
			return 0, io.EOF
		}
		c := r.Chunks[0]
		data, err := r.Get(r.buf[:0], c.ID)
		if err != nil {
			return 0, err
		}
		if len(data) != int(c.Size) {
			return 0, fmt.Errorf("chunk %s has %d bytes, its list says %d", c.ID, len(data), c.Size)
		}
		r.buf, r.rest, r.Chunks = data, data, r.Chunks[1:]
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// IsDamage reports whether an error says that a tree cannot be what it was, and not that the system failed.
func IsDamage(err error) bool {
	var deep *manifest.DepthError
	var object *cas.DamagedError
	var missing *cas.NotFoundError
	var format *manifest.FormatError
	return errors.As(err, &deep) || errors.As(err, &object) || errors.As(err, &missing) || errors.As(err, &format)
}

// IsLost reports whether an error says that no pack has an object.
func IsLost(err error) bool {
	var missing *cas.NotFoundError
	return errors.As(err, &missing)
}
