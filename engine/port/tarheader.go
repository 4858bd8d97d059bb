package port

import (
	"archive/tar"
	"strings"
	"unicode/utf8"
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
