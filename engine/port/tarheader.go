package port

import (
	"archive/tar"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rewind-cli/rewind/manifest"
)

// writeHeader writes h in the format that GNU tar reads whatever the name's
// bytes: PAX where names are UTF-8, GNU's own where they are not, since PAX
// records are UTF-8 by definition.
func writeHeader(archive *tar.Writer, h *tar.Header) error {
	// A name with a newline or the like is fine in both; only NUL is not, and no path has one.
	if !utf8.ValidString(h.Name) || !utf8.ValidString(h.Linkname) {
		h.Format = tar.FormatGNU
	} else if len(h.Name) <= 100 && len(h.Linkname) <= 100 && ascii(h.Name) && ascii(h.Linkname) && h.Size < 8<<30 {
		h.Format = tar.FormatUSTAR
	}
	return archive.WriteHeader(h)
}

func ascii(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// writePiece writes the header of a piece, if it has one, and data. tar sees to it
// that there is as much as the header says. Owners are left out: a checkpoint
// does not hold them.
func writePiece(archive *tar.Writer, mtime time.Time, it piece, data []byte) error {
	if it.e != nil {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: it.path, Mode: int64(it.e.Mode), ModTime: mtime, Format: tar.FormatPAX}
		switch it.e.Kind {
		case manifest.Subdir:
			h.Typeflag, h.Name = tar.TypeDir, it.path+"/"
		case manifest.Symlink:
			h.Typeflag, h.Linkname, h.Mode = tar.TypeSymlink, it.e.Target, 0o777
		default:
			h.Size = int64(it.e.Size)
		}
		if err := writeHeader(archive, h); err != nil {
			return err
		}
	}
	_, err := archive.Write(data)
	return err
}
