package page

import (
	"compress/gzip"
	"encoding/base64"
	"io"
	"regexp"
	"strings"
	"testing"
)

var packedElement = regexp.MustCompile(`<script type="application/gzip" id="(index|block-\d+)">([^<]*)</script>`)

// unpacked is all that a page which is a file has, beside the page's own code.
func unpacked(t *testing.T, page string) string {
	t.Helper()
	var all strings.Builder
	found := packedElement.FindAllStringSubmatch(page, -1)
	for _, m := range found {
		packed, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(m[2])))
		if err != nil {
			t.Fatal(m[1], err)
		}
		if _, err := io.Copy(&all, packed); err != nil {
			t.Fatal(m[1], err)
		}
		all.WriteString("\n")
	}
	if len(found) < 2 || found[len(found)-1][1] != "index" {
		t.Fatalf("%d parts in a page of %d bytes", len(found), len(page))
	}
	return all.String()
}
