package testlab

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"testing"
)

// ArchiveOf makes a tar.gz of headers. The content of a regular file is its Linkname.
func ArchiveOf(t *testing.T, headers ...tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	for _, h := range headers {
		text := ""
		if h.Typeflag == tar.TypeReg {
			text, h.Linkname = h.Linkname, ""
			h.Size = int64(len(text))
		}
		if h.Mode == 0 {
			h.Mode = 0o644
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// FileHeader is the header of a regular file that holds "x".
func FileHeader(name string) tar.Header {
	return tar.Header{Typeflag: tar.TypeReg, Name: name, Linkname: "x"}
}
